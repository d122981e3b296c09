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

/// What makes a live query poll before its time, and what does not.
@Suite(.timeLimit(.minutes(15))) struct LiveWakeTests {
    private static func hint(
        _ database: String = "Harbour",
        table: String? = "Ships",
        rowIDs: [Int]? = nil,
        isSchema: Bool = false
    ) -> DataAPI.ChangeHint {
        DataAPI.ChangeHint(database: database, table: table, rowIDs: rowIDs, isSchema: isSchema, receivedAt: Date())
    }

    @Test func aHintMakesAQueryLook() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            let id = try await harbour.insert("Draken")
            harbour.database.changed(Self.hint(rowIDs: [id]))
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values[1].changes.inserted.map(\.recordId), [id])
            expectNoDifference(values.values[1].freshness.origin, .wake)
            values.cancel()
        }
    }

    @Test func aShutdownEndsAQueryThatRests() async throws {
        try await Harbour.run { harbour in
            let values = await harbour.watch(harbour.inOslo.live())
            let before = harbour.requests
            _ = try await harbour.database.server.shutdown().firstValue()
            guard case .failure(let error) = await values.completion() else {
                Issue.record("it finished")
                return
            }
            expectNoDifference(error.code, .shutdown)
            expectNoDifference(harbour.requests, before)
        }
    }

    @Test(arguments: ["harbour", "HARBOUR.fmp12"]) func aFileHasItsNameWithAndWithoutEnding(name: String) async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            let before = harbour.requests
            harbour.database.changed(Self.hint(name))
            await until { harbour.requests > before && query.isAtRest }
            values.cancel()
        }
    }

    @Test func aHintForAnotherFileIsNone() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            let before = harbour.requests
            harbour.database.changed(Self.hint("Harbours"))
            #expect(query.isAtRest)
            expectNoDifference(harbour.requests, before)
            values.cancel()
        }
    }

    @Test func theHintOfAnotherRecordDoesNotConcernTheOneThatIsObserved() {
        let (time, layout) = LiveTable.makeTimeAndLayout()
        let registry = layout.layout.database.liveRegistry
        let table = LiveTable(time, layout)
        table.insert("a")
        let key = LiveRegistry.Key(.record(1), of: layout, table.options)
        let values = TrackingSubscriber<Int, FMRest.APIError>()
        LiveValues(poller: { registry.poller(for: key, on: layout) { table.poll } }) { { [$0.changeCount] } }
            .asLongAsItHolds()
            .subscribe(values)
        expectNoDifference(table.polls, 1)
        registry.changed(Self.hint(rowIDs: [2, 3]))
        expectNoDifference(table.polls, 1)
        registry.changed(Self.hint(rowIDs: [1]))
        expectNoDifference(table.polls, 2)
        // The hint does not say which records have changed, or the schema has changed.
        registry.changed(Self.hint(table: nil))
        registry.changed(Self.hint(rowIDs: [2], isSchema: true))
        expectNoDifference(table.polls, 4)
        values.cancel()
    }

    @Test func aScriptThatLooksIsNoWriteAndDoesNotWakeItself() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live(DataAPI.LiveOptions(watch: .script("Versions")))
            let values = await harbour.watch(query)
            expectNoDifference(values.values.map(\.ids), [[1, 2, 3]])
            expectNoDifference(harbour.sandbox.counters.scriptRuns, 1)
            await settled { harbour.sandbox.counters.scriptRuns }
            expectNoDifference(harbour.sandbox.counters.scriptRuns, 1)
            try await harbour.delete(2)
            harbour.database.changed(Self.hint())
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values[1].ids, [1, 3])
            values.cancel()
        }
    }

    @Test func aLogTellsThatThereIsSomethingToLookFor() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live(DataAPI.LiveOptions(watch: .log("Log", serial: "Serial", reconcile: 4)))
            let values = await harbour.watch(query)
            func counts() -> [Int] {
                let requests = harbour.sandbox.counters.requests
                return [requests[.find, default: 0], requests[.getRecord, default: 0]]
            }
            let quiet = counts()
            await harbour.poll(query)
            // The log was requested, and nothing else.
            expectNoDifference(counts(), [quiet[0] + 1, quiet[1]])

            // A user of FileMaker Pro edits a record: the file logs it.
            try harbour.sandbox.editRecord(2, ["Name": "Draken"], ofTable: "Ships", inDatabase: "Harbour")
            await harbour.poll(query)
            expectNoDifference(values.values.last?.changes.updated.map(\.record.fieldData.name), ["Draken"])
            try harbour.sandbox.deleteRecord(3, ofTable: "Ships", inDatabase: "Harbour")
            await harbour.poll(query)
            expectNoDifference(values.values.last?.changes.removed.map(\.recordId), [3])
            expectNoDifference(values.values.last?.changes.removed.map(\.reason), [.deleted])

            // A write through the Data API is not logged. It shows all the same, later.
            try await harbour.delete(1)
            for _ in 0..<4 { await harbour.poll(query) }
            expectNoDifference(values.values.last?.ids, [2])
            values.cancel()
        }
    }
}
