import FMHTTP

extension DataAPI.TokenStore {
    /// Whose session an entry is: the server, the database, and a digest of who logged in and of the data sources that
    /// went along. Two accounts never share an entry, and no password can be guessed from one.
    public struct Key: Hashable, Sendable {
        /// The server, as `scheme://host:port`.
        public let host: String
        /// The hosted file's name.
        public let database: String
        /// A SHA-256 digest, in hexadecimal digits, of the account's name and those of the data sources. No password is
        /// part of it.
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
        var parts = [account]
        for source in dataSources?.fmDataSource ?? [] {
            parts.append(source.database)
            switch source.credentials {
            case .basic(let user, _): parts += ["basic", user]
            // One-time secrets: random enough for their digest to tell nothing.
            case .oAuth(let requestId, let identifier): parts += ["oAuth", requestId, identifier]
            }
        }
        let digest = SHA256.hash(Array(DigestText(parts).text.utf8))
        self.init(
            host: host.lowercased(),
            database: database,
            identity: digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        )
    }
}

/// Several texts as one, so that different lists give different texts: each is preceded by its length.
private struct DigestText {
    let text: String

    init(_ parts: [String]) {
        text = parts.map { "\($0.utf8.count):\($0)" }.joined(separator: " ")
    }
}
