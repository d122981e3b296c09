import CustomDump
import FMData
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Work on several values at a time as a publisher: demand, order, completion, cancellation, release, and racing
/// threads.
@Suite(.timeLimit(.minutes(15))) struct OrderedMapTests {
    private typealias Subscriber = TrackingSubscriber<String, FMRest.APIError>
    private static let broken = FMRest.APIError(.network, reason: "broke")

    /// A publisher of numbers and the work on each of them. The test decides when work ends.
    private final class Workshop: Sendable {
        let numbers = StubExchange<Int>()
        private let works = Locked<[Int: StubExchange<[String]>]>([:])

        func publisher(concurrency: Int = 2, window: Int? = nil) -> some Publisher<String, FMRest.APIError> {
            numbers.orderedMap(concurrency: concurrency, window: window) { number in
                let work = StubExchange<[String]>()
                self.works.change { $0[number] = work }
                return work.eraseToAnyPublisher()
            }
        }

        subscript(number: Int) -> StubExchange<[String]>? { works.value[number] }
        var begun: [Int] { works.value.keys.sorted() }
    }

    @Test func nothingHappensBeforeDemandNorAfterAnEarlyCancel() {
        let workshop = Workshop()
        let subscriber = Subscriber(initialDemand: .none)
        workshop.publisher().subscribe(subscriber)
        #expect(!workshop.numbers.isSubscribed)
        subscriber.cancel()
        subscriber.request(.max(1))
        #expect(!workshop.numbers.isSubscribed)
        expectNoDifference(subscriber.history.count, 1)
    }

    @Test func demandReachesBackAndValuesComeInTheOrderOfTheNumbers() {
        let workshop = Workshop()
        let subscriber = Subscriber(initialDemand: .max(2))
        workshop.publisher(window: 4).subscribe(subscriber)
        expectNoDifference(workshop.numbers.demand, [.max(2)])
        workshop.numbers.send(1)
        workshop.numbers.send(2)
        workshop[2]?.succeed(["two"])
        expectNoDifference(subscriber.values, [])
        workshop[1]?.succeed(["one"])
        expectNoDifference(subscriber.values, ["one", "two"])
        expectNoDifference(workshop.numbers.demand, [.max(2)])
        subscriber.request(.max(1))
        expectNoDifference(workshop.numbers.demand, [.max(2), .max(1)])
        workshop.numbers.finish()
        #expect(subscriber.completionIfAny?.isFinished == true)
    }

    @Test func aFailureEndsAllAfterWhatIsBeforeIt() {
        let workshop = Workshop()
        let subscriber = Subscriber()
        workshop.publisher(concurrency: 3).subscribe(subscriber)
        for number in 1...3 { workshop.numbers.send(number) }
        workshop[2]?.fail(Self.broken)
        #expect(subscriber.completionIfAny == nil)
        workshop[1]?.succeed(["one"])
        expectNoDifference(subscriber.values, ["one"])
        #expect(subscriber.completionIfAny?.isFinished == false)
        #expect(workshop[3]?.isCancelled == true)
        #expect(workshop.numbers.isCancelled)
        workshop[3]?.succeed(["three"])
        workshop.numbers.send(4)
        expectNoDifference(workshop.begun, [1, 2, 3])
        expectNoDifference(subscriber.history.count, 3)
    }

    @Test func cancellingCancelsTheNumbersAndAllWork() {
        let workshop = Workshop()
        let subscriber = Subscriber()
        workshop.publisher().subscribe(subscriber)
        workshop.numbers.send(1)
        workshop.numbers.send(2)
        workshop[2]?.send(["two"])
        subscriber.cancel()
        subscriber.cancel()
        #expect(workshop.numbers.isCancelled)
        #expect(workshop[1]?.isCancelled == true)
        #expect(workshop[2]?.isCancelled == true)
        workshop[1]?.succeed(["one"])
        workshop.numbers.fail(Self.broken)
        expectNoDifference(subscriber.history.count, 1)
    }

    @Test func cancellingFromInsideAValueIsTheEnd() {
        let subscriber = Subscriber()
        (1...10).publisher.setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 2) { number in
                Just(["\(number)"]).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
            .handleEvents(receiveOutput: { if $0 == "3" { subscriber.cancel() } })
            .subscribe(subscriber)
        // The third value is already being delivered when the subscription is cancelled.
        #expect(subscriber.values.count <= 3)
        #expect(subscriber.completionIfAny == nil)
    }

    @Test func theEndLetsEverythingGo() {
        final class Captured: Sendable {}
        for isCancelled in [false, true] {
            weak var captured: Captured?
            weak var released: Subscriber?
            let numbers = StubExchange<Int>()
            do {
                let kept = Captured()
                captured = kept
                let subscriber = Subscriber()
                released = subscriber
                numbers.orderedMap(concurrency: 1) { number in
                    withExtendedLifetime(kept) {
                        Just(["\(number)"]).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                    }
                }
                .subscribe(subscriber)
                numbers.send(1)
                if isCancelled { subscriber.cancel() } else { numbers.finish() }
            }
            #expect(captured == nil)
            #expect(released == nil)
        }
    }

    /// Each result is there at once and asks for the next value. A call that comes in during a delivery is only
    /// recorded, so the stack does not grow.
    @Test(.thorough) func whatIsMadeAtOnceNeedsNoStackAndComesInOrder() {
        let subscriber = Subscriber(initialDemand: .max(1), demandAfterValue: { _ in .max(1) })
        (1...20_000).publisher.setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 4) { number in
                Just(number % 2 == 0 ? ["\(number)"] : []).setFailureType(to: FMRest.APIError.self)
                    .eraseToAnyPublisher()
            }
            .subscribe(subscriber)
        expectNoDifference(subscriber.values, stride(from: 2, through: 20_000, by: 2).map { "\($0)" })
        #expect(subscriber.completionIfAny?.isFinished == true)
    }

    @Test func inGroupsWhatCameInATurnIsWorkedOnTogether() {
        let numbers = StubExchange<Int>()
        let waiting = Locked<[any TurnReceiver]>([])
        let subscriber = Subscriber()
        OrderedMapPublisher<StubExchange<Int>, String>(
            upstream: numbers,
            machine: OrderedMapMachine(groupSize: 100, concurrency: 1),
            turn: { taker in waiting.change { $0.append(taker) } },
            work: { Just(["\($0)"]).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher() }
        )
        .subscribe(subscriber)
        for number in 1...3 { numbers.send(number) }
        waiting.value[0].turnPassed()
        expectNoDifference(subscriber.values, [])
        waiting.value[1].turnPassed()
        expectNoDifference(subscriber.values, ["[1, 2, 3]"])
        numbers.send(4)
        numbers.finish()
        expectNoDifference(subscriber.values, ["[1, 2, 3]", "[4]"])
        // A turn that passes after the completion has no effect.
        for taker in waiting.value { taker.turnPassed() }
        expectNoDifference(subscriber.history.count, 4)
    }

    @Test func nothingIsLostAndNothingOutOfOrderWhenThreadsRace() async {
        for _ in 0..<50 {
            let workshop = Workshop()
            let subscriber = Subscriber(initialDemand: .max(3), demandAfterValue: { _ in .max(1) })
            workshop.publisher(concurrency: 8).subscribe(subscriber)
            for number in 1...3 { workshop.numbers.send(number) }
            race(
                rounds: 1,
                { workshop[1]?.succeed(["1"]) },
                { workshop[2]?.succeed(["2"]) },
                { workshop[3]?.succeed(["3"]) },
                { workshop.numbers.finish() }
            )
            await subscriber.completion()
            expectNoDifference(subscriber.values, ["1", "2", "3"])
        }
    }

    @Test func aRaceWithCancelEndsInSilence() {
        race(
            rounds: 200,
            {
                let workshop = Workshop()
                let subscriber = Subscriber()
                workshop.publisher().subscribe(subscriber)
                workshop.numbers.send(1)
                raceDeliveries(
                    { workshop[1]?.succeed(["1"]) },
                    { subscriber.cancel() },
                    { workshop.numbers.fail(Self.broken) }
                )
                let count = subscriber.history.count
                workshop.numbers.send(2)
                #expect(subscriber.history.count == count)
                #expect(workshop.begun == [1])
            }
        )
    }
}
