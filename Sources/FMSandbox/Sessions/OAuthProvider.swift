/// The part of an identity provider: pairs of request id and identifier that may each log in once.
struct OAuthProvider: Sendable {
    /// A sign-in that has begun.
    struct Request: Sendable, Equatable {
        /// What the client calls it; it comes back with the identifier.
        var trackingId: String
        /// Where the browser is sent when it is done; nil when nobody waits for it there.
        var returnURL: String?
        /// Who has signed in; nil until somebody has.
        var account: String?
    }

    /// By request id, from the moment the "browser" has been sent to the provider's page.
    private(set) var pending: [String: Request] = [:]
    private var requestCount = 0

    static let providerName = "Sandbox"

    /// Starts a sign-in; the id goes into the login's `X-FM-Data-OAuth-Request-Id`.
    mutating func begin(trackingId: String = "", returnURL: String? = nil) -> String {
        requestCount += 1
        let id = Scrambler.hex(32, seed: "oauth-request", number: requestCount, uppercase: true)
        pending[id] = Request(trackingId: trackingId, returnURL: returnURL)
        return id
    }

    /// Finishes the sign-in of an account, and returns the identifier for the login; nil for an unknown request.
    mutating func signIn(account: String, requestId: String) -> String? {
        guard pending[requestId] != nil else { return nil }
        pending[requestId]?.account = account
        return Self.identifier(requestId: requestId)
    }

    /// The account that a pair stands for.
    func account(requestId: String, identifier: String) -> String? {
        guard let account = pending[requestId]?.account, identifier == Self.identifier(requestId: requestId) else {
            return nil
        }
        return account
    }

    /// The account that a pair stands for; a pair is good for one login.
    mutating func redeem(requestId: String, identifier: String) -> String? {
        guard let account = account(requestId: requestId, identifier: identifier) else { return nil }
        pending[requestId] = nil
        return account
    }

    private static func identifier(requestId: String) -> String {
        Scrambler.hex(40, seed: requestId, number: 1, uppercase: true)
    }
}
