import NIOCore

/// What a pool tells its owner. Calls come one at a time and in order, outside of any lock, on the thread of whatever
/// caused them.
struct SessionObserver: Sendable {
    var transition: @Sendable (SessionTransition) -> Void = { _ in }
    /// The server refused a session, and the request that met this goes again in another. Called by that request, in no order
    /// with the others.
    var repeats: @Sendable (FMRest.APIError) -> Void = { _ in }
    /// The pool is closed, nobody asked how that went, and the server may have sessions until then.
    var left: @Sendable ([NIODeadline]) -> Void = { _ in }
    /// The pool begins to shut down: requests are refused from now on.
    var shutDown: @Sendable () -> Void = {}
    /// The token store failed.
    var storeFailed: @Sendable (any Error) -> Void = { _ in }
}

/// How the end of a pool's sessions went.
struct SessionEnd: Sendable {
    /// How many the server may still have.
    let left: Int
    /// Of the first logout that failed for good.
    let error: FMRest.APIError?
}

/// What has become of the credentials.
enum SessionTransition: Sendable {
    case loggedIn(SessionToken)
    /// The credentials were refused, and no session is left.
    case lost(FMRest.APIError)
    /// `logOut()` was asked for and is done. The next request logs in again.
    case loggedOut
    /// The account is another one from now on, whatever was told of the one before.
    case replaced
}
