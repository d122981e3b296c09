import NIOCore
import Testing

@testable import FMHTTP

struct TimeoutStateMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let limits = ExchangeLimits(firstByte: .seconds(60), idle: .seconds(10), deadline: nil, maximumBodyBytes: 0)

    private func at(_ seconds: Int64) -> NIODeadline { Self.start + .seconds(seconds) }

    @Test func oneTimerServesManyRequests() {
        var machine = TimeoutStateMachine()
        #expect(machine.progressed(to: .awaitingHead, limits: limits, now: at(0)) == at(60))
        machine.ended()
        #expect(machine.progressed(to: .awaitingHead, limits: limits, now: at(30)) == nil)
        #expect(machine.fired(now: at(60)) == .schedule(at: at(90)))
        #expect(machine.fired(now: at(90)) == .expired(.firstByteTimeout))
    }

    @Test func anEarlierLimitMovesTheTimer() {
        var machine = TimeoutStateMachine()
        #expect(machine.progressed(to: .awaitingHead, limits: limits, now: at(0)) == at(60))
        #expect(machine.progressed(to: .receiving, limits: limits, now: at(1)) == at(11))
        #expect(machine.progressed(to: .receiving, limits: limits, now: at(5)) == nil)
        #expect(machine.fired(now: at(11)) == .schedule(at: at(15)))
        #expect(machine.fired(now: at(15)) == .expired(.idleTimeout))
    }

    @Test func waitingForTheHeadIsNotProlonged() {
        var machine = TimeoutStateMachine()
        _ = machine.progressed(to: .awaitingHead, limits: limits, now: at(0))
        _ = machine.progressed(to: .awaitingHead, limits: limits, now: at(59))
        #expect(machine.fired(now: at(60)) == .expired(.firstByteTimeout))
    }

    @Test func aPauseIsNotIdleness() {
        var machine = TimeoutStateMachine()
        _ = machine.progressed(to: .receiving, limits: limits, now: at(0))
        #expect(machine.progressed(to: .paused, limits: limits, now: at(1)) == nil)
        #expect(machine.fired(now: at(10)) == .none)
        #expect(machine.progressed(to: .receiving, limits: limits, now: at(1000)) == at(1010))
    }

    @Test func theWholeHasItsOwnLimit() {
        var machine = TimeoutStateMachine()
        var limits = limits
        limits.deadline = at(5)
        #expect(machine.progressed(to: .awaitingHead, limits: limits, now: at(0)) == at(5))
        #expect(machine.fired(now: at(5)) == .expired(.totalTimeout))
    }

    @Test func theLimitOfTheWholeStandsStillWhileTheSubscriberPauses() {
        var machine = TimeoutStateMachine()
        var limits = limits
        limits.idle = nil
        limits.deadline = at(5)
        _ = machine.progressed(to: .awaitingHead, limits: limits, now: at(0))
        _ = machine.progressed(to: .paused, limits: limits, now: at(1))
        _ = machine.progressed(to: .paused, limits: limits, now: at(2))
        #expect(machine.fired(now: at(5)) == .none)
        #expect(machine.progressed(to: .receiving, limits: limits, now: at(101)) == at(105))
        _ = machine.progressed(to: .paused, limits: limits, now: at(102))
        _ = machine.progressed(to: .receiving, limits: limits, now: at(112))
        #expect(machine.fired(now: at(105)) == .schedule(at: at(115)))
        #expect(machine.fired(now: at(115)) == .expired(.totalTimeout))

        // The next request starts without the pauses of this one.
        machine.ended()
        limits.deadline = at(120)
        #expect(machine.progressed(to: .receiving, limits: limits, now: at(116)) == at(120))
    }

    // MARK: The rate

    private var slowLimits: ExchangeLimits {
        var limits = limits
        limits.minimumRate = 1000
        return limits
    }

    /// One byte every 100 ms is never idle, and still expires after the grace period.
    @Test func aBodyThatDripsExpires() {
        var machine = TimeoutStateMachine()
        _ = machine.progressed(to: .awaitingHead, limits: slowLimits, now: at(0))
        var bytes = 0
        var now = at(5)
        var expired: TimeoutStateMachine.FireAction?
        while now < at(1000), expired == nil {
            _ = machine.progressed(to: .receiving, bodyBytes: bytes, limits: slowLimits, now: now)
            if case .expired(let code) = machine.fired(now: now) { expired = .expired(code) }
            bytes += 1
            now = now + .milliseconds(100)
        }
        #expect(expired == .expired(.tooSlow))
        // 20 s of grace period since the head, and the time for 200 bytes.
        #expect(now > at(25) && now < at(26))
    }

    @Test func aBodyThatComesFastEnoughMayComeForEver() {
        var machine = TimeoutStateMachine()
        for second in 0..<100_000 as Range<Int64> {
            _ = machine.progressed(to: .receiving, bodyBytes: Int(second) * 1000, limits: slowLimits, now: at(second))
            if case .expired = machine.fired(now: at(second)) { Issue.record("expired after \(second) s") }
        }
    }

    /// Fast progress earlier counts.
    @Test func theRateIsAnAverage() {
        var machine = TimeoutStateMachine()
        var limits = slowLimits
        limits.idle = .seconds(30)
        #expect(machine.progressed(to: .receiving, bodyBytes: 0, limits: limits, now: at(0)) == at(30))
        for (second, bytes) in [(25, 50_000), (50, 100_000), (75, 100_000), (100, 100_001), (125, 100_001)] {
            _ = machine.progressed(to: .receiving, bodyBytes: bytes, limits: limits, now: at(Int64(second)))
        }
        _ = machine.progressed(to: .receiving, bodyBytes: 100_001, limits: limits, now: at(150))
        #expect(machine.fired(now: at(150)) == .schedule(at: at(160) + .milliseconds(1)))
        #expect(machine.fired(now: at(161)) == .expired(.tooSlow))
    }

    @Test func thePausesOfTheSubscriberDoNotCountForTheRate() {
        var machine = TimeoutStateMachine()
        _ = machine.progressed(to: .receiving, bodyBytes: 0, limits: slowLimits, now: at(0))
        _ = machine.progressed(to: .paused, bodyBytes: 1, limits: slowLimits, now: at(4))
        #expect(machine.fired(now: at(20)) == .none)
        _ = machine.progressed(to: .receiving, bodyBytes: 0, limits: slowLimits, now: at(1004))
        _ = machine.progressed(to: .receiving, bodyBytes: 0, limits: slowLimits, now: at(1013))
        #expect(machine.fired(now: at(1014)) == .schedule(at: at(1020)))
        #expect(machine.fired(now: at(1020)) == .expired(.tooSlow))
    }

    @Test func theNextResponseBeginsAnew() {
        var machine = TimeoutStateMachine()
        _ = machine.progressed(to: .receiving, bodyBytes: 0, limits: slowLimits, now: at(0))
        machine.ended()
        for second in [100, 109] as [Int64] {
            _ = machine.progressed(to: .receiving, bodyBytes: 0, limits: slowLimits, now: at(second))
        }
        #expect(machine.fired(now: at(118)) == .schedule(at: at(119)))
    }

    @Test func withoutALimitOfIdlenessThereIsNoRate() {
        var machine = TimeoutStateMachine()
        let limits = ExchangeLimits(firstByte: nil, idle: nil, minimumRate: 1000, deadline: nil, maximumBodyBytes: 0)
        #expect(machine.progressed(to: .receiving, bodyBytes: 0, limits: limits, now: at(0)) == nil)
    }

    @Test(arguments: [(Int.max, 1), (Int.max, Int.max), (0, 1), (1, Int.max)])
    func anyRateIsTaken(bytes: Int, rate: Int) {
        #expect(TimeAmount(bytes: bytes, at: rate) >= .zero)
    }

    @Test func atRestNothingExpires() {
        var machine = TimeoutStateMachine()
        _ = machine.progressed(to: .awaitingHead, limits: limits, now: at(0))
        machine.ended()
        #expect(machine.fired(now: at(100)) == .none)
    }

    @Test func withoutLimitsThereIsNoTimer() {
        var machine = TimeoutStateMachine()
        let limits = ExchangeLimits(firstByte: nil, idle: nil, deadline: nil, maximumBodyBytes: 0)
        for phase in [RequestStateMachine.Phase.sending, .awaitingHead, .receiving, .paused] {
            #expect(machine.progressed(to: phase, limits: limits, now: at(0)) == nil)
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero, .nanoseconds(5)])
    func anyDurationIsTaken(duration: Duration) {
        let deadline = Self.start.advanced(by: TimeAmount(clamping: duration))
        #expect(deadline >= Self.start)
    }
}
