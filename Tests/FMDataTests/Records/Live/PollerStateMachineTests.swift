import CustomDump
import NIOCore
import Testing

@testable import FMData

/// When a live query polls: sequences of events, and the actions that follow.
@Suite struct PollerStateMachineTests {
    private typealias Action = PollerStateMachine.Action

    /// A state machine with a clock. The jitter is in the middle of its range, so that pauses have their nominal
    /// length.
    private struct Script {
        var machine: PollerStateMachine
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

        init(retryTimeout: TimeAmount? = nil, answersWithin: TimeAmount? = .seconds(120)) {
            machine = PollerStateMachine(
                .init(
                    shortest: .seconds(5),
                    longest: .seconds(60),
                    gracePeriod: .seconds(10),
                    retryTimeout: retryTimeout,
                    answersWithin: answersWithin,
                    givesUpAfter: .seconds(60)
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
            waiting: TimeAmount = .zero
        ) -> [Action] {
            now = now + waiting + work
            return machine.polled(
                .init(
                    missing: missing,
                    held: held,
                    hasChanges: hasChanges,
                    isInconsistent: isInconsistent,
                    isShort: isShort,
                    work: work
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
        var script = Script()
        expectNoDifference(script.machine.subscribed(script.now), [.takeTurn])
        expectNoDifference(script.machine.turnCame(script.now), [.poll])
        expectNoDifference(script.machine.subscribed(script.now), [])
    }

    @Test func quietLooksComeLessAndLessOftenAndAChangeBringsThemBack() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        expectNoDifference(script.polled(hasChanges: true), [.accept(removing: []), script.alarm(in: .seconds(5))])
        for pause in [7_500, 11_250, 16_875, 25_312, 37_968, 56_953, 60_000, 60_000] as [Int64] {
            _ = script.ring(120)
            script.begin()
            let actions = script.polled()
            guard case .setAlarm(let instant)? = actions.last else {
                Issue.record("no alarm: \(actions)")
                return
            }
            expectNoDifference((instant - script.now).nanoseconds / 1_000_000, pause)
        }
        _ = script.ring(120)
        script.begin()
        expectNoDifference(script.polled(hasChanges: true).last, script.alarm(in: .seconds(5)))
    }

    @Test func aLookThatTakesLongIsFollowedByAPauseTenTimesAsLong() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        let actions = script.polled(hasChanges: true, after: .seconds(8))
        expectNoDifference(actions, [.accept(removing: []), .tellOfRest(.seconds(80)), script.alarm(in: .seconds(80))])
        // The long pause is reported once.
        _ = script.ring(80)
        script.begin()
        expectNoDifference(script.polled(after: .seconds(8)), [.accept(removing: []), script.alarm(in: .seconds(80))])
    }

    @Test func waitingForASessionIsNoWorkOfTheHost() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        let actions = script.polled(hasChanges: true, after: .milliseconds(100), waiting: .seconds(24))
        expectNoDifference(actions, [.accept(removing: []), script.alarm(in: .seconds(5))])
    }

    @Test func whoeverWakesItDuringALookGetsAnotherOneAfterIt() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        expectNoDifference(script.machine.woken(), [])
        expectNoDifference(script.machine.woken(), [])
        expectNoDifference(script.polled(), [.accept(removing: []), .takeTurn])
        script.begin()
        expectNoDifference(script.polled().count, 2)
        expectNoDifference(script.machine.woken(), [.takeTurn, .callOffAlarm])
    }

    @Test func aFewThatAreMissingAreAskedForOneByOne() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        expectNoDifference(script.polled(missing: [3, 4]), [.confirm([3, 4])])
        expectNoDifference(
            script.machine.confirmed(deleted: [3], left: [4], work: .zero, script.now, jitter: 0.5),
            [.accept(removing: [3, 4]), script.alarm(in: .seconds(5))]
        )
    }

    /// In a table that changes constantly, records that were not found may only have moved. Some are asked for, other
    /// ones each time.
    @Test func ofWhatATornLookHasNotFoundSomeAreAskedFor() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        let missing = Array(1...30)
        for _ in 1...2 {
            script.begin()
            expectNoDifference(script.polled(missing: missing, isInconsistent: true), [.dismiss, .takeTurn])
        }
        script.begin()
        expectNoDifference(
            script.polled(missing: missing, isInconsistent: true),
            [.confirm(Array(16...30) + Array(1...5))]
        )
        expectNoDifference(
            script.machine.confirmed(deleted: [17], left: [16], work: .zero, script.now, jitter: 0.5).first,
            .accept(removing: [17])
        )
    }

    @Test func manyThatAreMissingNeedASecondLook() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        let missing = Array(1...30)
        expectNoDifference(script.polled(missing: missing), [.dismiss, .takeTurn])
        script.begin()
        expectNoDifference(
            script.polled(missing: missing),
            [.accept(removing: missing), script.alarm(in: .seconds(5))]
        )
    }

    @Test func fewerRecordsThanTheHostHadCountedNeedASecondLook() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        expectNoDifference(script.polled(missing: [3], isShort: true), [.dismiss, .takeTurn])
        script.begin()
        expectNoDifference(
            script.polled(missing: [3], isShort: true),
            [.accept(removing: [3]), script.alarm(in: .seconds(5))]
        )
    }

    @Test func aWakeDuringTheSecondLookIsNotLost() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.polled(missing: [1, 2], held: 2)
        script.begin()
        _ = script.machine.woken()
        expectNoDifference(script.polled(missing: [1, 2], held: 2), [.accept(removing: [1, 2]), .takeTurn])
    }

    @Test func aSecondLookThatAgreesEndsTheTrouble() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.failed()
        _ = script.ring(1)
        script.begin()
        _ = script.polled(missing: [1, 2], held: 2)
        expectNoDifference(script.machine.failingSince, nil)
    }

    @Test func allGoneAtOnceNeedsASecondLookHoweverFewTheyAre() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        expectNoDifference(script.polled(missing: [1, 2], held: 2), [.dismiss, .takeTurn])
        script.begin()
        // The records are back: the first poll was wrong, and no subscriber receives anything.
        expectNoDifference(script.polled(held: 2).first, .accept(removing: []))
    }

    @Test func aFailureBetweenTwoLooksForgetsTheSuspects() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.polled(missing: [1, 2], held: 2)
        script.begin()
        expectNoDifference(script.failed(), [.dismiss, script.alarm(in: .seconds(1))])
        _ = script.ring(1)
        script.begin()
        expectNoDifference(script.polled(missing: [1, 2], held: 2), [.dismiss, .takeTurn])
    }

    @Test func aTornLookProvesNothing() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        expectNoDifference(script.polled(missing: [3], isInconsistent: true), [.dismiss, .takeTurn])
        script.begin()
        expectNoDifference(script.polled(isInconsistent: true), [.dismiss, .takeTurn])
        script.begin()
        // A table that changes constantly is not polled without a pause.
        expectNoDifference(script.polled(isInconsistent: true), [.accept(removing: []), script.alarm(in: .seconds(5))])
    }

    @Test func passingFailuresAreRepeatedWithGrowingPausesAndEndNothing() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        for pause in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] as [Int64] {
            script.begin()
            expectNoDifference(script.failed(), [.dismiss, script.alarm(in: .seconds(pause))])
            expectNoDifference(script.ring(pause), [.takeTurn])
        }
        script.begin()
        _ = script.polled()
        expectNoDifference(script.machine.failingSince, nil)
    }

    @Test func retryEnd() {
        var script = Script(retryTimeout: .seconds(10))
        _ = script.machine.subscribed(script.now)
        for pause in [1, 2, 4, 8] as [Int64] {
            script.begin()
            _ = script.failed()
            _ = script.ring(pause)
        }
        script.begin()
        expectNoDifference(script.failed(), [.dismiss, .fail])
        expectNoDifference(script.machine.woken(), [])
    }

    @Test func aRefusalEndsItWhenItHasHeldForAMinute() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        for pause in [1, 2, 4, 8, 16, 32] as [Int64] {
            script.begin()
            expectNoDifference(script.failed(.refusal), [.dismiss, script.alarm(in: .seconds(pause))])
            _ = script.ring(pause)
        }
        script.begin()
        expectNoDifference(script.failed(.refusal), [.dismiss, .fail])
    }

    @Test func aRefusalThatWasNotTheLastWordIsForgotten() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.failed(.refusal)
        _ = script.ring(90)
        script.begin()
        _ = script.polled()
        _ = script.ring(90)
        script.begin()
        expectNoDifference(script.failed(.refusal).contains(.fail), false)
        _ = script.ring(90)
        script.begin()
        expectNoDifference(script.failed(.refusal), [.dismiss, .fail])
    }

    /// A layout is missing, and the gateway before the host is unreachable from time to time.
    @Test func aRefusalBetweenPassingFailuresEndsItSomeTime() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        for _ in 0..<3 {
            script.begin()
            expectNoDifference(script.failed(.refusal).contains(.fail), false)
            _ = script.ring(20)
            script.begin()
            expectNoDifference(script.failed(.passing).contains(.fail), false)
            _ = script.ring(300)
        }
        script.begin()
        expectNoDifference(script.failed(.refusal), [.dismiss, .fail])
    }

    @Test func aHostThatIsAwayRefusesNothingMeanwhile() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.failed(.refusal)
        _ = script.ring(1)
        for _ in 0..<12 {
            script.begin()
            expectNoDifference(script.failed(.passing).contains(.fail), false)
            _ = script.ring(300)
        }
        // The first refusal after the host has become reachable again.
        script.begin()
        expectNoDifference(script.failed(.refusal).contains(.fail), false)
    }

    // MARK: Refresh

    @Test func aWakeDuringALookThatFailsTriesAgainSoon() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        for pause in [1, 2, 4, 8, 16, 32] as [Int64] {
            script.begin()
            _ = script.failed()
            _ = script.ring(pause)
        }
        script.begin()
        _ = script.machine.woken()
        expectNoDifference(script.failed(), [.dismiss, script.alarm(in: .seconds(1))])
        _ = script.ring(1)
        // Only once: the pauses are as long as before.
        script.begin()
        expectNoDifference(script.failed(), [.dismiss, script.alarm(in: .seconds(64))])
    }

    @Test func aRefreshDuringALookThatFailsLooksAgainAtOnce() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.machine.woken(insists: true)
        // A hint that follows does not weaken the refresh.
        _ = script.machine.woken()
        expectNoDifference(script.failed(), [.dismiss, .takeTurn])
        script.begin()
        expectNoDifference(script.failed(), [.dismiss, script.alarm(in: .seconds(1))])
    }

    /// A script without demand in which a poll is under way.
    private func unwanted(_ insists: Bool) -> Script {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        if !insists { _ = script.machine.wishes(false, hasUndelivered: true) }
        if insists {
            _ = script.polled(hasChanges: true)
            _ = script.machine.wishes(false, hasUndelivered: true)
            _ = script.ring(5)
            expectNoDifference(script.machine.phase, .paused)
            expectNoDifference(script.machine.woken(insists: true), [.takeTurn])
            script.begin()
        }
        return script
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
        var script = unwanted(true)
        expectNoDifference(script.failed(), [.dismiss, script.alarm(in: .seconds(1))])
        expectNoDifference(script.ring(1), [.takeTurn])
        script.begin()
        expectNoDifference(script.polled(missing: [1, 2], held: 2), [.dismiss, .takeTurn])
        script.begin()
        _ = script.polled()
        expectNoDifference(script.ring(60), [])
        expectNoDifference(script.machine.phase, .paused)
    }

    // MARK: Time for an answer

    @Test(arguments: [.seconds(120), nil] as [TimeAmount?]) func aLookThatStandsStillIsCut(answersWithin: TimeAmount?) {
        var script = Script(answersWithin: answersWithin)
        _ = script.machine.subscribed(script.now)
        for (limit, pause) in [(30, 1), (60, 2), (120, 4), (240, 8), (480, 16)] as [(Int64, Int64)] {
            script.begin()
            expectNoDifference(script.progressed(calls: 1), [script.alarm(in: .seconds(limit))])
            expectNoDifference(script.machine.awaitsAnswerUntil, script.now + .seconds(limit))
            expectNoDifference(script.machine.overdue(script.now + .seconds(limit - 1)), nil)
            expectNoDifference(script.machine.overdue(script.now + .seconds(limit)), .seconds(limit))
            let since = script.machine.failingSince ?? script.now + .seconds(limit)
            expectNoDifference(
                script.ring(limit),
                [.cancelPoll, .dismiss, script.alarm(in: .seconds(pause))]
            )
            expectNoDifference(script.machine.failingSince, since)
            expectNoDifference(script.ring(pause), [.takeTurn])
        }
        // The slowest answer determines the limit.
        for (wait, limit) in [(100, answersWithin == nil ? 960 : 400), (1, 30)] as [(Int64, Int64)] {
            script.begin()
            _ = script.progressed(calls: 1)
            _ = script.polled(after: .seconds(wait))
            _ = script.ring(3600)
            script.begin()
            expectNoDifference(script.progressed(calls: 1), [script.alarm(in: .seconds(limit))])
            _ = script.polled()
            _ = script.ring(3600)
        }
    }

    @Test func aLookThatGoesOnIsNeverCut() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        for _ in 0..<1000 {
            expectNoDifference(script.progressed(calls: 1), [script.alarm(in: .seconds(30))])
            expectNoDifference(script.progressed(calls: 0, after: .seconds(29)), [.callOffAlarm])
            // The next call of the poll waits behind calls of the program.
            script.now = script.now + .minutes(10)
            expectNoDifference(script.machine.overdue(script.now), nil)
        }
        expectNoDifference(script.polled(missing: [1]), [.confirm([1])])
        expectNoDifference(script.progressed(calls: 1), [script.alarm(in: .seconds(30))])
        expectNoDifference(script.ring(30).first, .cancelPoll)
    }

    @Test func anAnswerIsWaitedForLongerWhereThatWasNotEnough() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        var limits: [TimeAmount?] = []
        for _ in 0..<8 {
            script.begin()
            limits.append(script.machine.patienceForAnswer.limit)
            _ = script.failed(.silence)
            _ = script.ring(300)
        }
        // At most as long as the program's own calls wait.
        expectNoDifference(limits, [10, 20, 40, 80, 120, 120, 120, 120].map { .seconds($0) })
        // After a slow poll the limit stays long enough for another one; after a quick poll it is short again.
        script.begin()
        _ = script.polled(after: .seconds(15))
        expectNoDifference(script.machine.patienceForAnswer.limit, .seconds(60))
        _ = script.ring(300)
        script.begin()
        _ = script.polled(after: .milliseconds(20))
        expectNoDifference(script.machine.patienceForAnswer.limit, .seconds(10))
    }

    @Test func theLastOneToGoEndsTheLookAndTheValueLingers() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        expectNoDifference(
            script.machine.unsubscribed(script.now),
            [.cancelPoll, script.alarm(in: .seconds(10))]
        )
        expectNoDifference(script.ring(10), [.drop])
    }

    @Test func whoComesBackInTimeFindsTheValueAndStartsALook() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.polled()
        _ = script.machine.unsubscribed(script.now)
        expectNoDifference(script.machine.subscribed(script.now), [.takeTurn, .callOffAlarm])
    }

    @Test func nobodyWhoWantsAValueNoLook() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.polled(hasChanges: true)
        _ = script.machine.wishes(false, hasUndelivered: true)
        expectNoDifference(script.ring(5), [])
        expectNoDifference(script.machine.phase, .paused)
        expectNoDifference(script.machine.wishes(true, hasUndelivered: false), [.takeTurn])
    }

    @Test func theProgramsOwnWordIsObeyedThoughNobodyWantsAValue() {
        var script = Script()
        _ = script.machine.subscribed(script.now)
        script.begin()
        _ = script.polled(hasChanges: true)
        _ = script.machine.wishes(false, hasUndelivered: true)
        _ = script.ring(5)
        expectNoDifference(script.machine.woken(), [])
        expectNoDifference(script.machine.woken(insists: true), [.takeTurn])
    }
}
