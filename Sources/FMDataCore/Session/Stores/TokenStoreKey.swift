import FMHTTP

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
        self.init(host: host, database: database, identity: digest.hexadecimal)
    }
}

extension DataAPI.CredentialsProvider.Owner {
    /// The secrets that prove the identity, in addition to the name.
    fileprivate var passwords: [String] {
        guard case .holder(let credentials) = self, case .basic(_, let password) = credentials.secret else { return [] }
        return [password]
    }
}

extension DataAPI.TokenStore.Key {
    /// SHA-256 of the key's text, in hexadecimal digits.
    package var digest: String { SHA256.hash(Array(description.utf8)).hexadecimal }
}
