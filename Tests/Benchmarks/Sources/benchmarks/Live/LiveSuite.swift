import FMData
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

/// The cost of a live query of 10,000 records while nothing changes, the time until a change arrives, the cost of a
/// thousand subscribers, and the memory of a held record.
///
/// Figures: `live.look.<way>.<requests|bytes|cpu_us>` for a quiet poll, `live.look.logins` for all polls together,
/// `live.latency_ms.<poll|wake>` from a commit to the change, with a poll every two seconds and with a wake-up,
/// `live.fanout.requests` of a poll for 1,000 subscribers of one query, `live.fanout.change_ms` of the client's
/// processor until all of them have received one changed record among 10,000, and
/// `live.memory.<held|resident>_per_record.<live|array>` of 100,000 records: without and with free memory that was not
/// yet returned to the system.
enum LiveSuite: Suite {
    static let name = "live"

    private static let recordCount = 10_000
    private static let ways: [(name: String, watch: DataAPI.LiveWatch)] = [
        ("reread", .reread), ("scan", .scan("Vessels (ids)")),
        ("stamp", .stamp("Changed", scan: "Vessels (ids)", reconcile: 1_000)),
        ("log", .log("Log", serial: "Serial", reconcile: 1_000)),
    ]

    static func run(_ report: inout Report, _ options: Options) async throws {
        let server = try FleetServer(records: recordCount)
        var logins = 0.0
        for (name, watch) in ways where options.measures(name) {
            let figures = try await quietLook(watch, server, rounds: 4 * options.rounds)
            report["live.look.\(name).requests"] = figures.requests
            report["live.look.\(name).bytes"] = figures.bytes
            report["live.look.\(name).cpu_us"] = figures.microseconds
            logins += figures.logins
            report["live.look.logins"] = logins
            print(
                """
                a quiet look by \(name): \(figures.requests) requests, \(Int(figures.bytes)) bytes, \
                \(Int(figures.microseconds)) us of the client's processor, \(figures.logins) logins in all
                """
            )
        }
        if options.measures("latency") { try await latency(&report, server, options) }
        if options.measures("fanout") {
            try await fanout(&report, server)
            try await toldChange(&report, server, options)
        }
        if options.measures("lost") { try await lostAnswer(&report, server) }
        server.stop()
        if options.measures("own") { try await ownCalls(&report) }
        if options.measures("memory") { try memory(&report) }
    }

    private static func options(_ watch: DataAPI.LiveWatch) -> DataAPI.LiveOptions {
        // Polls happen only on request.
        DataAPI.LiveOptions(watch: watch, every: .seconds(3_600) ... .seconds(3_600), maximumRecords: 1_000_000)
    }

    private static func quietLook(
        _ watch: DataAPI.LiveWatch,
        _ server: FleetServer,
        rounds: Int
    ) async throws -> QuietLook {
        let query = server.vessels().live(options(watch))
        let history = PollHistory(query)
        let subscription = query.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        await history.untilEnded(1)
        let before = try server.counts()
        var times: [Double] = []
        for round in 1...rounds {
            let start = processorSeconds()
            query.refresh()
            await history.untilEnded(1 + round)
            times.append((processorSeconds() - start) * 1e6)
        }
        let after = try server.counts()
        subscription.cancel()
        return QuietLook(
            requests: Double(after.requests - before.requests) / Double(rounds),
            bytes: Double(after.bytes - before.bytes) / Double(rounds),
            logins: Double(after.logins - before.logins),
            microseconds: times.median
        )
    }

    private struct QuietLook {
        var requests: Double
        var bytes: Double
        /// Of all polls together.
        var logins: Double
        var microseconds: Double
    }

    private static func memory(_ report: inout Report) throws {
        let count = 100_000
        let server = try FleetServer(records: count)
        for way in [RecordHolder.Way.live, .array] {
            let bytes = try RecordHolder.bytes(way, at: server.url)
            let (held, resident) = (bytes.held / Double(count), bytes.resident / Double(count))
            report["live.memory.held_per_record.\(way)"] = held
            report["live.memory.resident_per_record.\(way)"] = resident
            print("a record that \(way) holds takes \(Int(held)) bytes, and \(Int(resident)) with what is free")
        }
        server.stop()
    }

    private static func latency(_ report: inout Report, _ server: FleetServer, _ options: Options) async throws {
        let others = server.vessels()
        for (name, isWoken) in [("poll", false), ("wake", true)] {
            let vessels = server.vessels(sessions: 2)
            var live = Self.options(.scan("Vessels (ids)"))
            if !isWoken { live.every = .seconds(2) ... .seconds(2) }
            let query = vessels.find { $0(.number) <= 100 }.live(live)
            let arrivals = Arrivals()
            let subscription = query.sink(receiveCompletion: { _ in }, receiveValue: { _ in arrivals.arrived() })
            await arrivals.untilCount(1)
            var waits: [Double] = []
            for round in 1...(4 * options.rounds) {
                // The server's poll rate limit must not affect the result, and commits must not run in step with the
                // polls.
                try await Task.sleep(for: .milliseconds(1_000 + 137 * round % 1_000))
                _ = try await others.edit(1 + round % 50, setting: ["Notes": .text("Note \(round)")]).firstValue()
                let start = ContinuousClock.now
                if isWoken { query.refresh() }
                await arrivals.untilCount(1 + round)
                waits.append((ContinuousClock.now - start) / .milliseconds(1))
            }
            subscription.cancel()
            report["live.latency_ms.\(name)"] = waits.median
            print("from a commit to the change by \(name): \(waits.median) ms")
        }
    }

    private static func lostAnswer(_ report: inout Report, _ server: FleetServer) async throws {
        let others = server.vessels()
        var live = options(.scan("Vessels (ids)"))
        live.every = .seconds(1) ... .seconds(1)
        let query = server.vessels().live(live)
        let arrivals = Arrivals()
        let subscription = query.sink(receiveCompletion: { _ in }, receiveValue: { _ in arrivals.arrived() })
        await arrivals.untilCount(1)
        try server.loseAnswer()
        let start = ContinuousClock.now
        _ = try await others.edit(17, setting: ["Notes": "Told late"]).firstValue()
        await arrivals.untilCount(2)
        let wait = (ContinuousClock.now - start) / .seconds(1)
        subscription.cancel()
        report["live.lost_answer_s"] = wait
        print("from an answer that is lost to the next change: \(String(format: "%.1f", wait)) s")
    }

    private static func ownCalls(_ report: inout Report) async throws {
        let server = try FleetServer(records: 1_000, latency: 5)
        let vessels = server.vessels(sessions: 4)
        func measure(_ name: String) async throws {
            var times: [Double] = []
            for round in 1...400 {
                let start = ContinuousClock.now
                _ = try await vessels.record(id: 1 + round % 1_000).firstValue()
                times.append((ContinuousClock.now - start) / .milliseconds(1))
            }
            times.sort()
            let (p50, p95) = (times[times.count / 2], times[times.count * 95 / 100])
            report["live.own_calls_ms.\(name).p50"] = p50
            report["live.own_calls_ms.\(name).p95"] = p95
            print(String(format: "own calls %@: p50 %.1f ms, p95 %.1f ms", name, p50, p95))
        }
        try await measure("alone")
        var subscriptions: [AnyCancellable] = []
        let arrivals = Arrivals()
        for number in 1...20 {
            var live = options(.automatic)
            live.every = .seconds(1) ... .seconds(1)
            let query = vessels.find { $0(.number) <= 10 * number }.live(live)
            subscriptions.append(
                query.sink(receiveCompletion: { _ in }, receiveValue: { _ in arrivals.arrived() })
            )
        }
        await arrivals.untilCount(20)
        try await measure("beside")
        for subscription in subscriptions { subscription.cancel() }
        server.stop()
    }

    private static func fanout(_ report: inout Report, _ server: FleetServer) async throws {
        let query = server.vessels().find { $0(.number) <= 100 }.live(options(.reread))
        let history = PollHistory(query)
        let arrivals = Arrivals()
        let subscriptions = (0..<1_000).map { _ in
            query.sink(receiveCompletion: { _ in }, receiveValue: { _ in arrivals.arrived() })
        }
        await arrivals.untilCount(1_000)
        await history.untilEnded(1)
        let before = try server.counts().requests
        query.refresh()
        await history.untilEnded(2)
        let requests = Double(try server.counts().requests - before)
        report["live.fanout.requests"] = requests
        print("a look for 1,000 subscribers of one query: \(requests) requests")
        for subscription in subscriptions { subscription.cancel() }
    }

    private static func toldChange(_ report: inout Report, _ server: FleetServer, _ options: Options) async throws {
        let (others, subscribers) = (server.vessels(), 1_000)
        let query = server.vessels().live(Self.options(.scan("Vessels (ids)")))
        let arrivals = Arrivals()
        let subscriptions = (0..<subscribers).map { _ in
            query.sink(receiveCompletion: { _ in }, receiveValue: { _ in arrivals.arrived() })
        }
        await arrivals.untilCount(subscribers)
        var times: [Double] = []
        for round in 1...options.rounds {
            _ = try await others.edit(round, setting: ["Notes": .text("Told \(round)")]).firstValue()
            let start = processorSeconds()
            query.refresh()
            await arrivals.untilCount((1 + round) * subscribers)
            times.append((processorSeconds() - start) * 1e3)
        }
        report["live.fanout.change_ms"] = times.median
        print("one change told to 1,000 subscribers of 10,000 records: \(times.median) ms of the client's processor")
        for subscription in subscriptions { subscription.cancel() }
    }
}

/// Counts arrivals, and lets a task wait for a number of them.
final class Arrivals: Sendable {
    private struct State {
        var count = 0
        var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = NIOLockedValueBox(State())

    func arrived() {
        let ready = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
            state.count += 1
            guard let waiting = state.waiting, state.count >= waiting.count else { return nil }
            state.waiting = nil
            return waiting.continuation
        }
        ready?.resume()
    }

    func untilCount(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLockedValue { state in
                if state.count >= count { return true }
                state.waiting = (count, continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}

/// Counts the completed polls of a live query.
struct PollHistory {
    private let ends = Arrivals()
    private let subscription: AnyCancellable

    /// Must be made before the query has a subscriber.
    init<R: RecordFields>(_ query: DataAPI.LiveQuery<R>) {
        subscription = query.status.sink { [ends] status in
            if status.kind == .waiting { ends.arrived() }
        }
    }

    func untilEnded(_ count: Int) async { await ends.untilCount(count) }
}
