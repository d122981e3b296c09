import CustomDump
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMData

/// The contract of every publisher, for live queries: demand, cancelling, release, re-entrancy.
@Suite(.timeLimit(.minutes(15))) struct LiveContractTests {
    private typealias Values = TrackingSubscriber<DataAPI.LiveValue<Sea.Fields>, FMRest.APIError>
    private typealias Events = TrackingSubscriber<DataAPI.LiveEvent<Sea.Fields>, FMRest.APIError>

    private let sea: Sea

    init() {
        let (time, layout) = Sea.calm()
        sea = Sea(time, layout)
        for text in ["a", "b", "c"] { sea.insert(text) }
    }

    private func texts(_ values: Values) -> [[String]] {
        values.values.map { value in value.records.map { Sea.Row($0).text } }
    }

    @Test func withoutDemandNobodyLooks() {
        let (values, events) = (Values(initialDemand: .none), Events(initialDemand: .none))
        sea.values.subscribe(values)
        sea.events(since: nil).subscribe(events)
        sea.time.advance(by: .hours(1))
        expectNoDifference(sea.polls, 0)
        #expect(!sea.hasPoller)
        values.request(.max(1))
        expectNoDifference(sea.polls, 1)
        expectNoDifference(texts(values), [["a", "b", "c"]])
        values.cancel()
        events.cancel()
    }

    @Test func demandOfOneIsOneValue() {
        let values = Values(initialDemand: .max(1))
        sea.values.subscribe(values)
        for text in ["d", "e"] {
            sea.insert(text)
            sea.toNextLook()
        }
        expectNoDifference(values.values.count, 1)
        values.cancel()
    }

    @Test func oneEventForEachThatIsAskedFor() {
        let events = Events(initialDemand: .max(1))
        sea.events(since: nil).subscribe(events)
        guard case .snapshot(_, isLast: true)? = events.values.last, events.values.count == 1 else {
            Issue.record("\(events.values)")
            return
        }
        events.request(.max(1))
        guard case .ready? = events.values.last, events.values.count == 2 else {
            Issue.record("\(events.values)")
            return
        }
        events.cancel()
    }

    @Test func whoIsSlowGetsTheSumOfWhatHasHappened() {
        let (slow, quick) = (Values(initialDemand: .max(1)), Values())
        sea.values.subscribe(slow)
        sea.values.subscribe(quick)
        sea.edit(1) { $0.text = "A" }
        sea.toNextLook()
        sea.delete(2)
        let comesAndGoes = sea.insert("x")
        sea.toNextLook()
        sea.delete(comesAndGoes)
        sea.edit(1) { $0.text = "AA" }
        sea.toNextLook()
        expectNoDifference(quick.values.count, 4)
        expectNoDifference(slow.values.count, 1)
        slow.request(.max(1))
        expectNoDifference(texts(slow).last, ["AA", "c"])
        let changes = slow.values[1].changes
        expectNoDifference(changes.updated.map(\.oldModId), [0])
        expectNoDifference(changes.removed.map(\.recordId), [2])
        expectNoDifference(changes.inserted.count, 0)
        expectNoDifference(slow.values[1].freshness.polls, 3)
        slow.cancel()
        quick.cancel()
    }

    @Test func whileNobodyWantsWhatThereIsNobodyLooks() {
        let values = Values(initialDemand: .max(1))
        sea.values.subscribe(values)
        sea.insert("d")
        sea.toNextLook()
        let polls = sea.polls
        sea.time.advance(by: .hours(1))
        expectNoDifference(sea.polls, polls)
        sea.insert("e")
        values.request(.max(2))
        // First the value that is already known, then what the next poll finds.
        expectNoDifference(texts(values).map(\.count), [3, 4, 5])
        values.cancel()
    }

    @Test(arguments: ["before demand", "while it looks", "while it waits", "while it fails"])
    func cancelled(stage: String) {
        let values = Values(initialDemand: stage == "before demand" ? .none : .unlimited)
        sea.holds = stage == "while it looks"
        sea.failures = stage == "while it fails" ? 1 : 0
        sea.values.subscribe(values)
        expectNoDifference(sea.underWay, sea.holds ? 1 : 0)
        let count = values.values.count
        values.cancel()
        expectNoDifference(sea.underWay, 0)
        sea.release()
        let polls = sea.polls
        sea.insert("d")
        sea.time.advance(by: .hours(1))
        expectNoDifference(sea.polls, polls)
        expectNoDifference(values.values.count, count)
        #expect(values.completionIfAny == nil)
        #expect(!sea.hasPoller)
        expectNoDifference(sea.time.alarmCount, 0)
    }

    /// Changes are computed once for subscribers that receive them together, and are not kept longer: a new subscriber
    /// has its own computed.
    @Test func whoAreEquallyFarShareTheChanges() {
        let workedOut = NIOLockedValueBox(0)
        let news = LiveValues(poller: { [sea] in sea.poller }) {
            var before = LiveState<Sea.Fields>()
            return { state in
                defer { before = state }
                let changes = state.sharedChanges.since(before.edition) {
                    workedOut.withLockedValue { $0 += 1 }
                    return state.changes(since: before)
                }
                return [changes.inserted.count + changes.updated.count]
            }
        }
        .asLongAsItHolds()
        let subscribers = (1...3).map { _ in TrackingSubscriber<Int, FMRest.APIError>() }
        for (place, subscriber) in subscribers.enumerated() {
            news.subscribe(subscriber)
            expectNoDifference(workedOut.withLockedValue { $0 }, 1 + place)
        }
        sea.edit(1) { $0.text = "A" }
        sea.toNextLook()
        expectNoDifference(subscribers.map(\.values), [[3, 1], [3, 1], [3, 1]])
        expectNoDifference(workedOut.withLockedValue { $0 }, 4)
        for subscriber in subscribers { subscriber.cancel() }
    }

    @Test func theSubscriberIsReleasedWhenItCancels() {
        weak var released: Values?
        do {
            let values = Values()
            released = values
            sea.values.subscribe(values)
            values.cancel()
        }
        #expect(released == nil)
    }

    @Test func theSubscriberIsReleasedWhenTheQueryFails() {
        let (time, layout) = Sea.calm()
        let impatient = Sea(time, layout, options: DataAPI.LiveOptions(retryTimeout: .zero))
        impatient.failures = 1
        weak var released: Values?
        do {
            let values = Values()
            released = values
            impatient.values.subscribe(values)
            guard case .failure? = values.completionIfAny else {
                Issue.record("\(values.history)")
                return
            }
        }
        #expect(released == nil)
        #expect(!impatient.hasPoller)
        expectNoDifference(time.alarmCount, 0)
    }

    @Test func whoCancelsInsideOfAValueGetsNoMore() {
        let cancel = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)
        let values = Values { _ in
            .none
        } onEvent: { event in
            if case .value = event { cancel.withLockedValue(\.self)?() }
        }
        cancel.withLockedValue { $0 = { values.cancel() } }
        sea.values.subscribe(values)
        sea.insert("d")
        sea.time.advance(by: .hours(1))
        expectNoDifference(values.values.count, 1)
        expectNoDifference(sea.polls, 1)
        cancel.withLockedValue { $0 = nil }
    }

    @Test func whoWakesSubscribesAndAsksInsideOfAValueIsServed() {
        let other = Values()
        let sea = sea
        let values = Values(initialDemand: .max(1)) { _ in
            .max(1)
        } onEvent: { event in
            guard case .value(let value) = event, value.freshness.origin == .snapshot else { return }
            sea.insert("d")
            sea.values.subscribe(other)
            sea.poller.wake(.refresh)
        }
        sea.values.subscribe(values)
        expectNoDifference(texts(values).map(\.count), [3, 4])
        expectNoDifference(texts(other).map(\.count), [3, 4])
        expectNoDifference(sea.mostAtOnce, 1)
        values.cancel()
        other.cancel()
    }

    @Test func aRefreshDuringALookThatFailsLooksAtOnce() {
        let values = Values()
        sea.values.subscribe(values)
        sea.holds = true
        sea.toNextLook()
        sea.insert("d")
        sea.poller.wake(.refresh)
        sea.holds = false
        sea.release(cut: true)
        expectNoDifference(texts(values).map(\.count), [3, 4])
        expectNoDifference(values.values.last?.freshness.origin, .refresh)
        values.cancel()
    }

    /// Removals that the polls before have settled are not asked for again. Otherwise each of two successive polls
    /// would miss records of which the other one knows that they are deleted.
    @Test(arguments: [25, 29]) func aCursorOfWhichMuchIsGoneAndThenMore(gone: Int) {
        let (time, layout) = Sea.calm()
        let sea = Sea(time, layout)
        for id in 1...30 { sea.insert("\(id)") }
        let cursor = DataAPI.LiveCursor(
            query: DataAPI.FoundSet(layout: layout).fingerprint,
            versions: (1...30).map { DataAPI.RecordVersion(recordId: $0, modId: 0) }
        )
        for id in 1...gone { sea.delete(id) }
        let events = Events()
        sea.holds = true
        sea.noticesMoves = false
        sea.events(since: cursor).subscribe(events)
        sea.release()
        expectNoDifference(sea.polls, 2)
        // Between the first poll and the second.
        sea.delete(30)
        sea.holds = false
        sea.release()
        guard case .changed(let changes, _, _)? = events.values.first, case .ready(let reached)? = events.values.last
        else {
            Issue.record("\(events.values) after \(sea.polls) polls")
            return
        }
        expectNoDifference(changes.removed.map(\.recordId).sorted(), Array(1...gone) + [30])
        expectNoDifference(reached.count, 29 - gone)
        expectNoDifference(sea.polls, 3)
        events.cancel()
    }

    @Test func statusIsToldInOrderAndEndsNothing() {
        let words = TrackingSubscriber<DataAPI.LiveStatus, Never>()
        let poller = sea.poller
        poller.status.subscribe(words)
        let values = Values()
        sea.failures = 1
        sea.values.subscribe(values)
        sea.toNextLook()
        values.cancel()
        let told = words.values.map { status in
            switch status {
            case .idle: "idle"
            case .throttled: "throttled"
            case .looking: "looking"
            case .waiting: "waiting"
            case .paused: "paused"
            case .failing: "failing"
            case .ended: "ended"
            }
        }
        expectNoDifference(
            told,
            ["idle", "throttled", "looking", "failing", "throttled", "looking", "waiting", "idle"]
        )
        for case .failing(_, let since, let until) in words.values { expectNoDifference(until > since, true) }
        words.cancel()
    }

    @Test func subscribersThatComeAndGoOnTwoThreadsLeaveNothingBehind() async {
        for _ in 0..<50 {
            let (time, layout) = Sea.calm()
            let poll = Poll<Sea.Fields>(
                strategy: RereadPolling(maximum: .max),
                perform: { _, strategy, _ in
                    Just(PollFindings(order: [], strategy: strategy)).setFailureType(to: FMRest.APIError.self)
                        .eraseToAnyPublisher()
                },
                isThere: { _, _ in Just(true).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher() },
                isOfOtherFile: { _, _ in Just(false).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher() }
            )
            let poller = LivePoller(poll, DataAPI.LiveOptions(), of: layout.layout)
            @Sendable func subscribe(_ values: TrackingSubscriber<Int, FMRest.APIError>) {
                LiveValues(poller: { poller }) { { (state: LiveState<Sea.Fields>) in [state.version] } }
                    .asLongAsItHolds()
                    .subscribe(values)
            }
            @Sendable func comeAndGo() {
                for _ in 0..<20 {
                    let values = TrackingSubscriber<Int, FMRest.APIError>()
                    subscribe(values)
                    poller.wake(.refresh)
                    values.cancel()
                }
            }
            async let one: Void = comeAndGo()
            async let other: Void = comeAndGo()
            _ = await (one, other)
            let last = TrackingSubscriber<Int, FMRest.APIError>()
            subscribe(last)
            time.advance(by: .seconds(30))
            await last.valueCount(atLeast: 1)
            last.cancel()
            time.advance(by: .seconds(30))
            expectNoDifference(time.alarmCount, 0)
        }
    }
}
