import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Records one by one: over the wire, and the publisher's contract with scripted parts of an answer.
@Suite(.timeLimit(.minutes(15))) struct RecordStreamTests {
    struct Country: Decodable, Equatable, Sendable {
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    // MARK: Over the wire

    @Test(arguments: Wire.allCases)
    func everyRecordComesSingly(wire: Wire) async throws {
        try await World.run(over: wire) { world in
            let summary = Locked<DataAPI.RecordsSummary?>(nil)
            var names: [String] = []
            let records = world.countries.records(
                Country.self,
                recordQuery: RecordQuery(portal: [], limit: 300),
                summary: { found in summary.change { $0 = found } }
            )
            for try await record in records.values { names.append(record.fieldData.name) }
            expectNoDifference(names.count, 249)
            expectNoDifference(Set(names).count, 249)
            expectNoDifference(summary.value?.dataInfo.foundCount, 249)
            expectNoDifference(summary.value?.recordCount, 249)
        }
    }

    @Test func demandIsABudget() async throws {
        try await World.run { world in
            let subscriber = TrackingSubscriber<DataAPI.Record<Country, EmptyPortal>, FMRest.APIError>(
                initialDemand: .none
            )
            world.countries.records(Country.self, recordQuery: RecordQuery(limit: 300)).subscribe(subscriber)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
            subscriber.request(.max(3))
            await subscriber.valueCount(atLeast: 3)
            subscriber.request(.max(2))
            await subscriber.valueCount(atLeast: 5)
            expectNoDifference(subscriber.values.count, 5)
            subscriber.cancel()
        }
    }

    @Test func aFindWithoutMatchFinishesWithoutARecord() async throws {
        try await World.run { world in
            var query = FindQuery(query: [["Code": "==QQ"]])
            var count = 0
            for try await _ in world.countries.records(Country.self, findQuery: query).values { count += 1 }
            expectNoDifference(count, 0)
            query.noMatch = .failure
            let error = await world.countries.records(Country.self, findQuery: query).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .noRecordsMatch)
        }
    }

    @Test func aRefusedTokenIsRenewedBeforeTheFirstRecord() async throws {
        try await World.run { world in
            _ = try await world.countries.getRecords().returnAs(Country.self).firstValue()
            world.sandbox.expireSessions()
            var count = 0
            let query = RecordQuery(limit: 10)
            for try await _ in world.countries.records(Country.self, recordQuery: query).values { count += 1 }
            expectNoDifference(count, 10)
            expectNoDifference(world.sandbox.counters.logins, 2)
        }
    }

    @Test func findsOfTheFindLanguage() async throws {
        enum Fields: String, CodingKey {
            case name = "Name"
            case longitude = "Longitude"
        }
        try await World.run { world in
            let find = Find(Fields.self) { field in
                field(.longitude) < -120 && !field(.name).begins(with: "America")
            }
            var names: [String] = []
            for try await record in world.zones.records(Country.self, findQuery: FindQuery(find, limit: 500)).values {
                names.append(record.fieldData.name)
            }
            #expect(names.contains("Pacific/Apia") && !names.contains { $0.hasPrefix("America") })
        }
    }

    @Test func isoDatesBothWays() async throws {
        struct Person: Codable, Equatable, Sendable {
            var name: String
            var birthday: FMDate
            enum CodingKeys: String, CodingKey { case name = "Name", birthday = "Birthday" }
        }
        let birthday = try #require(FMDate("1815-12-10", format: .iso))
        for formats in [DataAPI.DateFormats.us, .iso8601] {
            try await World.run(client: { $0.dateFormats = formats }) { world in
                let person = Person(name: "Augusta", birthday: birthday)
                let created = try await world.contacts.createRecord(record: EditRecord(createRecord: person))
                    .firstValue()
                let read = try await world.contacts.record(id: created.recordId).returnAs(Person.self)
                    .firstValue()
                expectNoDifference(read.data.map(\.fieldData), [person])
            }
        }
    }

    // MARK: The publisher's contract

    typealias Records = TrackingSubscriber<DataAPI.Record<Country, EmptyPortal>, FMRest.APIError>

    /// An upstream whose parts the test sends. It records the demand.
    private struct Source {
        let parts = PassthroughSubject<HTTPResponsePart, FMRest.APIError>()
        let demands = Locked<[Subscribers.Demand]>([])
        let isCancelled = Locked(false)

        func subscribe(_ subscriber: Records) {
            let (demands, isCancelled) = (demands, isCancelled)
            RecordsPublisher(
                upstream: parts.handleEvents(
                    receiveCancel: { isCancelled.change { $0 = true } },
                    receiveRequest: { asked in demands.change { $0.append(asked) } }
                ),
                reader: AnswerReader(),
                summary: nil
            )
            .subscribe(subscriber)
        }

        func send(_ text: String) { parts.send(.body(ByteBuffer(string: text))) }

        func sendHead() { parts.send(.head(HTTPResponseHead(version: .http1_1, status: .ok))) }

        /// Three records in two chunks.
        static let answer = [
            #"{"response":{"data":[\#(record("A", 1)),\#(record("B", 2))"#,
            #",\#(record("C", 3))]},"messages":[{"code":"0","message":"OK"}]}"#,
        ]

        func sendTwoRecords() { send(Self.answer[0]) }

        func sendTheRest() {
            send(Self.answer[1])
            parts.send(completion: .finished)
        }

        private static func record(_ name: String, _ id: Int) -> String {
            #"{"fieldData":{"Name":"\#(name)"},"portalData":{},"recordId":"\#(id)","modId":"0"}"#
        }
    }

    @Test func nothingIsAskedForWithoutDemand() {
        let source = Source()
        let subscriber = Records(initialDemand: .none)
        source.subscribe(subscriber)
        expectNoDifference(source.demands.value, [])
        subscriber.request(.max(1))
        expectNoDifference(source.demands.value, [.max(1)])
    }

    @Test func onePartAtATimeAndOnlyWhileRecordsAreWanted() {
        let source = Source()
        let subscriber = Records(initialDemand: .max(1))
        source.subscribe(subscriber)
        source.sendHead()
        source.sendTwoRecords()
        expectNoDifference(subscriber.values.map(\.fieldData.name), ["A"])
        expectNoDifference(source.demands.value.count, 2, "the head, and the chunk with both records")
        subscriber.request(.max(1))
        expectNoDifference(subscriber.values.map(\.fieldData.name), ["A", "B"])
        expectNoDifference(source.demands.value.count, 2, "nobody wants another record")
    }

    @Test func finishesWithTheLastRecordWithoutFurtherDemand() {
        let source = Source()
        let subscriber = Records(initialDemand: .max(3))
        source.subscribe(subscriber)
        source.sendHead()
        source.sendTwoRecords()
        source.sendTheRest()
        expectNoDifference(subscriber.values.map(\.fieldData.name), ["A", "B", "C"])
        #expect(subscriber.isFinished)
    }

    @Test func demandFromWithinAValue() {
        let source = Source()
        let subscriber = Records(initialDemand: .max(1), demandAfterValue: { _ in .max(1) })
        source.subscribe(subscriber)
        source.sendHead()
        source.sendTwoRecords()
        source.sendTheRest()
        expectNoDifference(subscriber.values.map(\.fieldData.name), ["A", "B", "C"])
        #expect(subscriber.isFinished)
    }

    @Test func whatArrivedBeforeACutIsDelivered() {
        let source = Source()
        let subscriber = Records()
        source.subscribe(subscriber)
        source.sendHead()
        source.sendTwoRecords()
        source.parts.send(completion: .failure(FMRest.APIError(.network, reason: "cut")))
        expectNoDifference(subscriber.values.map(\.fieldData.name), ["A", "B"])
        expectNoDifference(subscriber.failure?.code, .network)
    }

    @Test func anErrorAfterTheRecordsIsAFailure() {
        let source = Source()
        let subscriber = Records()
        source.subscribe(subscriber)
        source.sendHead()
        source.sendTwoRecords()
        source.send(#"]},"messages":[{"code":"951","message":"Unexpected"}]}"#)
        source.parts.send(completion: .finished)
        expectNoDifference(subscriber.values.count, 2)
        expectNoDifference(subscriber.failure?.fileMakerCode?.rawValue, 951)
    }

    @Test func aRecordThatCannotBeReadEndsTheExchange() {
        let source = Source()
        let subscriber = Records()
        source.subscribe(subscriber)
        source.sendHead()
        source.send(#"{"response":{"data":[{"fieldData":{},"recordId":"1","modId":"0"},"#)
        expectNoDifference(subscriber.failure?.code, .decoding)
        #expect(source.isCancelled.value)
    }

    @Test func cancellingLetsGoOfEverything() {
        let source = Source()
        let subscriber = Records()
        source.subscribe(subscriber)
        source.sendHead()
        subscriber.cancel()
        #expect(source.isCancelled.value)
        source.sendTwoRecords()
        expectNoDifference(subscriber.values.count, 0)
    }

    /// Demand from several threads: each record comes once and in order, with one completion.
    @Test func racesForDemand() {
        for _ in 0..<200 {
            let parts: [HTTPResponsePart] =
                [.head(HTTPResponseHead(version: .http1_1, status: .ok))]
                + Source.answer.map { .body(ByteBuffer(string: $0)) }
            let subscriber = Records(initialDemand: .none)
            RecordsPublisher<_, Country, EmptyPortal>(
                upstream: parts.publisher.setFailureType(to: FMRest.APIError.self),
                reader: AnswerReader(),
                summary: nil
            )
            .subscribe(subscriber)
            race(
                rounds: 1,
                { subscriber.request(.max(1)) },
                { subscriber.request(.max(2)) },
                { subscriber.request(.max(1)) }
            )
            expectNoDifference(subscriber.values.map(\.fieldData.name), ["A", "B", "C"])
            #expect(subscriber.isFinished)
        }
    }
}

extension TrackingSubscriber {
    fileprivate var isFinished: Bool { if case .finished = completionIfAny { true } else { false } }

    fileprivate var failure: Failure? { if case .failure(let error) = completionIfAny { error } else { nil } }
}
