import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import OpenCombine
import Testing

@testable import FMDataCore

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

    /// An answer that is none of a Data API.
    private static let broken: [FaultServer.Step] = .json(500, "")

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

    // MARK: Several who ask at once

    private typealias People = DataAPI.RecordResponse<Person, DataAPI.EmptyPortal>

    @Test func whoAsksMeanwhileFailsWithTheQuestion() async throws {
        let gate = Gate()
        try await ScriptedHost.run(
            client: { $0.dateFormats = .server },
            answer: { call in
                call.number == 0 ? [FaultServer.Step.wait(gate)] + Self.broken : Self.reply(call)
            }
        ) { host in
            let call = host.layout.getRecords().returnAs(Person.self)
            let asking = (0..<3).map { _ in TrackingSubscriber<People, FMRest.APIError>() }
            for subscriber in asking { call.subscribe(subscriber) }
            await host.server.requestCount(atLeast: 1)
            gate.open()
            for subscriber in asking {
                await subscriber.completion()
                expectNoDifference(subscriber.completionIfAny?.error?.code, .notDataAPI)
            }
            expectNoDifference(questions(host), 1)
            // The next one asks anew.
            expectNoDifference(awaited: try await call.firstValue().data.count, 1)
            expectNoDifference(questions(host), 2)
        }
    }

    @Test func whoLeavesLeavesTheAnswerToTheOthers() async throws {
        let gate = Gate()
        try await ScriptedHost.run(
            client: { $0.dateFormats = .server },
            answer: { call in
                call.number == 0 ? [FaultServer.Step.wait(gate)] + Self.reply(call) : Self.reply(call)
            }
        ) { host in
            let call = host.layout.getRecords().returnAs(Person.self)
            let first = TrackingSubscriber<People, FMRest.APIError>()
            let second = TrackingSubscriber<People, FMRest.APIError>()
            call.subscribe(first)
            call.subscribe(second)
            await host.server.requestCount(atLeast: 1)
            first.cancel()
            gate.open()
            await second.completion()
            expectNoDifference(second.values.count, 1)
            expectNoDifference(first.values.count, 0)
            expectNoDifference(questions(host), 1)
        }
    }

    /// The first question fails before it is sent, on the thread that asks it. Who had joined it asks again there, and
    /// has a question under way when the first asker gets back: its end must not take that question's subscription.
    @Test func whatFailsAtOnceDoesNotEndTheQuestionThatFollowsIt() async throws {
        try await ScriptedHost.run(answer: { Self.reply($0) }) { host in
            let time = TestClock()
            // Called once, when the clock is read next: while the first question is being made.
            let meanwhile = Locked<(@Sendable () -> Void)?>(nil)
            var clock = time.sessionTime
            clock.now = {
                let now = time.deadline
                var action: (@Sendable () -> Void)?
                meanwhile.change { (action, $0) = ($0, nil) }
                action?()
                return now
            }
            var config = DataAPI.Config.patient
            config.dateFormats = .server
            let server = DataAPI.Server(
                host: "http://127.0.0.1:\(host.server.port)",
                config: config,
                runtime: Runtime(),
                wallClock: { Date() },
                time: clock
            )
            let hurried = server.timeouts { $0.total = .zero }
            let second = TrackingSubscriber<Bool, FMRest.APIError>()
            meanwhile.change {
                $0 = {
                    server.formats.publisher(of: hurried)
                        .catch { _ in server.formats.publisher(of: server) }
                        .map { _ in true }
                        .subscribe(second)
                }
            }
            let first = await server.formats.publisher(of: hurried).map { _ in true }.awaitSingleResult()
            expectNoDifference(first.failure?.code, .timeout)
            await second.completion()
            expectNoDifference(second.values, [true])
            expectNoDifference(questions(host), 1)
        }
    }

    @Test func nobodyAsksWhoKnows() async throws {
        try await ScriptedHost.run(answer: { Self.reply($0) }) { host in
            _ = try await host.layout.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(questions(host), 0)
        }
    }
}
