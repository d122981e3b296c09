import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// The contract of the last step of a call: what arrives while its subscriber is still asking is held back, and comes
/// in the background; the rest is passed on.
@Suite(.timeLimit(.minutes(15))) struct BackgroundPublisherTests {
    private typealias Subscriber = TrackingSubscriber<Int, FMRest.APIError>

    private static let broken = FMRest.APIError(.network, reason: "broke")

    private static func numbers(_ numbers: [Int]) -> BackgroundPublisher<AnyPublisher<Int, FMRest.APIError>> {
        BackgroundPublisher(
            upstream: numbers.publisher.setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        )
    }

    @Test func withoutDemandNothingIsAskedFor() {
        let exchange = StubExchange<Int>()
        let subscriber = Subscriber(initialDemand: .none)
        BackgroundPublisher(upstream: exchange).subscribe(subscriber)
        expectNoDifference(subscriber.history.count, 1)
        expectNoDifference(exchange.demand, [])
        subscriber.cancel()
        #expect(exchange.isCancelled)
    }

    @Test func noMoreArrivesThanIsDemanded() async {
        let subscriber = Subscriber(initialDemand: .max(2))
        Self.numbers([1, 2, 3, 4, 5]).subscribe(subscriber)
        await subscriber.valueCount(atLeast: 2)
        expectNoDifference(subscriber.values, [1, 2])
        subscriber.request(.max(1))
        await subscriber.valueCount(atLeast: 3)
        expectNoDifference(subscriber.values, [1, 2, 3])
        subscriber.request(.unlimited)
        await subscriber.completion()
        expectNoDifference(subscriber.values, [1, 2, 3, 4, 5])
    }

    @Test func demandInReturnForAValueIsPassedOn() async {
        let subscriber = Subscriber(initialDemand: .max(1), demandAfterValue: { $0 < 4 ? .max(1) : .none })
        Self.numbers([1, 2, 3, 4, 5]).subscribe(subscriber)
        await subscriber.valueCount(atLeast: 4)
        expectNoDifference(subscriber.values, [1, 2, 3, 4])
        subscriber.request(.max(1))
        await subscriber.completion()
        expectNoDifference(subscriber.values, [1, 2, 3, 4, 5])
    }

    @Test func aFailureThatNeedsNoDemandComesLater() async {
        let subscriber = Subscriber(initialDemand: .none)
        BackgroundPublisher(upstream: Fail<Int, FMRest.APIError>(error: Self.broken)).subscribe(subscriber)
        await subscriber.completion()
        expectNoDifference(subscriber.history.count, 2)
    }

    /// The thread is held inside of its call until everything has arrived; nothing is delivered before.
    @Test func nothingComesBeforeTheCallHasReturned() async {
        let subscriber = Subscriber()
        let known = Locked<[Int]>([])
        let upstream = Self.numbers([1, 2, 3]).upstream
            .handleEvents(receiveCompletion: { _ in known.change { $0 = subscriber.values } })
        BackgroundPublisher(upstream: upstream).subscribe(subscriber)
        await subscriber.completion()
        expectNoDifference(known.value, [])
        expectNoDifference(subscriber.values, [1, 2, 3])
    }

    @Test func onABackgroundThreadAllComesAtOnce() {
        let subscriber = Subscriber()
        let counts = Locked<[Int]>([])
        raceDeliveries({
            Self.numbers([1, 2]).subscribe(subscriber)
            counts.change { $0.append(subscriber.history.count) }
        })
        expectNoDifference(counts.value, [4])
    }

    @Test func whatComesLaterIsPassedOnWhereItArrives() {
        let exchange = StubExchange<Int>()
        let subscriber = Subscriber()
        BackgroundPublisher(upstream: exchange).subscribe(subscriber)
        exchange.send(1)
        expectNoDifference(subscriber.values, [1])
        exchange.finish()
        expectNoDifference(subscriber.history.count, 3)
    }

    @Test func afterACancelNothingFollowsAndALateSubscriptionIsCancelled() async {
        let exchange = StubExchange<Int>()
        let subscriber = Subscriber()
        BackgroundPublisher(upstream: exchange).subscribe(subscriber)
        subscriber.cancel()
        exchange.send(1)
        exchange.finish()
        expectNoDifference(subscriber.history.count, 1)
        #expect(exchange.isCancelled)

        // What was held back is dropped.
        let held = Subscriber()
        let upstream = Self.numbers([1, 2]).upstream.handleEvents(receiveCompletion: { _ in held.cancel() })
        BackgroundPublisher(upstream: upstream).subscribe(held)
        await settled { held.history.count }
        expectNoDifference(held.history.count, 1)
    }

    @Test func aCancelInsideOfADeliveryIsTheEnd() async {
        let subscriber = Locked<Subscriber?>(nil)
        let made = Subscriber(onEvent: { event in
            if case .value = event { subscriber.value?.cancel() }
        })
        subscriber.change { $0 = made }
        Self.numbers([1, 2, 3]).subscribe(made)
        await made.valueCount(atLeast: 1)
        await settled { made.history.count }
        expectNoDifference(made.values, [1])
        #expect(made.completionIfAny == nil)
        subscriber.change { $0 = nil }
    }

    @Test(arguments: [false, true]) func theEndLetsEverythingGo(isCancelled: Bool) {
        weak var released: Subscriber?
        let exchange = StubExchange<Int>()
        do {
            let subscriber = Subscriber()
            released = subscriber
            BackgroundPublisher(upstream: exchange).subscribe(subscriber)
            if isCancelled { subscriber.cancel() } else { exchange.finish() }
        }
        #expect(released == nil)
    }

    @Test func nothingIsLostAndAllIsInOrderWhenThreadsRace() async {
        for _ in 0..<200 {
            let exchange = StubExchange<Int>()
            let subscriber = Subscriber(initialDemand: .none)
            BackgroundPublisher(upstream: exchange).subscribe(subscriber)
            race(
                rounds: 1,
                { subscriber.request(.unlimited) },
                {
                    for number in 0..<20 { exchange.send(number) }
                    exchange.finish()
                }
            )
            await subscriber.completion()
            expectNoDifference(subscriber.values, Array(0..<20))
        }
    }
}
