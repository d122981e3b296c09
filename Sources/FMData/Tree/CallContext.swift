import Logging
import NIOCore

/// What holds for the calls that are made through a server, a database or a layout, and for one of them once it has begun.
struct CallContext: Sendable {
    /// The limits of the server's configuration.
    private let configured: DataAPI.Timeouts
    private(set) var options: DataAPI.CallOptions
    /// The time of the one call that this is for; `nil` until it begins, or when it may take any time.
    private(set) var clock: CallClock?

    init(_ configured: DataAPI.Timeouts) {
        self.configured = configured
        options = DataAPI.CallOptions(timeouts: configured)
    }

    /// For calls with other options.
    func changed(_ change: (inout DataAPI.CallOptions) -> Void) -> CallContext {
        var context = ofOtherCalls
        change(&context.options)
        return context
    }

    /// For one call: all its steps share its time, which begins with the first.
    var ofOneCall: CallContext {
        guard clock == nil, let total = options.timeouts.total else { return self }
        var context = self
        context.clock = CallClock(total)
        return context
    }

    /// The same, whose steps are all made in this tenure, and see what the host has: what one of them decides must not rest on an
    /// answer that was kept.
    func ofOneCall(in tenure: Tenure) -> CallContext {
        var context = ofOneCall
        context.options.tenure = tenure
        context.options.cacheTime = nil
        return context
    }

    /// For the calls that follow: each has its own time.
    var ofOtherCalls: CallContext {
        var context = self
        context.clock = nil
        return context
    }

    /// For the calls of somebody else.
    var ofAnotherAccount: CallContext { changed { $0.tenure = nil } }

    /// For the call's next request.
    func next(at now: NIODeadline) -> RequestContext {
        RequestContext(limits: limits(at: now), logger: options.logger, tag: options.tag)
    }

    /// `nil` when the HTTP client knows them already.
    private func limits(at now: NIODeadline) -> RequestLimits? {
        let timeouts = options.timeouts
        if clock == nil, timeouts == configured { return nil }
        var left = timeouts
        left.total = clock?.remaining(at: now)
        return RequestLimits(timeouts: timeouts, left: left)
    }
}

/// What holds for one request of a call.
struct RequestContext: Sendable {
    /// `nil` for those of the server's configuration.
    var limits: RequestLimits?
    /// `nil` for that of the server's configuration.
    var logger: Logger?
    var tag: String?
    /// What compares the answer with the type that it is read into; `nil` when nobody wants to know.
    var models: ModelSight?
    /// Is called on the connection's event loop when the request is about to be written, and again when that is repeated.
    var willBeSent: (@Sendable () -> Void)?
}

/// The time limits of one request of a call.
struct RequestLimits: Hashable, Sendable {
    /// As they were set.
    let timeouts: DataAPI.Timeouts
    /// As they are now, with what is left of the whole.
    let left: DataAPI.Timeouts

    /// What is left, unless the call's time is over: then nothing more is sent.
    func checked() throws(FMRest.APIError) -> DataAPI.Timeouts {
        guard let remaining = left.total, remaining <= .zero else { return left }
        throw FMRest.APIError(
            .timeout,
            reason: "The call was about to send its next request; the limit was timeouts.total, "
                + "\(timeouts.total ?? .zero)."
        )
    }
}
