import CustomDump
import NIOCore
import OpenCombine
import Testing

@testable import FMData

/// How rows arrive, run, wait for each other and end.
@Suite struct BatchFlowMachineTests {
    // MARK: Demand

    @Test func nothingIsAskedForBeforeDemand() {
        var script = BatchMachineFixture(demand: .none)
        expectNoDifference(script.asked, 0)
        expectNoDifference(script.request(.max(1)), [])
        // One row whose result is wanted, and four that may run at once.
        expectNoDifference(script.asked, 5)
    }

    @Test func unlimitedDemandAsksForTheWindowAndNoMore() {
        var script = BatchMachineFixture { $0.window = 10 }
        expectNoDifference(script.asked, 14)
        _ = script.receive(.create, .create)
        expectNoDifference(script.asked, 14)
        expectNoDifference(script.created(0), [.made(0)])
        expectNoDifference(script.asked, 15)
    }

    @Test func resultsThatNobodyAskedForWait() {
        var script = BatchMachineFixture(demand: .max(1))
        _ = script.receive(.create, .create)
        expectNoDifference(script.created(1), [.made(1)])
        expectNoDifference(script.created(0), [])
        expectNoDifference(script.asked, 5)
        expectNoDifference(script.request(.max(1)), [.made(0)])
    }

    @Test func theEndComesWithTheLastResultAndNeedsNoDemandOfItsOwn() {
        var script = BatchMachineFixture(demand: .max(1))
        _ = script.receive(.create)
        expectNoDifference(script.inputEnds(), [])
        expectNoDifference(script.created(0), [.made(0), .end(.finished)])
        expectNoDifference(script.steps(), [])
    }

    @Test func anEmptyInputEndsAtOnce() {
        var script = BatchMachineFixture()
        expectNoDifference(script.inputEnds(), [.end(.finished)])
    }

    @Test func aRowOfWhichTheJournalKnowsIsToldWithoutACall() {
        var script = BatchMachineFixture(demand: .max(1)) { $0.failureLimit = 1 }
        script.machine.receivedKnown(0)
        expectNoDifference(script.steps(), [.publish(0, .known)])
        expectNoDifference(script.request(.max(1)), [])
        expectNoDifference(script.asked, 6)
    }

    // MARK: Calls at once

    @Test func asManyCallsAsAllowedRunAtOnce() {
        var script = BatchMachineFixture { $0.concurrency = 2 }
        expectNoDifference(script.receive(.create, .create, .create), [.write(0), .write(1)])
        expectNoDifference(script.created(1), [.write(2), .made(1)])
    }

    @Test func aFullHostHalvesTheCallsOnceForAllThatWereUnderWay() {
        var script = BatchMachineFixture()
        _ = script.receive(.create, .create, .create, .create, .create, .create)
        expectNoDifference(script.machine.limit, 4)
        expectNoDifference(script.trouble(0, .busy), [])
        expectNoDifference(script.machine.limit, 2)
        _ = script.trouble(1, .busy)
        expectNoDifference(script.machine.limit, 2)
    }

    @Test func everyRoundOfSuccessAllowsACallMore() {
        var script = BatchMachineFixture()
        _ = script.receive(.create, .create, .create, .create, .create, .create, .create)
        _ = script.trouble(0, .busy)
        _ = script.created(1)
        expectNoDifference(script.machine.limit, 2)
        _ = script.created(2)
        expectNoDifference(script.machine.limit, 3)
        for index in 3...5 { _ = script.created(index) }
        expectNoDifference(script.machine.limit, 4)
        _ = script.created(6)
        expectNoDifference(script.machine.limit, 4)
    }

    @Test func aTimeOutHalvesTheCallsToo() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey, .create)
        _ = script.trouble(0, .outcomeUnknown(isTimeout: true))
        expectNoDifference(script.machine.limit, 2)
    }

    // MARK: Serial keys

    @Test func rowsOfOneRecordFollowEachOther() {
        var script = BatchMachineFixture()
        expectNoDifference(script.receive(.edit(7), .delete(7), .edit(8)), [.write(0), .write(2)])
        expectNoDifference(
            script.answer(0, .edited(recordId: 7, modId: 1)),
            [.write(1), .publish(0, .edited(recordId: 7, modId: 1))]
        )
    }

    @Test func aRowThatWaitsHoldsItsLaneAndNoPlaceAmongTheCalls() {
        var script = BatchMachineFixture { $0.concurrency = 1 }
        expectNoDifference(script.receive(.edit(7), .edit(7), .edit(8)), [.write(0)])
        expectNoDifference(script.trouble(0, .passing), [.write(2)])
        expectNoDifference(script.ring(), [])
        let edited = BatchStateMachine.Answer.edited(recordId: nil, modId: 1)
        expectNoDifference(script.answer(2, edited), [.write(0), .publish(2, .edited(recordId: nil, modId: 1))])
        expectNoDifference(script.answer(0, edited), [.write(1), .publish(0, .edited(recordId: nil, modId: 1))])
    }

    @Test func upsertsOfOneKeyFollowEachOther() {
        var script = BatchMachineFixture()
        expectNoDifference(script.receive(.upsert("a"), .upsert("a"), .upsert("b")), [.view(0), .view(2)])
    }

    // MARK: Order

    @Test func inTheOrderOfTheInputAResultWaitsForThoseBeforeIt() {
        var script = BatchMachineFixture { $0.order = .input }
        _ = script.receive(.create, .create, .create)
        expectNoDifference(script.created(2), [])
        expectNoDifference(script.created(0), [.made(0)])
        expectNoDifference(script.created(1), [.made(1), .made(2)])
    }

    // MARK: Ends

    @Test func whenTheInputFailsWhatHasComeIsWrittenFirst() {
        var script = BatchMachineFixture { $0.concurrency = 1 }
        _ = script.receive(.create, .create)
        expectNoDifference(script.inputEnds(hasFailed: true), [])
        expectNoDifference(script.created(0), [.write(1), .made(0)])
        expectNoDifference(script.created(1), [.made(1), .end(.upstreamFailed)])
    }

    @Test func withTooManyFailuresNothingMoreBegins() {
        var script = BatchMachineFixture {
            $0.concurrency = 2
            $0.failureLimit = 1
        }
        _ = script.receive(.create, .create, .create)
        expectNoDifference(script.trouble(0, .refused), [.stopped(by: 0), .failed(0), .skipped(2)])
        // A row that arrives after the stop is skipped as well.
        expectNoDifference(script.receive(.create), [.skipped(3)])
        // A row under way continues, here with its second attempt.
        expectNoDifference(script.trouble(1, .passing), [])
        expectNoDifference(script.ring(), [.write(1)])
        expectNoDifference(script.created(1), [.made(1)])
        // Every row that still arrives is reported.
        expectNoDifference(script.receive(.create), [.skipped(4)])
        expectNoDifference(script.inputEnds(), [.end(.stopped)])
    }

    @Test func anUnknownOutcomeIsAFailureToo() {
        var script = BatchMachineFixture { $0.failureLimit = 2 }
        _ = script.receive(.create, .create)
        expectNoDifference(script.trouble(0, .answerLost), [.unknown(0, .nothingToTellBy)])
        expectNoDifference(script.trouble(1, .refused), [.stopped(by: 1), .failed(1)])
        expectNoDifference(script.inputEnds(), [.end(.stopped)])
    }

    @Test func whenNothingCanSucceedWhatRunsIsWaitedForAndNothingIsTriedAgain() {
        var script = BatchMachineFixture { $0.concurrency = 3 }
        _ = script.receive(.create, .createWithKey, .create, .edit(7), .edit(7))
        _ = script.trouble(2, .passing)
        expectNoDifference(script.trouble(0, .hopeless), [.stopped(by: 0), .failed(0), .skipped(4), .failed(2)])
        expectNoDifference(script.trouble(1, .answerLost), [.unknown(1)])
        expectNoDifference(
            script.answer(3, .edited(recordId: 7, modId: 1)),
            [.publish(3, .edited(recordId: 7, modId: 1))]
        )
        expectNoDifference(script.inputEnds(), [.end(.stopped)])
    }

    /// These rows were neither sent nor refused, so they are skipped and do not fail.
    @Test func aStopSkipsRowsThatWereAboutToBeWritten() {
        var script = BatchMachineFixture {
            $0.concurrency = 2
            $0.isJournalled = true
        }
        let attempt = BatchStateMachine.Note.attempt(over: nil)
        expectNoDifference(
            script.receive(.create, .upsert("a"), .upsert("b")),
            [.note(0, attempt), .view(1), .view(2)]
        )
        // Row 1 was looked up and its attempt is being noted, but it is not sent yet.
        expectNoDifference(script.foundNothing(1), [.note(1, attempt)])
        expectNoDifference(script.noted(0), [.write(0)])
        expectNoDifference(
            script.trouble(0, .hopeless),
            [
                .stopped(by: 0), .note(0, .outcome(.failed(.lastError))), .note(1, .withdrawn), .failed(0), .skipped(1),
            ]
        )
        // Row 2's lookup is answered after the batch has stopped.
        expectNoDifference(script.foundNothing(2), [.skipped(2)])
    }

    @Test func aStopSkipsARowThatWasCertainlyNotMade() {
        var script = BatchMachineFixture {
            $0.concurrency = 1
            $0.isJournalled = true
        }
        _ = script.receive(.createWithKey.perhapsDone, .createWithKey)
        _ = script.foundNothing(0)
        _ = script.noted(1)
        expectNoDifference(script.ring(), [])
        expectNoDifference(script.trouble(1, .passing), [.note(1, .withdrawn), .view(0)])
        script.machine.journalFailed()
        expectNoDifference(script.steps(), [.stop(by: .journal), .failed(1)])
        expectNoDifference(script.foundNothing(0), [.skipped(0)])
    }

    /// When the retry timeout ends for an upsert whose record keeps changing, the journal notes it as withdrawn, so
    /// that another run tries again.
    @Test func patienceThatEndsIsNotTheEndOfARow() {
        var script = BatchMachineFixture {
            $0.concurrency = 1
            $0.isJournalled = true
            $0.retryTimeout = .zero
        }
        _ = script.receive(.upsert())
        expectNoDifference(
            script.found(0, modId: 3),
            [.note(0, .attempt(over: .init(recordId: 7, modId: 3)))]
        )
        _ = script.noted(0)
        expectNoDifference(
            script.trouble(0, .modIdMismatch),
            [.note(0, .withdrawn), .failed(0, .retryTimedOut)]
        )
    }

    @Test func whatWouldGoOnAfterTheDeadlineIsGivenUp() {
        var script = BatchMachineFixture { $0.deadline = .uptimeNanoseconds(1_000_000_000_000) + .seconds(20) }
        _ = script.receive(.createWithKey, .createWithKey)
        _ = script.trouble(0, .answerLost)
        expectNoDifference(script.foundNothing(0), [.unknown(0, .outOfTime)])
        var last: [BatchMachineFixture.Step] = []
        for _ in 0..<20 {
            last = script.trouble(1, .passing)
            if script.alarm == nil { break }
            _ = script.ring()
        }
        expectNoDifference(last, [.failed(1)])
        expectNoDifference(script.now, .uptimeNanoseconds(1_000_000_000_000) + .seconds(20))
    }

    @Test func aRowThatCannotBeSentFailsAlone() {
        var script = BatchMachineFixture()
        expectNoDifference(script.receive(.init(kind: .unusable), .create), [.write(1), .failed(0)])
    }
}
