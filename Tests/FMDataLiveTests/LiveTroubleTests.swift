import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// The traps for a live query over a database without notifications. `BatchTests` shows that a batch whose answers are
/// lost writes each row once.
@Suite(.timeLimit(.minutes(15))) struct LiveTroubleTests {
    private static let stamps = DataAPI.LiveOptions(watch: .stamp("Changed", scan: "Ships (ids)", reconcile: 3))

    @Test func twoCommitsInOneSecond() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live(Self.stamps)
            let values = await harbour.watch(query)
            try await harbour.edit(1, ["Name": "A"])
            await harbour.poll(query)
            // The host's clock has not moved since.
            try await harbour.edit(2, ["Name": "B"])
            await harbour.poll(query)
            await harbour.poll(query)
            expectNoDifference(values.values.dropFirst().map { $0.changes.updated.map(\.record.recordId) }, [[1], [2]])
            values.cancel()
        }
    }

    @Test func lateAndBackwardStamps() async throws {
        try await Harbour.run { harbour in
            // A field that every writer fills by itself.
            let options = DataAPI.LiveOptions(watch: .stamp("Written", scan: "Ships (ids)", reconcile: 4))
            func stamp(_ seconds: Double) -> FieldValue {
                FieldValue(
                    FMTimestamp(harbour.clock.now + seconds, in: .gmt) ?? FMTimestamp(midnightOf: FMDate(dayNumber: 0)!)
                )
            }
            try await harbour.edit(1, ["Written": stamp(0)])
            let query = harbour.inOslo.live(options)
            let values = await harbour.watch(query)

            func insert(_ name: String, _ seconds: Double) async throws {
                _ = try await harbour.others.layout
                    .createRecord(["Name": .text(name), "Port": "Oslo", "Written": stamp(seconds)]).firstValue()
            }
            try await insert("Late", -90)
            await harbour.poll(query)
            try await insert("Very late", -300)
            for _ in 0..<4 { await harbour.poll(query) }
            // A record whose writer's clock is wrong by decades must not hide the records after it.
            try await insert("From the future", 65 * 365 * 86_400)
            await harbour.poll(query)
            try await insert("After it", 1)
            for _ in 0..<4 { await harbour.poll(query) }
            let names = values.values.flatMap { $0.changes.inserted.map(\.fieldData.name) }
            expectNoDifference(
                names,
                ["Ask", "Embla", "Fram", "Late", "Very late", "From the future", "After it"]
            )
            values.cancel()
        }
    }

    @Test func aHostWhoseClockIsSetBackLosesNothing() async throws {
        try await Harbour.run { harbour in
            try await harbour.edit(1, ["Name": "A"])
            let query = harbour.inOslo.live(Self.stamps)
            let values = await harbour.watch(query)
            harbour.clock.advance(by: .seconds(-3600))
            try await harbour.edit(2, ["Name": "B"])
            // Its stamp is earlier than the mark, so it shows with the next reconciliation.
            for _ in 0..<4 { await harbour.poll(query) }
            expectNoDifference(values.values.dropFirst().map { $0.changes.updated.map(\.record.recordId) }, [[2]])
            values.cancel()
        }
    }

    @Test(arguments: [true, false]) func aBumpWithoutAChange(removeDuplicates: Bool) async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live(DataAPI.LiveOptions(removeDuplicates: removeDuplicates))
            let values = await harbour.watch(query)
            try await harbour.edit(1, ["Name": "Ask"])
            await harbour.poll(query)
            let updates = values.values.dropFirst().map { $0.changes.updated.map(\.record.modId) }
            expectNoDifference(updates, removeDuplicates ? [] : [[1]])
            values.cancel()
        }
    }

    @Test func equalCounts() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            try await harbour.delete(2)
            let id = try await harbour.insert("Draken")
            await harbour.poll(query)
            expectNoDifference(values.values.count, 2)
            expectNoDifference(values.values[1].changes.removed.map(\.recordId), [2])
            expectNoDifference(values.values[1].changes.removed.map(\.reason), [.deleted])
            expectNoDifference(values.values[1].changes.removed.map(\.record?.fieldData.name), ["Embla"])
            expectNoDifference(values.values[1].changes.inserted.map(\.recordId), [id])
            values.cancel()
        }
    }

    @Test(arguments: [
        DataAPI.LiveOptions(), DataAPI.LiveOptions(watch: .scan("Ships (ids)")), stamps,
    ])
    func leftNotDeleted(options: DataAPI.LiveOptions) async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live(options)
            let values = await harbour.watch(query)
            try await harbour.edit(2, ["Port": "Bergen"])
            await harbour.poll(query)
            try await harbour.edit(2, ["Port": "Oslo"])
            await harbour.poll(query)
            expectNoDifference(values.values.map(\.ids), [[1, 2, 3], [1, 3], [1, 2, 3]])
            expectNoDifference(values.values[1].changes.removed.map(\.reason), [.left])
            expectNoDifference(values.values[2].changes.inserted.map(\.recordId), [2])
            values.cancel()
        }
    }

    @Test func tornLook() async throws {
        try await Harbour.run((1...250).map { "Ship \($0)" }) { harbour in
            let query = harbour.ships.live()
            let values = await harbour.watch(query)
            // Several pages again.
            let found = harbour.ships.allRecords
            harbour.ships.layout.database.accountPeriod.pageSizes[found.subject(of: .offset)] = 100
            harbour.sandbox.inject(.holdAnswer, on: .getRecords)
            query.refresh()
            await harbour.sandbox.untilAnswersHeld()
            // Between the first page and the second.
            try await harbour.delete(3)
            let id = try await harbour.insert("Draken")
            harbour.sandbox.releaseAnswers()
            await values.valueCount(atLeast: 2)
            await until { query.isAtRest }
            let removed = values.values.dropFirst().flatMap { $0.changes.removed.map(\.recordId) }
            let inserted = values.values.dropFirst().flatMap { $0.changes.inserted.map(\.recordId) }
            expectNoDifference(removed, [3])
            expectNoDifference(inserted, [id])
            expectNoDifference(Set(values.values[1].ids).count, values.values[1].ids.count)
            values.cancel()
        }
    }

    @Test(
        .thorough,
        arguments: [
            Sandbox.Fault.html(status: 502), .brokenJSON, .cut(afterBodyBytes: 20), .empty(status: 200),
            .error(FileMakerError(802)),
            .error(FileMakerError(401)), .error(FileMakerError(101)), .reset,
        ]
    )
    func failureIsNotEmptiness(fault: Sandbox.Fault) async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            // The HTTP client sends a read once more by itself when the connection it took was closed.
            harbour.sandbox.inject(fault, on: .find, count: fault == .reset ? 2 : 1)
            await harbour.refresh(query)
            for _ in 0..<3 { await harbour.poll(query) }
            expectNoDifference(values.values.map(\.ids), [[1, 2, 3]])
            expectNoDifference(values.completionIfAny == nil, true)
            // The query continues.
            try await harbour.delete(1)
            await harbour.poll(query)
            expectNoDifference(values.values.last?.ids, [2, 3])
            values.cancel()
        }
    }

    /// Waiting for an answer that never comes does not count as work of the host. The poll fails by its own limit, and
    /// the pause after the next poll is as long as usual.
    @Test func oneAnswerThatIsLostMakesNoLongPause() async throws {
        try await Harbour.run { harbour in
            // With this limit a poll waits a tenth of a second for an answer.
            let query = harbour.inOslo.timeouts { $0.firstByte = .milliseconds(1_200) }
                .live(DataAPI.LiveOptions(every: .milliseconds(200) ... .milliseconds(400)))
            let values = Harbour.Values()
            query.subscribe(values)
            // On a busy machine that may be too short at first. While a poll is under way no time passes.
            func untilAtRest(_ count: Int) async {
                await until {
                    if query.statusNow.kind == .failing, let next = harbour.time.timers.first {
                        harbour.time.advance(by: next)
                    }
                    guard query.statusNow.kind == .waiting else { return false }
                    return values.values.count >= count
                }
            }
            await untilAtRest(1)
            try await harbour.edit(1, ["Name": "Draken"])
            harbour.sandbox.inject(.holdAnswer, on: .find)
            query.refresh()
            await harbour.sandbox.untilAnswersHeld()
            // A time in which the host has not worked, shorter than any pause after a failure.
            harbour.time.advance(by: .milliseconds(400))
            await until { query.statusNow.kind != .polling }
            await untilAtRest(2)
            expectNoDifference(values.values.last?.records.map(\.fieldData.name), ["Draken", "Embla", "Fram"])
            #expect(query.timeToNextLook(at: harbour.time.date) < .milliseconds(500))
            harbour.sandbox.releaseAnswers()
            values.cancel()
        }
    }

    @Test(arguments: [401, 101]) func aLastPageThatIsMissingRemovesNobody(code: Int) async throws {
        try await Harbour.run((1...110).map { "Ship \($0)" }) { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            harbour.sandbox.inject(.error(FileMakerError(code)), on: .find, skipping: 1, count: 1)
            await harbour.refresh(query)
            await harbour.poll(query)
            expectNoDifference(values.values.map(\.ids.count), [110])
            values.cancel()
        }
    }

    @Test func allGoneIsBelievedAfterASecondLook() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            for id in 1...3 { try await harbour.delete(id) }
            let before = harbour.requests
            await harbour.poll(query)
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values[1].ids, [])
            #expect(harbour.requests >= before + 2)
            values.cancel()
        }
    }

    @Test func aRestartCostsOneLogin() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            let before = harbour.sandbox.counters.logins
            harbour.sandbox.restart()
            await harbour.poll(query)
            await harbour.poll(query)
            expectNoDifference(values.completionIfAny == nil, true)
            expectNoDifference(harbour.sandbox.counters.logins, before + 1)
            values.cancel()
        }
    }

    private struct Cargo: LayoutRecord, Equatable {
        static let layout = "Ships"
        var name: String
        var cargo: Double?
        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case cargo = "Cargo"
        }
    }

    @Test func valuesThatChangeBeneathTheModId() async throws {
        for related in [DataAPI.LiveRelated.ignore, .watch(layout: "Crates"), .reread(every: 1)] {
            try await Harbour.run { harbour in
                let values = TrackingSubscriber<DataAPI.LiveValue<Cargo>, FMRest.APIError>()
                let query = harbour.database.layout(Cargo.self).find { $0(.name) == "Fram" }
                    .live(DataAPI.LiveOptions(related: related))
                query.subscribe(values)
                await values.valueCount(atLeast: 1)
                await until { query.isAtRest }
                _ = try await harbour.others.layout.database.addLayout("Crates")
                    .createRecord(["Ship": "Fram", "Weight": 12]).firstValue()
                for _ in 0..<2 { await harbour.poll(query) }
                let weights = values.values.map { $0.records.map(\.fieldData.cargo) }
                expectNoDifference(weights.count, related == .ignore ? 1 : 2, "\(related)")
                expectNoDifference(weights.last, related == .ignore ? weights.first : [12], "\(related)")
                values.cancel()
            }
        }
    }

    /// An observed record is read whole in each poll, so any way of `related` compares its contents.
    @Test(arguments: [DataAPI.LiveRelated.ignore, .watch(layout: "Crates"), .reread(every: 1)])
    func anObservedRecordThatChangesBeneathItsModId(related: DataAPI.LiveRelated) async throws {
        try await Harbour.run { harbour in
            let ship = TrackingSubscriber<DataAPI.TypedLayout<Cargo>.Record?, FMRest.APIError>()
            harbour.database.layout(Cargo.self).observe(2, DataAPI.LiveOptions(related: related)).subscribe(ship)
            await ship.valueCount(atLeast: 1)
            _ = try await harbour.others.layout.database.addLayout("Crates")
                .createRecord(["Ship": "Embla", "Weight": 7]).firstValue()
            for _ in 0..<2 {
                await until { harbour.time.timers.contains { $0 < .seconds(30) } }
                let before = harbour.sandbox.counters.requests[.getRecord, default: 0]
                harbour.time.advance(by: harbour.time.timers[0])
                await until { harbour.sandbox.counters.requests[.getRecord, default: 0] > before }
            }
            await until { harbour.time.timers.contains { $0 < .seconds(60) } }
            let cargo = ship.values.map { $0?.fieldData.cargo }
            expectNoDifference(cargo.dropFirst().map { $0 }, related == .ignore ? [] : [7])
            ship.cancel()
        }
    }

    @Test func echoAndStaleAnswer() async throws {
        try await Harbour.run(client: { $0.sessions.maximumSessions = 2 }) { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            try await harbour.edit(1, ["Name": "Skidbladnir"])
            harbour.sandbox.inject(.holdAnswer, on: .find)
            query.refresh()
            await harbour.sandbox.untilAnswersHeld()
            // The poll was executed before this edit, so its answer is out of date: no subscriber receives it.
            _ = try await harbour.ships.edit(1, setting: ["Name": "Draken"]).firstValue()
            harbour.sandbox.releaseAnswers()
            await values.valueCount(atLeast: 2)
            await until { query.isAtRest }
            expectNoDifference(values.values.map { $0.records[0].fieldData.name }, ["Ask", "Draken"])
            values.cancel()
        }
    }

    @Test func theSlowAndTheMany() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let many = (0..<99).map { _ in Harbour.Values() }
            for values in many { query.subscribe(values) }
            let slow = Harbour.Values(initialDemand: .max(1))
            query.subscribe(slow)
            for values in many + [slow] { await values.valueCount(atLeast: 1) }
            await until { query.isAtRest }
            let (before, logins) = (harbour.requests, harbour.sandbox.counters.logins)
            for round in 1...20 {
                try await harbour.edit(1, ["Name": .text("Ask \(round)")])
                if round == 5 { _ = try await harbour.insert("Comes and goes") }
                if round == 9 { try await harbour.delete(4) }
                await harbour.poll(query)
            }
            // The record that a poll missed was asked for by its id, which this number does not include.
            expectNoDifference(harbour.requests, before + 20)
            // The login of the client that edits.
            expectNoDifference(harbour.sandbox.counters.logins, logins + 1)
            expectNoDifference(many.map(\.values.count), Array(repeating: 21, count: 99))
            slow.request(.max(1))
            await slow.valueCount(atLeast: 2)
            let changes = slow.values[1].changes
            expectNoDifference(changes.updated.map(\.record.fieldData.name), ["Ask 20"])
            expectNoDifference(changes.updated.map(\.oldModId), [0])
            expectNoDifference(changes.inserted.count, 0)
            expectNoDifference(changes.removed.count, 0)
            expectNoDifference(slow.values[1].freshness.polls, 20)
            for values in many + [slow] { values.cancel() }
            let last = harbour.requests
            harbour.time.advance(by: .hours(1))
            expectNoDifference(harbour.requests, last)
        }
    }

    // MARK: Cursors, other files and failures

    @Test func aCursorTellsWhatHappenedMeanwhile() async throws {
        try await Harbour.run { harbour in
            typealias Events = TrackingSubscriber<DataAPI.LiveEvent<Ship>, FMRest.APIError>
            let first = Events()
            harbour.inOslo.changes().subscribe(first)
            await first.valueCount(atLeast: 2)
            guard case .snapshot(let records, isLast: true) = first.values[0], case .ready(let cursor) = first.values[1]
            else {
                Issue.record("\(first.values)")
                return
            }
            expectNoDifference(records.map(\.recordId), [1, 2, 3])
            first.cancel()
            await harbour.untilNothingIsHeld()

            let kept = try JSONDecoder().decode(DataAPI.LiveCursor.self, from: JSONEncoder().encode(cursor))
            try await harbour.delete(1)
            try await harbour.edit(2, ["Name": "Draken"])
            let id = try await harbour.insert("Skibladner")
            // The session has expired, too.
            harbour.clock.advance(by: .seconds(16 * 60))

            let second = Events()
            harbour.inOslo.changes(since: kept).subscribe(second)
            await second.valueCount(atLeast: 2)
            guard case .changed(let changes, _, _) = second.values[0], case .ready = second.values[1] else {
                Issue.record("\(second.values)")
                return
            }
            expectNoDifference(changes.removed.map(\.recordId), [1])
            expectNoDifference(changes.updated.map(\.record.fieldData.name), ["Draken"])
            expectNoDifference(changes.inserted.map(\.recordId), [id])
            second.cancel()
        }
    }

    /// A single false answer must not remove records from a copy.
    @Test(arguments: [401, 101], [3, 30]) func aFalseFirstAnswerRemovesNothingFromACopy(
        code: Int,
        ships: Int
    ) async throws {
        try await Harbour.run((1...ships).map { "Ship \($0)" }) { harbour in
            typealias Events = TrackingSubscriber<DataAPI.LiveEvent<Ship>, FMRest.APIError>
            let first = Events()
            harbour.inOslo.changes().subscribe(first)
            await first.valueCount(atLeast: 2)
            guard case .ready(let cursor)? = first.values.last else {
                Issue.record("\(first.values)")
                return
            }
            first.cancel()
            await harbour.untilNothingIsHeld()

            try await harbour.delete(2)
            harbour.sandbox.inject(.error(FileMakerError(code)), on: .find)
            let second = Events()
            let changes = harbour.inOslo.changes(since: cursor)
            changes.subscribe(second)
            await until {
                harbour.passTimeToNextPoll(of: changes)
                return second.values.count >= 2
            }
            guard case .changed(let changes, _, _) = second.values[0], case .ready(let reached) = second.values[1]
            else {
                Issue.record("\(second.values)")
                return
            }
            expectNoDifference(changes.removed.map(\.recordId), [2])
            expectNoDifference(changes.removed.map(\.reason), [.deleted])
            expectNoDifference(reached.count, ships - 1)
            second.cancel()
        }
    }

    /// A value that other subscribers already have is no answer to a subscriber with a cursor.
    @Test func whoComesBackWithACursorWaitsForALook() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            let cursor = DataAPI.LiveCursor(
                query: harbour.inOslo.fingerprint,
                versions: (1...4).map { DataAPI.RecordVersion(recordId: $0, modId: 0) }
            )
            let id = try await harbour.insert("Draken")
            let before = harbour.requests
            let events = TrackingSubscriber<DataAPI.LiveEvent<Ship>, FMRest.APIError>()
            harbour.inOslo.changes(since: cursor).subscribe(events)
            await events.valueCount(atLeast: 1)
            // The fourth record was inserted between two polls. The cursor contains it already, so there is no change
            // to report.
            expectNoDifference(id, 4)
            guard case .ready(let reached) = events.values[0] else {
                Issue.record("\(events.values)")
                return
            }
            expectNoDifference(reached.count, 4)
            expectNoDifference(harbour.requests, before + 1)
            await until { query.isAtRest }
            values.cancel()
            events.cancel()
        }
    }

    @Test func stampsOfRecordsThatAreNotTheQuerysAreNoNewsTwice() async throws {
        try await Harbour.run { harbour in
            try await harbour.edit(1, ["Name": "Skidbladnir"])
            let query = harbour.inOslo.live(
                DataAPI.LiveOptions(watch: .stamp("Changed", scan: "Ships (ids)", reconcile: 100))
            )
            let values = await harbour.watch(query)
            _ = try await harbour.insert("Elsewhere", port: "Bergen")
            await harbour.poll(query)
            let before = harbour.requests
            for _ in 0..<3 { await harbour.poll(query) }
            // One request for the stamps of the query's own records, and one for their number.
            expectNoDifference(harbour.requests, before + 3 * 2)
            expectNoDifference(values.values.count, 1)
            values.cancel()
        }
    }

    /// Returns the events until `ready`, and the cursor.
    private static func follow(
        _ harbour: Harbour,
        _ found: DataAPI.FoundSet<Ship>? = nil,
        since cursor: DataAPI.LiveCursor? = nil,
        _ options: DataAPI.LiveOptions = DataAPI.LiveOptions()
    ) async -> (events: [DataAPI.LiveEvent<Ship>], cursor: DataAPI.LiveCursor?) {
        let events = TrackingSubscriber<DataAPI.LiveEvent<Ship>, FMRest.APIError>()
        (found ?? harbour.inOslo).changes(since: cursor, options: options).subscribe(events)
        func ready() -> DataAPI.LiveCursor? {
            events.values.lazy.compactMap { if case .ready(let cursor) = $0 { cursor } else { nil } }.last
        }
        await until { ready() != nil }
        events.cancel()
        await harbour.untilNothingIsHeld()
        return (events.values, ready())
    }

    @Test func aCursorOfAnotherFileBeginsAnew() async throws {
        try await Harbour.run { harbour in
            try await harbour.edit(1, ["Name": "Draken"])
            let cursor = await Self.follow(harbour).cursor
            // A backup without that edit.
            harbour.sandbox.reset()
            let events = await Self.follow(harbour, since: cursor).events
            guard case .reset(.otherFile) = events[0], case .snapshot = events[1] else {
                Issue.record("\(events)")
                return
            }
        }
    }

    /// The backup assigns an id again, in an equal version.
    @Test func aCursorOfAFileWithOtherRecordsUnderItsIDsBeginsAnew() async throws {
        try await Harbour.run { harbour in
            _ = try await harbour.insert("Draken")
            let cursor = await Self.follow(harbour, harbour.ships.allRecords).cursor
            harbour.sandbox.reset()
            _ = try await harbour.insert("Skibladner")
            let events = await Self.follow(harbour, harbour.ships.allRecords, since: cursor).events
            guard case .reset(.otherFile) = events[0], case .snapshot = events[1] else {
                Issue.record("\(events)")
                return
            }
        }
    }

    /// The backup assigns an id again, in an equal version, while the query is running.
    @Test(arguments: [DataAPI.LiveWatch.automatic, .reread, .scan("Ships (ids)"), .log("Log", serial: "Serial")])
    func aBackupThatIsRestoredWhileAQueryRunsIsShownAsItIs(watch: DataAPI.LiveWatch) async throws {
        try await Harbour.run { harbour in
            _ = try await harbour.insert("Draken")
            let query = harbour.ships.live(DataAPI.LiveOptions(watch: watch))
            let values = await harbour.watch(query)
            harbour.sandbox.reset()
            _ = try await harbour.insert("Skibladner")
            await harbour.refresh(query)
            expectNoDifference(
                values.values.last?.records.map(\.fieldData.name),
                ["Ask", "Embla", "Fram", "Skibladner"]
            )
            expectNoDifference(values.values.last?.freshness.origin, .reset)
            values.cancel()
        }
    }

    /// Of thirty new records the backup has none, and twelve ids are given again: the newest known records are not
    /// there.
    @Test(arguments: [DataAPI.LiveWatch.automatic, .reread, .scan("Ships (ids)"), .log("Log", serial: "Serial")])
    func aBackupThatHasFewerRecordsIsShownAsItIs(watch: DataAPI.LiveWatch) async throws {
        try await Harbour.run { harbour in
            for number in 1...30 { _ = try await harbour.insert("Old\(number)") }
            let cursor = await Self.follow(harbour, harbour.ships.allRecords).cursor
            let query = harbour.ships.live(DataAPI.LiveOptions(watch: watch))
            let values = await harbour.watch(query)
            harbour.sandbox.reset()
            for number in 1...12 { _ = try await harbour.insert("New\(number)") }
            await harbour.refresh(query)
            let names = ["Ask", "Embla", "Fram"] + (1...12).map { "New\($0)" }
            await until {
                harbour.passTimeToNextPoll(of: query)
                return values.values.last?.records.count == names.count
            }
            expectNoDifference(values.values.last?.records.map(\.fieldData.name), names)
            values.cancel()
            await harbour.untilNothingIsHeld()

            let events = await Self.follow(harbour, harbour.ships.allRecords, since: cursor).events
            guard case .reset(.otherFile) = events[0], case .snapshot = events[1] else {
                Issue.record("\(events)")
                return
            }
        }
    }

    /// Unstored calculations change without a commit. That does not count as another file, even with a new session.
    @Test func whatChangesWithoutACommitIsNoOtherFile() async throws {
        struct Freight: LayoutRecord {
            static let layout = "Ships"
            var cargo: Double?
            enum CodingKeys: String, CodingKey { case cargo = "Cargo" }
        }
        try await Harbour.run { harbour in
            let query = harbour.database.layout(Freight.self).live()
            let values = TrackingSubscriber<DataAPI.LiveValue<Freight>, FMRest.APIError>()
            query.subscribe(values)
            await values.valueCount(atLeast: 1)
            await until { query.isAtRest }
            _ = try await harbour.others.layout.database.addLayout("Crates")
                .createRecord(["Ship": "Ask", "Weight": 7]).firstValue()
            harbour.sandbox.expireSessions()
            await harbour.poll(query)
            expectNoDifference(values.values.map(\.freshness.origin), [.snapshot])
            values.cancel()
        }
    }

    @Test func aCursorOfAnotherQueryOrServerBeginsAnew() async throws {
        try await Harbour.run { harbour in
            let cursor = await Self.follow(harbour).cursor
            let events = await Self.follow(harbour, harbour.ships.allRecords, since: cursor).events
            guard case .reset(.otherQuery) = events[0] else {
                Issue.record("\(events)")
                return
            }
            try await Harbour.run { other in
                let events = await Self.follow(other, since: cursor).events
                guard case .reset(.otherQuery) = events[0] else {
                    Issue.record("\(events)")
                    return
                }
            }
        }
    }

    /// A row that was added to a ship's crates while no subscriber was there does not change the ship's modId.
    @Test(arguments: [DataAPI.LiveRelated.reread(every: 3), .watch(layout: "Crates")])
    func whatIsRelatedIsToldAfterACursor(
        related: DataAPI.LiveRelated
    ) async throws {
        struct Laden: LayoutRecord {
            static let layout = "Ships"
            var name: String
            var cargo: Double?
            enum CodingKeys: String, CodingKey { case name = "Name", cargo = "Cargo" }
        }
        try await Harbour.run { harbour in
            let ships = harbour.database.layout(Laden.self)
            let options = DataAPI.LiveOptions(related: related)
            typealias Events = TrackingSubscriber<DataAPI.LiveEvent<Laden>, FMRest.APIError>
            let first = Events()
            ships.changes(options: options).subscribe(first)
            await first.valueCount(atLeast: 2)
            guard case .ready(let cursor) = first.values[1] else {
                Issue.record("\(first.values)")
                return
            }
            first.cancel()
            await harbour.untilNothingIsHeld()
            let kept = try JSONDecoder().decode(DataAPI.LiveCursor.self, from: JSONEncoder().encode(cursor))
            expectNoDifference(kept, cursor)
            _ = try await harbour.others.layout.database.addLayout("Crates").of(FieldData.self)
                .create(["Ship": "Embla", "Weight": 7]).firstValue()

            let second = Events()
            ships.changes(since: kept, options: options).subscribe(second)
            await second.valueCount(atLeast: 2)
            guard case .changed(let changes, _, _) = second.values[0] else {
                Issue.record("\(second.values)")
                return
            }
            expectNoDifference(changes.updated.map(\.record.fieldData.name), ["Embla"])
            expectNoDifference(changes.updated.map(\.record.fieldData.cargo), [7])
            second.cancel()
        }
    }

    @Test func aFileThatIsClosedForAWhileEndsNothing() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            harbour.sandbox.inject(.error(FileMakerError(802)), count: nil)
            for _ in 0..<5 { await harbour.poll(query) }
            guard query.statusNow.kind == .failing else {
                Issue.record("\(query.statusNow)")
                return
            }
            harbour.sandbox.clearFaults()
            _ = try await harbour.insert("Draken")
            await harbour.poll(query)
            expectNoDifference(values.values.map(\.ids.count), [3, 4])
            values.cancel()
        }
    }

    /// Each of these faults used to end a query for good when it came twice in a row, or once.
    @Test(
        arguments: [
            .error(FileMakerError(105)), .error(FileMakerError(102)), .error(FileMakerError(952)), .html(status: 401),
            .error(FileMakerError(9)), .error(FileMakerError(200)), .error(FileMakerError(960)),
            .error(FileMakerError(1708)),
        ] as [Sandbox.Fault]
    )
    func whatPassesWithinAMinuteEndsNothing(fault: Sandbox.Fault) async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            harbour.sandbox.inject(fault, on: .find, count: 4)
            _ = try await harbour.insert("Draken")
            query.refresh()
            await until {
                if query.statusNow.kind == .waiting { return values.values.count == 2 }
                harbour.passTimeToNextPoll(of: query)
                return false
            }
            expectNoDifference(values.values.map(\.ids.count), [3, 4])
            expectNoDifference(values.completionIfAny == nil, true)
            // The sandbox still has the sessions whose tokens the fault has refused.
            harbour.sandbox.expireSessions()
            values.cancel()
        }
    }

    /// The status has the error at once, and the query fails when the error has lasted for a minute.
    @Test(arguments: ["no such script", "no JSON"]) func aScriptThatCannotAnswerEndsIt(script: String) async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live(DataAPI.LiveOptions(watch: .script(script)))
            let values = Harbour.Values()
            query.subscribe(values)
            var told: FMRest.APIError?
            await until {
                if query.statusNow.kind == .failing, let error = query.statusNow.error {
                    told = error
                    harbour.time.advance(by: .seconds(40))
                }
                return values.completionIfAny != nil
            }
            guard case .failure(let error) = await values.completion() else {
                Issue.record("no failure")
                return
            }
            expectNoDifference(error.code, script == "no JSON" ? .script : .fileMaker)
            expectNoDifference(error.fileMakerCode, script == "no JSON" ? nil : 104)
            expectNoDifference(told?.code, error.code)
        }
    }

    /// The status has the error at once, and the query fails when the error has lasted for a minute.
    @Test(arguments: [9, 200, 960, 1708]) func whatTheHostGoesOnRefusingEndsIt(code: Int) async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            harbour.sandbox.inject(.error(FileMakerError(code)), on: .find, count: nil)
            query.refresh()
            var told: [FileMakerErrorCode?] = []
            await until {
                if query.statusNow.kind == .failing, let error = query.statusNow.error {
                    told.append(error.fileMakerCode)
                    harbour.time.advance(by: .seconds(8))
                }
                return values.completionIfAny != nil
            }
            guard case .failure(let error) = await values.completion() else {
                Issue.record("no failure")
                return
            }
            expectNoDifference(error.fileMakerCode, FileMakerErrorCode(rawValue: code))
            expectNoDifference(Set(told), [FileMakerErrorCode(rawValue: code)])
            harbour.sandbox.clearFaults()
        }
    }

    /// A request that is never answered is waited for three times as long as its first byte, and the status says so
    /// from the beginning. The network's limit for the first byte is by the machine's clock, so it is a long one here.
    @Test func anAnswerThatNeverComesIsWaitedForAsLongAsTheStatusSays() async throws {
        try await Harbour.run {
            $0.timeouts.firstByte = .seconds(3600)
        } _: { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            _ = try await harbour.insert("Draken")
            harbour.sandbox.inject(.holdAnswer, on: .find)
            let began = harbour.time.deadline
            query.refresh()
            await harbour.sandbox.untilAnswersHeld()
            let status = query.statusNow
            expectNoDifference(status.kind, .polling)
            expectNoDifference(status.awaited, .answer)
            expectNoDifference(status.since, harbour.time.date(of: began))
            expectNoDifference(status.until, harbour.time.date(of: began + .seconds(900)))
            harbour.time.advance(by: .seconds(899))
            expectNoDifference(query.isAtRest, false)
            harbour.time.advance(by: .seconds(1))
            expectNoDifference(query.statusNow.kind, .failing)
            expectNoDifference(query.statusNow.error?.code, .timeout)
            harbour.sandbox.releaseAnswers()
            harbour.time.advance(by: .seconds(1))
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values.map(\.ids), [[1, 2, 3], [1, 2, 3, 4]])
            values.cancel()
        }
    }

    @Test func aLookThatWaitsForASessionSaysSoAndIsNotMadeToPayForIt() async throws {
        try await Harbour.run {
            $0.sessions.maximumSessions = 1
        } _: { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            harbour.sandbox.inject(.holdAnswer, on: .getRecord)
            async let record = harbour.ships.record(id: 1).firstValue()
            await harbour.sandbox.untilAnswersHeld()
            query.refresh()
            await until { !query.isAtRest }
            for seconds in [0, 24] as [Int64] {
                harbour.time.advance(by: .seconds(seconds))
                let status = query.statusNow
                expectNoDifference(status.kind, .polling)
                expectNoDifference(status.awaited, .session)
                expectNoDifference(status.until, nil)
            }
            harbour.sandbox.releaseAnswers()
            _ = try await record
            await until { query.isAtRest }
            // The shortest pause is 5 seconds. It is half as long again after a poll without changes, and up to a tenth
            // longer by jitter.
            let pause = query.timeToNextLook(at: harbour.time.date)
            #expect(pause < .milliseconds(8300), "\(pause)")
            values.cancel()
        }
    }

    @Test func credentialsThatAreRefusedEndIt() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            harbour.sandbox.inject(.error(FileMakerError(212)), on: .login, count: nil)
            harbour.sandbox.expireSessions()
            query.refresh()
            guard case .failure(let error) = await values.completion() else {
                Issue.record("no failure")
                return
            }
            expectNoDifference(error.fileMakerCode, 212)
            harbour.sandbox.clearFaults()
        }
    }
}
