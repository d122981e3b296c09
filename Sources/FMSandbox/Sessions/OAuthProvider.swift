/// The simulated identity provider: pairs of request id and identifier, each of which allows one login.
struct OAuthProvider: Sendable {
    /// A sign-in that was started.
    struct Request: Sendable, Equatable {
        /// The client's id of the sign-in, which is returned together with the identifier.
        var trackingId: String
        /// The URL to which the browser is redirected after the sign-in; nil if the client gave none.
        var returnURL: String?
        /// The account that has signed in; nil before that.
        var account: String?
    }

    /// The sign-ins by request id, from the moment at which the client received the URL of the sign-in page.
    private(set) var pending: [String: Request] = [:]
    private var requestCount = 0

    static let providerName = "Sandbox"

    /// Starts a sign-in. Returns the request id for the login's `X-FM-Data-OAuth-Request-Id`.
    mutating func begin(trackingId: String = "", returnURL: String? = nil) -> String {
        requestCount += 1
        let id = Scrambler.hex(32, seed: "oauth-request", number: requestCount, uppercase: true)
        pending[id] = Request(trackingId: trackingId, returnURL: returnURL)
        return id
    }

    /// Finishes the sign-in of an account. Returns the identifier for the login; nil if the request is unknown.
    mutating func signIn(account: String, requestId: String) -> String? {
        guard pending[requestId] != nil else { return nil }
        pending[requestId]?.account = account
        return Self.identifier(requestId: requestId)
    }

    /// The account of a pair of request id and identifier; nil if there is none.
    func account(requestId: String, identifier: String) -> String? {
        guard let account = pending[requestId]?.account, identifier == Self.identifier(requestId: requestId) else {
            return nil
        }
        return account
    }

    /// Consumes a pair and returns its account; a pair allows only one login.
    mutating func redeem(requestId: String, identifier: String) -> String? {
        guard let account = account(requestId: requestId, identifier: identifier) else { return nil }
        pending[requestId] = nil
        return account
    }

    private static func identifier(requestId: String) -> String {
        Scrambler.hex(40, seed: requestId, number: 1, uppercase: true)
    }
}
