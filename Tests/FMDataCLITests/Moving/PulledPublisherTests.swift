import CustomDump
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCLI

/// Values that are pulled as they are asked for.
@Suite(.timeLimit(.minutes(15))) struct PulledPublisherTests {
    /// A subscriber that asks for what a test says.
    private final class Receiver: Subscriber, @unchecked Sendable {
        // @unchecked: the identifier is a constant; everything else is `Sendable`.
        typealias Input = Int
        typealias Failure = any Error

        enum Event: Equatable {
            case value(Int)
            case finished
            case failed
        }

        let combineIdentifier = CombineIdentifier()
        let events: AsyncStream<Event>
        private let continuation: AsyncStream<Event>.Continuation
        let subscription = Locked<Subscribed?>(nil)

        struct Subscribed: @unchecked Sendable {
            // @unchecked: the subscription has a lock of its own.
            let value: any Subscription
        }

        init() { (events, continuation) = AsyncStream<Event>.makeStream() }

        func receive(subscription: any Subscription) {
            self.subscription.change { $0 = Subscribed(value: subscription) }
        }

        func receive(_ input: Int) -> Subscribers.Demand {
            continuation.yield(.value(input))
            return .none
        }

        func receive(completion: Subscribers.Completion<any Error>) {
            if case .finished = completion { continuation.yield(.finished) } else { continuation.yield(.failed) }
            continuation.finish()
        }

        func request(_ count: Int) { subscription.value?.value.request(.max(count)) }
    }

    private struct Broken: Error {}

    /// A publisher of the numbers up to this one, and how many were pulled.
    private func numbers(upTo last: Int, failing: Bool = false) -> (PulledPublisher<Int>, Locked<Int>) {
        let pulled = Locked(0)
        let publisher = PulledPublisher<Int> {
            guard pulled.value < last else {
                if failing { throw Broken() }
                return nil
            }
            pulled.change { $0 += 1 }
            return pulled.value
        }
        return (publisher, pulled)
    }

    @Test func asManyArePulledAsAreAskedFor() async {
        let (publisher, pulled) = numbers(upTo: 3)
        let receiver = Receiver()
        publisher.subscribe(receiver)
        expectNoDifference(pulled.value, 0)
        var events = receiver.events.makeAsyncIterator()
        receiver.request(2)
        expectNoDifference(awaited: await events.next(), .value(1))
        expectNoDifference(awaited: await events.next(), .value(2))
        expectNoDifference(pulled.value, 2)
        receiver.request(2)
        expectNoDifference(awaited: await events.next(), .value(3))
        expectNoDifference(awaited: await events.next(), .finished)
        expectNoDifference(awaited: await events.next(), nil)
    }

    @Test func aFailureIsTheEnd() async {
        let (publisher, _) = numbers(upTo: 1, failing: true)
        let receiver = Receiver()
        publisher.subscribe(receiver)
        receiver.request(5)
        var events: [Receiver.Event] = []
        for await event in receiver.events { events.append(event) }
        expectNoDifference(events, [.value(1), .failed])
    }

    @Test func stoppedItEndsAtOnce() async {
        let (publisher, pulled) = numbers(upTo: 3)
        let receiver = Receiver()
        publisher.subscribe(receiver)
        publisher.stop()
        var events: [Receiver.Event] = []
        for await event in receiver.events { events.append(event) }
        expectNoDifference(events, [.finished])
        receiver.request(1)
        publisher.stop()
        expectNoDifference(pulled.value, 0)
    }

    @Test func stoppedWhileAValueIsPulledItEndsWithoutIt() async {
        let (waiting, goOn) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let publisher = PulledPublisher<Int> {
            waiting.continuation.finish()
            for await _ in goOn.stream {}
            return 1
        }
        let receiver = Receiver()
        publisher.subscribe(receiver)
        receiver.request(1)
        for await _ in waiting.stream {}
        publisher.stop()
        goOn.continuation.finish()
        var events: [Receiver.Event] = []
        for await event in receiver.events { events.append(event) }
        expectNoDifference(events, [.finished])
    }
}
