import CustomDump
import FMData
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Continuing with another publisher when one fails.
@Suite struct AfterFailureTests {
    private typealias Subject = PassthroughSubject<Int, FMRest.APIError>
    private static let broken = FMRest.APIError(.network, reason: "broke")

    @Test func whatIsStillAskedForIsAskedOfTheOther() {
        let first = StubExchange<Int>()
        let second = StubExchange<Int>()
        let publishedBefore = Locked<Bool?>(nil)
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>(initialDemand: .max(3))
        first.afterFailure { _, hasPublished in
            publishedBefore.change { $0 = hasPublished }
            return second
        }
        .subscribe(subscriber)
        first.send(1)
        first.fail(Self.broken)
        expectNoDifference(publishedBefore.value, true)
        expectNoDifference(second.demand, [.max(2)])
        subscriber.request(.max(1))
        expectNoDifference(second.demand, [.max(2), .max(1)])
        expectNoDifference(first.demand, [.max(3)])
        second.succeed(2)
        expectNoDifference(subscriber.values, [1, 2])
        #expect(subscriber.completionIfAny != nil)
    }

    @Test func nothingHappensBeforeDemandNorAfterAnEarlyCancel() {
        let first = StubExchange<Int>()
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>(initialDemand: .none)
        first.afterFailure { error, _ in Fail<Int, FMRest.APIError>(error: error) }.subscribe(subscriber)
        #expect(!first.isSubscribed)
        subscriber.cancel()
        subscriber.request(.max(1))
        #expect(!first.isSubscribed)
        expectNoDifference(subscriber.history.count, 1)
    }

    @Test func cancellingReachesWhicheverIsUnderWay() {
        let first = StubExchange<Int>()
        let second = StubExchange<Int>()
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>()
        first.afterFailure { _, _ in second }.subscribe(subscriber)
        first.fail(Self.broken)
        subscriber.cancel()
        #expect(second.isCancelled)
        #expect(!first.isCancelled)
        second.succeed(2)
        expectNoDifference(subscriber.values, [])
    }

    /// OpenCombine's `catch` loses this cancellation, and the second publisher continues without a subscriber.
    @Test func aCancelBetweenTheFailureAndTheOtherIsNotLost() {
        let first = StubExchange<Int>()
        let second = StubExchange<Int>()
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>()
        first.afterFailure { _, _ in
            subscriber.cancel()
            return second
        }
        .subscribe(subscriber)
        first.fail(Self.broken)
        #expect(second.isCancelled)
        expectNoDifference(second.demand, [])
        expectNoDifference(subscriber.history.count, 1)
    }

    /// OpenCombine's `catch` traps here.
    @Test func aFailureMayComeBeforeItsSubscription() {
        let second = StubExchange<Int>()
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>()
        Hasty().afterFailure { _, _ in second }.subscribe(subscriber)
        second.succeed(2)
        expectNoDifference(subscriber.values, [2])
    }

    @Test func theOtherOnesFailureIsTheEnd() {
        let subscriber = TrackingSubscriber<Int, Never>()
        Fail<Int, FMRest.APIError>(error: Self.broken).afterFailure { _, _ in Just(0) }.subscribe(subscriber)
        expectNoDifference(subscriber.values, [0])
    }

    @Test func withTheEndEverythingIsLetGo() {
        final class Captured: Sendable {}
        weak var released: Captured?
        let first = StubExchange<Int>()
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>()
        do {
            let captured = Captured()
            released = captured
            first.afterFailure { error, _ in
                withExtendedLifetime(captured) { Fail<Int, FMRest.APIError>(error: error) }
            }
            .subscribe(subscriber)
        }
        #expect(released != nil)
        first.succeed(1)
        #expect(released == nil)
    }

    private struct Hasty: Publisher {
        typealias Output = Int
        typealias Failure = FMRest.APIError

        func receive<Downstream: Subscriber<Int, FMRest.APIError>>(subscriber: Downstream) {
            subscriber.receive(completion: .failure(AfterFailureTests.broken))
        }
    }
}
