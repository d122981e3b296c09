/// Identifies the owner of sessions, reads and caches. Logins of one account are equal; all others differ.
///
/// The same name with another password is another account: a login with an unproven password must not share anything
/// with one that is proven. A session token, a key, an OAuth pair and a Claris ID token do not name their user, so each
/// is an account of its own, and so is each provider without an identity. Data sources are part of the account, since
/// other credentials for them give access to other records.
///
/// It stores a digest, no secrets, and prints neither.
struct Account: Hashable, Sendable {
    private let digest: [UInt8]

    /// `nil` if the credentials are `.invalid`.
    init?(_ login: DataAPI.Login) {
        guard var parts = login.provider.owner.parts else { return nil }
        for source in login.dataSources?.fmDataSource ?? [] {
            parts.append(source.database)
            switch source.credentials {
            case .basic(let user, let password): parts += ["basic", user, password]
            case .oAuth(let requestId, let identifier): parts += ["oAuth", requestId, identifier]
            }
        }
        digest = DigestText(parts).digest
    }
}

extension Account: CustomStringConvertible, CustomReflectable {
    var description: String { "Account(••••)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension DataAPI.CredentialsProvider.Owner {
    /// The parts that distinguish this owner from every other; `nil` for `.invalid` credentials.
    fileprivate var parts: [String]? {
        switch self {
        case .named(let identity): ["named", identity]
        case .unnamed(let number): ["unnamed", "\(number)"]
        case .holder(let credentials):
            switch credentials.secret {
            case .basic(let user, let password): ["basic", user, password]
            case .oAuth(let requestId, let identifier): ["oAuth", requestId, identifier]
            case .clarisId(let token): ["clarisId", token]
            case .token(let token): ["token", token]
            case .key(let key): ["key", key]
            case .invalid: nil
            }
        }
    }
}
