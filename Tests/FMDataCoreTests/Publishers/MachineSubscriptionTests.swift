import CustomDump
import FMData
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// The shell around all machines of subscriptions: demand, re-entrancy, work, the end, cancelling at each stage,
/// release, an actor's turns, and racing threads.
@Suite(.timeLimit(.minutes(15))) struct MachineSubscriptionTests {
    private typealias Subscriber = TrackingSubscriber<Int, FMRest.APIError>

    /// Passes values on; orders work for values below 0, and ends with the publisher.
    private struct Echo: InletMachine, Sendable {
        typealias Input = Int
        typealias Output = Int
        typealias Failure = FMRest.APIError
        typealias Work = Int
        typealias Action = SubscriptionAction<Int, FMRest.APIError, Int>

        var demand = Subscribers.Demand.none
        var isAsked = false
        var waiting: [Int] = []
        var completion: Subscribers.Completion<FMRest.APIError>?
        var captured: Captured?

        mutating func requested(_ demand: Subscribers.Demand) { self.demand += demand }
        mutating func received(_ value: Int) { waiting.append(value) }
        mutating func finished(_ completion: Subscribers.Completion<FMRest.APIError>) { self.completion = completion }

        mutating func next() -> Action? {
            if demand > .none, !isAsked {
                isAsked = true
                return .ask(100)
            }
            if let first = waiting.first, first < 0 { return .work(waiting.removeFirst()) }
            if !waiting.isEmpty, demand > .none {
                demand -= 1
                return .value(waiting.removeFirst())
            }
            guard waiting.isEmpty, let completion else { return nil }
            return .end(completion)
        }
    }

    /// Calls a closure when it is released.
    private final class Captured: Sendable {
        let released: @Sendable () -> Void
        init(_ released: @escaping @Sendable () -> Void) { self.released = released }
        deinit { released() }
    }

    private struct Source: MachinePublisher, Sendable {
        typealias Output = Int
        typealias Failure = FMRest.APIError

        let exchange: StubExchange<Int>
        var machine = Echo()
        var actor: ActorTurn?
        var begins = Locked(0)
        /// The work that was begun; it ends when it gets a value, which is then a value of the publisher.
        let works = Locked<[StubExchange<Int>]>([])
        var captured: Captured?
        /// Called when work is ordered, before it begins.
        var orders: @Sendable () -> Void = {}

        func begin(_ subscription: MachineSubscription<Self>) {
            begins.change { $0 += 1 }
            exchange.subscribe(subscription)
        }

        func carryOut(_ number: Int, in subscription: MachineSubscription<Self>) {
            orders()
            let work = StubExchange<Int>()
            let subscriber = ResultSubscriber<Int, FMRest.APIError> { result in
                subscription.ended(number)
                if case .success(let value) = result { subscription.tell { $0.received(value) } }
            }
            guard subscription.begin(subscriber, as: number) else { return }
            works.change { $0.append(work) }
            work.subscribe(subscriber)
        }
    }

    private let exchange = StubExchange<Int>()

    // MARK: Demand

    @Test func nothingBeginsBeforeDemandAndThenOnce() {
        let source = Source(exchange: exchange)
        let subscriber = Subscriber(initialDemand: .none)
        source.subscribe(subscriber)
        expectNoDifference(source.begins.value, 0)
        subscriber.request(.max(1))
        subscriber.request(.max(1))
        expectNoDifference(source.begins.value, 1)
        expectNoDifference(exchange.demand, [.max(100)])
    }

    @Test func noMoreIsDeliveredThanDemanded() {
        let subscriber = Subscriber(initialDemand: .max(1), demandAfterValue: { $0 == 1 ? .max(1) : .none })
        Source(exchange: exchange).subscribe(subscriber)
        for value in 1...4 { exchange.send(value) }
        expectNoDifference(subscriber.values, [1, 2])
        subscriber.request(.max(1))
        expectNoDifference(subscriber.values, [1, 2, 3])
    }

    @Test func demandIsKeptUntilThePublisherHasSentItsSubscription() {
        /// Sends its subscription when the test says so.
        final class Late: Publisher {
            typealias Output = Int
            typealias Failure = FMRest.APIError
            var subscriber: AnySubscriber<Int, FMRest.APIError>?
            func receive<S: OpenCombine.Subscriber<Int, FMRest.APIError>>(subscriber: S) {
                self.subscriber = AnySubscriber(subscriber)
            }
        }
        let late = Late()
        let subscriber = Subscriber()
        ThroughMachine(upstream: late, machine: HandoverMachine()).subscribe(subscriber)
        late.subscriber?.receive(subscription: exchange)
        expectNoDifference(exchange.demand, [.max(16)])
        // A second subscription, and one after a cancel, is not wanted.
        let (second, third) = (StubExchange<Int>(), StubExchange<Int>())
        late.subscriber?.receive(subscription: second)
        subscriber.cancel()
        late.subscriber?.receive(subscription: third)
        expectNoDifference([second, third].map(\.isCancelled), [true, true])
        expectNoDifference([second, third].flatMap(\.demand), [])
    }

    // MARK: From inside

    @Test func whatHappensInsideADeliveryWaitsUntilThatHasReturned() {
        let depth = Locked(0)
        let exchange = exchange
        let subscriber = Subscriber(
            initialDemand: .max(1),
            demandAfterValue: { _ in
                depth.change { $0 -= 1 }
                return .max(1)
            },
            onEvent: { event in
                guard case .value(let value) = event else { return }
                depth.change { $0 += 1 }
                if depth.value > 1 { Issue.record("two deliveries at a time") }
                if value == 1 { exchange.send(2) }
                if value == 2 { exchange.succeed(3) }
            }
        )
        Source(exchange: exchange).subscribe(subscriber)
        exchange.send(1)
        expectNoDifference(subscriber.values, [1, 2, 3])
        #expect(subscriber.completionIfAny?.isFinished == true)
    }

    @Test func aCancelInsideADeliveryIsTheEnd() {
        let holder = Locked<Subscriber?>(nil)
        let subscriber = Subscriber(onEvent: { event in
            if case .value(2) = event { holder.value?.cancel() }
        })
        holder.change { $0 = subscriber }
        Source(exchange: exchange).subscribe(subscriber)
        for value in 1...3 { exchange.send(value) }
        exchange.finish()
        expectNoDifference(subscriber.values, [1, 2])
        #expect(subscriber.completionIfAny == nil)
        #expect(exchange.isCancelled)
        holder.change { $0 = nil }
    }

    // MARK: Work

    @Test func workIsBegunAndItsResultIsAnEvent() {
        let source = Source(exchange: exchange)
        let subscriber = Subscriber()
        source.subscribe(subscriber)
        exchange.send(-1)
        expectNoDifference(source.works.value.map(\.demand), [[.max(1)]])
        source.works.value[0].succeed(7)
        expectNoDifference(subscriber.values, [7])
    }

    @Test func theEndCancelsWorkAndPublisherBeforeTheCompletion() {
        let source = Source(exchange: exchange)
        let cancelled = Locked<[Bool]>([])
        let subscriber = Subscriber(onEvent: { event in
            if case .completion = event { cancelled.change { $0 = source.works.value.map(\.isCancelled) } }
        })
        source.subscribe(subscriber)
        exchange.send(-1)
        exchange.send(-2)
        source.works.value[0].succeed(7)
        exchange.fail(FMRest.APIError(.network, reason: "broke"))
        expectNoDifference(cancelled.value, [false, true])
        source.works.value[1].succeed(8)
        expectNoDifference(subscriber.values, [7])
        expectNoDifference(subscriber.history.count, 3)
    }

    @Test func workThatIsOrderedDuringACancelDoesNotBegin() {
        let holder = Locked<Subscriber?>(nil)
        let source = Source(exchange: exchange, orders: { holder.value?.cancel() })
        let subscriber = Subscriber()
        holder.change { $0 = subscriber }
        source.subscribe(subscriber)
        exchange.send(-1)
        expectNoDifference(source.works.value.count, 0)
        #expect(exchange.isCancelled)
        holder.change { $0 = nil }
    }

    // MARK: Cancel and release

    @Test func cancellingBeforeDemandAndAfterTheEndHasNoEffect() {
        let source = Source(exchange: exchange)
        let early = Subscriber(initialDemand: .none)
        source.subscribe(early)
        early.cancel()
        early.request(.max(1))
        expectNoDifference(source.begins.value, 0)
        let late = Subscriber()
        source.subscribe(late)
        exchange.succeed(1)
        late.cancel()
        expectNoDifference(late.history.count, 3)
        #expect(!exchange.isCancelled)
    }

    @Test(arguments: [false, true]) func theEndReleasesEverythingOutsideTheLock(isCancelled: Bool) throws {
        let released = Locked<[String]>([])
        let holder = Locked<(any Subscription & Sendable)?>(nil)
        /// A release may run any code, so one that calls the subscription must not meet its lock.
        func captured(_ name: String) -> Captured {
            Captured {
                released.change { $0.append(name) }
                holder.value?.request(.max(1))
            }
        }
        weak var subscriber: Subscriber?
        do {
            var source = Source(exchange: exchange)
            source.machine.captured = captured("machine")
            source.captured = captured("source")
            let tracking = Subscriber()
            subscriber = tracking
            let subscription = MachineSubscription(source, downstream: tracking)
            holder.change { $0 = subscription }
            tracking.receive(subscription: subscription)
            exchange.send(-1)
            if isCancelled { tracking.cancel() }
        }
        if !isCancelled { exchange.finish() }
        expectNoDifference(Set(released.value), ["machine", "source"])
        #expect(subscriber == nil)
        holder.change { $0 = nil }
    }

    // MARK: On an actor

    @Test func elsewhereQuestionsAreAskedAndValuesWaitForTheTurn() async {
        let subscriber = Subscriber()
        var source = Source(exchange: exchange)
        source.actor = ActorTurn(actor: MainActor.shared)
        let onMain = Locked<[Bool]>([])
        await MainActor.run {
            // The main actor is taken, so nothing can be delivered there meanwhile.
            let gate = Gate()
            Thread.detachNewThread { [exchange, source] in
                source.subscribe(subscriber)
                exchange.send(1)
                exchange.finish()
                gate.open()
            }
            gate.blockThread()
            onMain.change { $0.append(subscriber.values.isEmpty) }
        }
        expectNoDifference(exchange.demand, [.max(100)])
        expectNoDifference(onMain.value, [true])
        await subscriber.completion()
        expectNoDifference(subscriber.values, [1])
    }

    @Test func afterACancelOnTheActorTheWaitingValueIsDropped() async {
        let subscriber = Subscriber()
        var source = Source(exchange: exchange)
        source.actor = ActorTurn(actor: MainActor.shared)
        source.subscribe(subscriber)
        await MainActor.run { [exchange] in
            let gate = Gate()
            Thread.detachNewThread {
                exchange.send(1)
                gate.open()
            }
            gate.blockThread()
            subscriber.cancel()
        }
        await MainActor.run {}
        expectNoDifference(subscriber.values, [])
        #expect(exchange.isCancelled)
    }

    // MARK: Threads

    @Test func nothingIsLostAndOneDeliversAtATimeWhenThreadsRace() async {
        for _ in 0..<50 {
            let exchange = StubExchange<Int>()
            let active = Locked(0)
            let subscriber = Subscriber(
                initialDemand: .max(1),
                demandAfterValue: { _ in
                    active.change { $0 -= 1 }
                    return .max(1)
                },
                onEvent: { event in
                    guard case .value = event else { return }
                    active.change { $0 += 1 }
                    if active.value != 1 { Issue.record("two deliveries at a time") }
                }
            )
            Source(exchange: exchange).subscribe(subscriber)
            race(
                rounds: 1,
                { for value in 0..<100 { exchange.send(value) } },
                { for value in 100..<200 { exchange.send(value) } },
                { for _ in 0..<10 { subscriber.request(.max(1)) } }
            )
            exchange.finish()
            await subscriber.completion()
            expectNoDifference(subscriber.values.sorted(), Array(0..<200))
        }
    }

    @Test func aCancelThatRacesIsFinal() {
        race(
            rounds: 200,
            {
                let exchange = StubExchange<Int>()
                let source = Source(exchange: exchange)
                let subscriber = Subscriber()
                source.subscribe(subscriber)
                raceDeliveries(
                    { exchange.send(1) },
                    { exchange.send(-1) },
                    { subscriber.cancel() }
                )
                let (count, values) = (subscriber.history.count, subscriber.values)
                exchange.send(2)
                exchange.finish()
                for work in source.works.value { work.succeed(3) }
                expectNoDifference(subscriber.values, values)
                expectNoDifference(subscriber.history.count, count)
                #expect(exchange.isCancelled)
            }
        )
    }
}

/// The subscriber of one publisher's result: it reports once, when the publisher has ended.
@Suite struct ResultSubscriberTests {
    private static let broken = FMRest.APIError(.network, reason: "broke")
    private let exchange = StubExchange<Int>()

    @Test func theValueIsReportedWhenThePublisherHasEnded() {
        var results: [Result<Int, FMRest.APIError>?] = []
        exchange.subscribe(ResultSubscriber<Int, FMRest.APIError> { results.append($0) })
        expectNoDifference(exchange.demand, [.max(1)])
        exchange.send(1)
        #expect(results.isEmpty)
        exchange.finish()
        expectNoDifference(results.map { try? $0?.get() }, [1])
    }

    @Test func withoutAValueThereIsNoneAndAFailureIsOne() {
        var results: [Result<Int, FMRest.APIError>?] = []
        exchange.subscribe(ResultSubscriber<Int, FMRest.APIError> { results.append($0) })
        exchange.finish()
        #expect(results.count == 1 && results[0] == nil)
        exchange.subscribe(ResultSubscriber<Int, FMRest.APIError> { results.append($0) })
        exchange.send(1)
        exchange.fail(Self.broken)
        guard case .failure(let error)? = results.last else { return #expect(Bool(false), "it has failed") }
        expectNoDifference(error.code, .network)
    }

    @Test func allValuesComeWithTheFailureAfterThem() {
        var reports: [([Int], FMRest.APIError.Code?)] = []
        exchange.subscribe(
            ResultSubscriber<Int, FMRest.APIError>(demand: .unlimited) { reports.append(($0, $1?.code)) }
        )
        exchange.send(1)
        exchange.send(2)
        exchange.fail(Self.broken)
        expectNoDifference(reports.map(\.0), [[1, 2]])
        expectNoDifference(reports.map(\.1), [.network])
    }

    @Test func afterACancelNothingIsReportedAndALateSubscriptionIsCancelled() {
        var reports = 0
        let subscriber = ResultSubscriber<Int, FMRest.APIError> { _ in reports += 1 }
        exchange.subscribe(subscriber)
        subscriber.cancel()
        #expect(exchange.isCancelled)
        exchange.succeed(1)
        let late = StubExchange<Int>()
        late.subscribe(subscriber)
        #expect(late.isCancelled)
        expectNoDifference(reports, 0)
    }
}
