import NIOCore

/// The callbacks of a pool to its owner. They are called one at a time and in order, outside of any lock, on the thread
/// that caused the change; exceptions are noted below.
struct SessionObserver: Sendable {
    var transition: @Sendable (SessionTransition) -> Void = { _ in }
    /// The server refused a session, and the request that met this is repeated in another. Called by that request, in
    /// no order with the other callbacks.
    var repeats: @Sendable (AttemptFailure) -> Void = { _ in }
    /// The pool is closed, its end was not awaited, and the server may still have sessions, until these instants.
    var left: @Sendable ([NIODeadline]) -> Void = { _ in }
    /// The pool begins to shut down and refuses requests from now on. Called directly, in no order with the other
    /// callbacks.
    var shutDown: @Sendable () -> Void = {}
    /// A request has got a session after it had to wait for one, this long. Called by that request, in no order with
    /// the other callbacks.
    var waited: (@Sendable (SessionToken, TimeAmount) -> Void)?
    /// The number of sessions, or their limit, has changed.
    var changed: (@Sendable (DataAPI.SessionStatus) -> Void)?
    /// A login found the host full, while no session can serve. Called directly, in no order with the other callbacks.
    var shutOut: @Sendable (FMRest.APIError) -> Void = { _ in }
    /// The token store failed. Called directly, in no order with the other callbacks.
    var storeFailed: @Sendable (any Error) -> Void = { _ in }
    /// The budget failed. Called directly, in no order with the other callbacks.
    var budgetFailed: @Sendable (any Error) -> Void = { _ in }
}

/// The result of ending a pool's sessions.
struct SessionEnd: Sendable {
    /// The number of sessions that the server may still have.
    let left: Int
    /// The error of the first logout that failed finally.
    let error: FMRest.APIError?
}

/// A change of the credentials that a database shows.
enum SessionTransition: Sendable {
    case loggedIn(SessionToken)
    /// The credentials were refused, and no session is left.
    case lost(FMRest.APIError)
    /// `logOut()` was asked for and is done. The next request logs in again.
    case loggedOut
    /// The account has been replaced by another one, whatever was reported of the previous account.
    case replaced
}
