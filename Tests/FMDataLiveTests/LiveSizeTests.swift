import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// Live queries over more records than are read again in each poll.
@Suite(.timeLimit(.minutes(10))) struct LiveSizeTests {
    private static let count = 6_000

    /// Writes through the Data API do not show in the log, so with the log all ids are compared each time.
    private static let ways: [DataAPI.LiveOptions] = [
        DataAPI.LiveOptions(), DataAPI.LiveOptions(watch: .scan("Ships (ids)")),
        DataAPI.LiveOptions(watch: .scan("Ships (ids)", key: "Name")),
        DataAPI.LiveOptions(watch: .stamp("Changed", scan: "Ships (ids)")),
        DataAPI.LiveOptions(watch: .log("Log", serial: "Serial", reconcile: 1)),
    ]

    @Test(.thorough, arguments: ways) func anyNumberOfRecordsIsWatched(options: DataAPI.LiveOptions) async throws {
        try await Harbour.run((1...Self.count).map { "Ship\($0)" }) { harbour in
            let query = harbour.ships.live(options)
            let values = await harbour.watch(query)
            expectNoDifference(values.values[0].ids, Array(1...Self.count))

            // A few changed records are read one by one.
            try await harbour.edit(17, ["Port": "Bergen"])
            try await harbour.delete(18)
            let id = try await harbour.insert("Draken")
            await harbour.poll(query)
            await values.valueCount(atLeast: 2)
            expectNoDifference(values.values[1].changes.updated.map(\.record.recordId), [17])
            expectNoDifference(values.values[1].changes.removed.map(\.recordId), [18])
            expectNoDifference(values.values[1].changes.removed.map(\.reason), [.deleted])
            expectNoDifference(values.values[1].changes.inserted.map(\.recordId), [id])
            values.cancel()
        }
    }

    /// One request per changed record is too slow: 402 requests for 402 records were once followed by a pause of two
    /// minutes.
    @Test(.thorough, arguments: ways)
    func manyThatHaveChangedAreReadTogether(options: DataAPI.LiveOptions) async throws {
        try await Harbour.run((1...1_000).map { "Ship\($0)" }) { harbour in
            let query = harbour.ships.live(options)
            let values = await harbour.watch(query)
            let changed = Array(stride(from: 1, through: 1_000, by: 10))
            for id in changed { try await harbour.edit(id, ["Port": "Bergen"]) }
            let before = harbour.sandbox.counters.requests.values.reduce(0, +)
            await harbour.poll(query)
            await values.valueCount(atLeast: 2)
            let requests = harbour.sandbox.counters.requests.values.reduce(0, +) - before
            expectNoDifference(values.values[1].changes.updated.map(\.record.recordId), changed)
            #expect(requests <= 20)
            values.cancel()
        }
    }

    @Test func aKeyThatTheLayoutDoesNotShowEndsTheQueryWithItsName() async throws {
        try await Harbour.run { harbour in
            let query = harbour.ships.live(DataAPI.LiveOptions(watch: .scan("Ships (ids)", key: "Port")))
            let values = await harbour.watch(query)
            harbour.time.advance(by: query.timeToNextLook(at: harbour.time.date))
            guard case .failure(let error) = await values.completion() else { return }
            expectNoDifference(error.code, .invalidRequest)
            expectNoDifference(error.reason.contains("Port"), true)
        }
    }

    @Test func readingAllAgainIsForAsManyAsTheOptionsSay() async throws {
        try await Harbour.run((1...50).map { "Ship\($0)" }) { harbour in
            let values = Harbour.Values()
            harbour.ships.live(DataAPI.LiveOptions(watch: .reread, maximumRecords: 49)).subscribe(values)
            let completion = await values.completion()
            guard case .failure(let error) = completion else { return #expect(Bool(false), "\(completion)") }
            expectNoDifference(error.code, .invalidRequest)
            expectNoDifference(error.hint?.contains("scan"), true)
        }
    }

    @Test func aQuietPollOfAFilteredQueryAsksForStampsAndForTheNumber() async throws {
        try await Harbour.run((1...1_200).map { "Ship\($0)" }) { harbour in
            for id in 1...10 { try await harbour.edit(id, ["Port": "Bergen"]) }
            let query = harbour.inOslo.live(DataAPI.LiveOptions(watch: .stamp("Changed", scan: "Ships (ids)")))
            let values = await harbour.watch(query)
            expectNoDifference(values.values[0].ids, Array(11...1_200))
            let before = harbour.requests
            await harbour.poll(query)
            expectNoDifference(harbour.requests - before, 2)
            values.cancel()
        }
    }
}
