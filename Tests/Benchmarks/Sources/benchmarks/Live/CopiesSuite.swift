import FMData
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

/// The cost of following 100,000 records of which the program keeps a copy, with each poll strategy: the first poll, a
/// quiet one, another run, one edit, one deletion, and a fifth changed at once, by people; and the memory per record.
///
/// Figures: `copies.<way>.<first|quiet|resumed|edit|deletion|fifth>.<requests|bytes|seconds>`, and
/// `copies.memory.held_per_record` of the second half of the records. The server is a process of its own.
enum CopiesSuite: Suite {
    static let name = "copies"
    // It takes minutes.
    static let isPartOfAll = false

    private static let recordCount = 100_000
    private static let ways: [(name: String, watch: DataAPI.LiveWatch)] = [
        ("automatic", .automatic), ("scan", .scan("Vessels (ids)")),
        ("stamp", .stamp("Changed", scan: "Vessels (ids)", reconcile: 1_000)),
        ("log", .log("Log", serial: "Serial", reconcile: 1_000)),
    ]

    static func run(_ report: inout Report, _ options: Options) async throws {
        for (name, watch) in ways where options.measures(name) {
            let server = try FleetServer(records: recordCount)
            for (part, figures) in try await follow(by: watch, server) {
                let name = "copies.\(name).\(part)"
                report["\(name).requests"] = Double(figures.requests)
                report["\(name).bytes"] = Double(figures.bytes)
                report["\(name).seconds"] = figures.seconds
                print(
                    "\(name): \(figures.requests) requests, \(figures.bytes) bytes, "
                        + "\(String(format: "%.2f", figures.seconds)) s, \(figures.records) records"
                )
                fflush(nil)
            }
            server.stop()
        }
        if options.measures("memory") {
            var held: [Int: Double] = [:]
            for count in [recordCount / 2, recordCount] {
                let server = try FleetServer(records: count)
                held[count] = try RecordHolder.bytes(.copy, at: server.url).held
                server.stop()
            }
            let bytes = (held[recordCount, default: 0] - held[recordCount / 2, default: 0]) / Double(recordCount / 2)
            report["copies.memory.held_per_record"] = bytes
            print("a record that a program keeps takes \(String(format: "%.1f", bytes)) bytes here")
        }
    }

    private struct Figures {
        var requests: Int
        var bytes: Int
        var seconds: Double
        /// The number of records that were published.
        var records: Int
    }

    private static func follow(
        by watch: DataAPI.LiveWatch,
        _ server: FleetServer
    ) async throws -> [(part: String, Figures)] {
        let vessels = server.vessels()
        let copy = KeptVersions()
        var parts: [(String, Figures)] = []
        /// Measures one poll, which begins with a change of the followed records or with a new run.
        func look(_ part: String, _ begin: () -> Void) async throws {
            let (before, told) = (try server.counts(), copy.told)
            let polls = copy.polls
            let time = await seconds {
                begin()
                await copy.untilPolled(polls + 1)
            }
            let after = try server.counts()
            parts.append(
                (
                    part,
                    Figures(
                        requests: after.requests - before.requests,
                        bytes: after.bytes - before.bytes,
                        seconds: time,
                        records: copy.told - told
                    )
                )
            )
        }
        func changes() -> DataAPI.CopyChanges<Vessel> {
            vessels.changes(
                keptBy: copy.keeper,
                options: DataAPI.LiveOptions(watch: watch, every: .seconds(3_600) ... .seconds(3_600))
            )
        }
        var followed = changes()
        var run: AnyCancellable?
        try await look("first") { run = copy.follow(followed) }
        try await look("quiet") { followed.refresh() }
        run?.cancel()
        followed = changes()
        try await look("resumed") { run = copy.follow(followed) }
        try server.edit(recordCount / 2)
        try await look("edit") { followed.refresh() }
        try server.delete(recordCount / 3)
        try await look("deletion") { followed.refresh() }
        try server.edit(2, step: 5)
        try await look("fifth") { followed.refresh() }
        run?.cancel()
        return parts
    }
}

/// A copy that a program keeps; of each record it has the version only.
final class KeptVersions: Sendable {
    private struct State {
        var modIds: [Int: Int] = [:]
        var mark: DataAPI.CopyMark?
        var told = 0
        var polls = 0
    }

    private let state = NIOLockedValueBox(State())
    private let ends = Arrivals()

    var told: Int { state.withLockedValue(\.told) }
    var polls: Int { state.withLockedValue(\.polls) }

    func untilPolled(_ count: Int) async { await ends.untilCount(count) }

    var keeper: DataAPI.CopyKeeper {
        DataAPI.CopyKeeper(
            mark: { [state] done in done(.success(state.withLockedValue(\.mark))) },
            versions: { [state] after, limit, done in
                let modIds = state.withLockedValue(\.modIds)
                let ids = modIds.keys.filter { $0 > after ?? .min }.sorted().prefix(limit)
                done(.success(ids.map { DataAPI.RecordVersion(recordId: $0, modId: modIds[$0] ?? 0) }))
            }
        )
    }

    func follow(_ changes: DataAPI.CopyChanges<Vessel>) -> AnyCancellable {
        changes.sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion { fatalError("\(error)") }
            },
            receiveValue: { [self] in carryOut($0) }
        )
    }

    private func carryOut(_ event: DataAPI.CopyEvent<Vessel>) {
        let hasLooked = state.withLockedValue { state in
            switch event {
            case .records(let records):
                state.told += records.count
                for record in records { state.modIds[record.recordId] = record.modId }
            case .unreadable(let records): state.told += records.count
            case .gone(let gone):
                state.told += gone.count
                for record in gone { state.modIds[record.recordId] = nil }
            case .polled(let mark, _):
                state.mark = mark
                state.polls += 1
                return true
            case .reset: state = State(polls: state.polls)
            }
            return false
        }
        if hasLooked { ends.arrived() }
    }
}
