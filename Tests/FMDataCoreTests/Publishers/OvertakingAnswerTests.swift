import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// Answers that are faster than the thread that asks for them: they arrive in the background all the same.
@Suite(.timeLimit(.minutes(15))) struct OvertakingAnswerTests {
    private struct Person: LayoutRecord {
        static let layout = "People"

        var name: String

        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    /// A host that answers each request while the thread that sends it is still sending: that thread goes on when the
    /// whole answer was received.
    private struct Transport: DataAPI.Transport {
        let memory: MemoryTransport

        func parts(
            of request: DataAPI.TransportRequest
        ) -> AnyPublisher<DataAPI.ResponsePart, DataAPI.TransportError> {
            HeldUp(upstream: memory.parts(of: request)).eraseToAnyPublisher()
        }

        /// Its publisher delivers on another thread, and the thread that asks waits until that has returned.
        private struct HeldUp: Publisher {
            typealias Output = DataAPI.ResponsePart
            typealias Failure = DataAPI.TransportError

            let upstream: AnyPublisher<Output, Failure>

            func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
                upstream.subscribe(Inner(AnySubscriber(subscriber)))
            }

            private final class Inner: Subscriber, Subscription, Sendable {
                typealias Input = DataAPI.ResponsePart
                typealias Failure = DataAPI.TransportError

                private struct State {
                    var upstream: (any Subscription)?
                    var isDelivering = false
                }

                private let state = Guarded(State())
                private let downstream: Guarded<AnySubscriber<Input, Failure>>

                init(_ downstream: AnySubscriber<Input, Failure>) { self.downstream = Guarded(downstream) }

                func receive(subscription: any Subscription) {
                    state.withLock { $0.upstream = subscription }
                    downstream.withLock { $0 }.receive(subscription: self)
                }

                func receive(_ input: Input) -> Subscribers.Demand { downstream.withLock { $0 }.receive(input) }

                func receive(completion: Subscribers.Completion<Failure>) {
                    downstream.withLock { $0 }.receive(completion: completion)
                }

                func request(_ demand: Subscribers.Demand) {
                    let isNested = state.withLock { state in
                        defer { state.isDelivering = true }
                        return state.isDelivering
                    }
                    if isNested { return pass(demand) }
                    let gate = Gate()
                    Thread.detachNewThread {
                        self.pass(demand)
                        self.state.withLock { $0.isDelivering = false }
                        gate.open()
                    }
                    gate.blockThread()
                }

                func cancel() { state.withLock { $0.upstream.take() }?.cancel() }

                private func pass(_ demand: Subscribers.Demand) { state.withLock { $0.upstream }?.request(demand) }
            }
        }
    }

    private static func database(
        _ provider: DataAPI.CredentialsProvider = .fixed(Credentials(user: "api", password: "b")),
        answer: @escaping @Sendable (DataAPI.TransportRequest) -> MemoryTransport.Answer = { request in
            .success(request.method == "GET" ? .records("Ada", "Zoe") : .json(#"{"recordId":"7","modId":"0"}"#))
        }
    ) -> DataAPI.Database {
        var config = DataAPI.Config()
        config.transport = Transport(memory: MemoryTransport { request, _ in answer(request) })
        return DataAPI.Server(host: "fms.example.com", config: config)
            .addDatabase("Harbor", credentialsProvider: provider)
    }

    enum Kind: CaseIterable {
        case answer, records, all, merged, combined, mapped, live, rows, summary, save
    }

    /// The values of a call, as texts.
    private static func values(_ kind: Kind, of database: DataAPI.Database) -> AnyPublisher<String, FMRest.APIError> {
        let people = database.layout(Person.self)
        let untyped = database.addLayout("People")
        let names = untyped.getRecords().returnAs(FieldData.self).map { "\($0.data.count)" }
        return switch kind {
        case .answer: names.eraseToAnyPublisher()
        case .records: untyped.records(FieldData.self).map { "\($0.recordId)" }.eraseToAnyPublisher()
        case .all: people.all().map(\.name).eraseToAnyPublisher()
        case .merged: names.merge(with: names).eraseToAnyPublisher()
        case .combined: names.combineLatest(names).map { $0 + $1 }.eraseToAnyPublisher()
        case .mapped:
            [1, 2, 3].publisher
                .setFailureType(to: FMRest.APIError.self)
                .orderedMap(concurrency: 2) { _ in names.map { [$0] }.eraseToAnyPublisher() }
                .eraseToAnyPublisher()
        case .live: people.live().map { "\($0.records.count)" }.first().eraseToAnyPublisher()
        case .rows: rows(people).map { "\($0.index)" }.eraseToAnyPublisher()
        case .summary: rows(people).summary.map { "\($0.createdCount)" }.eraseToAnyPublisher()
        case .save: people.create(Person(name: "Ada")).map { _ in "" }.eraseToAnyPublisher()
        }
    }

    private static func rows(_ people: DataAPI.TypedLayout<Person>) -> DataAPI.Batch {
        people.writing([.create(Person(name: "Ada")), .create(Person(name: "Zoe")), .create(Person(name: "Eve"))])
    }

    /// What a subscriber has received, in words, and where.
    private typealias Sightings = Locked<[String]>

    /// Subscribes on a thread of its own, which the transport holds while it answers.
    private static func subscribe<Value: Sendable>(
        _ subscriber: TrackingSubscriber<Value, FMRest.APIError>,
        to values: @escaping @Sendable () -> AnyPublisher<Value, FMRest.APIError>
    ) {
        Thread.detachNewThread {
            Thread.current.threadDictionary["asks"] = true
            values().subscribe(subscriber)
        }
    }

    /// - Parameter receives: called with each value after it was noted, on the thread that delivers it.
    private static func subscriber(
        _ sightings: Sightings,
        initialDemand: Subscribers.Demand = .unlimited,
        receives: @escaping @Sendable (String) -> Void = { _ in }
    ) -> TrackingSubscriber<String, FMRest.APIError> {
        TrackingSubscriber(
            initialDemand: initialDemand,
            onEvent: { event in
                if case .subscription = event { return }
                let isAsking = Thread.current.threadDictionary["asks"] != nil
                sightings.change { $0.append(isAsking ? "asking" : "background") }
                if case .value(let value) = event { receives(value) }
            }
        )
    }

    /// Returns when the subscriber has seen its completion.
    private static func seen(
        by subscriber: TrackingSubscriber<String, FMRest.APIError>,
        _ sightings: Sightings
    ) async {
        await subscriber.completion()
        await until { sightings.value.count == subscriber.values.count + 1 }
    }

    /// - Parameter isLoggedIn: whether the asking thread sends the call itself; else the thread that answers its login
    ///   does.
    @Test(arguments: Kind.allCases, [false, true])
    func theyArriveInTheBackground(kind: Kind, isLoggedIn: Bool) async throws {
        let database = Self.database()
        if isLoggedIn { _ = try await database.login().firstValue() }
        let sightings = Sightings([])
        let subscriber = Self.subscriber(sightings)
        Self.subscribe(subscriber) { Self.values(kind, of: database) }
        await Self.seen(by: subscriber, sightings)
        #expect(!subscriber.values.isEmpty, "\(String(describing: subscriber.completionIfAny))")
        expectNoDifference(Set(sightings.value), ["background"])
        _ = await database.server.shutdown().awaitSingleResult()
    }

    /// The first value of the second subscriber is known, and comes all the same after the call has returned.
    @Test func whatALiveQueryKnowsArrivesInTheBackground() async throws {
        let database = Self.database()
        let live: @Sendable () -> AnyPublisher<String, FMRest.APIError> = {
            database.layout(Person.self).live(isolation: nil).map { "\($0.records.count)" }.eraseToAnyPublisher()
        }
        let first = TrackingSubscriber<String, FMRest.APIError>()
        live().subscribe(first)
        await first.valueCount(atLeast: 1)
        let sightings = Sightings([])
        let second = Self.subscriber(sightings)
        Self.subscribe(second, to: live)
        await until { !sightings.value.isEmpty }
        expectNoDifference(sightings.value, ["background"])
        first.cancel()
        second.cancel()
        _ = try await database.server.shutdown().firstValue()
    }

    /// A login that fails before its request is sent fails what waits for it while that is still asking.
    @Test(arguments: Kind.allCases) func soDoesTheFailureOfALogin(kind: Kind) async {
        struct Closed: Error {}
        let database = Self.database(DataAPI.CredentialsProvider { Fail(error: Closed()).eraseToAnyPublisher() })
        let sightings = Sightings([])
        let subscriber = Self.subscriber(sightings)
        Self.subscribe(subscriber) { Self.values(kind, of: database) }
        await Self.seen(by: subscriber, sightings)
        expectNoDifference(Set(sightings.value), ["background"])
    }

    /// The rows of the second run are known from the journal, which calls back on the thread of its file.
    @Test func whatAJournalKnowsArrivesInTheBackground() async throws {
        let database = Self.database()
        let journal = DataAPI.WriteJournal.memory()
        let rows = { @Sendable in
            database.layout(Person.self).writing([.create(Person(name: "Ada"))], journal: journal, isolation: nil)
        }
        _ = try await rows().summary.firstValue()
        let isInBackground = Locked<[Bool]>([])
        let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>(
            onEvent: { event in
                if case .subscription = event { return }
                isInBackground.change { $0.append(DeliveryThread.isCurrent) }
            }
        )
        rows().subscribe(subscriber)
        await until { isInBackground.value.count == 2 }
        expectNoDifference(isInBackground.value, [true, true])
        expectNoDifference(subscriber.values.map(\.isFromJournal), [true])
        _ = try await database.server.shutdown().firstValue()
    }

    // MARK: Other threads of the program

    /// Runs the body on a thread that ``subscriber(_:)`` tells from others, and returns when that has ended.
    private static func onAskingThread(_ body: @escaping @Sendable () -> Void) async {
        let gate = Gate()
        Thread.detachNewThread {
            Thread.current.threadDictionary["asks"] = true
            body()
            gate.open()
        }
        await gate.wait()
    }

    /// The thread that brings a row starts its call, which is answered before the thread can go on.
    @Test func theResultOfARowDoesNotArriveWhereTheRowComesFrom() async throws {
        let database = Self.database()
        _ = try await database.login().firstValue()
        // OpenCombine's subjects are guarded by a lock, but are not declared `Sendable`.
        nonisolated(unsafe) let rows = PassthroughSubject<DataAPI.RecordWrite<Person>, Never>()
        let sightings = Sightings([])
        let subscriber = Self.subscriber(sightings)
        database.layout(Person.self).writing(rows, isolation: nil).map { "\($0.index)" }.subscribe(subscriber)
        await Self.onAskingThread { rows.send(.create(Person(name: "Ada"))) }
        await until { !sightings.value.isEmpty }
        expectNoDifference(sightings.value, ["background"])
        subscriber.cancel()
        _ = try await database.server.shutdown().firstValue()
    }

    /// The thread that asks for a look begins the poll, which is answered before the thread can go on.
    @Test func whatALookFindsDoesNotArriveWhereItWasAskedFor() async throws {
        let count = Locked(2)
        let database = Self.database { request in
            count.value == 2 ? .success(.records("Ada", "Zoe")) : .success(.records("Ada", "Zoe", "Eve"))
        }
        let query = database.layout(Person.self).live(isolation: nil)
        let sightings = Sightings([])
        let subscriber = Self.subscriber(sightings)
        query.map { "\($0.records.count)" }.subscribe(subscriber)
        await until { sightings.value.count == 1 && query.isAtRest }
        count.change { $0 = 3 }
        let look = Crossing { query.refresh() }
        await Self.onAskingThread { look.value() }
        await until { sightings.value.count == 2 }
        expectNoDifference(subscriber.values, ["2", "3"])
        expectNoDifference(sightings.value, ["background", "background"])
        subscriber.cancel()
        _ = try await database.server.shutdown().firstValue()
    }

    /// A thread of the program that is receiving a row does not receive the next one, which another thread brings.
    @Test func oneThreadOfTheProgramDoesNotReceiveWhatAnotherBrings() async {
        let rows = StubExchange<DataAPI.BatchRow>()
        let run = BatchRun(rows.eraseToAnyPublisher())
        let sightings = Sightings([])
        let subscriber = Self.subscriber(sightings) { value in
            if value == "0" { raceThreads({ _ = rows.send(DataAPI.BatchRow(index: 1, result: .skipped)) }) }
        }
        BatchView(run: run, sight: .rows { "\($0.index)" }).subscribe(subscriber)
        await Self.onAskingThread { _ = rows.send(DataAPI.BatchRow(index: 0, result: .skipped)) }
        await until { sightings.value.count == 2 }
        expectNoDifference(sightings.value, ["asking", "background"])
        expectNoDifference(subscriber.values, ["0", "1"])
        subscriber.cancel()
    }

    /// The same for the events of a copy, of which the first has waited for the thread's demand.
    @Test func anEventOfACopyDoesNotArriveWhereTheOneBeforeIsReceived() async throws {
        let database = Self.database()
        let keeper = DataAPI.CopyKeeper(
            mark: { done in done(.success(nil)) },
            versions: { _, _, done in done(.success([])) }
        )
        let changes = database.layout(Person.self).changes(keptBy: keeper, isolation: nil)
        let sightings = Sightings([])
        let looked = Gate()
        let subscriber = Self.subscriber(sightings, initialDemand: .max(1)) { value in
            if value == "polled" { looked.blockThread() }
        }
        changes.map { event in if case .polled = event { "polled" } else { "records" } }.subscribe(subscriber)
        await until { sightings.value.count == 1 && changes.isAtRest }
        let gate = Gate()
        Thread.detachNewThread {
            Thread.current.threadDictionary["asks"] = true
            subscriber.request(.unlimited)
            gate.open()
        }
        await subscriber.valueCount(atLeast: 2)
        changes.refresh()
        await until { changes.isAtRest }
        looked.open()
        await gate.wait()
        await until { sightings.value.count == 3 }
        expectNoDifference(subscriber.values, ["records", "polled", "polled"])
        expectNoDifference(sightings.value, ["background", "asking", "background"])
        subscriber.cancel()
        _ = try await database.server.shutdown().firstValue()
    }
}
