import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMData

/// Values arrive on the actor in whose code the call is written, whatever operators follow; otherwise in the
/// background.
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

        /// The most common operators, each with a closure that uses main-actor state.
        func load(_ world: World, done: @escaping @Sendable () -> Void) {
            world.contacts.getRecords()
                .returnAs(Person.self)
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
                    return world.database.server.getProductInfo().map { info in "\(first), \(info.name)" }
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

        func loadNames(_ world: World, done: @escaping @Sendable () -> Void) {
            WhereValuesArriveTests.names(world)
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

    @Test func inMainActorCodeEveryOperatorRunsOnTheMainActor() async throws {
        try await World.run { world in
            let model = await Model()
            await withCheckedContinuation { done in
                Task { @MainActor in model.load(world) { done.resume() } }
            }
            let (names, sightings) = await (model.names, model.sightings)
            expectNoDifference(names, ["Ada Lovelace, FileMaker Data API Engine"])
            expectNoDifference(
                sightings,
                [
                    "handleEvents", "map", "filter", "compactMap", "flatMap", "tryMap", "catch", "value", "completion",
                ]
                .map { Sighting(place: $0, isMainActor: true) }
            )
        }
    }

    private actor Importer {
        private var ids: [Int] = []
        private var subscription: AnyCancellable?

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
                Task { @MainActor in model.loadNames(world) { done.resume() } }
            }
            let names = await model.names
            expectNoDifference(names, ["Ada Lovelace", "Émilie du Châtelet", "Grace Hopper"])
        }
    }

    private nonisolated static func names(_ world: World) -> AnyPublisher<[String], FMRest.APIError> {
        world.contacts.getRecords().returnAs(Person.self).map { $0.data.map(\.fieldData.name) }.eraseToAnyPublisher()
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
