import FMHTTP

extension DataAPI {
    /// Keeps session tokens between runs, so that a program that runs every minute reuses one session instead of
    /// opening sixty an hour.
    ///
    ///     configuration.tokenStore = .file(at: "/var/lib/invoices/sessions")
    ///
    /// A session whose token is in a store is shared by all processes that use the store. Therefore only one session of
    /// the database uses it (the others are private). The stored token is tried before a login, and its session is left
    /// open at the end of the program, for the next run or for FileMaker's 15 minutes. `logOut()` closes it even if
    /// this run has not used it. Pinned work never uses it, since another process could change its globals.
    ///
    /// The right to read the store is the right to use the session: protect it like a password.
    ///
    /// **Failures of a store** are logged, counted in ``SessionStatus/storeFailures``, and, depending on the
    /// ``FailurePolicy``, passed to the calls that wait for a session. A session whose token could not be stored is
    /// logged out at the end.
    public struct TokenStore: Sendable {
        let shared: Shared?

        struct Shared: Sendable {
            let failurePolicy: FailurePolicy
            let load: @Sendable (Key) async throws -> String?
            let save: @Sendable (String, Key) async throws -> Bool
            let remove: @Sendable (String, Key) async throws -> Void
        }

        /// What happens to calls that need a session when the store cannot be read.
        public enum FailurePolicy: Hashable, Sendable {
            /// They fail with ``FMRest/APIError/Code/tokenStore``, and nothing is sent: the setup is wrong, and without
            /// its store the program would open more sessions than intended.
            case fail
            /// The store counts as empty: this costs logins, but no call fails.
            case logIn
        }

        private init(_ shared: Shared?) {
            self.shared = shared
        }

        /// Tokens stay in memory: sessions live as long as their database object and are logged out with it. This is
        /// the default.
        public static let memory = TokenStore(nil)

        /// A custom store: a cache that several machines share, a keychain.
        ///
        /// For each database, the closures are called one at a time, and must return.
        ///
        /// - Parameters:
        ///   - onFailure: what happens to calls when `load` throws. The default is ``FailurePolicy/logIn``.
        ///   - load: returns the token stored under the key, or `nil`.
        ///   - save: stores a token under the key, unless another one is there already (like `SET … NX` of Redis), and
        ///     returns whether it did. If two processes log in at the same time, one of them so keeps its session to
        ///     itself, and logs it out at its end.
        ///   - remove: removes the entry *if it still holds this token*; another process may have replaced it.
        public init(
            onFailure: FailurePolicy = .logIn,
            load: @escaping @Sendable (_ key: Key) async throws -> String?,
            save: @escaping @Sendable (_ token: String, _ key: Key) async throws -> Bool,
            remove: @escaping @Sendable (_ token: String, _ key: Key) async throws -> Void
        ) {
            self.init(Shared(failurePolicy: onFailure, load: load, save: save, remove: remove))
        }
    }
}

extension DataAPI.TokenStore {
    /// Identifies an entry: the server, the database, and a digest of the login and its data sources. Two accounts
    /// never share an entry, nor do two passwords: a login with a wrong password does not find the session of one with
    /// the right password.
    public struct Key: Hashable, Sendable {
        /// The server, as `scheme://host:port`.
        public let host: String
        /// The hosted file's name.
        public let database: String
        /// A digest, in hexadecimal digits, of the account's name, the names of the data sources, and all their
        /// passwords: PBKDF2 with HMAC-SHA-256, 1,000 rounds. A reader of the keys can test password guesses at that
        /// cost. A changed password changes the key.
        ///
        /// Source: [RFC 8018](https://www.rfc-editor.org/rfc/rfc8018), 5.2.
        public let identity: String

        /// A key; see the properties for its parts.
        public init(host: String, database: String, identity: String) {
            self.host = host
            self.database = database
            self.identity = identity
        }
    }
}

extension DataAPI.TokenStore.Key: CustomStringConvertible {
    /// The key as one line of text, unique to it.
    public var description: String {
        DigestText([host, database, identity]).text
    }
}

extension DataAPI.TokenStore.Key {
    /// The key of a database's sessions; `nil` if the login has no identity: an OAuth pair, a Claris ID token or a
    /// session token without a name.
    init?(
        host: String,
        database: String,
        credentials: DataAPI.CredentialsProvider,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) {
        guard let account = credentials.identity else { return nil }
        let host = host.lowercased()
        var (names, secrets) = ([host, database, account], credentials.owner.passwords)
        for source in dataSources?.fmDataSource ?? [] {
            names.append(source.database)
            switch source.credentials {
            case .basic(let user, let password):
                names += ["basic", user]
                secrets.append(password)
            case .oAuth(let requestId, let identifier):
                names.append("oAuth")
                secrets += [requestId, identifier]
            }
        }
        let digest = DigestText(secrets).stretched(salt: DigestText(names), rounds: 1000)
        self.init(
            host: host,
            database: database,
            identity: digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        )
    }
}

extension DataAPI.CredentialsProvider.Owner {
    /// The secrets that prove the identity, in addition to the name.
    fileprivate var passwords: [String] {
        guard case .holder(let credentials) = self, case .basic(_, let password) = credentials.secret else { return [] }
        return [password]
    }
}
