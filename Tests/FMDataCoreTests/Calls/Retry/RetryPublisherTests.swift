import CustomDump
import FMData
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Consecutive attempts, as a subscriber sees them.
@Suite struct RetryPublisherTests {
    private typealias Subscriber = TrackingSubscriber<Int, FMRest.APIError>
    private static let down = FMRest.APIError(.notDataAPI, reason: "A page", httpStatus: 503)

    /// A call whose attempts the test controls. The pauses last 1 s, 2 s and 4 s.
    private final class Fixture: Sendable {
        let time = TestClock()
        private let made = NIOLockedValueBox<[StubExchange<Int>]>([])

        var attempts: [StubExchange<Int>] { made.withLockedValue { $0 } }

        func publisher(_ policy: DataAPI.RetryPolicy? = nil) -> RetryPublisher<Int> {
            RetryPublisher(
                attempt: {
                    let exchange = StubExchange<Int>()
                    self.made.withLockedValue { $0.append(exchange) }
                    return exchange.eraseToAnyPublisher()
                },
                policy: policy ?? DataAPI.RetryPolicy(firstPause: .seconds(1), jitter: 0),
                budget: DataAPI.RetryBudget(),
                time: time.sessionTime,
                random: { 0 }
            )
        }
    }

    private static func lines(_ subscriber: Subscriber) -> [String] {
        subscriber.history.map { event in
            switch event {
            case .subscription: "subscription"
            case .value(let value): "\(value)"
            case .completion(.finished): "finished"
            case .completion(.failure(let error)): "failed \(error.code)"
            }
        }
    }

    @Test func aFailureIsFollowedByAPauseAndAnotherAttempt() {
        let fixture = Fixture()
        let subscriber = Subscriber()
        fixture.publisher().subscribe(subscriber)
        fixture.attempts[0].fail(Self.down)
        expectNoDifference(fixture.time.timers, [.seconds(1)])
        fixture.time.advance(by: .milliseconds(999))
        expectNoDifference(fixture.attempts.count, 1)
        fixture.time.advance(by: .milliseconds(1))
        expectNoDifference(fixture.attempts.count, 2)
        fixture.attempts[1].fail(Self.down)
        expectNoDifference(fixture.time.timers, [.seconds(2)])
        fixture.time.advance(by: .seconds(2))
        fixture.attempts[2].succeed(17)
        expectNoDifference(Self.lines(subscriber), ["subscription", "17", "finished"])
        expectNoDifference(fixture.time.timers, [])
    }

    @Test func theLastErrorSaysHowOftenItWasTried() {
        let fixture = Fixture()
        let subscriber = Subscriber()
        fixture.publisher(DataAPI.RetryPolicy(maximumAttempts: 2)).subscribe(subscriber)
        fixture.attempts[0].fail(Self.down)
        fixture.time.advance(by: .seconds(1))
        fixture.attempts[1].fail(FMRest.APIError(.timeout, reason: "Slow", hint: "Wait."))
        guard case .failure(let error)? = subscriber.completionIfAny else {
            Issue.record("it did not fail")
            return
        }
        expectNoDifference(error.code, .timeout)
        expectNoDifference(error.hint, "Wait. The call was tried 2 times.")
    }

    @Test(arguments: [
        (DataAPI.RetryPolicy(deadline: .zero), "The call was tried once: there is no time for the next attempt."),
        (
            DataAPI.RetryPolicy(budget: .init(share: 0, burst: 0)),
            "The call was tried once: the budget of further attempts is used up."
        ),
        (DataAPI.RetryPolicy(maximumAttempts: 1), nil), (DataAPI.RetryPolicy(codes: []), nil),
    ])
    func aLimitThatStrikesIsTold(policy: DataAPI.RetryPolicy, hint: String?) {
        let publisher = RetryPublisher<Int>(
            attempt: { Fail(error: Self.down).eraseToAnyPublisher() },
            policy: policy,
            budget: policy.budget ?? DataAPI.RetryBudget(),
            time: TestClock().sessionTime,
            random: { 0 }
        )
        let subscriber = Subscriber()
        publisher.subscribe(subscriber)
        guard case .failure(let error)? = subscriber.completionIfAny else {
            Issue.record("it did not fail")
            return
        }
        expectNoDifference(error.hint, hint)
    }

    // MARK: Demand

    @Test func nothingHappensBeforeDemand() {
        let fixture = Fixture()
        let subscriber = Subscriber(initialDemand: .none)
        fixture.publisher().subscribe(subscriber)
        expectNoDifference(fixture.attempts.count, 0)
        subscriber.request(.max(1))
        expectNoDifference(fixture.attempts.map(\.demand), [[.max(1)]])
    }

    @Test func demandCountsOverAllAttempts() {
        let fixture = Fixture()
        let subscriber = Subscriber(initialDemand: .max(1))
        fixture.publisher().subscribe(subscriber)
        fixture.attempts[0].fail(Self.down)
        // This demand comes during the pause.
        subscriber.request(.max(2))
        fixture.time.advance(by: .seconds(1))
        expectNoDifference(fixture.attempts.map(\.demand), [[.max(1)], [.max(3)]])
        fixture.attempts[1].send(1)
        subscriber.request(.max(4))
        expectNoDifference(fixture.attempts[1].demand, [.max(3), .max(4)])
    }

    @Test func eachSubscriptionBeginsAnew() {
        let fixture = Fixture()
        let publisher = fixture.publisher(DataAPI.RetryPolicy(maximumAttempts: 2, firstPause: .seconds(1), jitter: 0))
        for count in 1...2 {
            let subscriber = Subscriber()
            publisher.subscribe(subscriber)
            fixture.attempts[2 * count - 2].fail(Self.down)
            fixture.time.advance(by: .seconds(1))
            fixture.attempts[2 * count - 1].succeed(count)
            expectNoDifference(subscriber.values, [count])
        }
    }

    // MARK: Streams

    @Test func aStreamThatHasPublishedIsNotBegunAgain() {
        let fixture = Fixture()
        let subscriber = Subscriber()
        fixture.publisher().subscribe(subscriber)
        fixture.attempts[0].fail(Self.down)
        fixture.time.advance(by: .seconds(1))
        fixture.attempts[1].send(1)
        fixture.attempts[1].fail(Self.down)
        expectNoDifference(Self.lines(subscriber), ["subscription", "1", "failed notDataAPI"])
        expectNoDifference(fixture.time.timers, [])
    }

    @Test func anEmptyOneFinishes() {
        let fixture = Fixture()
        let subscriber = Subscriber()
        fixture.publisher().subscribe(subscriber)
        fixture.attempts[0].fail(Self.down)
        fixture.time.advance(by: .seconds(1))
        fixture.attempts[1].finish()
        expectNoDifference(Self.lines(subscriber), ["subscription", "finished"])
    }

    // MARK: Cancelling

    @Test func cancelledBeforeDemandItDoesNothing() {
        let fixture = Fixture()
        let subscriber = Subscriber(initialDemand: .none)
        fixture.publisher().subscribe(subscriber)
        subscriber.cancel()
        subscriber.request(.max(1))
        expectNoDifference(fixture.attempts.count, 0)
    }

    @Test func cancellingReachesTheAttemptThatIsUnderWay() {
        let fixture = Fixture()
        let subscriber = Subscriber()
        fixture.publisher().subscribe(subscriber)
        fixture.attempts[0].fail(Self.down)
        fixture.time.advance(by: .seconds(1))
        subscriber.cancel()
        expectNoDifference(fixture.attempts.map(\.isCancelled), [false, true])
        fixture.attempts[1].fail(Self.down)
        expectNoDifference(Self.lines(subscriber), ["subscription"])
        expectNoDifference(fixture.time.timers, [])
    }

    @Test func cancellingEndsAPause() {
        let fixture = Fixture()
        let subscriber = Subscriber()
        fixture.publisher().subscribe(subscriber)
        fixture.attempts[0].fail(Self.down)
        expectNoDifference(fixture.time.timers.count, 1)
        subscriber.cancel()
        subscriber.cancel()
        expectNoDifference(fixture.time.timers, [])
        fixture.time.advance(by: .seconds(60))
        expectNoDifference(fixture.attempts.count, 1)
        expectNoDifference(Self.lines(subscriber), ["subscription"])
    }

    @Test func cancellingWhileThePauseIsBeingSetIsNotLost() {
        let time = TestClock()
        let subscriber = Subscriber()
        var session = time.sessionTime
        session.schedule = { [schedule = session.schedule] instant, ring in
            subscriber.cancel()
            return schedule(instant, ring)
        }
        RetryPublisher<Int>(
            attempt: { Fail(error: Self.down).eraseToAnyPublisher() },
            policy: DataAPI.RetryPolicy(),
            budget: DataAPI.RetryBudget(),
            time: session,
            random: { 0 }
        )
        .subscribe(subscriber)
        expectNoDifference(time.timers, [])
        expectNoDifference(Self.lines(subscriber), ["subscription"])
    }

    @Test func cancellingFromInsideAValueEndsIt() {
        let fixture = Fixture()
        let subscriber = Recorder<Int>(onValue: { recorder, _ in
            recorder.cancel()
            return .unlimited
        })
        fixture.publisher().subscribe(subscriber)
        fixture.attempts[0].send(1)
        fixture.attempts[0].fail(Self.down)
        expectNoDifference(subscriber.history, ["1"])
        expectNoDifference(fixture.time.timers, [])
    }

    @Test func theNextMayBeginFromInsideTheEndOfTheOneBefore() {
        let fixture = Fixture()
        let second = Recorder<Int>()
        let first = Recorder<Int>(onCompletion: { _ in fixture.publisher().subscribe(second) })
        fixture.publisher().subscribe(first)
        fixture.attempts[0].succeed(1)
        fixture.attempts[1].succeed(2)
        expectNoDifference(first.history + second.history, ["1", "finished", "2", "finished"])
    }

    @Test func moreMayBeAskedForFromInsideAValue() {
        let fixture = Fixture()
        let subscriber = Recorder<Int>(
            demand: .max(1),
            onValue: { recorder, value in
                if value == 1 { recorder.request(.max(3)) }
                return value == 1 ? .max(1) : .none
            }
        )
        fixture.publisher().subscribe(subscriber)
        expectNoDifference(fixture.attempts[0].send(1), .max(1))
        expectNoDifference(fixture.attempts[0].demand, [.max(1), .max(3)])
    }

    @Test func withTheEndEverythingIsLetGo() {
        final class Captured: Sendable {}
        enum End: CaseIterable { case finished, failed, cancelled, cancelledInPause }
        for end in End.allCases {
            weak var released: Captured?
            let time = TestClock()
            let exchange = StubExchange<Int>()
            let subscriber = Subscriber()
            do {
                let captured = Captured()
                released = captured
                RetryPublisher<Int>(
                    attempt: { withExtendedLifetime(captured) { exchange.eraseToAnyPublisher() } },
                    policy: DataAPI.RetryPolicy(),
                    budget: DataAPI.RetryBudget(),
                    time: time.sessionTime,
                    random: { 0 }
                )
                .subscribe(subscriber)
            }
            #expect(released != nil)
            switch end {
            case .finished: exchange.succeed(1)
            case .failed: exchange.fail(FMRest.APIError(.decoding, reason: "Shape"))
            case .cancelled: subscriber.cancel()
            case .cancelledInPause:
                exchange.fail(Self.down)
                #expect(released != nil)
                subscriber.cancel()
            }
            #expect(released == nil, "\(end)")
        }
    }

    @Test(arguments: 0..<40)
    func cancellingRacesWithTheEndOfAPause(_: Int) {
        let fixture = Fixture()
        let subscriber = Subscriber()
        fixture.publisher().subscribe(subscriber)
        fixture.attempts[0].fail(Self.down)
        raceThreads({ subscriber.cancel() }, { fixture.time.advance(by: .seconds(1)) })
        // The attempt may have begun; if so, it was cancelled.
        for attempt in fixture.attempts.dropFirst() { #expect(attempt.isCancelled || attempt.demand.isEmpty) }
        expectNoDifference(Self.lines(subscriber), ["subscription"])
        expectNoDifference(fixture.time.timers, [])
    }
}
