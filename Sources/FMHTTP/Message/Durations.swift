package import NIOCore

extension TimeAmount {
    /// Converts a duration to an amount that can be added to any instant of this century: it is clamped to 0 … 100
    /// years, since a user may pass any duration.
    package init(clamping duration: Duration) {
        let longest = Int64(100 * 365 * 24 * 3600)
        let (seconds, attoseconds) = duration.components
        self =
            if duration < .zero {
                .zero
            } else if seconds >= longest {
                .seconds(longest)
            } else {
                .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            }
    }

    /// The time that a number of bytes takes at a rate in bytes per second.
    init(bytes: Int, at rate: Int) {
        let nanoseconds = Double(bytes) / Double(rate) * 1e9
        self = .nanoseconds(Int64(exactly: nanoseconds.rounded()) ?? .max)
    }
}

extension NIODeadline {
    /// Saturates at `distantFuture` instead of trapping, since several spans may be added.
    func advanced(by amount: TimeAmount) -> NIODeadline {
        let (sum, overflow) = Int64(clamping: uptimeNanoseconds).addingReportingOverflow(amount.nanoseconds)
        return overflow ? .distantFuture : .uptimeNanoseconds(UInt64(max(0, sum)))
    }
}
