import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Reading records by a list of ids.
@Suite(.timeLimit(.minutes(15))) struct ManyRecordsTests {
    private struct Note: LayoutRecord, Equatable {
        static let layout = "Notes"
        var text: String
        enum CodingKeys: String, CodingKey { case text = "Text" }
    }

    private typealias Subscriber = TrackingSubscriber<DataAPI.TypedLayout<Note>.Record, FMRest.APIError>

    private func withNotes(
        _ count: Int,
        client: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (DataAPI.TypedLayout<Note>, Sandbox) async throws -> Void
    ) async throws {
        let solution = Solution.single(
            fields: [.init("Text")],
            layoutFields: ["Text"],
            records: (1...count).map { Solution.Record(recordId: $0, ["Text": "note \($0)"]) }
        )
        try await Hosted.run(solution, client: client) { database, sandbox in
            try await body(database.layout(Note.self), sandbox)
        }
    }

    @Test func eachComesInTheOrderOfTheIdsAsOftenAsItIsNamed() async throws {
        try await withNotes(9) { notes, sandbox in
            let read = try await notes.records(ids: [7, 1, 9, 1]).outcome().get()
            expectNoDifference(read.map(\.recordId), [7, 1, 9, 1])
            expectNoDifference(read.map(\.fieldData.text), ["note 7", "note 1", "note 9", "note 1"])
            expectNoDifference(sandbox.counters.requests[.getRecord], 4)
            let named = try await notes.records(ids: ["3", "2"]).outcome().get()
            expectNoDifference(named.map(\.recordId), [3, 2])
            let none = try await notes.records(ids: [Int]()).outcome().get()
            expectNoDifference(none.count, 0)
        }
    }

    @Test func aMissingOneIsNamedAfterThoseBeforeIt() async throws {
        try await withNotes(9) { notes, _ in
            let subscriber = Subscriber()
            notes.records(ids: [3, 17, 4]).subscribe(subscriber)
            guard case .failure(let error) = await subscriber.completion() else { return #expect(Bool(false)) }
            expectNoDifference(error.fileMakerCode, .recordMissing)
            #expect(error.reason.contains("record 17"))
            #expect(error.request?.path.hasSuffix("/records/17") == true)
            expectNoDifference(subscriber.values.map(\.recordId), [3])
        }
    }

    @Test func missingOnesMayBeLeftOut() async throws {
        try await withNotes(9) { notes, _ in
            let read = try await notes.records(ids: [17, 3, 18, 4, 19], missing: .skip).outcome().get()
            expectNoDifference(read.map(\.recordId), [3, 4])
            let none = try await notes.records(ids: [17], missing: .skip).outcome().get()
            expectNoDifference(none.count, 0)
        }
    }

    @Test func aTextThatIsNoNumberIsToldAndOtherFailuresStayWhatTheyAre() async throws {
        try await withNotes(9) { notes, sandbox in
            let error = await notes.records(ids: ["one"], missing: .skip).outcome().failure
            expectNoDifference(error?.code, .invalidRequest)
            sandbox.inject(.error(FileMakerError(802)), on: .getRecord)
            let closed = await notes.records(ids: [1], missing: .skip).outcome().failure
            expectNoDifference(closed?.fileMakerCode?.rawValue, 802)
        }
    }

    @Test func noMoreAreUnderWayThanSessionsAndNoneBeforeDemand() async throws {
        try await withNotes(40, client: { $0.sessions.maximumSessions = 3 }) { notes, sandbox in
            let idle = Subscriber(initialDemand: .none)
            notes.records(ids: 1...40).subscribe(idle)
            expectNoDifference(sandbox.counters.totalRequests, 0)
            idle.cancel()

            let read = try await notes.records(ids: 1...40).outcome().get()
            expectNoDifference(read.map(\.recordId), Array(1...40))
            #expect(sandbox.counters.mostConcurrentRequests <= 3)
        }
    }

    @Test func oneThatIsAskedForIsOneRequest() async throws {
        try await withNotes(40) { notes, sandbox in
            let subscriber = Subscriber(initialDemand: .max(1))
            notes.records(ids: 1...40, isolation: nil).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 1)
            await settled { sandbox.counters }
            expectNoDifference(sandbox.counters.requests[.getRecord], 1)
            subscriber.cancel()
        }
    }

    @Test func cancellingEndsWhatIsUnderWay() async throws {
        try await withNotes(40) { notes, sandbox in
            sandbox.inject(.holdAnswer, on: .getRecord)
            let subscriber = Subscriber()
            notes.records(ids: 1...40).subscribe(subscriber)
            await sandbox.untilAnswersHeld()
            subscriber.cancel()
            sandbox.releaseAnswers()
            await settled { sandbox.counters }
            expectNoDifference(subscriber.history.count, 1)
            #expect((sandbox.counters.requests[.getRecord] ?? 0) < 40)
        }
    }

    @Test func theLoopOfAsyncCodeTakesThemOneByOne() async throws {
        try await withNotes(9) { notes, _ in
            var texts: [String] = []
            for try await record in notes.records(ids: 1...9).values {
                texts.append(record.fieldData.text)
                if texts.count == 3 { break }
            }
            expectNoDifference(texts, ["note 1", "note 2", "note 3"])
            for try await first in notes.firstRecord({ $0(.text) == "note 4" }).values {
                expectNoDifference(first?.recordId, 4)
            }
        }
    }
}
