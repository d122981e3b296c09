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
