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

/// Live queries over the wire.
@Suite(.timeLimit(.minutes(15))) struct LiveQueryTests {
    @Test func theFirstValueIsTheWholeFoundSetAndTheNextOneComesWithAChange() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.sorted(by: .name).live()
            let values = await harbour.watch(query)
            expectNoDifference(values.values.map { $0.records.map(\.fieldData.name) }, [["Ask", "Embla", "Fram"]])
            expectNoDifference(values.values[0].freshness.origin, .snapshot)

            let id = try await harbour.insert("Draken")
            await harbour.poll(query)
            expectNoDifference(values.values.count, 2)
            expectNoDifference(values.values[1].records.map(\.fieldData.name), ["Ask", "Draken", "Embla", "Fram"])
            expectNoDifference(values.values[1].changes.inserted.map(\.recordId), [id])
            expectNoDifference(Array(values.values[1].changes.insertions), [1])
            expectNoDifference(values.values[1].freshness.origin, .poll)
            values.cancel()
        }
    }

    @Test func aQuietLookTellsNobody() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            await harbour.poll(query)
            await harbour.poll(query)
            expectNoDifference(values.values.count, 1)
            values.cancel()
        }
    }

    @Test func nothingIsSentBeforeDemandAndNothingAfterTheLastOneHasGone() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let idle = Harbour.Values(initialDemand: .none)
            query.subscribe(idle)
            expectNoDifference(harbour.sandbox.counters.requests, [:])
            idle.cancel()

            let values = await harbour.watch(query)
            values.cancel()
            let before = harbour.requests
            await harbour.untilNothingIsHeld()
            harbour.time.advance(by: .hours(1))
            expectNoDifference(harbour.requests, before)
        }
    }

    @Test func equalQueriesShareLooksAndValues() async throws {
        try await Harbour.run { harbour in
            let first = harbour.inOslo.live()
            let one = await harbour.watch(first)
            let before = harbour.requests
            // Another object of an equal query.
            let two = Harbour.Values()
            harbour.inOslo.live().subscribe(two)
            await two.valueCount(atLeast: 1)
            expectNoDifference(harbour.requests, before)
            expectNoDifference(two.values.map(\.ids), one.values.map(\.ids))

            _ = try await harbour.insert("Draken")
            await harbour.poll(first)
            expectNoDifference(two.values.count, 2)
            expectNoDifference(harbour.requests, before + 1)
            one.cancel()
            two.cancel()
        }
    }

    @Test func whoComesBackInTimeFindsTheLastValue() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let first = await harbour.watch(query)
            let id = try await harbour.insert("Draken")
            first.cancel()
            let second = Harbour.Values(initialDemand: .max(1))
            // First the known value, then the changes that the next poll finds. A poll that ends before the known value
            // is delivered would replace it.
            harbour.sandbox.inject(.holdAnswer, on: .find)
            query.subscribe(second)
            await second.valueCount(atLeast: 1)
            expectNoDifference(second.values.map(\.ids), [[1, 2, 3]])
            second.request(.unlimited)
            await harbour.sandbox.untilAnswersHeld()
            harbour.sandbox.releaseAnswers()
            await second.valueCount(atLeast: 2)
            expectNoDifference(second.values[1].changes.inserted.map(\.recordId), [id])
            second.cancel()
        }
    }

    @Test func refreshLooksAtOnceAndOnceMoreWhileItLooks() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            _ = try await harbour.insert("Draken")
            await harbour.refresh(query)
            expectNoDifference(values.values.count, 2)
            expectNoDifference(values.values[1].freshness.origin, .refresh)
            values.cancel()
        }
    }

    @Test func aWriteThroughTheSameTreeIsSeenAtOnce() async throws {
        try await Harbour.run { harbour in
            let query = harbour.inOslo.live()
            let values = await harbour.watch(query)
            _ = try await harbour.ships.edit(2, setting: ["Name": "Draken"]).firstValue()
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values[1].records[1].fieldData.name, "Draken")
            expectNoDifference(values.values[1].freshness.origin, .ownWrite)
            values.cancel()
        }
    }

    @Test func oneRecordIsObservedUntilItIsGone() async throws {
        try await Harbour.run { harbour in
            let ship = TrackingSubscriber<DataAPI.TypedLayout<Ship>.Record?, FMRest.APIError>()
            harbour.ships.observe(2).subscribe(ship)
            await ship.valueCount(atLeast: 1)
            expectNoDifference(ship.values.map { $0?.fieldData.name }, ["Embla"])
            try await harbour.edit(2, ["Name": "Draken"])
            await until { harbour.time.timers.contains { $0 < .seconds(10) } }
            harbour.time.advance(by: harbour.time.timers[0])
            await ship.valueCount(atLeast: 2)
            expectNoDifference(ship.values[1]?.fieldData.name, "Draken")
            try await harbour.delete(2)
            await until { harbour.time.timers.contains { $0 < .seconds(10) } }
            harbour.time.advance(by: harbour.time.timers[0])
            await ship.valueCount(atLeast: 3)
            expectNoDifference(ship.values[2] == nil, true)
            ship.cancel()
        }
    }

    @Test func objectsOfTwoQueriesAreOneForEachRecord() async throws {
        try await Harbour.run { harbour in
            let inOslo = DataAPI.LiveRecords(harbour.inOslo.live())
            let all = DataAPI.LiveRecords(harbour.ships.live())
            await until { inOslo.records.count == 3 && all.records.count == 3 }
            for (one, other) in zip(inOslo.records, all.records) { #expect(one === other) }
            let query = harbour.inOslo.live()
            await until { query.isAtRest }
            try await harbour.edit(1, ["Name": "Draken"])
            inOslo.refresh()
            await until { inOslo.records[0].record.fieldData.name == "Draken" }
            // The other query has not polled yet.
            expectNoDifference(all.records[0].record.fieldData.name, "Draken")
        }
    }

    /// The key that identifies a query outlives the query's poller, so it must not keep the database alive.
    @Test func aQueryThatIsOverDoesNotKeepItsDatabase() {
        weak var database: DataAPI.Database?
        do {
            let layout = LiveTable.makeTimeAndLayout().layout
            database = layout.layout.database
            var statuses = 0
            // Asking for the status makes a poller, which is released again.
            _ = layout.live().status.first().sink { _ in statuses += 1 }
            expectNoDifference(statuses, 1)
            expectNoDifference(layout.layout.database.liveRegistry.observers.count, 0)
        }
        #expect(database == nil)
    }
}
