import CustomDump
import FMData
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// `map(on:)` and `sink(on:)`: values that come from elsewhere in main-actor code, whose closures run on the main
/// actor.
@Suite(.timeLimit(.minutes(15))) struct OnMainActorTests {
    private typealias Values = TrackingSubscriber<Int, FMRest.APIError>

    @MainActor private final class Model {
        var seen: [String] = []
        var subscription: AnyCancellable?

        func see(_ what: String) { seen.append("\(what) \(MainQueue.isCurrent)") }

        func map(_ source: some Publisher<Int, FMRest.APIError>, done: @escaping @Sendable () -> Void) {
            subscription =
                source
                .map(on: MainActor.shared) { value in
                    self.see("map")
                    return value + 1
                }
                .filter { _ in
                    self.see("filter")
                    return true
                }
                .sink(receiveCompletion: { _ in done() }, receiveValue: { self.see("value \($0)") })
        }

        func sink(_ source: some Publisher<Int, FMRest.APIError>, done: @escaping @Sendable () -> Void) {
            subscription = source.sink(on: MainActor.shared) { completion in
                if case .failure(let error) = completion { self.see("\(error.code)") }
                done()
            } receiveValue: {
                self.see("value \($0)")
            }
        }

        func sink(_ source: some Publisher<Int, Never>, done: @escaping @Sendable () -> Void) {
            subscription = source.sink(on: MainActor.shared) {
                self.see("value \($0)")
                done()
            }
        }
    }

    private actor Elsewhere {}

    /// Publishes in the background, as calls of nonisolated code do, and then completes.
    private static func inTheBackground(
        _ values: Int...,
        failing code: FMRest.APIError.Code? = nil
    ) -> AnyPublisher<Int, FMRest.APIError> {
        values.publisher
            .setFailureType(to: FMRest.APIError.self)
            .append(code.map { .failing(FMRest.APIError($0, reason: "broke")) } ?? Empty().eraseToAnyPublisher())
            .receive(on: Elsewhere())
    }

    @Test func mapAndWhatFollowsRunOnTheMainActor() async {
        let model = await Model()
        await withCheckedContinuation { done in
            Task { @MainActor in model.map(Self.inTheBackground(1, 2)) { done.resume() } }
        }
        let seen = await model.seen
        expectNoDifference(
            seen,
            ["map", "filter", "value 2", "map", "filter", "value 3"].map { "\($0) true" }
        )
    }

    @Test func sinkHearsValuesAndTheEndOnTheMainActor() async {
        let model = await Model()
        await withCheckedContinuation { done in
            Task { @MainActor in model.sink(Self.inTheBackground(1, 2, failing: .network)) { done.resume() } }
        }
        let seen = await model.seen
        expectNoDifference(seen, ["value 1", "value 2", "network"].map { "\($0) true" })
    }

    @Test func sinkTakesValuesAloneOfWhatCannotFail() async {
        let model = await Model()
        await withCheckedContinuation { done in
            Task { @MainActor in
                model.sink(Self.inTheBackground(1).replaceError(with: 0)) { done.resume() }
            }
        }
        let seen = await model.seen
        expectNoDifference(seen, ["value 1 true"])
    }

    // MARK: The contract of every operator

    @Test func nothingIsAskedForBeforeDemandAndNoMoreIsPublishedThanWasAskedFor() async {
        let exchange = StubExchange<Int>()
        let subscriber = Values(initialDemand: .none)
        exchange.map(on: MainActor.shared) { $0 }.subscribe(subscriber)
        expectNoDifference(exchange.demand, [])
        subscriber.request(.max(1))
        expectNoDifference(exchange.demand, [.max(1)])
        exchange.send(1)
        await subscriber.valueCount(atLeast: 1)
        exchange.finish()
        await subscriber.completion()
        expectNoDifference(subscriber.values, [1])
    }

    @Test func aFailurePassesBehindTheValues() async {
        let subscriber = Values()
        Self.inTheBackground(1, failing: .network).map(on: MainActor.shared) { $0 + 1 }.subscribe(subscriber)
        guard case .failure(let error) = await subscriber.completion() else {
            return #expect(Bool(false), "it has failed")
        }
        expectNoDifference(error.code, .network)
        expectNoDifference(subscriber.values, [2])
    }

    @Test func cancellingReachesThePublisherAndNoValueFollowsOnTheMainActor() async {
        let exchange = StubExchange<Int>()
        let subscriber = Values()
        exchange.map(on: MainActor.shared) { $0 }.subscribe(subscriber)
        // The value waits for the main actor, which is running the code that cancels.
        await MainActor.run {
            let gate = Gate()
            Thread.detachNewThread {
                exchange.send(1)
                gate.open()
            }
            gate.blockThread()
            subscriber.cancel()
        }
        await MainActor.run {}
        #expect(exchange.isCancelled)
        expectNoDifference(subscriber.values, [])
    }

    @Test func askingFromInsideAValue() async {
        let exchange = StubExchange<Int>()
        let subscriber = Values(initialDemand: .max(1), demandAfterValue: { _ in .max(1) })
        exchange.map(on: MainActor.shared) { $0 }.subscribe(subscriber)
        for value in 1...3 { exchange.send(value) }
        exchange.finish()
        await subscriber.completion()
        expectNoDifference(subscriber.values, [1, 2, 3])
    }

    @Test @MainActor func withTheEndEverythingIsLetGo() {
        final class Captured: Sendable {}
        weak var released: Captured?
        let exchange = StubExchange<Int>()
        let subscriber = Values()
        do {
            let captured = Captured()
            released = captured
            exchange.map(on: MainActor.shared) { value in withExtendedLifetime(captured) { value } }
                .subscribe(subscriber)
        }
        #expect(released != nil)
        exchange.succeed(1)
        expectNoDifference(subscriber.values, [1])
        #expect(released == nil)
    }
}
