import Logging
import NIOCore

/// The options of the calls that are made through a server, a database or a layout, and the clock of one call once it
/// has begun.
package struct CallContext: Sendable {
    /// The time limits of the server's configuration.
    private let configured: DataAPI.Timeouts
    package var options: DataAPI.CallOptions
    /// The clock of the one call that this context is for; `nil` before the call begins, and for a call without a total
    /// limit.
    package private(set) var clock: CallClock?
    /// The one call that this context is for, if it is observed.
    private(set) var observed: ObservedCall?

    init(_ configured: DataAPI.Timeouts, logger: Logger? = nil) {
        self.configured = configured
        options = DataAPI.CallOptions(timeouts: configured, serverLogger: logger)
    }

    /// The context with changed options, for calls that have not begun.
    func changed(_ change: (inout DataAPI.CallOptions) -> Void) -> CallContext {
        var context = ofOtherCalls
        change(&context.options)
        return context
    }

    /// The context of one call: all its steps share one clock, which starts with the first step.
    var ofOneCall: CallContext {
        guard clock == nil, let total = options.timeouts.total else { return self }
        var context = self
        context.clock = CallClock(total)
        return context
    }

    /// The same for a call that may be observed.
    func ofOneCall(_ observed: ObservedCall?) -> CallContext {
        var context = ofOneCall
        context.observed = observed
        return context
    }

    /// The context of one call whose steps all run in this account period and never read a cached answer: the steps
    /// decide on each other's answers, so these must be what the host has. Their lines in the log have the metadata of
    /// the code that begins the call.
    func ofOneCall(in accountPeriod: AccountPeriod, _ observed: ObservedCall? = nil) -> CallContext {
        var context = ofOneCall(observed)
        context.options.noteCaller()
        context.options.accountPeriod = accountPeriod
        context.options.cacheTime = nil
        return context
    }

    /// The steps that the call's attempts go through, behind those of the server.
    var middleware: [DataAPI.Middleware] { options.middleware + (observed?.middleware ?? []) }

    /// The context of the calls that follow: each gets a clock of its own, and is observed by itself.
    var ofOtherCalls: CallContext {
        var context = self
        context.clock = nil
        context.observed = nil
        return context
    }

    /// The context for the calls of another account: without an account period.
    var ofAnotherAccount: CallContext { changed { $0.accountPeriod = nil } }

    /// The context of the call's next request.
    func next(at now: NIODeadline) -> RequestContext {
        RequestContext(
            limits: limits(at: now),
            logger: options.callLogger,
            tag: options.tag,
            middleware: middleware,
            isPoll: options.pollMeter != nil,
            observed: observed
        )
    }

    /// The limits of the next request; `nil` when the HTTP client's own configuration already says the same.
    private func limits(at now: NIODeadline) -> RequestLimits? {
        let timeouts = options.timeouts
        if clock == nil, timeouts == configured { return nil }
        var left = timeouts
        left.total = clock?.remaining(at: now)
        return RequestLimits(timeouts: timeouts, left: left)
    }
}
