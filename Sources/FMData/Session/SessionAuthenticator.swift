import OpenCombine

/// How a pool reaches its server.
///
/// Both publishers are cold, one exchange per subscription, and end by themselves (the transport has its time limits).
struct SessionAuthenticator: Sendable {
    /// Opens one session: asks the credentials provider, sends the login, publishes the token.
    ///
    /// The pool cancels it when nobody has waited for it for some time. A token that arrives all the same is logged out.
    var logIn: @Sendable () -> AnyPublisher<SessionToken, FMRest.APIError>

    /// Ends one session. The pool forgets the token whatever comes back.
    var logOut: @Sendable (SessionToken) -> AnyPublisher<Void, FMRest.APIError>
}

extension SessionAuthenticator {
    /// Logs in with what the gate lets through.
    ///
    /// - Parameters:
    ///   - logIn: sends one login with these credentials.
    ///   - logOut: sends one logout.
    init(
        gate: CredentialsGate,
        logIn: @escaping @Sendable (DataAPI.Credentials) -> AnyPublisher<SessionToken, FMRest.APIError>,
        logOut: @escaping @Sendable (SessionToken) -> AnyPublisher<Void, FMRest.APIError>
    ) {
        self.init(logIn: { gate.logIn(logIn) }, logOut: logOut)
    }
}
