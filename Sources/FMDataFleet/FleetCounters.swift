import NIOConcurrencyHelpers

/// Counts of what a process did as a member of a fleet, since its ``Fleet`` was made.
public struct FleetCounters: Hashable, Sendable {
    /// Slots taken.
    public var slotsTaken = 0
    /// Slots that others asked for while they were held.
    public var recalls = 0
    /// Slots that were held by somebody else when the store was told of them: this process had not renewed them in
    /// time.
    public var slotsLost = 0
    /// Slots whose holders before died during a login, or had no answer to it, so that the host may have a session that
    /// nobody knows. It drops each of them after 15 minutes.
    public var strays = 0
    /// Logins that found the host full, each of which limits the whole fleet for a minute.
    public var fullHosts = 0
    /// Tokens that could not be opened: sealed with a key that this process does not have, or changed.
    public var unreadableTokens = 0
    /// Sessions that were opened without a slot, since the store did not answer.
    public var sessionsWithoutStore = 0
    /// Commands to the store that failed.
    public var storeFailures = 0
    /// Commands sent to the store.
    public var commands = 0

    /// No counts.
    public init() {}
}

/// Counts that several members share.
final class FleetCounting: Sendable {
    private let counters = NIOLockedValueBox(FleetCounters())

    var now: FleetCounters { counters.withLockedValue { $0 } }

    func add(_ change: (inout FleetCounters) -> Void) { counters.withLockedValue { change(&$0) } }
}
