/// Whose sessions, reads and caches are whose: equal for logins of one account, and for no others.
///
/// A name with another password is another account: whoever has not proved who he is shares nothing with who has. The
/// token of a session, an OAuth pair and a Claris ID token do not say whose they are, so each is an account of its own,
/// and so is each provider that names none. Data sources belong to it, since with other credentials for them other
/// records are seen.
///
/// It keeps a digest and no secret, and shows neither.
struct Account: Hashable, Sendable {
    private let digest: [UInt8]

    /// `nil` where there is nobody to log in.
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
    /// What tells it from every other.
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
            case .invalid: nil
            }
        }
    }
}
