import FMHTTP

extension DataAPI.TokenStore {
    /// Whose session an entry is: the server, the database, and a digest of who logged in and of the data sources that
    /// went along. Two accounts never share an entry, and neither do two passwords: whoever has a wrong one finds no
    /// session of who has the right one.
    public struct Key: Hashable, Sendable {
        /// The server, as `scheme://host:port`.
        public let host: String
        /// The hosted file's name.
        public let database: String
        /// A digest, in hexadecimal digits, of the account's name and those of the data sources, and of their
        /// passwords: PBKDF2 with HMAC-SHA-256, 1,000 rounds. Whoever can read keys can try passwords on them at that
        /// price. When a password changes, so does the key.
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
    /// One line that no other key has.
    public var description: String {
        DigestText([host, database, identity]).text
    }
}

extension DataAPI.TokenStore.Key {
    /// The key of a database's sessions; `nil` when nothing names who logs in: an OAuth pair, a Claris ID token or a
    /// session token that came without a name.
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
    /// What else proves who it is, beside the name.
    fileprivate var passwords: [String] {
        guard case .holder(let credentials) = self, case .basic(_, let password) = credentials.secret else { return [] }
        return [password]
    }
}
