import CustomDump
import FMData
import FMTestSupport
import FMTesting
import Foundation
import NIOCore
import OpenCombine
import Testing

/// The clock alone.
@Suite(.timeLimit(.minutes(15))) struct TestClockTests {
    private let clock = TestClock()

    // MARK: Timers

    @Test func timersFireInOrderOnTheThreadThatAdvances() {
        let (clock, start) = (clock, clock.date)
        let fired = Locked<[String]>([])
        let threads = Locked<[pthread_t]>([])
        @Sendable func set(
            _ name: String,
            in seconds: Int64,
            then: @escaping @Sendable () -> Void = {}
        ) -> @Sendable () -> Void {
            let time = clock.sessionTime
            return time.schedule(time.now() + .seconds(seconds)) {
                fired.change { $0.append("\(name) at \(Int(clock.date.timeIntervalSince(start)))") }
                threads.change { $0.append(pthread_self()) }
                then()
            }
        }
        _ = set("c", in: 3)
        _ = set("a", in: 1) { _ = set("b", in: 1) }
        let cancel = set("no", in: 2)
        _ = set("late", in: 4)
        cancel()
        expectNoDifference(clock.timers, [.seconds(1), .seconds(3), .seconds(4)])
        clock.advance(by: .seconds(3))
        expectNoDifference(fired.value, ["a at 1", "b at 2", "c at 3"])
        expectNoDifference(clock.timers, [.seconds(1)])
        expectNoDifference(clock.advanceToNextTimer(), .seconds(1))
        expectNoDifference(clock.advanceToNextTimer(), nil)
        expectNoDifference(fired.value.last, "late at 4")
        expectNoDifference(Set(threads.value), [pthread_self()])
    }

    @Test func aTestWaitsForATimer() async {
        let time = clock.sessionTime
        async let isSet: Void = clock.untilTimer(in: .seconds(5))
        let cancel = time.schedule(time.now() + .seconds(5)) {}
        await isSet
        async let isEmpty: Void = clock.untilTimers(\.isEmpty)
        cancel()
        await isEmpty
        expectNoDifference(clock.timers, [])
    }

    @Test func aCancelledTaskWaitsNoLonger() async {
        let task = Task { await clock.untilTimer(in: .seconds(5)) }
        task.cancel()
        await task.value
    }

    // MARK: A clock

    // The clock stands still: these sleeps last until the test moves it, and take no time.

    @Test func aSleepEndsWhenTheClockHasBeenMoved() async throws {
        let start = clock.now
        let sleep = Task {
            try await clock.sleep(for: .seconds(5))
            return start.duration(to: clock.now)
        }
        await clock.untilTimer(in: .seconds(5))
        clock.advance(by: .seconds(4))
        expectNoDifference(clock.timers, [.seconds(1)])
        clock.advance(by: .seconds(1))
        let slept = try await sleep.value
        expectNoDifference(slept, .seconds(5))
        try await clock.sleep(until: start)
        #expect(start < clock.now)
        expectNoDifference(clock.timers, [])
    }

    @Test func aCancelledTaskSleepsNoLonger() async {
        let sleep = Task { try await clock.sleep(for: .seconds(5)) }
        await clock.untilTimer(in: .seconds(5))
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
        expectNoDifference(clock.timers, [])
    }

    // MARK: A scheduler

    @Test func aSearchWaitsUntilTheTypingPauses() {
        let typed = PassthroughSubject<String, Never>()
        let searches = TrackingSubscriber<String, Never>()
        typed.debounce(for: .milliseconds(300), scheduler: clock).subscribe(searches)
        for text in ["L", "Lo", "Lon"] {
            typed.send(text)
            clock.advance(by: .milliseconds(299))
        }
        expectNoDifference(searches.values, [])
        clock.advance(by: .milliseconds(1))
        expectNoDifference(searches.values, ["Lon"])
    }

    @Test func whatIsDueNowWaitsForTheClockToo() {
        let values = TrackingSubscriber<Int, Never>()
        Just(1).receive(on: clock).subscribe(values)
        expectNoDifference(values.values, [])
        clock.advance(by: .zero)
        expectNoDifference(values.values, [1])
    }

    @Test func aRepetitionEndsWithItsSubscription() {
        var count = 0
        let repetition = clock.schedule(after: clock.now.advanced(by: .seconds(1)), interval: .seconds(2)) {
            count += 1
        }
        clock.advance(by: .seconds(6))
        expectNoDifference(count, 3)
        repetition.cancel()
        expectNoDifference(clock.timers, [])
        clock.advance(by: .seconds(6))
        expectNoDifference(count, 3)
    }

    @Test func aRepetitionMayEndItself() {
        var count = 0
        var repetition: (any Cancellable)?
        repetition = clock.schedule(after: clock.now, interval: .seconds(1)) {
            count += 1
            if count == 2 { repetition?.cancel() }
        }
        clock.advance(by: .seconds(6))
        expectNoDifference(count, 2)
        expectNoDifference(clock.timers, [])
    }

    @Test func spansAreNumbers() {
        typealias Stride = TestClock.Instant.Stride
        expectNoDifference(
            Stride.seconds(1.5) + .milliseconds(500) - .microseconds(1) + .nanoseconds(1_000),
            .seconds(2)
        )
        expectNoDifference(Stride.nanoseconds(3) * 4, 12)
        expectNoDifference(Stride(exactly: 3.magnitude), .nanoseconds(3))
        expectNoDifference(Stride(exactly: UInt64.max), nil)
        expectNoDifference(Stride(.seconds(Int64.max)).magnitude, Int64.max.magnitude)
        expectNoDifference((-Stride.seconds(1)).magnitude, 1_000_000_000)
        expectNoDifference(clock.now.distance(to: clock.now.advanced(by: .seconds(3))), Stride.seconds(3))
    }
}
