import FMHTTP
import NIOCore

/// The time limits of the calls that are made through a database or a layout: the server's, or others.
struct CallLimits: Sendable {
    /// Those of the server's configuration.
    let configured: DataAPI.Timeouts
    var timeouts: DataAPI.Timeouts
    /// The time of the one call that these limits are for; `nil` until it begins, or when it may take any time.
    private(set) var clock: CallClock?

    init(_ configured: DataAPI.Timeouts) {
        self.configured = configured
        timeouts = configured
    }

    /// For one call: all its steps share its time, which begins with the first.
    var ofOneCall: CallLimits {
        guard clock == nil, let total = timeouts.total else { return self }
        var limits = self
        limits.clock = CallClock(total)
        return limits
    }

    /// For the calls that follow: each has its own time.
    var ofOtherCalls: CallLimits {
        var limits = self
        limits.clock = nil
        return limits
    }

    /// What holds for the call's next request; `nil` when the HTTP client knows it already.
    func next(at now: NIODeadline) -> RequestLimits? {
        if clock == nil, timeouts == configured { return nil }
        var left = timeouts
        left.total = clock?.remaining(at: now)
        return RequestLimits(timeouts: timeouts, left: left)
    }
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
