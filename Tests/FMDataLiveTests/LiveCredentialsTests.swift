import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// Live queries of a database whose credentials are replaced: they continue, and begin anew.
@Suite(.timeLimit(.minutes(15))) struct LiveCredentialsTests {
    private typealias Values = TrackingSubscriber<DataAPI.LiveValue<Shop.Order>, FMRest.APIError>
    private typealias Events = TrackingSubscriber<String, FMRest.APIError>

    private func numbers(_ values: Values) -> [[String]] { values.values.map { $0.records.map(\.fieldData.number) } }

    @Test func aQueryIsEmptyAtOnceAndThenWhatTheNewAccountSees() async throws {
        try await Shop.run { database, sandbox in
            let query = database.found.live(isolation: nil)
            let values = Values()
            query.subscribe(values)
            await values.valueCount(atLeast: 1)
            await until { query.isAtRest }
            sandbox.inject(.holdAnswer, on: .find)
            database.replaceCredentials(Shop.eve)
            expectNoDifference(numbers(values), [Shop.adas, []])
            expectNoDifference(values.values[1].freshness.origin, .reset)
            expectNoDifference(values.values[1].changes.removed.map(\.recordId), [1, 3, 5, 7, 9, 11])
            // The removals come without the records, which the previous account saw.
            #expect(values.values[1].changes.removed.allSatisfy { $0.record == nil })
            // A subscriber that joins now receives nothing before there is a value.
            let late = Values()
            database.found.live(isolation: nil).subscribe(late)
            expectNoDifference(numbers(late), [])
            await sandbox.untilAnswersHeld()
            sandbox.releaseAnswers()
            await values.valueCount(atLeast: 3)
            // Subscribers receive a value one after the other.
            await late.valueCount(atLeast: 1)
            expectNoDifference(numbers(values), [Shop.adas, [], Shop.eves])
            expectNoDifference(values.values[2].freshness.origin, .snapshot)
            expectNoDifference(values.values[2].changes.inserted.map(\.fieldData.number), Shop.eves)
            expectNoDifference(numbers(late), [Shop.eves])
            values.cancel()
            late.cancel()
        }
    }

    @Test func aLookThatIsUnderWayIsOfNoUse() async throws {
        try await Shop.run { database, sandbox in
            sandbox.inject(.holdAnswer, on: .find)
            let query = database.found.live(isolation: nil)
            let values = Values()
            query.subscribe(values)
            await sandbox.untilAnswersHeld()
            let statuses = Locked<[String]>([])
            let watching = query.status.sink { status in statuses.change { $0.append("\(status)".prefix(7) + "") } }
            database.replaceCredentials(Shop.eve)
            sandbox.releaseAnswers()
            await values.valueCount(atLeast: 1)
            expectNoDifference(numbers(values), [Shop.eves])
            #expect(!statuses.value.contains("failing"), "\(statuses.value)")
            values.cancel()
            watching.cancel()
        }
    }

    @Test func whoKeepsACopyIsToldToThrowItAway() async throws {
        try await Shop.run { database, _ in
            let events = Events()
            database.found.changes(isolation: nil).map { event in
                switch event {
                case .snapshot(let records, _): "snapshot " + records.map(\.fieldData.number).joined(separator: " ")
                case .ready(let cursor): "ready \(cursor.count)"
                case .unreadable: "unreadable"
                case .changed: "changed"
                case .reset(let reason): "reset \(reason)"
                }
            }
            .subscribe(events)
            await events.valueCount(atLeast: 2)
            database.replaceCredentials(Shop.eve)
            await events.valueCount(atLeast: 5)
            expectNoDifference(
                events.values,
                [
                    "snapshot a1 a2 a3 a4 a5 a6", "ready 6", "reset otherAccount", "snapshot e1 e2 e3 e4 e5 e6",
                    "ready 6",
                ]
            )
            events.cancel()
        }
    }

    /// A snapshot for which no demand came before the credentials were replaced is dropped.
    @Test func whatASlowSubscriberHasNotTakenIsDropped() async throws {
        try await Shop.run { database, _ in
            let events = Events(initialDemand: .max(1))
            database.found.changes(isolation: nil).map { event in
                switch event {
                case .snapshot(let records, _): "snapshot \(records.first?.fieldData.number ?? "")"
                case .ready(let cursor): "ready \(cursor.count)"
                case .unreadable: "unreadable"
                case .changed: "changed"
                case .reset(let reason): "reset \(reason)"
                }
            }
            .subscribe(events)
            await events.valueCount(atLeast: 1)
            database.replaceCredentials(Shop.eve)
            events.request(.max(3))
            await events.valueCount(atLeast: 4)
            expectNoDifference(events.values, ["snapshot a1", "reset otherAccount", "snapshot e1", "ready 6"])
            events.cancel()
        }
    }

    @Test func recordsAsStateAreGoneAtOnce() async throws {
        try await Shop.run { database, sandbox in
            let query = database.found.live(isolation: nil)
            let records = DataAPI.LiveRecords(query)
            await until { records.records.count == 6 && query.isAtRest }
            let first = records.records[0]
            sandbox.inject(.holdAnswer, on: .find)
            database.replaceCredentials(Shop.eve)
            expectNoDifference(records.records.count, 0)
            await sandbox.untilAnswersHeld()
            sandbox.releaseAnswers()
            await until { records.records.count == 6 }
            expectNoDifference(records.records.map(\.record.fieldData.number), Shop.eves)
            // The object of the previous account's record is not filled with a record of the new account.
            expectNoDifference(first.record.fieldData.number, "a1")
            expectNoDifference(records.error == nil, true)
        }
    }

    @Test func oneRecordIsGoneAtOnce() async throws {
        try await Shop.run { database, sandbox in
            // The privileges may be changing, so the query would wait for them: switch the retry timeout off.
            let options = DataAPI.LiveOptions(retryTimeout: .zero)
            // Record 2 is Eve's: Ada is refused access to it.
            let hers = TrackingSubscriber<String, FMRest.APIError>()
            database.orders.observe(2, options, isolation: nil).map { $0?.fieldData.number ?? "nil" }.subscribe(hers)
            await hers.completion()
            expectNoDifference(hers.completionIfAny?.error?.fileMakerCode, .recordAccessDenied)
            let own = TrackingSubscriber<String, FMRest.APIError>()
            database.orders.observe(1, options, isolation: nil).map { $0?.fieldData.number ?? "nil" }.subscribe(own)
            await own.valueCount(atLeast: 1)
            sandbox.inject(.holdAnswer, on: .getRecord)
            database.replaceCredentials(Shop.eve)
            // No answer is needed for it. If the thread that brought the first value is still at it, it brings this
            // one too.
            await own.valueCount(atLeast: 2)
            expectNoDifference(own.values, ["a1", "nil"])
            await sandbox.untilAnswersHeld()
            sandbox.releaseAnswers()
            await own.completion()
            expectNoDifference(own.completionIfAny?.error?.fileMakerCode, .recordAccessDenied)
        }
    }

    /// The record's owner has changed, so the account no longer finds it. It is not deleted, and the query continues
    /// without it.
    @Test func aRecordThatIsSeenNoMoreHasLeft() async throws {
        try await Shop.run { database, sandbox in
            let query = database.found.live(isolation: nil)
            let values = Values()
            query.subscribe(values)
            await values.valueCount(atLeast: 1)
            try sandbox.editRecord(1, ["Owner": "eve"], ofTable: "Orders", inDatabase: "Shop")
            query.refresh()
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values.last?.changes.removed.map(\.reason), [.left])
            values.cancel()
        }
    }

    /// Values that wait for the main actor belong to the previous account when the actor is free.
    @Test func whatWaitsForTheMainActorIsNotShown() async throws {
        try await Shop.run { database, _ in await Self.replaceOnTheMainActor(database) }
    }

    @MainActor private static func replaceOnTheMainActor(_ database: DataAPI.Database) async {
        let shown = Locked<[[String]]>([])
        let isReset = Locked(false)
        let watching = database.found.live().sink { _ in
        } receiveValue: { value in
            shown.change { $0.append(value.records.map(\.fieldData.number)) }
            if value.freshness.origin == .reset { isReset.change { $0 = true } }
        }
        await until { @Sendable in shown.value.count == 1 }
        // This code runs on the main actor, so no waiting value can be delivered in between.
        database.replaceCredentials(Shop.eve)
        let atReturn = shown.value
        await until { @Sendable in shown.value.last == Shop.eves }
        expectNoDifference(atReturn.last.map { $0 == Shop.adas || $0.isEmpty }, true)
        #expect(shown.value.dropFirst().allSatisfy { $0.isEmpty || $0 == Shop.eves }, "\(shown.value)")
        #expect(isReset.value)
        watching.cancel()
    }

    // MARK: Without a server

    private let table: LiveTable

    init() {
        let (time, layout) = LiveTable.makeTimeAndLayout()
        table = LiveTable(time, layout)
        table.insert("a")
    }

    private func replace(_ user: String) {
        table.layout.layout.database.replaceCredentials(Credentials(user: user, password: ""))
        table.poller.beginAnew()
    }

    @Test func whoNeverHadAValueHearsOfNoReset() {
        table.failures = 1
        let values = TrackingSubscriber<DataAPI.LiveValue<LiveTable.Fields>, FMRest.APIError>()
        table.values.subscribe(values)
        replace("eve")
        expectNoDifference(values.values.map(\.freshness.origin), [.snapshot])
        values.cancel()
    }

    @Test func whoWantsNothingAtTheMomentIsToldWhenHeDoes() {
        let values = TrackingSubscriber<DataAPI.LiveValue<LiveTable.Fields>, FMRest.APIError>(initialDemand: .max(1))
        table.values.subscribe(values)
        expectNoDifference(values.values.map(\.ids), [[1]])
        replace("eve")
        table.insert("b")
        table.toNextLook()
        expectNoDifference(values.values.count, 1)
        // No change leads from what one account has seen to what the next one sees, so the reset is not skipped.
        values.request(.max(1))
        expectNoDifference(values.values.last?.ids, [])
        expectNoDifference(values.values.last?.freshness.origin, .reset)
        values.request(.max(1))
        expectNoDifference(values.values.last?.ids, [1])
        expectNoDifference(values.values.last?.changes.inserted.map(\.recordId), [1])
        table.toNextLook()
        values.request(.max(1))
        table.toNextLook()
        expectNoDifference(values.values.last?.ids, [1, 2])
        values.cancel()
    }

    @Test func aValueThatLingersIsForgotten() {
        let values = TrackingSubscriber<DataAPI.LiveValue<LiveTable.Fields>, FMRest.APIError>()
        table.values.subscribe(values)
        values.cancel()
        replace("eve")
        table.failures = 1
        let next = TrackingSubscriber<DataAPI.LiveValue<LiveTable.Fields>, FMRest.APIError>()
        table.values.subscribe(next)
        expectNoDifference(next.values.count, 0)
        next.cancel()
    }
}
