import CustomDump
import FMTestSupport
import NIOCore
import NIOHTTP1
import OpenCombine
import Testing

@testable import FMData

/// Dates in the formats of the server's product information, which is requested once.
@Suite(.timeLimit(.minutes(15))) struct ServerFormatsTests {
    private struct Person: Codable, Equatable {
        var born: FMDate
    }

    private struct Member: LayoutRecord {
        static let layout = "People"
        static let readOnlyFields: [CodingKeys]? = []

        var key: String
        var born: FMDate

        enum CodingKeys: String, CodingKey { case key, born }
    }

    private static let records =
        #"{"data":[{"fieldData":{"born":"05.01.2024"},"portalData":{},"recordId":"1","modId":"0"}]}"#

    private static func reply(_ request: ScriptedHost.Call, date: String = "dd.MM.yyyy") -> [FaultServer.Step] {
        if request.target.hasSuffix("productInfo") {
            return .json(
                #"{"productInfo":{"name":"E","dateFormat":"\#(date)","timeFormat":"HH:mm:ss","#
                    + #""timeStampFormat":"\#(date) HH:mm:ss"}}"#
            )
        }
        return request.method == .POST
            ? .json(#"{"recordId":"1","modId":"0"}"#)
            : .json(request.target.hasSuffix("scripts") ? #"{"scripts":[]}"# : records)
    }

    private func questions(_ host: ScriptedHost) -> Int {
        host.calls.count { $0.target.hasSuffix("productInfo") }
    }

    @Test func askedOnceForAllThatReadAndWrite() async throws {
        try await ScriptedHost.run(client: { $0.dateFormats = .server }, answer: { Self.reply($0) }) {
            host in
            let layout = host.layout
            let born = try #require(FMDate("2024-01-05"))
            _ = try await host.database.getScriptNames().firstValue()
            let call = layout.getRecords().returnAs(Person.self)
            expectNoDifference(questions(host), 0, "nobody needs it")
            let patient = TrackingSubscriber<DataAPI.RecordResponse<Person, DataAPI.EmptyPortal>, FMRest.APIError>(
                initialDemand: .none
            )
            call.subscribe(patient)
            patient.cancel()
            expectNoDifference(questions(host), 0, "nobody has asked for a value")
            let answers = try await Publishers.Sequence<[Int], FMRest.APIError>(sequence: Array(0..<8))
                .flatMap { _ in call }.collect().firstValue()
            expectNoDifference(answers.flatMap(\.data).map(\.fieldData), Array(repeating: Person(born: born), count: 8))
            let streamed = try await layout.records(Person.self).firstValue()
            expectNoDifference(streamed.fieldData, Person(born: born))
            _ = try await layout.createRecord(Person(born: born)).firstValue()
            expectNoDifference(questions(host), 1)
            let written = try #require(host.calls.last { $0.method == .POST })
            #expect(String(buffer: written.body).contains(#""born":"05.01.2024""#))
            #expect(!host.calls.contains { $0.target.contains("dateformats") })
        }
    }

    /// A row that was noted before the host's formats were known is recognized afterwards.
    @Test func aJournalKnowsARowWhateverFormatsTheHostHas() async throws {
        try await ScriptedHost.run(client: { $0.dateFormats = .server }, answer: { Self.reply($0) }) { host in
            let people = host.database.layout(Member.self)
            let born = try #require(FMDate("2024-01-05"))
            let journal = DataAPI.WriteJournal.memory()
            for isAgain in [false, true] {
                let rows = try await people.writing(
                    [.create(Member(key: "K", born: born))],
                    journal: journal,
                    options: .init(idempotencyKey: "key")
                )
                .outcome().get()
                expectNoDifference(rows.map(\.result.kind), [.created])
                expectNoDifference(rows.map(\.isFromJournal), [isAgain])
            }
            expectNoDifference(questions(host), 1)
            let written = try #require(host.calls.last { $0.method == .POST })
            #expect(String(buffer: written.body).contains(#""born":"05.01.2024""#))
        }
    }

    @Test func whatCannotBeHadIsAnErrorOfTheCall() async throws {
        try await ScriptedHost.run(
            client: { $0.dateFormats = .server },
            answer: { call in
                call.number == 0
                    ? .json(500, "")
                    : Self.reply(call, date: call.number == 1 ? "d.M" : "dd.MM.yyyy")
            }
        ) { host in
            let call = host.layout.getRecords().returnAs(Person.self)
            let first = try await #require(throws: FMRest.APIError.self) { try await call.firstValue() }
            expectNoDifference(first.code, .notDataAPI)
            let second = try await #require(throws: FMRest.APIError.self) { try await call.firstValue() }
            expectNoDifference(second.code, .decoding)
            #expect(second.reason.contains("d.M"))
            expectNoDifference(host.logIns.count, 0)
            let third = try await call.firstValue()
            expectNoDifference(third.data.count, 1)
            expectNoDifference(questions(host), 3)
        }
    }

    @Test func nobodyAsksWhoKnows() async throws {
        try await ScriptedHost.run(answer: { Self.reply($0) }) { host in
            _ = try await host.layout.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(questions(host), 0)
        }
    }
}
