import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// Live queries over records that cannot all be decoded.
@Suite(.timeLimit(.minutes(10))) struct LiveUnreadableTests {
    /// A ship whose port has to be a number.
    private struct Berthed: LayoutRecord {
        static let layout = "Ships"

        var name: String
        var berth: Int

        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case berth = "Port"
        }
    }

    /// A type that misspells a field.
    private struct Misspelt: LayoutRecord {
        static let layout = "Ships"

        var title: String

        enum CodingKeys: String, CodingKey {
            case title = "Titel"
        }
    }

    private static let ways: [DataAPI.LiveOptions] = [
        DataAPI.LiveOptions(), DataAPI.LiveOptions(watch: .scan("Ships (ids)")),
        DataAPI.LiveOptions(watch: .scan("Ships (ids)"), related: .reread(every: 2)),
        DataAPI.LiveOptions(watch: .stamp("Changed", scan: "Ships (ids)")),
        DataAPI.LiveOptions(watch: .log("Log", serial: "Serial", reconcile: 1)),
    ]

    /// Runs a test with ships in berths 1 to 3.
    private static func run(_ body: (Harbour, DataAPI.TypedLayout<Berthed>) async throws -> Void) async throws {
        try await Harbour.run { harbour in
            for id in 1...3 { try await harbour.edit(id, ["Port": "\(id)"]) }
            try await body(harbour, harbour.database.layout(Berthed.self))
        }
    }

    private static func watch(
        _ query: DataAPI.LiveQuery<Berthed>
    ) async -> TrackingSubscriber<DataAPI.LiveValue<Berthed>, FMRest.APIError> {
        let values = TrackingSubscriber<DataAPI.LiveValue<Berthed>, FMRest.APIError>()
        query.subscribe(values)
        await values.valueCount(atLeast: 1)
        await until { query.isAtRest }
        return values
    }

    @Test(arguments: ways) func oneThatCannotBeDecodedIsToldAndTheOthersGoOn(options: DataAPI.LiveOptions) async throws
    {
        try await Self.run { harbour, ships in
            try await harbour.edit(2, ["Port": "Oslo"])
            let query = ships.live(options)
            let values = await Self.watch(query)
            expectNoDifference(values.values[0].ids, [1, 3])
            expectNoDifference(values.values[0].unreadable.map(\.recordId), [2])
            expectNoDifference(values.values[0].unreadable.map(\.failure.field), ["Port"])
            expectNoDifference(values.values[0].unreadable.map(\.failure.rawValue), ["\"Oslo\""])
            expectNoDifference(values.values[0].changes.unreadable.map(\.recordId), [2])

            // Another record becomes unreadable while the query runs, and then readable again.
            try await harbour.edit(3, ["Port": "Bergen"])
            await harbour.poll(query)
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values[1].ids, [1])
            expectNoDifference(values.values[1].changes.removed.map(\.recordId), [3])
            expectNoDifference(values.values[1].changes.removed.map(\.reason), [.unreadable])
            expectNoDifference(values.values[1].changes.unreadable.map(\.recordId), [3])
            try await harbour.edit(3, ["Port": "33"])
            await harbour.poll(query)
            await values.valueCount(atLeast: 3)
            expectNoDifference(values.values[2].records.map(\.fieldData.berth), [1, 33])
            expectNoDifference(values.values[2].unreadable.map(\.recordId), [2])
            expectNoDifference(values.values[2].changes.unreadable.map(\.recordId), [])
            // Nothing has changed.
            await harbour.poll(query)
            expectNoDifference(values.values.count, 3)
            values.cancel()
        }
    }

    @Test func aDeletedOneIsNotUnreadableAnyMore() async throws {
        try await Self.run { harbour, ships in
            try await harbour.edit(2, ["Port": "Oslo"])
            let query = ships.live()
            let values = await Self.watch(query)
            try await harbour.delete(2)
            await harbour.poll(query)
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values[1].ids, [1, 3])
            expectNoDifference(values.values[1].unreadable.map(\.recordId), [])
            values.cancel()
        }
    }

    @Test func aCopyIsToldOfThoseThatItCannotHave() async throws {
        try await Self.run { harbour, ships in
            try await harbour.edit(2, ["Port": "Oslo"])
            let events = TrackingSubscriber<DataAPI.LiveEvent<Berthed>, FMRest.APIError>()
            ships.changes(isolation: nil).subscribe(events)
            await events.valueCount(atLeast: 3)
            guard case .snapshot(let records, true) = events.values[0], case .unreadable(let others) = events.values[1],
                case .ready(let cursor) = events.values[2]
            else { return #expect(Bool(false), "\(events.values)") }
            expectNoDifference(records.map(\.recordId), [1, 3])
            expectNoDifference(others.map(\.recordId), [2])
            expectNoDifference(cursor.count, 2)
            events.cancel()
        }
    }

    /// A ship whose cargo, an unstored calculation over its crates, has to be a number up to 255.
    private struct Laden: LayoutRecord {
        static let layout = "Ships"

        var name: String
        var cargo: UInt8

        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case cargo = "Cargo"
        }
    }

    /// Adds a crate to the second ship.
    private static func load(_ harbour: Harbour, _ weight: Int) async throws {
        let crates = harbour.others.layout.database.addLayout("Crates")
        _ = try await crates.createRecord(["Ship": "Embla", "Weight": .text("\(weight)")]).firstValue()
    }

    /// Nobody commits the ship.
    @Test(arguments: ways + [DataAPI.LiveOptions(watch: .scan("Ships (ids)", key: "Name"))])
    func oneThatCanBeDecodedAgainComesBackWithoutACommit(options: DataAPI.LiveOptions) async throws {
        try await Harbour.run { harbour in
            try await Self.load(harbour, 300)
            let query = harbour.database.layout(Laden.self).live(options)
            let values = TrackingSubscriber<DataAPI.LiveValue<Laden>, FMRest.APIError>()
            query.subscribe(values)
            await values.valueCount(atLeast: 1)
            await until { query.isAtRest }
            await harbour.poll(query)
            expectNoDifference(values.values.map(\.ids), [[1, 3]])
            try await Self.load(harbour, -293)
            await harbour.poll(query)
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values.map(\.ids), [[1, 3], [1, 2, 3]])
            expectNoDifference(values.values[1].unreadable.map(\.recordId), [])
            expectNoDifference(values.values[1].changes.inserted.map(\.fieldData.cargo), [7])
            await harbour.poll(query)
            expectNoDifference(values.values.count, 2)
            values.cancel()
        }
    }

    /// It is asked for by the run that has reported it, and by later ones.
    @Test(arguments: ways, [false, true])
    func aCopyGetsWhatCanBeDecodedAgain(options: DataAPI.LiveOptions, inAnotherRun: Bool) async throws {
        try await Harbour.run { harbour in
            try await Self.load(harbour, 300)
            let stored = NIOLockedValueBox<(mark: DataAPI.CopyMark?, modIds: [Int: Int])>((nil, [:]))
            let keeper = DataAPI.CopyKeeper(
                mark: { done in done(.success(stored.withLockedValue(\.mark))) },
                versions: { _, _, done in
                    let modIds = stored.withLockedValue(\.modIds).sorted { $0.key < $1.key }
                    done(.success(modIds.map { DataAPI.RecordVersion(recordId: $0.key, modId: $0.value) }))
                }
            )
            let unreadable = NIOLockedValueBox<[Int]>([])
            let polls = NIOLockedValueBox(0)
            func follow(_ changes: DataAPI.CopyChanges<Laden>) -> AnyCancellable {
                changes.sink { _ in
                } receiveValue: { event in
                    switch event {
                    case .records(let records):
                        stored.withLockedValue { for record in records { $0.modIds[record.recordId] = record.modId } }
                    case .unreadable(let records):
                        unreadable.withLockedValue { $0 += records.map(\.recordId) }
                    case .polled(let mark, _):
                        stored.withLockedValue { $0.mark = mark }
                        polls.withLockedValue { $0 += 1 }
                    case .gone, .reset: Issue.record("\(event)")
                    }
                }
            }
            func untilPolls(_ count: Int) async { await until { polls.withLockedValue(\.self) >= count } }

            var changes = harbour.database.layout(Laden.self).changes(keptBy: keeper, options: options)
            var following = follow(changes)
            await untilPolls(1)
            await until { changes.isAtRest }
            expectNoDifference(stored.withLockedValue(\.modIds), [1: 0, 3: 0])
            changes.refresh()
            await untilPolls(2)
            expectNoDifference(unreadable.withLockedValue(\.self), [2])
            if inAnotherRun {
                following.cancel()
                changes = harbour.database.layout(Laden.self).changes(keptBy: keeper, options: options)
                following = follow(changes)
                await untilPolls(3)
                expectNoDifference(unreadable.withLockedValue(\.self), [2, 2])
            }
            await until { changes.isAtRest }
            try await Self.load(harbour, -293)
            let before = polls.withLockedValue(\.self)
            changes.refresh()
            await untilPolls(before + 1)
            expectNoDifference(stored.withLockedValue(\.modIds), [1: 0, 2: 0, 3: 0])
            following.cancel()
        }
    }

    @Test func aCopyElsewhereGetsWhatCanBeDecodedAgain() async throws {
        try await Harbour.run { harbour in
            try await Self.load(harbour, 300)
            let changes = harbour.database.layout(Laden.self).changes(isolation: nil)
            let events = TrackingSubscriber<DataAPI.LiveEvent<Laden>, FMRest.APIError>()
            changes.subscribe(events)
            await events.valueCount(atLeast: 3)
            await until { changes.isAtRest }
            try await Self.load(harbour, -293)
            changes.refresh()
            await events.valueCount(atLeast: 4)
            guard case .changed(let difference, _, let cursor) = events.values[3] else {
                Issue.record("\(events.values)")
                return
            }
            expectNoDifference(difference.inserted.map(\.recordId), [2])
            expectNoDifference(cursor.count, 3)
            events.cancel()
        }
    }

    @Test(arguments: ways) func aTypeThatMisspellsAFieldEndsTheQueryWithItsName(
        options: DataAPI.LiveOptions
    ) async throws {
        try await Harbour.run { harbour in
            let query = harbour.database.layout(Misspelt.self).live(options)
            let values = TrackingSubscriber<DataAPI.LiveValue<Misspelt>, FMRest.APIError>()
            query.subscribe(values)
            await until { query.isAtRest }
            expectNoDifference(query.statusNow.kind, .failing)
            expectNoDifference(query.statusNow.error?.code, .decoding)
            expectNoDifference(query.statusNow.error?.fields, ["Titel"])
            await until {
                harbour.time.advance(by: .seconds(100))
                return values.completionIfAny != nil
            }
            expectNoDifference(values.values.count, 0)
        }
    }

    @Test func oneRecordThatCannotBeDecodedIsAFailureAndNotNothing() async throws {
        try await Self.run { harbour, ships in
            try await harbour.edit(2, ["Port": "Oslo"])
            let values = TrackingSubscriber<DataAPI.TypedLayout<Berthed>.Record?, FMRest.APIError>()
            ships.observe(2, isolation: nil).subscribe(values)
            await until {
                harbour.time.advance(by: .seconds(100))
                return values.completionIfAny != nil
            }
            expectNoDifference(values.values.count, 0)
        }
    }
}
