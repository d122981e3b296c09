/// What a pool tells its owner. Calls come one at a time and in order, outside of any lock, on the thread of whatever
/// caused them.
struct SessionObserver: Sendable {
    var transition: @Sendable (SessionTransition) -> Void = { _ in }
    /// The server refused a session, and the request that met this goes again in another. Called by that request, in no order
    /// with the others.
    var repeats: @Sendable (FMRest.APIError) -> Void = { _ in }
    /// The token store failed. The pool goes on as if it were empty.
    var storeFailed: @Sendable (any Error) -> Void = { _ in }
}

/// Who waits for the end of a pool's sessions; called once, outside of any lock, with the error of a logout that failed.
protocol EndingWaiter: AnyObject, Sendable {
    func finish(_ error: FMRest.APIError?)
}

/// What has become of the credentials.
enum SessionTransition: Sendable {
    case loggedIn(SessionToken)
    /// The credentials were refused, and no session is left.
    case lost(FMRest.APIError)
    /// `logOut()` was asked for and is done. The next request logs in again.
    case loggedOut
}
