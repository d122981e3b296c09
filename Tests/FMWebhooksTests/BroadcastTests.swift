import CustomDump
import FMTestSupport
import OpenCombine
import Testing

@testable import FMWebhooks

/// The rules of a broadcast and its subscriptions.
@Suite(.timeLimit(.minutes(15))) struct BroadcastTests {
    private typealias Listener = TrackingSubscriber<[Int], Never>

    /// Waiting values are merged into one.
    private func broadcast(present: [Int]? = nil) -> Broadcast<[Int]> {
        Broadcast(present: present) { waiting, value in waiting = [(waiting.first ?? []) + value] }
    }

    @Test func nothingComesBeforeDemandAndNothingIsLost() async {
        let broadcast = broadcast()
        let listener = Listener(initialDemand: .none)
        broadcast.publisher.subscribe(listener)
        for value in 1...1_000 { broadcast.send([value]) }
        await settled { listener.values.count }
        expectNoDifference(listener.values, [])
        listener.request(.max(1))
        await listener.valueCount(atLeast: 1)
        expectNoDifference(listener.values, [Array(1...1_000)])
        broadcast.send([7])
        await settled { listener.values.count }
        expectNoDifference(listener.values.count, 1)
        listener.request(.max(1))
        await listener.valueCount(atLeast: 2)
        expectNoDifference(listener.values.last, [7])
    }

    @Test func demandFromInsideOfAValue() async {
        let broadcast = broadcast()
        let listener = Listener(initialDemand: .max(1), demandAfterValue: { _ in .max(1) })
        broadcast.publisher.subscribe(listener)
        for value in 1...3 {
            broadcast.send([value])
            await listener.valueCount(atLeast: value)
        }
        expectNoDifference(listener.values, [[1], [2], [3]])
    }

    @Test func aNewListenerGetsTheStateAndNoEvents() async {
        let states = broadcast(present: [0])
        let events = broadcast()
        events.send([1])
        states.send([5])
        let (state, event) = (Listener(), Listener())
        states.publisher.subscribe(state)
        events.publisher.subscribe(event)
        events.send([2])
        await state.valueCount(atLeast: 1)
        await event.valueCount(atLeast: 1)
        expectNoDifference(state.values, [[5]])
        expectNoDifference(event.values, [[2]])
    }

    @Test func theEndComesOnceAndBehindWhatWaits() async {
        let broadcast = broadcast()
        let (slow, quick) = (Listener(initialDemand: .none), Listener())
        broadcast.publisher.subscribe(slow)
        broadcast.publisher.subscribe(quick)
        broadcast.send([1])
        broadcast.finish()
        broadcast.finish()
        broadcast.send([2])
        await quick.completion()
        #expect(slow.completionIfAny == nil)
        slow.request(.max(1))
        await slow.completion()
        expectNoDifference(slow.history, [.subscription, .value([1]), .completion(.finished)])
        expectNoDifference(quick.history, slow.history)
        let late = Listener()
        broadcast.publisher.subscribe(late)
        await late.completion()
        expectNoDifference(late.values, [])
    }

    @Test func afterACancelNothingComesAndAllIsReleased() async {
        let broadcast = broadcast()
        weak var released: Listener?
        do {
            let listener = Listener()
            released = listener
            broadcast.publisher.subscribe(listener)
            broadcast.send([1])
            await listener.valueCount(atLeast: 1)
            listener.cancel()
            listener.cancel()
            broadcast.send([2])
            await settled { listener.values.count }
            expectNoDifference(listener.values, [[1]])
        }
        await until { released == nil }
        #expect(released == nil)
    }

    @Test func aSubscriberThatSendsAndEndsFromInside() async {
        let broadcast = broadcast()
        let listener = Listener(onEvent: { event in
            guard case .value(let value) = event else { return }
            if value == [1] { broadcast.send([2]) } else { broadcast.finish() }
        })
        broadcast.publisher.subscribe(listener)
        broadcast.send([1])
        await listener.completion()
        expectNoDifference(listener.values, [[1], [2]])
    }

    @Test func manyThreadsAtOnceLoseNothing() async {
        let broadcast = broadcast()
        let listener = Listener()
        broadcast.publisher.subscribe(listener)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask { for value in 0..<100 { broadcast.send([thread * 100 + value]) } }
            }
        }
        broadcast.finish()
        await listener.completion()
        expectNoDifference(listener.values.flatMap { $0 }.sorted(), Array(0..<800))
    }

    @MainActor @Test func onTheMainActorForThoseWhoSubscribeThere() async {
        let broadcast = broadcast()
        let seen = Watched(0)
        // A closure on the main actor: Swift traps if it is called elsewhere.
        let subscription = broadcast.publisher.sink { value in
            MainActor.assertIsolated()
            seen.change { $0 += value.count }
        }
        broadcast.send([1])
        await seen.wait { $0 == 1 }
        subscription.cancel()
        #expect(seen.value == 1)
    }
}
