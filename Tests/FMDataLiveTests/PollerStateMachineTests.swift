import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// When a live query polls: sequences of events, and the actions that follow.
@Suite struct PollerStateMachineTests {
    private typealias Action = PollerStateMachine.Action

    /// A state machine with a clock. The jitter is in the middle of its range, so that pauses have their nominal
    /// length.
    private struct MachineFixture {
        var machine: PollerStateMachine
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

        init(
            retryTimeout: TimeAmount? = nil,
            answersWithin: TimeAmount? = .seconds(120),
            longest: TimeAmount = .seconds(60),
            longestPause: TimeAmount = .seconds(60)
        ) {
            machine = PollerStateMachine(
                .init(
                    shortest: .seconds(5),
                    longest: longest,
                    gracePeriod: .seconds(10),
                    retryTimeout: retryTimeout,
                    answersWithin: answersWithin,
                    givesUpAfter: .seconds(60),
                    longestPause: longestPause
                )
            )
        }

        /// Begins the poll that is due.
        mutating func begin() { _ = machine.turnCame(now) }

        mutating func polled(
            missing: [Int] = [],
            held: Int = 100,
            hasChanges: Bool = false,
            isInconsistent: Bool = false,
            isShort: Bool = false,
            after work: TimeAmount = .zero,
            waiting: TimeAmount = .zero,
            isFill: Bool = false
        ) -> [Action] {
            now = now + waiting + work
            return machine.polled(
                .init(
                    missing: missing,
                    held: held,
                    hasChanges: hasChanges,
                    isInconsistent: isInconsistent,
                    isShort: isShort,
                    work: work,
                    isFill: isFill
                ),
                now,
                jitter: 0.5
            )
        }

        /// Lets this time pass and fires the alarm.
        mutating func ring(_ seconds: Int64) -> [Action] {
            now = now + .seconds(seconds)
            return machine.alarmRang(now, jitter: 1)
        }

        mutating func failed(_ failure: PollerStateMachine.Failure = .passing) -> [Action] {
            machine.failed(failure, now, jitter: 1)
        }

        /// Lets this time pass, after which this many calls of the poll have a session and no answer.
        mutating func progressed(calls: Int, after amount: TimeAmount = .zero) -> [Action] {
            now = now + amount
            return machine.progressed(calls: calls, now)
        }

        func alarm(in amount: TimeAmount) -> Action { .setAlarm(now + amount) }
    }

    @Test func theFirstSubscriberStartsALookAndTheSecondNone() {
        var poller = MachineFixture()
        expectNoDifference(poller.machine.subscribed(poller.now), [.takeTurn])
        expectNoDifference(poller.machine.turnCame(poller.now), [.poll])
        expectNoDifference(poller.machine.subscribed(poller.now), [])
    }

    @Test func quietLooksComeLessAndLessOftenAndAChangeBringsThemBack() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(poller.polled(hasChanges: true), [.accept(removing: []), poller.alarm(in: .seconds(5))])
        for pause in [7_500, 11_250, 16_875, 25_312, 37_968, 56_953, 60_000, 60_000] as [Int64] {
            _ = poller.ring(120)
            poller.begin()
            let actions = poller.polled()
            guard case .setAlarm(let instant)? = actions.last else {
                Issue.record("no alarm: \(actions)")
                return
            }
            expectNoDifference((instant - poller.now).nanoseconds / 1_000_000, pause)
        }
        _ = poller.ring(120)
        poller.begin()
        expectNoDifference(poller.polled(hasChanges: true).last, poller.alarm(in: .seconds(5)))
    }

    @Test func aLookThatTakesLongIsFollowedByAPauseTenTimesAsLong() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        let actions = poller.polled(hasChanges: true, after: .seconds(5))
        expectNoDifference(actions, [.accept(removing: []), poller.alarm(in: .seconds(50))])
    }

    /// The bound is the upper one of the two, for pauses after long polls and for those after failures.
    @Test(
        arguments: [
            (.milliseconds(500), .seconds(60), 60), (.seconds(60), .seconds(60), 60), (.minutes(2), .seconds(60), 120),
            (.seconds(20), .zero, 20), (.seconds(20), .nanoseconds(.max), 1400),
        ] as [(TimeAmount, TimeAmount, Int64)]
    )
    func pausesAreBounded(longest: TimeAmount, longestPause: TimeAmount, bound: Int64) {
        var poller = MachineFixture(longest: longest, longestPause: longestPause)
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(
            poller.polled(hasChanges: true, after: .seconds(140)),
            [.accept(removing: []), .tellOfRest(.seconds(1400)), poller.alarm(in: .seconds(bound))]
        )
        // That a long pause is needed is reported once.
        _ = poller.ring(bound)
        poller.begin()
        expectNoDifference(
            poller.polled(after: .seconds(140)),
            [.accept(removing: []), poller.alarm(in: .seconds(bound))]
        )
        for doublings in 0..<12 {
            _ = poller.ring(3600)
            poller.begin()
            let pause = bound == 1400 ? 1 << doublings : min(bound, 1 << doublings)
            expectNoDifference(poller.failed(), [.dismiss, poller.alarm(in: .seconds(pause))])
        }
    }

    @Test func theFirstLookIsNotRested() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(
            poller.polled(hasChanges: true, after: .seconds(140), isFill: true),
            [.accept(removing: []), poller.alarm(in: .seconds(5))]
        )
        _ = poller.ring(5)
        poller.begin()
        expectNoDifference(poller.polled(after: .seconds(2)).last, poller.alarm(in: .seconds(20)))
    }

    @Test func waitingForASessionIsNoWorkOfTheHost() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        let actions = poller.polled(hasChanges: true, after: .milliseconds(100), waiting: .seconds(24))
        expectNoDifference(actions, [.accept(removing: []), poller.alarm(in: .seconds(5))])
    }

    @Test func whoeverWakesItDuringALookGetsAnotherOneAfterIt() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(poller.machine.woken(), [])
        expectNoDifference(poller.machine.woken(), [])
        expectNoDifference(poller.polled(), [.accept(removing: []), .takeTurn])
        poller.begin()
        expectNoDifference(poller.polled().count, 2)
        expectNoDifference(poller.machine.woken(), [.takeTurn, .callOffAlarm])
    }

    @Test func aFewThatAreMissingAreAskedForOneByOne() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(poller.polled(missing: [3, 4]), [.confirm([3, 4])])
        expectNoDifference(
            poller.machine.confirmed(deleted: [3], left: [4], work: .zero, poller.now, jitter: 0.5),
            [.accept(removing: [3, 4]), poller.alarm(in: .seconds(5))]
        )
    }

    /// In a table that changes constantly, records that were not found may only have moved. Some are asked for, other
    /// ones each time.
    @Test func ofWhatATornLookHasNotFoundSomeAreAskedFor() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        let missing = Array(1...30)
        for _ in 1...2 {
            poller.begin()
            expectNoDifference(poller.polled(missing: missing, isInconsistent: true), [.dismiss, .takeTurn])
        }
        poller.begin()
        expectNoDifference(
            poller.polled(missing: missing, isInconsistent: true),
            [.confirm(Array(16...30) + Array(1...5))]
        )
        expectNoDifference(
            poller.machine.confirmed(deleted: [17], left: [16], work: .zero, poller.now, jitter: 0.5).first,
            .accept(removing: [17])
        )
    }

    @Test func manyThatAreMissingNeedASecondLook() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        let missing = Array(1...30)
        expectNoDifference(poller.polled(missing: missing), [.dismiss, .takeTurn])
        poller.begin()
        expectNoDifference(
            poller.polled(missing: missing),
            [.accept(removing: missing), poller.alarm(in: .seconds(5))]
        )
    }

    @Test func fewerRecordsThanTheHostHadCountedNeedASecondLook() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(poller.polled(missing: [3], isShort: true), [.dismiss, .takeTurn])
        poller.begin()
        expectNoDifference(
            poller.polled(missing: [3], isShort: true),
            [.accept(removing: [3]), poller.alarm(in: .seconds(5))]
        )
    }

    @Test func aWakeDuringTheSecondLookIsNotLost() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.polled(missing: [1, 2], held: 2)
        poller.begin()
        _ = poller.machine.woken()
        expectNoDifference(poller.polled(missing: [1, 2], held: 2), [.accept(removing: [1, 2]), .takeTurn])
    }

    @Test func aSecondLookThatAgreesEndsTheTrouble() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.failed()
        _ = poller.ring(1)
        poller.begin()
        _ = poller.polled(missing: [1, 2], held: 2)
        expectNoDifference(poller.machine.failingSince, nil)
    }

    @Test func allGoneAtOnceNeedsASecondLookHoweverFewTheyAre() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(poller.polled(missing: [1, 2], held: 2), [.dismiss, .takeTurn])
        poller.begin()
        // The records are back: the first poll was wrong, and no subscriber receives anything.
        expectNoDifference(poller.polled(held: 2).first, .accept(removing: []))
    }

    @Test func aFailureBetweenTwoLooksForgetsTheSuspects() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.polled(missing: [1, 2], held: 2)
        poller.begin()
        expectNoDifference(poller.failed(), [.dismiss, poller.alarm(in: .seconds(1))])
        _ = poller.ring(1)
        poller.begin()
        expectNoDifference(poller.polled(missing: [1, 2], held: 2), [.dismiss, .takeTurn])
    }

    @Test func aTornLookProvesNothing() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(poller.polled(missing: [3], isInconsistent: true), [.dismiss, .takeTurn])
        poller.begin()
        expectNoDifference(poller.polled(isInconsistent: true), [.dismiss, .takeTurn])
        poller.begin()
        // A table that changes constantly is not polled without a pause.
        expectNoDifference(poller.polled(isInconsistent: true), [.accept(removing: []), poller.alarm(in: .seconds(5))])
    }

    @Test func passingFailuresAreRepeatedWithGrowingPausesAndEndNothing() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            poller.begin()
            expectNoDifference(poller.failed(), [.dismiss, poller.alarm(in: .seconds(pause))])
            expectNoDifference(poller.ring(pause), [.takeTurn])
        }
        poller.begin()
        _ = poller.polled()
        expectNoDifference(poller.machine.failingSince, nil)
    }

    @Test func retryEnd() {
        var poller = MachineFixture(retryTimeout: .seconds(10))
        _ = poller.machine.subscribed(poller.now)
        for pause in [1, 2, 4, 8] as [Int64] {
            poller.begin()
            _ = poller.failed()
            _ = poller.ring(pause)
        }
        poller.begin()
        expectNoDifference(poller.failed(), [.dismiss, .fail])
        expectNoDifference(poller.machine.woken(), [])
    }

    @Test func aRefusalEndsItWhenItHasHeldForAMinute() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        for pause in [1, 2, 4, 8, 16, 32] as [Int64] {
            poller.begin()
            expectNoDifference(poller.failed(.refusal), [.dismiss, poller.alarm(in: .seconds(pause))])
            _ = poller.ring(pause)
        }
        poller.begin()
        expectNoDifference(poller.failed(.refusal), [.dismiss, .fail])
    }

    @Test func aRefusalThatWasNotTheLastWordIsForgotten() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.failed(.refusal)
        _ = poller.ring(90)
        poller.begin()
        _ = poller.polled()
        _ = poller.ring(90)
        poller.begin()
        expectNoDifference(poller.failed(.refusal).contains(.fail), false)
        _ = poller.ring(90)
        poller.begin()
        expectNoDifference(poller.failed(.refusal), [.dismiss, .fail])
    }

    /// A layout is missing, and the gateway before the host is unreachable from time to time.
    @Test func aRefusalBetweenPassingFailuresEndsItSomeTime() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        for _ in 0..<3 {
            poller.begin()
            expectNoDifference(poller.failed(.refusal).contains(.fail), false)
            _ = poller.ring(20)
            poller.begin()
            expectNoDifference(poller.failed(.passing).contains(.fail), false)
            _ = poller.ring(300)
        }
        poller.begin()
        expectNoDifference(poller.failed(.refusal), [.dismiss, .fail])
    }

    @Test func aHostThatIsAwayRefusesNothingMeanwhile() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.failed(.refusal)
        _ = poller.ring(1)
        for _ in 0..<12 {
            poller.begin()
            expectNoDifference(poller.failed(.passing).contains(.fail), false)
            _ = poller.ring(300)
        }
        // The first refusal after the host has become reachable again.
        poller.begin()
        expectNoDifference(poller.failed(.refusal).contains(.fail), false)
    }

    // MARK: Refresh

    @Test func aWakeDuringALookThatFailsTriesAgainSoon() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        for pause in [1, 2, 4, 8, 16, 32] as [Int64] {
            poller.begin()
            _ = poller.failed()
            _ = poller.ring(pause)
        }
        poller.begin()
        _ = poller.machine.woken()
        expectNoDifference(poller.failed(), [.dismiss, poller.alarm(in: .seconds(1))])
        _ = poller.ring(1)
        // Only once: the pauses are as long as before.
        poller.begin()
        expectNoDifference(poller.failed(), [.dismiss, poller.alarm(in: .seconds(60))])
    }

    @Test func aRefreshDuringALookThatFailsLooksAgainAtOnce() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.machine.woken(insists: true)
        // A hint that follows does not weaken the refresh.
        _ = poller.machine.woken()
        expectNoDifference(poller.failed(), [.dismiss, .takeTurn])
        poller.begin()
        expectNoDifference(poller.failed(), [.dismiss, poller.alarm(in: .seconds(1))])
    }

    /// A poller without demand in which a poll is under way.
    private func unwanted(_ insists: Bool) -> MachineFixture {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        if !insists { _ = poller.machine.wishes(false, hasUndelivered: true) }
        if insists {
            _ = poller.polled(hasChanges: true)
            _ = poller.machine.wishes(false, hasUndelivered: true)
            _ = poller.ring(5)
            expectNoDifference(poller.machine.phase, .paused)
            expectNoDifference(poller.machine.woken(insists: true), [.takeTurn])
            poller.begin()
        }
        return poller
    }

    @Test func aRefreshDuringALookIsNotLostThoughNobodyWantsAValue() {
        var accepted = unwanted(false)
        _ = accepted.machine.woken(insists: true)
        expectNoDifference(accepted.polled(), [.accept(removing: []), .takeTurn])
        accepted.begin()
        _ = accepted.polled()
        expectNoDifference(accepted.ring(60), [])
        expectNoDifference(accepted.machine.phase, .paused)

        var dismissed = unwanted(false)
        _ = dismissed.machine.woken(insists: true)
        expectNoDifference(dismissed.polled(isInconsistent: true), [.dismiss, .takeTurn])

        var failed = unwanted(false)
        _ = failed.machine.woken(insists: true)
        expectNoDifference(failed.failed(), [.dismiss, .takeTurn])
    }

    @Test func aRefreshIsOverWhenALookWasOfUse() {
        var poller = unwanted(true)
        expectNoDifference(poller.failed(), [.dismiss, poller.alarm(in: .seconds(1))])
        expectNoDifference(poller.ring(1), [.takeTurn])
        poller.begin()
        expectNoDifference(poller.polled(missing: [1, 2], held: 2), [.dismiss, .takeTurn])
        poller.begin()
        _ = poller.polled()
        expectNoDifference(poller.ring(60), [])
        expectNoDifference(poller.machine.phase, .paused)
    }

    // MARK: Time for an answer

    @Test(arguments: [.seconds(120), nil] as [TimeAmount?]) func aLookThatStandsStillIsCut(answersWithin: TimeAmount?) {
        var poller = MachineFixture(answersWithin: answersWithin)
        _ = poller.machine.subscribed(poller.now)
        for (limit, pause) in [(30, 1), (60, 2), (120, 4), (240, 8), (480, 16)] as [(Int64, Int64)] {
            poller.begin()
            expectNoDifference(poller.progressed(calls: 1), [poller.alarm(in: .seconds(limit))])
            expectNoDifference(poller.machine.awaitsAnswerUntil, poller.now + .seconds(limit))
            expectNoDifference(poller.machine.overdue(poller.now + .seconds(limit - 1)), nil)
            expectNoDifference(poller.machine.overdue(poller.now + .seconds(limit)), .seconds(limit))
            let since = poller.machine.failingSince ?? poller.now + .seconds(limit)
            expectNoDifference(
                poller.ring(limit),
                [.cancelPoll, .dismiss, poller.alarm(in: .seconds(pause))]
            )
            expectNoDifference(poller.machine.failingSince, since)
            expectNoDifference(poller.ring(pause), [.takeTurn])
        }
        // The slowest answer determines the limit.
        for (wait, limit) in [(100, answersWithin == nil ? 960 : 400), (1, 30)] as [(Int64, Int64)] {
            poller.begin()
            _ = poller.progressed(calls: 1)
            _ = poller.polled(after: .seconds(wait))
            _ = poller.ring(3600)
            poller.begin()
            expectNoDifference(poller.progressed(calls: 1), [poller.alarm(in: .seconds(limit))])
            _ = poller.polled()
            _ = poller.ring(3600)
        }
    }

    @Test func aLookThatGoesOnIsNeverCut() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        for _ in 0..<1000 {
            expectNoDifference(poller.progressed(calls: 1), [poller.alarm(in: .seconds(30))])
            expectNoDifference(poller.progressed(calls: 0, after: .seconds(29)), [.callOffAlarm])
            // The next call of the poll waits behind calls of the program.
            poller.now = poller.now + .minutes(10)
            expectNoDifference(poller.machine.overdue(poller.now), nil)
        }
        expectNoDifference(poller.polled(missing: [1]), [.confirm([1])])
        expectNoDifference(poller.progressed(calls: 1), [poller.alarm(in: .seconds(30))])
        expectNoDifference(poller.ring(30).first, .cancelPoll)
    }

    @Test func anAnswerIsWaitedForLongerWhereThatWasNotEnough() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        var limits: [TimeAmount?] = []
        for _ in 0..<8 {
            poller.begin()
            limits.append(poller.machine.patienceForAnswer.limit)
            _ = poller.failed(.silence)
            _ = poller.ring(300)
        }
        // At most as long as the program's own calls wait.
        expectNoDifference(limits, [10, 20, 40, 80, 120, 120, 120, 120].map { .seconds($0) })
        // After a slow poll the limit stays long enough for another one; after a quick poll it is short again.
        poller.begin()
        _ = poller.polled(after: .seconds(15))
        expectNoDifference(poller.machine.patienceForAnswer.limit, .seconds(60))
        _ = poller.ring(300)
        poller.begin()
        _ = poller.polled(after: .milliseconds(20))
        expectNoDifference(poller.machine.patienceForAnswer.limit, .seconds(10))
    }

    @Test func theLastOneToGoEndsTheLookAndTheValueLingers() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        expectNoDifference(
            poller.machine.unsubscribed(poller.now),
            [.cancelPoll, poller.alarm(in: .seconds(10))]
        )
        expectNoDifference(poller.ring(10), [.drop])
    }

    @Test func whoComesBackInTimeFindsTheValueAndStartsALook() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.polled()
        _ = poller.machine.unsubscribed(poller.now)
        expectNoDifference(poller.machine.subscribed(poller.now), [.takeTurn, .callOffAlarm])
    }

    @Test func nobodyWhoWantsAValueNoLook() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.polled(hasChanges: true)
        _ = poller.machine.wishes(false, hasUndelivered: true)
        expectNoDifference(poller.ring(5), [])
        expectNoDifference(poller.machine.phase, .paused)
        expectNoDifference(poller.machine.wishes(true, hasUndelivered: false), [.takeTurn])
    }

    @Test func theProgramsOwnWordIsObeyedThoughNobodyWantsAValue() {
        var poller = MachineFixture()
        _ = poller.machine.subscribed(poller.now)
        poller.begin()
        _ = poller.polled(hasChanges: true)
        _ = poller.machine.wishes(false, hasUndelivered: true)
        _ = poller.ring(5)
        expectNoDifference(poller.machine.woken(), [])
        expectNoDifference(poller.machine.woken(insists: true), [.takeTurn])
    }
}
