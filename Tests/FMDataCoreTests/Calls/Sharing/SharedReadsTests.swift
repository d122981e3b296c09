import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Equal reads that are under way at the same time are one request.
@Suite(.timeLimit(.minutes(15))) struct SharedReadsTests {
    private struct Person: LayoutRecord, Equatable {
        static let layout = "Contacts"
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    private typealias First = TrackingSubscriber<DataAPI.TypedLayout<Person>.Record?, FMRest.APIError>

    private func ada(_ world: World) -> DataAPI.FoundSet<Person> {
        world.database.layout(Person.self).find { $0(.name) == "Ada Lovelace" }
    }

    /// Several subscribers that read while the answer to the first of them is held.
    private func asking(
        _ count: Int,
        of found: DataAPI.FoundSet<Person>,
        in world: World
    ) async -> [First] {
        world.sandbox.inject(.holdAnswer, on: .find)
        let subscribers = (0..<count).map { _ in First() }
        found.firstRecord(isolation: nil).subscribe(subscribers[0])
        await world.sandbox.untilAnswersHeld()
        for subscriber in subscribers.dropFirst() { found.firstRecord(isolation: nil).subscribe(subscriber) }
        return subscribers
    }

    @Test func equalReadsAreOneRequestAndEachGetsTheAnswer() async throws {
        try await World.run { world in
            let subscribers = await asking(20, of: ada(world).coalescingReads(), in: world)
            world.sandbox.releaseAnswers()
            for subscriber in subscribers {
                await subscriber.completion()
                expectNoDifference(subscriber.values.map { $0?.fieldData.name }, ["Ada Lovelace"])
            }
            expectNoDifference(world.sandbox.counters.requests[.find], 1)
        }
    }

    @Test func withoutBeingAskedForNothingIsShared() async throws {
        try await World.run { world in
            let subscribers = await asking(2, of: ada(world), in: world)
            await subscribers[1].completion()
            world.sandbox.releaseAnswers()
            await subscribers[0].completion()
            expectNoDifference(world.sandbox.counters.requests[.find], 2)
        }
    }

    @Test func whoCancelsLeavesTheOthersTheirAnswer() async throws {
        try await World.run { world in
            let subscribers = await asking(3, of: ada(world).coalescingReads(), in: world)
            // This includes the subscriber that has started the request.
            subscribers[0].cancel()
            subscribers[2].cancel()
            world.sandbox.releaseAnswers()
            await subscribers[1].completion()
            expectNoDifference(subscribers[1].values.map { $0?.fieldData.name }, ["Ada Lovelace"])
            expectNoDifference(subscribers.map(\.history.count), [1, 3, 1])
            expectNoDifference(world.sandbox.counters.requests[.find], 1)
        }
    }

    @Test func theLastWhoCancelsEndsTheRequestAndTheNextBeginsAnew() async throws {
        try await World.run { world in
            let found = ada(world).coalescingReads()
            let subscribers = await asking(2, of: found, in: world)
            for subscriber in subscribers { subscriber.cancel() }
            let next = try await found.firstRecord().firstValue()
            expectNoDifference(next?.fieldData.name, "Ada Lovelace")
            expectNoDifference(world.sandbox.counters.requests[.find], 2)
            world.sandbox.releaseAnswers()
            expectNoDifference(subscribers.map(\.history.count), [1, 1])
        }
    }

    @Test func whoComesAfterTheAnswerAsksAnew() async throws {
        try await World.run { world in
            for _ in 0..<2 { _ = try await ada(world).coalescingReads().firstRecord().firstValue() }
            expectNoDifference(world.sandbox.counters.requests[.find], 2)
        }
    }

    @Test func whatDiffersIsNotShared() async throws {
        struct Other: LayoutRecord {
            static let layout = "Contacts"
            var email: String
            enum CodingKeys: String, CodingKey { case email = "Email", name = "Name" }
            init(from decoder: any Decoder) throws {
                email = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .email)
            }
            func encode(to encoder: any Encoder) throws {}
        }
        try await World.run { world in
            let subscribers = await asking(1, of: ada(world).coalescingReads(), in: world)
            let sorted = try await ada(world).coalescingReads().sorted(by: .name).firstRecord().firstValue()
            let tagged = try await ada(world).coalescingReads().tagged("menu").firstRecord().firstValue()
            let patient = try await ada(world).coalescingReads().timeouts { $0.total = .seconds(600) }.firstRecord()
                .firstValue()
            expectNoDifference(
                [sorted, tagged, patient].map { $0?.fieldData.name },
                Array(repeating: "Ada Lovelace", count: 3)
            )
            let others = world.database.layout(Other.self).find { $0(.name) == "Ada Lovelace" }.coalescingReads()
            let other = try await others.firstRecord().firstValue()
            expectNoDifference(other?.fieldData.email, "ada@example.com")
            expectNoDifference(world.sandbox.counters.requests[.find], 5)
            world.sandbox.releaseAnswers()
            await subscribers[0].completion()
        }
    }

    @Test func whoReadsAfterAWriteSeesIt() async throws {
        try await World.run { world in
            let people = world.database.layout(Person.self).coalescingReads()
            let record = try #require(try await people.firstRecord { $0(.name) == "Ada Lovelace" }.firstValue())
            world.sandbox.inject(.holdAnswer, on: .getRecord)
            let before = TrackingSubscriber<DataAPI.TypedLayout<Person>.Record, FMRest.APIError>()
            people.record(id: record.id, isolation: nil).subscribe(before)
            await world.sandbox.untilAnswersHeld()
            _ = try await people.edit(record.id, setting: ["Name": "Ada King"]).firstValue()
            let after = try await people.record(id: record.id).firstValue()
            expectNoDifference(after.fieldData.name, "Ada King")
            world.sandbox.releaseAnswers()
            await before.completion()
            expectNoDifference(before.values.map(\.fieldData.name), ["Ada Lovelace"])
        }
    }

    @Test func writesAndScriptsAreNeverShared() async throws {
        try await World.run { world in
            let people = world.database.layout(Person.self).coalescingReads()
            let made = (0..<3).map { _ in TrackingSubscriber<DataAPI.CreateResponse, FMRest.APIError>() }
            for subscriber in made { people.create(Person(name: "New")).subscribe(subscriber) }
            let echoes = (0..<3).map { _ in TrackingSubscriber<DataAPI.ScriptResponse, FMRest.APIError>() }
            for subscriber in echoes { people.layout.runScript("Echo", parameter: "1").subscribe(subscriber) }
            for subscriber in made { await subscriber.completion() }
            for subscriber in echoes { await subscriber.completion() }
            expectNoDifference(Set(made.flatMap(\.values).map(\.recordId)).count, 3)
            expectNoDifference(world.sandbox.counters.scriptRuns, 3)
        }
    }

    /// The global fields of a pinned session are seen only by its own reads.
    @Test func workInASessionOfItsOwnSharesWithNobodyElse() async throws {
        try await World.run { world in
            let people = world.database.layout(FilteredPerson.self).coalescingReads()
            world.sandbox.inject(.holdAnswer, on: .find)
            let outside = TrackingSubscriber<DataAPI.TypedLayout<FilteredPerson>.Record?, FMRest.APIError>()
            people.firstRecord(isolation: nil) { $0(.name) == "Ada Lovelace" }.subscribe(outside)
            await world.sandbox.untilAnswersHeld()
            let inside = try await world.database.withSession { pinned in
                try await pinned.setGlobals(["Contacts::gFilter": "mine"]).firstValue()
                return try await pinned.layout(FilteredPerson.self).coalescingReads().firstRecord {
                    $0(.name) == "Ada Lovelace"
                }
                .firstValue()
            }
            expectNoDifference(inside?.fieldData.filter, "mine")
            world.sandbox.releaseAnswers()
            await outside.completion()
            expectNoDifference(outside.values.map { $0?.fieldData.filter }, [""])
        }
    }

    private struct FilteredPerson: LayoutRecord {
        static let layout = "Contacts"
        var name: String
        var filter: String
        enum CodingKeys: String, CodingKey { case name = "Name", filter = "gFilter" }
    }

    // MARK: As a publisher

    private static let key = key(publishing: Int.self)

    private static func key<Value>(publishing value: Value.Type) -> SharedReads.Key {
        SharedReads.Key(
            target: "GET /a",
            body: [],
            response: ObjectIdentifier(Int.self),
            value: ObjectIdentifier(value),
            timeouts: .init(),
            tag: nil,
            lease: nil
        )
    }

    @Test func nothingBeginsBeforeDemandNorAfterAnEarlyCancel() {
        let exchange = StubExchange<Int>()
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>(initialDemand: .none)
        SharedReads().publisher(Self.key, AnyPublisher(exchange)).subscribe(subscriber)
        #expect(!exchange.isSubscribed)
        subscriber.cancel()
        subscriber.request(.max(1))
        #expect(!exchange.isSubscribed)
    }

    @Test func aFailureIsEverybodysAndNotOfThoseWhoComeLater() {
        let reads = SharedReads()
        let (first, second) = (StubExchange<Int>(), StubExchange<Int>())
        let subscribers = (0..<3).map { _ in TrackingSubscriber<Int, FMRest.APIError>() }
        reads.publisher(Self.key, AnyPublisher(first)).subscribe(subscribers[0])
        reads.publisher(Self.key, AnyPublisher(second)).subscribe(subscribers[1])
        #expect(!second.isSubscribed)
        first.fail(FMRest.APIError(.network, reason: "broke"))
        reads.publisher(Self.key, AnyPublisher(second)).subscribe(subscribers[2])
        second.succeed(2)
        expectNoDifference(subscribers.map { $0.completionIfAny?.isFinished }, [false, false, true])
        expectNoDifference(subscribers.map(\.values), [[], [], [2]])
    }

    @Test func valuesOfAnotherTypeAreNotShared() {
        let reads = SharedReads()
        let (numbers, texts) = (StubExchange<Int>(), StubExchange<String>())
        let number = TrackingSubscriber<Int, FMRest.APIError>()
        let text = TrackingSubscriber<String, FMRest.APIError>()
        reads.publisher(Self.key, AnyPublisher(numbers)).subscribe(number)
        reads.publisher(Self.key(publishing: String.self), AnyPublisher(texts)).subscribe(text)
        numbers.succeed(1)
        texts.succeed("one")
        expectNoDifference(number.values, [1])
        expectNoDifference(text.values, ["one"])
    }

    /// A subscriber that asks again while it receives the value starts a new request.
    @Test func theFlightIsOverBeforeItsValueIsHandedOver() {
        let reads = SharedReads()
        let (first, second) = (StubExchange<Int>(), StubExchange<Int>())
        let late = TrackingSubscriber<Int, FMRest.APIError>()
        let early = TrackingSubscriber<Int, FMRest.APIError>(onEvent: { event in
            guard case .value = event else { return }
            reads.publisher(Self.key, AnyPublisher(second)).subscribe(late)
        })
        reads.publisher(Self.key, AnyPublisher(first)).subscribe(early)
        expectNoDifference(first.demand, [.max(1)])
        first.succeed(1)
        expectNoDifference(early.values, [1])
        expectNoDifference(late.values, [])
        second.succeed(2)
        expectNoDifference(late.values, [2])
    }

    @Test func aReaderThatCancelsWhileItIsHandedOverGetsNothing() {
        let reads = SharedReads()
        let exchange = StubExchange<Int>()
        let second = TrackingSubscriber<Int, FMRest.APIError>()
        let first = TrackingSubscriber<Int, FMRest.APIError>(onEvent: { _ in second.cancel() })
        reads.publisher(Self.key, AnyPublisher(exchange)).subscribe(first)
        reads.publisher(Self.key, AnyPublisher(StubExchange<Int>())).subscribe(second)
        exchange.succeed(1)
        expectNoDifference(first.values, [1])
        expectNoDifference(second.values, [])
    }

    @Test func theEndLetsEverybodyGo() {
        weak var released: TrackingSubscriber<Int, FMRest.APIError>?
        let reads = SharedReads()
        for isCancelled in [false, true] {
            let exchange = StubExchange<Int>()
            do {
                let subscriber = TrackingSubscriber<Int, FMRest.APIError>()
                released = subscriber
                reads.publisher(Self.key, AnyPublisher(exchange)).subscribe(subscriber)
                if isCancelled { subscriber.cancel() } else { exchange.succeed(1) }
            }
            #expect(released == nil)
            #expect(exchange.isCancelled == isCancelled)
        }
    }

    @Test func racesEndOnceForEach() {
        race(
            rounds: 200,
            {
                let reads = SharedReads()
                let exchanges = (0..<3).map { _ in StubExchange<Int>() }
                let subscribers = (0..<3).map { _ in TrackingSubscriber<Int, FMRest.APIError>() }
                reads.publisher(Self.key, AnyPublisher(exchanges[0])).subscribe(subscribers[0])
                race(
                    rounds: 1,
                    { reads.publisher(Self.key, AnyPublisher(exchanges[1])).subscribe(subscribers[1]) },
                    { reads.publisher(Self.key, AnyPublisher(exchanges[2])).subscribe(subscribers[2]) },
                    { exchanges[0].succeed(1) },
                    { subscribers[0].cancel() },
                    { reads.wrote() }
                )
                for exchange in exchanges { exchange.succeed(2) }
                for subscriber in subscribers.dropFirst() {
                    #expect(subscriber.values.count == 1)
                    #expect(subscriber.completionIfAny?.isFinished == true)
                }
            }
        )
    }
}
