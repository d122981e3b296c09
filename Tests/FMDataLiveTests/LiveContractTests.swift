import CustomDump
import FMData
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// The contract of every publisher, for live queries: demand, cancelling, release, re-entrancy.
@Suite(.timeLimit(.minutes(15))) struct LiveContractTests {
    private typealias Values = TrackingSubscriber<DataAPI.LiveValue<LiveTable.Fields>, FMRest.APIError>
    private typealias Events = TrackingSubscriber<DataAPI.LiveEvent<LiveTable.Fields>, FMRest.APIError>

    private let table: LiveTable

    init() {
        let (time, layout) = LiveTable.makeTimeAndLayout()
        table = LiveTable(time, layout)
        for text in ["a", "b", "c"] { table.insert(text) }
    }

    private func texts(_ values: Values) -> [[String]] {
        values.values.map { value in value.records.map { LiveTable.Row($0).text } }
    }

    @Test func withoutDemandNobodyLooks() {
        let (values, events) = (Values(initialDemand: .none), Events(initialDemand: .none))
        table.values.subscribe(values)
        table.events(since: nil).subscribe(events)
        table.time.advance(by: .hours(1))
        expectNoDifference(table.polls, 0)
        #expect(!table.hasPoller)
        values.request(.max(1))
        expectNoDifference(table.polls, 1)
        expectNoDifference(texts(values), [["a", "b", "c"]])
        values.cancel()
        events.cancel()
    }

    @Test func demandOfOneIsOneValue() {
        let values = Values(initialDemand: .max(1))
        table.values.subscribe(values)
        for text in ["d", "e"] {
            table.insert(text)
            table.toNextLook()
        }
        expectNoDifference(values.values.count, 1)
        values.cancel()
    }

    @Test func oneEventForEachThatIsAskedFor() {
        let events = Events(initialDemand: .max(1))
        table.events(since: nil).subscribe(events)
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
        table.values.subscribe(slow)
        table.values.subscribe(quick)
        table.edit(1) { $0.text = "A" }
        table.toNextLook()
        table.delete(2)
        let comesAndGoes = table.insert("x")
        table.toNextLook()
        table.delete(comesAndGoes)
        table.edit(1) { $0.text = "AA" }
        table.toNextLook()
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
        table.values.subscribe(values)
        table.insert("d")
        table.toNextLook()
        let polls = table.polls
        table.time.advance(by: .hours(1))
        expectNoDifference(table.polls, polls)
        table.insert("e")
        values.request(.max(2))
        // First the value that is already known, then what the next poll finds.
        expectNoDifference(texts(values).map(\.count), [3, 4, 5])
        values.cancel()
    }

    @Test(arguments: ["before demand", "while it looks", "while it waits", "while it fails"])
    func cancelled(stage: String) {
        let values = Values(initialDemand: stage == "before demand" ? .none : .unlimited)
        table.holds = stage == "while it looks"
        table.failures = stage == "while it fails" ? 1 : 0
        table.values.subscribe(values)
        expectNoDifference(table.underWay, table.holds ? 1 : 0)
        let count = values.values.count
        values.cancel()
        expectNoDifference(table.underWay, 0)
        table.release()
        let polls = table.polls
        table.insert("d")
        table.time.advance(by: .hours(1))
        expectNoDifference(table.polls, polls)
        expectNoDifference(values.values.count, count)
        #expect(values.completionIfAny == nil)
        #expect(!table.hasPoller)
        expectNoDifference(table.time.timers.count, 0)
    }

    /// Changes are computed once for subscribers that receive them together, and are not kept longer: a new subscriber
    /// has its own computed.
    @Test func whoAreEquallyFarShareTheChanges() {
        let workedOut = NIOLockedValueBox(0)
        let news = LiveValues(poller: { [table] in table.poller }) {
            var before = LiveState<LiveTable.Fields>()
            return { state in
                defer { before = state }
                let changes = state.sharedChanges.since(before.updateCount) {
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
        table.edit(1) { $0.text = "A" }
        table.toNextLook()
        expectNoDifference(subscribers.map(\.values), [[3, 1], [3, 1], [3, 1]])
        expectNoDifference(workedOut.withLockedValue { $0 }, 4)
        for subscriber in subscribers { subscriber.cancel() }
    }

    @Test func theSubscriberIsReleasedWhenItCancels() {
        weak var released: Values?
        do {
            let values = Values()
            released = values
            table.values.subscribe(values)
            values.cancel()
        }
        #expect(released == nil)
    }

    @Test func theSubscriberIsReleasedWhenTheQueryFails() {
        let (time, layout) = LiveTable.makeTimeAndLayout()
        let impatient = LiveTable(time, layout, options: DataAPI.LiveOptions(retryTimeout: .zero))
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
        expectNoDifference(time.timers.count, 0)
    }

    @Test func whoCancelsInsideOfAValueGetsNoMore() {
        let cancel = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)
        let values = Values { _ in
            .none
        } onEvent: { event in
            if case .value = event { cancel.withLockedValue(\.self)?() }
        }
        cancel.withLockedValue { $0 = { values.cancel() } }
        table.values.subscribe(values)
        table.insert("d")
        table.time.advance(by: .hours(1))
        expectNoDifference(values.values.count, 1)
        expectNoDifference(table.polls, 1)
        cancel.withLockedValue { $0 = nil }
    }

    @Test func whoWakesSubscribesAndAsksInsideOfAValueIsServed() {
        let other = Values()
        let table = table
        let values = Values(initialDemand: .max(1)) { _ in
            .max(1)
        } onEvent: { event in
            guard case .value(let value) = event, value.freshness.origin == .snapshot else { return }
            table.insert("d")
            table.values.subscribe(other)
            table.poller.wake(.refresh)
        }
        table.values.subscribe(values)
        expectNoDifference(texts(values).map(\.count), [3, 4])
        expectNoDifference(texts(other).map(\.count), [3, 4])
        expectNoDifference(table.mostAtOnce, 1)
        values.cancel()
        other.cancel()
    }

    @Test func aRefreshDuringALookThatFailsLooksAtOnce() {
        let values = Values()
        table.values.subscribe(values)
        table.holds = true
        table.toNextLook()
        table.insert("d")
        table.poller.wake(.refresh)
        table.holds = false
        table.release(cut: true)
        expectNoDifference(texts(values).map(\.count), [3, 4])
        expectNoDifference(values.values.last?.freshness.origin, .refresh)
        values.cancel()
    }

    /// Removals that the polls before have settled are not asked for again. Otherwise each of two successive polls
    /// would miss records of which the other one knows that they are deleted.
    @Test(arguments: [25, 29]) func aCursorOfWhichMuchIsGoneAndThenMore(gone: Int) {
        let (time, layout) = LiveTable.makeTimeAndLayout()
        let table = LiveTable(time, layout)
        for id in 1...30 { table.insert("\(id)") }
        let cursor = DataAPI.LiveCursor(
            query: DataAPI.FoundSet(layout: layout).fingerprint,
            versions: (1...30).map { DataAPI.RecordVersion(recordId: $0, modId: 0) }
        )
        for id in 1...gone { table.delete(id) }
        let events = Events()
        table.holds = true
        table.noticesMoves = false
        table.events(since: cursor).subscribe(events)
        table.release()
        expectNoDifference(table.polls, 2)
        // Between the first poll and the second.
        table.delete(30)
        table.holds = false
        table.release()
        guard case .changed(let changes, _, _)? = events.values.first, case .ready(let reached)? = events.values.last
        else {
            Issue.record("\(events.values) after \(table.polls) polls")
            return
        }
        expectNoDifference(changes.removed.map(\.recordId).sorted(), Array(1...gone) + [30])
        expectNoDifference(reached.count, 29 - gone)
        expectNoDifference(table.polls, 3)
        events.cancel()
    }

    @Test func statusIsToldInOrderAndEndsNothing() {
        let words = TrackingSubscriber<DataAPI.LiveStatus, Never>()
        let poller = table.poller
        poller.status.subscribe(words)
        let values = Values()
        table.failures = 1
        table.values.subscribe(values)
        table.toNextLook()
        values.cancel()
        expectNoDifference(
            words.values.map(\.kind),
            [.idle, .throttled, .polling, .failing, .throttled, .polling, .waiting, .idle]
        )
        let failing = words.values[3]
        expectNoDifference(failing.until.flatMap { until in failing.since.map { until > $0 } }, true)
        expectNoDifference("\(words.values[0])", "idle")
        expectNoDifference(words.values.map { $0.error != nil }, words.values.map { $0.kind == .failing })
        words.cancel()
    }

    @Test(.thorough) func subscribersThatComeAndGoOnTwoThreadsLeaveNothingBehind() async {
        for _ in 0..<50 {
            let (time, layout) = LiveTable.makeTimeAndLayout()
            let poll = Poll<LiveTable.Fields>(
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
                LiveValues(poller: { poller }) { { (state: LiveState<LiveTable.Fields>) in [state.changeCount] } }
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
            expectNoDifference(time.timers.count, 0)
        }
    }
}
