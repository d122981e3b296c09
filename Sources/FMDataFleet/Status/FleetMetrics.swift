#if Fleet && Metrics
public import Metrics
import NIOConcurrencyHelpers

/// The figures of a fleet, by swift-metrics. It takes the traits `Fleet` and `Metrics`.
///
///     let metrics = FleetMetrics(of: fleet)
///     while !Task.isCancelled {
///         await metrics.record()
///         try await Task.sleep(for: .seconds(15))
///     }
///
/// | figure | kind | counts |
/// |---|---|---|
/// | `filemaker.fleet.slots` | gauge | slots, `state` is `held`, `free` or `opening` |
/// | `filemaker.fleet.members` | gauge | members that hold slots or wait for one |
/// | `filemaker.fleet.waiting` | gauge | members that wait |
/// | `filemaker.fleet.logins` | gauge | logins since the store was started, by all processes |
/// | `filemaker.fleet.strays` | gauge | holders that died during a login or had no answer to it, likewise |
/// | `filemaker.fleet.events` | counter | what this process counts in ``FleetCounters``, `event` says which |
///
/// The gauges are what the store knows, so every process reports the same values: show one or the greatest, not their
/// sum. Their dimension `filemaker.fleet.pool` is the ``FleetStatus/Pool/name`` of a login. While the store does not
/// answer, they stay as they were.
public final class FleetMetrics: Sendable {
    private let fleet: Fleet
    private let factory: any MetricsFactory
    /// What was counted so far.
    private let counted = NIOLockedValueBox(FleetCounters())

    /// Figures of a fleet that are not recorded yet.
    ///
    /// - Parameters:
    ///   - fleet: the fleet of this process.
    ///   - factory: the backend. The default is the one that the program has bootstrapped.
    public init(of fleet: Fleet, factory: any MetricsFactory = MetricsSystem.factory) {
        self.fleet = fleet
        self.factory = factory
    }

    /// Records the figures as they are now.
    public func record() async {
        let status = try? await fleet.status()
        for pool in status?.pools ?? [] { record(pool) }
        let new = fleet.counters
        let old = counted.withLockedValue { counted in
            defer { counted = new }
            return counted
        }
        for (event, count) in Self.events where new[keyPath: count] > old[keyPath: count] {
            Counter(label: "filemaker.fleet.events", dimensions: [("event", event)], factory: factory)
                .increment(by: new[keyPath: count] - old[keyPath: count])
        }
    }

    private func record(_ pool: FleetStatus.Pool) {
        func record(_ name: String, _ value: Int, _ more: [(String, String)] = []) {
            let dimensions = [("filemaker.fleet.pool", pool.name)] + more
            Gauge(label: "filemaker.fleet.\(name)", dimensions: dimensions, factory: factory).record(value)
        }
        let opening = pool.slots.count { $0.holder != nil && $0.isOpening }
        let held = pool.slots.count { $0.holder != nil && !$0.isOpening }
        record("slots", held, [("state", "held")])
        record("slots", opening, [("state", "opening")])
        record("slots", pool.slots.count - held - opening, [("state", "free")])
        record("members", pool.members.count)
        record("waiting", pool.waiting.count)
        record("logins", pool.logins)
        record("strays", pool.strays)
    }

    private static let events: [(String, any KeyPath<FleetCounters, Int> & Sendable)] = [
        ("slotTaken", \.slotsTaken),
        ("recall", \.recalls),
        ("slotLost", \.slotsLost),
        ("stray", \.strays),
        ("fullHost", \.fullHosts),
        ("unreadableToken", \.unreadableTokens),
        ("sessionWithoutStore", \.sessionsWithoutStore),
        ("storeFailure", \.storeFailures),
        ("command", \.commands),
    ]
}
#endif
