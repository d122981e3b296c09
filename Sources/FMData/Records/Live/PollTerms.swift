import NIOCore

/// The terms of one poll: as which account it asks, and how long it waits.
struct PollTerms: Sendable {
    /// The tenure of the account that polls.
    let tenure: Tenure
    /// How long a call waits for the first byte of its answer; `nil` for ever.
    let limit: TimeAmount?
    /// Measures how long the host works for the poll.
    let meter: PollMeter

    /// Applies the terms to the options of the poll's calls.
    func apply(to options: inout DataAPI.CallOptions) {
        options.pollMeter = meter
        options.cacheTime = nil
        if let limit { options.timeouts.firstByte = .nanoseconds(limit.nanoseconds) }
    }
}
