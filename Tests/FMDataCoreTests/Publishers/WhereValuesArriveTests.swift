import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Values arrive on the actor in whose code the call is written, whatever operators follow. Those of nonisolated code
/// arrive where they are subscribed to: on the main actor, otherwise in the background.
@Suite(.timeLimit(.minutes(15))) struct WhereValuesArriveTests {
    /// What a closure of a pipeline observed.
    private struct Sighting: Equatable, Sendable {
        var place: String
        var isMainActor: Bool
    }

    @MainActor private final class Model {
        var names: [String] = []
        var sightings: [Sighting] = []
        var subscriptions: Set<AnyCancellable> = []

        func load(_ world: World, done: @escaping @Sendable () -> Void) {
            follow(
                world.contacts.getRecords().returnAs(Person.self),
                then: { world.database.server.getProductInfo() },
                done: done
            )
        }

        /// The same with calls that are written in nonisolated code.
        func loadFromLayer(_ layer: Layer, done: @escaping @Sendable () -> Void) {
            follow(layer.people(), then: { layer.info() }, done: done)
        }

        /// The most common operators, each with a closure that uses main-actor state.
        private func follow(
            _ people: AnyPublisher<DataAPI.RecordResponse<Person, DataAPI.EmptyPortal>, FMRest.APIError>,
            then info: @escaping () -> AnyPublisher<DataAPI.Server.ProductInfo, FMRest.APIError>,
            done: @escaping @Sendable () -> Void
        ) {
            people
                .handleEvents(receiveOutput: { _ in self.see("handleEvents") })
                .map { response in
                    self.see("map")
                    return response.data.map(\.fieldData.name)
                }
                .filter { names in
                    self.see("filter")
                    return !names.isEmpty
                }
                .compactMap { names in
                    self.see("compactMap")
                    return names.first
                }
                .flatMap { first in
                    self.see("flatMap")
                    return info()
                        .map { info in
                            self.see("inner map")
                            return "\(first), \(info.name)"
                        }
                }
                .tryMap { text in
                    self.see("tryMap")
                    throw FMRest.APIError(.cancelled, reason: text)
                }
                .catch { (error: any Error) -> Just<String> in
                    self.see("catch")
                    return Just((error as? FMRest.APIError)?.reason ?? "")
                }
                .first()
                .sink(
                    receiveCompletion: { _ in
                        self.see("completion")
                        done()
                    },
                    receiveValue: { name in
                        self.see("value")
                        self.names.append(name)
                    }
                )
                .store(in: &subscriptions)
        }

        /// What fails is asked for again, in another way.
        func loadMissing(_ layer: Layer, done: @escaping @Sendable () -> Void) {
            layer.missing()
                .catch { error in
                    self.see("catch")
                    return layer.info().map { info in
                        self.see("inner map")
                        return "\(error.code), \(info.name)"
                    }
                }
                .replaceError(with: "")
                .sink(receiveCompletion: { _ in done() }, receiveValue: { self.names.append($0) })
                .store(in: &subscriptions)
        }

        func loadNames(_ layer: Layer, done: @escaping @Sendable () -> Void) {
            layer.people().map { $0.data.map(\.fieldData.name) }
                .receive(on: MainActor.shared)
                .sink(receiveCompletion: { _ in done() }, receiveValue: { names in self.names = names })
                .store(in: &subscriptions)
        }

        func watchCredentials(_ world: World, _ kinds: Locked<[String]>) {
            world.database.$credentials
                .sink { credentials in
                    self.see("credentials")
                    kinds.change { $0.append("\(credentials.kind)") }
                }
                .store(in: &subscriptions)
        }

        private func see(_ place: String) {
            sightings.append(Sighting(place: place, isMainActor: MainQueue.isCurrent))
        }
    }

    private struct Person: Codable, Sendable {
        var name: String

        enum CodingKeys: String, CodingKey {
            case name = "Name"
        }
    }

    /// A layer below a model: nonisolated code, whose calls belong to no actor.
    private struct Layer: Sendable {
        let world: World

        func people() -> AnyPublisher<DataAPI.RecordResponse<Person, DataAPI.EmptyPortal>, FMRest.APIError> {
            world.contacts.getRecords().returnAs(Person.self)
        }

        func info() -> AnyPublisher<DataAPI.Server.ProductInfo, FMRest.APIError> {
            world.database.server.getProductInfo()
        }

        func missing() -> AnyPublisher<String, FMRest.APIError> {
            world.database.addLayout("Missing").getLayoutMetadata().map { "\($0)" }.eraseToAnyPublisher()
        }

        func records() -> DataAPI.RecordPages<PlainContact> {
            world.database.layout(PlainContact.self).all(pageSize: 1)
        }
    }

    private static let everyOperator = [
        "handleEvents", "map", "filter", "compactMap", "flatMap", "inner map", "tryMap", "catch", "value", "completion",
    ]
    .map { Sighting(place: $0, isMainActor: true) }

    @Test func inMainActorCodeEveryOperatorRunsOnTheMainActor() async throws {
        try await World.run { world in
            let model = await Model()
            await withCheckedContinuation { done in
                Task { @MainActor in model.load(world) { done.resume() } }
            }
            let (names, sightings) = await (model.names, model.sightings)
            expectNoDifference(names, ["Ada Lovelace, FileMaker Data API Engine"])
            expectNoDifference(sightings, Self.everyOperator)
        }
    }

    @Test func overANonisolatedLayerEveryOperatorRunsOnTheMainActorToo() async throws {
        try await World.run { world in
            let model = await Model()
            await withCheckedContinuation { done in
                Task { @MainActor in model.loadFromLayer(Layer(world: world)) { done.resume() } }
            }
            let (names, sightings) = await (model.names, model.sightings)
            expectNoDifference(names, ["Ada Lovelace, FileMaker Data API Engine"])
            expectNoDifference(sightings, Self.everyOperator)
        }
    }

    @Test func aFailureOfALayerArrivesThereToo() async throws {
        try await World.run { world in
            let model = await Model()
            await withCheckedContinuation { done in
                Task { @MainActor in model.loadMissing(Layer(world: world)) { done.resume() } }
            }
            let (names, sightings) = await (model.names, model.sightings)
            expectNoDifference(names, ["fileMaker, FileMaker Data API Engine"])
            expectNoDifference(sightings, ["catch", "inner map"].map { Sighting(place: $0, isMainActor: true) })
        }
    }

    private actor Importer {
        private var ids: [Int] = []
        private var subscription: AnyCancellable?

        func info(_ world: World) -> Crossing<AnyPublisher<DataAPI.Server.ProductInfo, FMRest.APIError>> {
            Crossing(world.database.server.getProductInfo())
        }

        func run(_ layout: DataAPI.Layout) async -> [Int] {
            await withCheckedContinuation { done in
                subscription = layout.records(Person.self)
                    .sink(
                        receiveCompletion: { _ in
                            self.preconditionIsolated()
                            done.resume()
                        },
                        receiveValue: { record in self.ids.append(record.recordId) }
                    )
            }
            return ids
        }
    }

    @Test func inTheCodeOfAnActorTheyArriveOnThatActor() async throws {
        try await World.run { world in
            let ids = await Importer().run(world.contacts)
            expectNoDifference(ids, [1, 2, 3])
        }
    }

    @Test func inNonisolatedCodeTheyArriveInTheBackground() async throws {
        try await World.run { world in
            let main = Locked<[Bool]>([])
            let subscriber = TrackingSubscriber<DataAPI.Server.ProductInfo, FMRest.APIError>(
                onEvent: { event in
                    if case .value = event { main.change { $0.append(MainQueue.isCurrent) } }
                }
            )
            world.database.server.getProductInfo().subscribe(subscriber)
            await subscriber.completion()
            expectNoDifference(main.value, [false])
        }
    }

    @Test func whatNonisolatedCodeMadeIsBroughtOverByReceiveOn() async throws {
        try await World.run { world in
            let model = await Model()
            await withCheckedContinuation { done in
                Task { @MainActor in model.loadNames(Layer(world: world)) { done.resume() } }
            }
            let names = await model.names
            expectNoDifference(names, ["Ada Lovelace", "Émilie du Châtelet", "Grace Hopper"])
        }
    }

    /// Records where events arrive.
    private final class Places: Sendable {
        private let isMain = Locked<[Bool]>([])

        var all: [Bool] { isMain.value }

        func note() { isMain.change { $0.append(MainQueue.isCurrent) } }

        func subscriber<Value: Sendable>(
            initialDemand: Subscribers.Demand = .unlimited
        ) -> TrackingSubscriber<Value, FMRest.APIError> {
            TrackingSubscriber<Value, FMRest.APIError>(
                initialDemand: initialDemand,
                onEvent: { event in
                    if case .subscription = event { return }
                    self.note()
                }
            )
        }
    }

    @Test func whoeverAsksTheyArriveWhereTheyAreSubscribedTo() async throws {
        try await World.run { world in
            let layer = Layer(world: world)
            let places = Places()
            let records: TrackingSubscriber<DataAPI.Record<PlainContact, DataAPI.EmptyPortal>, FMRest.APIError> =
                places.subscriber(initialDemand: .none)
            await MainActor.run { layer.records().subscribe(records) }
            records.request(.unlimited)
            await records.completion()
            let infos: TrackingSubscriber<DataAPI.Server.ProductInfo, FMRest.APIError> =
                places.subscriber(initialDemand: .none)
            await MainActor.run { [layer.info(), layer.info()].merge().subscribe(infos) }
            infos.request(.unlimited)
            await infos.completion()
            let pairs: TrackingSubscriber<Int, FMRest.APIError> = places.subscriber(initialDemand: .none)
            await MainActor.run { layer.info().combineLatest(layer.info()).map { _ in 1 }.subscribe(pairs) }
            pairs.request(.unlimited)
            await pairs.completion()
            expectNoDifference(Set(places.all), [true])
        }
    }

    @Test func anActorsCallStaysWithItWhoeverSubscribes() async throws {
        try await World.run { world in
            let places = Places()
            let subscriber: TrackingSubscriber<DataAPI.Server.ProductInfo, FMRest.APIError> = places.subscriber()
            let call = await Importer().info(world)
            await MainActor.run { call.value.subscribe(subscriber) }
            await subscriber.completion()
            expectNoDifference(places.all, [false, false])
        }
    }

    @Test func onEventLoopsTheyStayThereWhoeverSubscribes() async throws {
        try await World.run(client: { $0.delivery = .eventLoop }) { world in
            let places = Places()
            let subscriber: TrackingSubscriber<DataAPI.Server.ProductInfo, FMRest.APIError> = places.subscriber()
            await MainActor.run { Layer(world: world).info().subscribe(subscriber) }
            await subscriber.completion()
            expectNoDifference(places.all, [false, false])
        }
    }

    /// Only what is delivered crosses to the main actor, not each page.
    @Test func theStepsOfACallStayInTheBackground() async throws {
        try await World.run { world in
            let pages = Places()
            let subscriber = TrackingSubscriber<DataAPI.Record<PlainContact, DataAPI.EmptyPortal>, FMRest.APIError>()
            await MainActor.run {
                Layer(world: world).records().reportingProgress { _ in pages.note() }.subscribe(subscriber)
            }
            await subscriber.completion()
            #expect(pages.all.count >= 3)
            expectNoDifference(Set(pages.all), [false])
        }
    }

    @Test @MainActor func aLoopAsksOnItsActor() async throws {
        let numbers = [1, 2, 3].publisher.setFailureType(to: FMRest.APIError.self).map { _ in MainQueue.isCurrent }
        var places: [Bool] = []
        for try await isMain in numbers.values { places.append(isMain) }
        expectNoDifference(places, [true, true, true])
    }

    @Test @MainActor func aBlockedMainThreadIsToldWhoeverMadeTheCall() {
        let server = DataAPI.Server(host: "fms.example.com")
        #expect(server.turn(for: nil)?.watch === server.blockedActorWatch)
        #expect(server.turn(for: MainActor.shared)?.watch === server.blockedActorWatch)
    }

    // MARK: Delivery on the actor

    @Test @MainActor func aValueAlreadyOnTheMainThreadArrivesAtOnce() {
        let subject = PassthroughSubject<Int, Never>()
        let subscriber = TrackingSubscriber<Int, Never>(initialDemand: .max(1))
        subject.receive(on: MainActor.shared).subscribe(subscriber)
        subject.send(1)
        expectNoDifference(subscriber.values, [1])
    }

    @Test func orderIsKeptAndNoMoreThanAWindowIsAskedAhead() async {
        let ahead = Locked(0)
        let most = Locked(0)
        let subscriber = TrackingSubscriber<Int, Never>(
            onEvent: { event in
                if case .value = event { ahead.change { $0 -= 1 } }
            }
        )
        (0..<1000).publisher
            .handleEvents(
                receiveOutput: { _ in
                    ahead.change { $0 += 1 }
                    most.change { $0 = max($0, ahead.value) }
                }
            )
            .receive(on: MainActor.shared)
            .subscribe(subscriber)
        await subscriber.completion()
        expectNoDifference(subscriber.values, Array(0..<1000))
        #expect(most.value <= 16)
    }

    @Test func afterACancelOnTheActorNothingArrives() async {
        // OpenCombine's subjects are guarded by a lock, but are not declared `Sendable`.
        nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
        let subscriber = TrackingSubscriber<Int, Never>()
        subject.receive(on: MainActor.shared).subscribe(subscriber)
        // The value waits for the main actor, which is running the code that cancels.
        await MainActor.run {
            let gate = Gate()
            Thread.detachNewThread {
                subject.send(1)
                gate.open()
            }
            gate.blockThread()
            subscriber.cancel()
        }
        await MainActor.run {}
        expectNoDifference(subscriber.values, [])
    }

    // MARK: States

    @Test func aStateThatIsWatchedOnTheMainThreadArrivesThere() async throws {
        try await World.run { world in
            let kinds = Locked<[String]>([])
            let model = await Model()
            await model.watchCredentials(world, kinds)
            // The current value is delivered with the subscription.
            expectNoDifference(kinds.value, ["basic"])
            _ = try await world.database.getLayoutNames().firstValue()
            await until { kinds.value.count == 2 }
            expectNoDifference(kinds.value, ["basic", "token"])
            let sightings = await model.sightings
            expectNoDifference(sightings.map(\.isMainActor), [true, true])
            await MainActor.run { model.subscriptions = [] }
        }
    }

    @Test func aStateThatIsWatchedElsewhereArrivesWhereItChanged() async throws {
        try await World.run { world in
            let subscriber = TrackingSubscriber<DataAPI.SessionStatus, Never>(
                onEvent: { event in
                    if case .value = event { #expect(!MainQueue.isCurrent) }
                }
            )
            world.database.status.subscribe(subscriber)
            _ = try await world.database.getLayoutNames().firstValue()
            await subscriber.wait { $0.count > 2 }
            subscriber.cancel()
        }
    }
}
