import Logging

/// The limits, logger and tag of one request of a call.
package struct RequestContext: Sendable {
    /// `nil` for the limits of the server's configuration.
    var limits: RequestLimits?
    /// `nil` for the logger of the server's configuration.
    var logger: Logger?
    var tag: String?
    /// The middleware of the call, behind that of the server.
    var middleware: [DataAPI.Middleware] = []
    /// The number of the attempt, from 1 on; counted only for writes, for middleware and for the log.
    var attempt = 1
    /// Whether a live query makes the call to detect changes.
    var isPoll = false
    /// The call, which counts for its observers; `nil` if it has none.
    var observed: ObservedCall?
    /// Called on the connection's event loop when the request is about to be written, and again when that write is
    /// repeated.
    var willBeSent: (@Sendable () -> Void)?
}

/// The time limits of one request of a call.
struct RequestLimits: Hashable, Sendable {
    /// The limits as they were set.
    let timeouts: DataAPI.Timeouts
    /// The limits as they are now: `total` is what remains of it.
    let left: DataAPI.Timeouts

    /// Returns ``left``; throws when the call's total time is over, so that nothing more is sent.
    func checked() throws(FMRest.APIError) -> DataAPI.Timeouts {
        guard let remaining = left.total, remaining <= .zero else { return left }
        throw FMRest.APIError(
            .timeout,
            reason: "The call was about to send its next request; the limit was timeouts.total, "
                + "\(timeouts.total ?? .zero)."
        )
    }
}
