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

        // The next request begins without the pauses of this one.
        machine.ended()
        limits.deadline = at(120)
        #expect(machine.progressed(to: .receiving, limits: limits, now: at(116)) == at(120))
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
