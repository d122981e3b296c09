import OpenCombine

/// The pool's access to its server.
///
/// Both publishers are cold: one exchange per subscription. They always end, since the transport has time limits.
struct SessionAuthenticator: Sendable {
    /// Opens one session: asks the credentials provider, sends the login, and publishes the token.
    ///
    /// The pool cancels it when no request has waited for it for some time. A token that still arrives is logged out.
    var logIn: @Sendable () -> AnyPublisher<SessionToken, FMRest.APIError>

    /// Ends one session. The pool forgets the token whatever the answer is.
    var logOut: @Sendable (SessionToken) -> AnyPublisher<Void, FMRest.APIError>
}

extension SessionAuthenticator {
    /// Logs in with the credentials that the gate supplies.
    ///
    /// - Parameters:
    ///   - logIn: sends one login with the given credentials.
    ///   - logOut: sends one logout.
    init(
        gate: CredentialsGate,
        logIn: @escaping @Sendable (DataAPI.Credentials) -> AnyPublisher<SessionToken, FMRest.APIError>,
        logOut: @escaping @Sendable (SessionToken) -> AnyPublisher<Void, FMRest.APIError>
    ) {
        self.init(logIn: { gate.logIn(logIn) }, logOut: logOut)
    }
}
