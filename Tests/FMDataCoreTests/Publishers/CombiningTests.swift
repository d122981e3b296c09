import CustomDump
import Dispatch
import FMData
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// `merge` and `combineLatest` as publishers: demand, completion, cancellation, release, and racing threads.
@Suite(.timeLimit(.minutes(15))) struct CombiningTests {
    private enum Trouble: Error { case one }

    /// A subject to which a test sends from any thread.
    private final class Subject: Publisher, @unchecked Sendable {
        // @unchecked: OpenCombine's subjects are guarded by a lock, but are not declared `Sendable`.
        typealias Output = Int
        typealias Failure = Trouble

        private let subject = PassthroughSubject<Int, Trouble>()

        func send(_ value: Int) { subject.send(value) }
        func send(completion: Subscribers.Completion<Trouble>) { subject.send(completion: completion) }
        func receive<Downstream: OpenCombine.Subscriber<Int, Trouble>>(subscriber: Downstream) {
            subject.receive(subscriber: subscriber)
        }
    }

    /// Numbers on demand, in their order, from a queue of their own. OpenCombine's `buffer` is no such source: it may
    /// deliver from the thread that sends and from the one that asks, in either order.
    private struct QueuedValues: Publisher {
        typealias Output = Int
        typealias Failure = Trouble

        let values: Range<Int>

        func receive<Downstream: OpenCombine.Subscriber<Int, Trouble>>(subscriber: Downstream) {
            subscriber.receive(subscription: Inner(values, to: subscriber))
        }

        private final class Inner: Subscription, @unchecked Sendable {
            // @unchecked: every `var` is used on `queue` only.
            private let queue = DispatchQueue(label: "CombiningTests.QueuedValues")
            private var rest: Range<Int>
            private var demand = Subscribers.Demand.none
            private var downstream: (any OpenCombine.Subscriber<Int, Trouble>)?

            init(_ values: Range<Int>, to downstream: any OpenCombine.Subscriber<Int, Trouble>) {
                rest = values
                self.downstream = downstream
            }

            func request(_ more: Subscribers.Demand) { queue.async { self.deliver(more) } }
            func cancel() { queue.async { self.downstream = nil } }

            private func deliver(_ more: Subscribers.Demand) {
                demand += more
                while demand > 0, let next = rest.first, let downstream {
                    rest.removeFirst()
                    demand -= 1
                    demand += downstream.receive(next)
                }
                guard rest.isEmpty else { return }
                downstream?.receive(completion: .finished)
                downstream = nil
            }
        }
    }

    private typealias Subscriber = TrackingSubscriber<Int, Trouble>

    /// A publisher that records the demand it receives and counts its cancellations.
    private func observed(
        _ subject: Subject,
        _ asked: Locked<[Subscribers.Demand]>,
        _ cancels: Locked<Int>
    ) -> AnyPublisher<Int, Trouble> {
        subject.handleEvents(
            receiveCancel: { cancels.change { $0 += 1 } },
            receiveRequest: { demand in asked.change { $0.append(demand) } }
        )
        .eraseToAnyPublisher()
    }

    @Test func valuesOfAllArriveInTheirOrderAndTheEndIsTheLast() {
        let (north, south) = (Subject(), Subject())
        let subscriber = Subscriber()
        north.merge(with: south).subscribe(subscriber)
        north.send(1)
        south.send(2)
        north.send(completion: .finished)
        south.send(3)
        south.send(completion: .finished)
        expectNoDifference(subscriber.values, [1, 2, 3])
        expectNoDifference(subscriber.completionIfAny == .finished, true)
    }

    @Test func withoutDemandNothingIsAsked() {
        let asked = Locked<[Subscribers.Demand]>([])
        let merged = observed(Subject(), asked, Locked(0)).merge(with: observed(Subject(), asked, Locked(0)))
        let subscriber = Subscriber(initialDemand: .none)
        merged.subscribe(subscriber)
        expectNoDifference(asked.value, [])
        subscriber.request(.max(1))
        expectNoDifference(asked.value, [.max(1), .max(1)])
        expectNoDifference(subscriber.history.count, 1)
    }

    @Test func aFailureCancelsTheOthers() {
        let (north, south, cancels) = (Subject(), Subject(), Locked(0))
        let subscriber = Subscriber()
        [observed(north, Locked([]), cancels), observed(south, Locked([]), cancels)].merge().subscribe(subscriber)
        north.send(1)
        north.send(completion: .failure(.one))
        south.send(2)
        expectNoDifference(subscriber.values, [1])
        expectNoDifference(subscriber.completionIfAny == .failure(.one), true)
        expectNoDifference(cancels.value, 1)
    }

    @Test func cancellingCancelsAllAndLetsGo() {
        let (north, south, cancels) = (Subject(), Subject(), Locked(0))
        weak var released: Subscriber?
        do {
            let subscriber = Subscriber()
            released = subscriber
            observed(north, Locked([]), cancels).merge(with: observed(south, Locked([]), cancels))
                .subscribe(subscriber)
            north.send(1)
            subscriber.cancel()
            south.send(2)
            expectNoDifference(subscriber.values, [1])
        }
        expectNoDifference(cancels.value, 2)
        #expect(released == nil)
    }

    @Test func anEndLetsGo() {
        let (north, south) = (Subject(), Subject())
        weak var released: Subscriber?
        do {
            let subscriber = Subscriber()
            released = subscriber
            north.combineLatest(south) { $0 + $1 }.subscribe(subscriber)
            north.send(1)
            south.send(2)
            north.send(completion: .finished)
            south.send(completion: .finished)
            expectNoDifference(subscriber.values, [3])
        }
        #expect(released == nil)
    }

    @Test func aSubscriberMayAskAndSendFromInside() {
        let (north, south) = (Subject(), Subject())
        let subscriber = Subscriber(
            initialDemand: .max(2),
            demandAfterValue: { $0 == 1 ? .max(2) : .none },
            onEvent: { event in
                // Sent from inside the delivery of 1: it must wait until that has returned.
                if case .value(1) = event { south.send(2) }
                if case .value(2) = event { north.send(3) }
            }
        )
        north.merge(with: south).subscribe(subscriber)
        north.send(1)
        expectNoDifference(subscriber.values, [1, 2, 3])
        north.send(4)
        south.send(5)
        expectNoDifference(subscriber.values, [1, 2, 3, 4])
        subscriber.request(.max(1))
        expectNoDifference(subscriber.values, [1, 2, 3, 4, 5])
    }

    @Test func nothingIsLostWhenThreadsRace() async {
        for _ in 0..<50 {
            let merged = [QueuedValues(values: 0..<100), QueuedValues(values: 100..<200)].merge()
            let subscriber = Subscriber(initialDemand: .max(5), demandAfterValue: { _ in .max(1) })
            merged.subscribe(subscriber)
            await subscriber.completion()
            expectNoDifference(subscriber.values.sorted(), Array(0..<200))
            expectNoDifference(subscriber.values.filter { $0 < 100 }, Array(0..<100))
            expectNoDifference(subscriber.values.filter { $0 >= 100 }, Array(100..<200))
        }
    }

    @Test func aCancelledJoinIsSilentWhateverCameMeanwhile() {
        race(
            rounds: 200,
            {
                let (north, south) = (Subject(), Subject())
                let subscriber = Subscriber()
                north.merge(with: south).subscribe(subscriber)
                raceDeliveries({ north.send(1) }, { subscriber.cancel() }, { south.send(completion: .failure(.one)) })
                let history = subscriber.history
                #expect(history.first == .subscription)
                // A value, a failure, both in this order, or neither.
                #expect(
                    [[], [.value(1)], [.completion(.failure(.one))], [.value(1), .completion(.failure(.one))]]
                        .contains(Array(history.dropFirst()))
                )
                north.send(2)
                #expect(subscriber.history == history)
            }
        )
    }

    @Test func latestOfTwoTypesOfThreeAndOfMany() {
        let (name, age, city) = (
            PassthroughSubject<String, Never>(), CurrentValueSubject<Int, Never>(36), Just("London")
        )
        let people = TrackingSubscriber<String, Never>()
        name.combineLatest(age, city).map { "\($0) \($1) \($2)" }.subscribe(people)
        name.send("Ada")
        age.send(37)
        expectNoDifference(people.values, ["Ada 36 London", "Ada 37 London"])

        let counts = [CurrentValueSubject<Int, Never>(1), CurrentValueSubject(2)]
        let totals = TrackingSubscriber<Int, Never>()
        counts.combineLatest().map { $0.reduce(0, +) }.subscribe(totals)
        counts[1].send(5)
        expectNoDifference(totals.values, [3, 6])
    }

    @Test func whatFailsAtOnceFailsAfterTheSubscription() {
        let failing = [Fail<Int, Trouble>(error: .one), Fail(error: .one)]
        let merged = Subscriber(initialDemand: .none)
        failing.merge().subscribe(merged)
        let latest = TrackingSubscriber<[Int], Trouble>(initialDemand: .max(1))
        failing.combineLatest().subscribe(latest)
        expectNoDifference(merged.history.count, 2)
        expectNoDifference(latest.history.count, 2)
        expectNoDifference(merged.completionIfAny == .failure(.one), true)
        expectNoDifference(latest.completionIfAny == .failure(.one), true)
    }

    @Test func cancellingFromInsideTheSubscriptionSubscribesNobody() {
        let asked = Locked<[Subscribers.Demand]>([])
        let subscriber = Subscriber()
        subscriber.cancel()
        observed(Subject(), asked, Locked(0)).merge(with: Subject()).subscribe(subscriber)
        expectNoDifference(asked.value, [])
        expectNoDifference(subscriber.history.count, 1)
    }

    @Test func ofNobodyThereIsNothing() {
        let none: [Empty<Int, Never>] = []
        let merged = TrackingSubscriber<Int, Never>(initialDemand: .none)
        none.merge().subscribe(merged)
        expectNoDifference(merged.history, [.subscription, .completion(.finished)])
        let latest = TrackingSubscriber<[Int], Never>()
        none.combineLatest().subscribe(latest)
        expectNoDifference(latest.history, [.subscription, .completion(.finished)])
    }
}
