import CustomDump
import FMData
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// How rows arrive, run, wait for each other and end.
@Suite struct BatchFlowMachineTests {
    // MARK: Demand

    @Test func nothingIsAskedForBeforeDemand() {
        var batch = BatchMachineFixture(demand: .none)
        expectNoDifference(batch.asked, 0)
        expectNoDifference(batch.request(.max(1)), [])
        // One row whose result is wanted, and four that may run at once.
        expectNoDifference(batch.asked, 5)
    }

    @Test func unlimitedDemandAsksForTheWindowAndNoMore() {
        var batch = BatchMachineFixture { $0.window = 10 }
        expectNoDifference(batch.asked, 14)
        _ = batch.receive(.create, .create)
        expectNoDifference(batch.asked, 14)
        expectNoDifference(batch.created(0), [.made(0)])
        expectNoDifference(batch.asked, 15)
    }

    @Test func resultsThatNobodyAskedForWait() {
        var batch = BatchMachineFixture(demand: .max(1))
        _ = batch.receive(.create, .create)
        expectNoDifference(batch.created(1), [.made(1)])
        expectNoDifference(batch.created(0), [])
        expectNoDifference(batch.asked, 5)
        expectNoDifference(batch.request(.max(1)), [.made(0)])
    }

    @Test func theEndComesWithTheLastResultAndNeedsNoDemandOfItsOwn() {
        var batch = BatchMachineFixture(demand: .max(1))
        _ = batch.receive(.create)
        expectNoDifference(batch.inputEnds(), [])
        expectNoDifference(batch.created(0), [.made(0), .end(.finished)])
        expectNoDifference(batch.steps(), [])
    }

    @Test func anEmptyInputEndsAtOnce() {
        var batch = BatchMachineFixture()
        expectNoDifference(batch.inputEnds(), [.end(.finished)])
    }

    @Test func aRowOfWhichTheJournalKnowsIsToldWithoutACall() {
        var batch = BatchMachineFixture(demand: .max(1)) { $0.failureLimit = 1 }
        batch.machine.receivedKnown(0)
        expectNoDifference(batch.steps(), [.publish(0, .known)])
        expectNoDifference(batch.request(.max(1)), [])
        expectNoDifference(batch.asked, 6)
    }

    // MARK: Calls at once

    @Test func asManyCallsAsAllowedRunAtOnce() {
        var batch = BatchMachineFixture { $0.concurrency = 2 }
        expectNoDifference(batch.receive(.create, .create, .create), [.write(0), .write(1)])
        expectNoDifference(batch.created(1), [.write(2), .made(1)])
    }

    @Test func aFullHostHalvesTheCallsOnceForAllThatWereUnderWay() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.create, .create, .create, .create, .create, .create)
        expectNoDifference(batch.machine.limit, 4)
        expectNoDifference(batch.trouble(0, .busy), [])
        expectNoDifference(batch.machine.limit, 2)
        _ = batch.trouble(1, .busy)
        expectNoDifference(batch.machine.limit, 2)
    }

    @Test func everyRoundOfSuccessAllowsACallMore() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.create, .create, .create, .create, .create, .create, .create)
        _ = batch.trouble(0, .busy)
        _ = batch.created(1)
        expectNoDifference(batch.machine.limit, 2)
        _ = batch.created(2)
        expectNoDifference(batch.machine.limit, 3)
        for index in 3...5 { _ = batch.created(index) }
        expectNoDifference(batch.machine.limit, 4)
        _ = batch.created(6)
        expectNoDifference(batch.machine.limit, 4)
    }

    @Test func aTimeOutHalvesTheCallsToo() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey, .create)
        _ = batch.trouble(0, .outcomeUnknown(isTimeout: true))
        expectNoDifference(batch.machine.limit, 2)
    }

    // MARK: Serial keys

    @Test func rowsOfOneRecordFollowEachOther() {
        var batch = BatchMachineFixture()
        expectNoDifference(batch.receive(.edit(7), .delete(7), .edit(8)), [.write(0), .write(2)])
        expectNoDifference(
            batch.answer(0, .edited(recordId: 7, modId: 1)),
            [.write(1), .publish(0, .edited(recordId: 7, modId: 1))]
        )
    }

    @Test func aRowThatWaitsHoldsItsLaneAndNoPlaceAmongTheCalls() {
        var batch = BatchMachineFixture { $0.concurrency = 1 }
        expectNoDifference(batch.receive(.edit(7), .edit(7), .edit(8)), [.write(0)])
        expectNoDifference(batch.trouble(0, .passing), [.write(2)])
        expectNoDifference(batch.ring(), [])
        let edited = BatchStateMachine.CallResult.edited(recordId: nil, modId: 1)
        expectNoDifference(batch.answer(2, edited), [.write(0), .publish(2, .edited(recordId: nil, modId: 1))])
        expectNoDifference(batch.answer(0, edited), [.write(1), .publish(0, .edited(recordId: nil, modId: 1))])
    }

    @Test func upsertsOfOneKeyFollowEachOther() {
        var batch = BatchMachineFixture()
        expectNoDifference(batch.receive(.upsert("a"), .upsert("a"), .upsert("b")), [.view(0), .view(2)])
    }

    // MARK: Order

    @Test func inTheOrderOfTheInputAResultWaitsForThoseBeforeIt() {
        var batch = BatchMachineFixture { $0.order = .input }
        _ = batch.receive(.create, .create, .create)
        expectNoDifference(batch.created(2), [])
        expectNoDifference(batch.created(0), [.made(0)])
        expectNoDifference(batch.created(1), [.made(1), .made(2)])
    }

    // MARK: Ends

    @Test func whenTheInputFailsWhatHasComeIsWrittenFirst() {
        var batch = BatchMachineFixture { $0.concurrency = 1 }
        _ = batch.receive(.create, .create)
        expectNoDifference(batch.inputEnds(hasFailed: true), [])
        expectNoDifference(batch.created(0), [.write(1), .made(0)])
        expectNoDifference(batch.created(1), [.made(1), .end(.upstreamFailed)])
    }

    @Test func withTooManyFailuresNothingMoreBegins() {
        var batch = BatchMachineFixture {
            $0.concurrency = 2
            $0.failureLimit = 1
        }
        _ = batch.receive(.create, .create, .create)
        expectNoDifference(batch.trouble(0, .refused), [.stopped(by: 0), .failed(0), .skipped(2)])
        // A row that arrives after the stop is skipped as well.
        expectNoDifference(batch.receive(.create), [.skipped(3)])
        // A row under way continues, here with its second attempt.
        expectNoDifference(batch.trouble(1, .passing), [])
        expectNoDifference(batch.ring(), [.write(1)])
        expectNoDifference(batch.created(1), [.made(1)])
        // Every row that still arrives is reported.
        expectNoDifference(batch.receive(.create), [.skipped(4)])
        expectNoDifference(batch.inputEnds(), [.end(.stopped)])
    }

    @Test func anUnknownOutcomeIsAFailureToo() {
        var batch = BatchMachineFixture { $0.failureLimit = 2 }
        _ = batch.receive(.create, .create)
        expectNoDifference(batch.trouble(0, .answerLost), [.unknown(0, .nothingToTellBy)])
        expectNoDifference(batch.trouble(1, .refused), [.stopped(by: 1), .failed(1)])
        expectNoDifference(batch.inputEnds(), [.end(.stopped)])
    }

    @Test func whenNothingCanSucceedWhatRunsIsWaitedForAndNothingIsTriedAgain() {
        var batch = BatchMachineFixture { $0.concurrency = 3 }
        _ = batch.receive(.create, .createWithKey, .create, .edit(7), .edit(7))
        _ = batch.trouble(2, .passing)
        expectNoDifference(batch.trouble(0, .hopeless), [.stopped(by: 0), .failed(0), .skipped(4), .failed(2)])
        expectNoDifference(batch.trouble(1, .answerLost), [.unknown(1)])
        expectNoDifference(
            batch.answer(3, .edited(recordId: 7, modId: 1)),
            [.publish(3, .edited(recordId: 7, modId: 1))]
        )
        expectNoDifference(batch.inputEnds(), [.end(.stopped)])
    }

    /// These rows were neither sent nor refused, so they are skipped and do not fail.
    @Test func aStopSkipsRowsThatWereAboutToBeWritten() {
        var batch = BatchMachineFixture {
            $0.concurrency = 2
            $0.isJournalled = true
        }
        let attempt = BatchStateMachine.Note.attempt(over: nil)
        expectNoDifference(
            batch.receive(.create, .upsert("a"), .upsert("b")),
            [.note(0, attempt), .view(1), .view(2)]
        )
        // Row 1 was looked up and its attempt is being noted, but it is not sent yet.
        expectNoDifference(batch.foundNothing(1), [.note(1, attempt)])
        expectNoDifference(batch.noted(0), [.write(0)])
        expectNoDifference(
            batch.trouble(0, .hopeless),
            [
                .stopped(by: 0), .note(0, .outcome(.failed(.lastError))), .note(1, .withdrawn), .failed(0), .skipped(1),
            ]
        )
        // Row 2's lookup is answered after the batch has stopped.
        expectNoDifference(batch.foundNothing(2), [.skipped(2)])
    }

    @Test func aStopSkipsARowThatWasCertainlyNotMade() {
        var batch = BatchMachineFixture {
            $0.concurrency = 1
            $0.isJournalled = true
        }
        _ = batch.receive(.createWithKey.perhapsDone, .createWithKey)
        _ = batch.foundNothing(0)
        _ = batch.noted(1)
        expectNoDifference(batch.ring(), [])
        expectNoDifference(batch.trouble(1, .passing), [.note(1, .withdrawn), .view(0)])
        batch.machine.journalFailed()
        expectNoDifference(batch.steps(), [.stop(by: .journal), .failed(1)])
        expectNoDifference(batch.foundNothing(0), [.skipped(0)])
    }

    /// A row that nothing could be told of after a kill is noted when a call is about to be free, and not before.
    @Test(arguments: [BatchStateMachine.RowTask.create, .edit()])
    func oneRowThatLeavesNoTraceIsNotedAhead(task: BatchStateMachine.RowTask) {
        var batch = BatchMachineFixture { $0.isJournalled = true }
        var open: Set<Int> = []
        var mostOpen = 0
        func follow(_ steps: [BatchMachineFixture.Action]) -> [Int] {
            var noting: [Int] = []
            for case .note(let index, let note) in steps {
                if case .attempt = note {
                    open.insert(index)
                    noting.append(index)
                } else {
                    open.remove(index)
                }
                mostOpen = max(mostOpen, open.count)
            }
            return noting
        }
        var noting: [Int] = []
        for index in 0..<20 {
            var task = task
            task.serialKey = task.serialKey.map { _ in .record(index) }
            noting += follow(batch.receive(task))
        }
        expectNoDifference(noting, [0, 1, 2, 3, 4])
        for index in 0..<20 {
            for index in noting { noting = follow(batch.noted(index)) + noting.filter { $0 != index } }
            noting += follow(batch.created(index))
        }
        expectNoDifference(open, [])
        expectNoDifference(mostOpen, 5)
    }

    @Test func rowsWithAKeyAreNotedAheadForEachCall() {
        var batch = BatchMachineFixture { $0.isJournalled = true }
        let attempt = BatchStateMachine.Note.attempt(over: nil)
        _ = batch.receive(.createWithKey, .createWithKey, .createWithKey, .createWithKey)
        expectNoDifference(batch.receive(.createWithKey), [])
        expectNoDifference(batch.noted(0), [.write(0), .note(4, attempt)])
    }

    /// When the retry timeout ends for an upsert whose record keeps changing, the journal notes it as withdrawn, so
    /// that another run tries again.
    @Test func patienceThatEndsIsNotTheEndOfARow() {
        var batch = BatchMachineFixture {
            $0.concurrency = 1
            $0.isJournalled = true
            $0.retryTimeout = .zero
        }
        _ = batch.receive(.upsert())
        expectNoDifference(
            batch.found(0, modId: 3),
            [.note(0, .attempt(over: .init(recordId: 7, modId: 3)))]
        )
        _ = batch.noted(0)
        expectNoDifference(
            batch.trouble(0, .modIdMismatch),
            [.note(0, .withdrawn), .failed(0, .retryTimedOut)]
        )
    }

    @Test func whatWouldGoOnAfterTheDeadlineIsGivenUp() {
        var batch = BatchMachineFixture { $0.deadline = .uptimeNanoseconds(1_000_000_000_000) + .seconds(20) }
        _ = batch.receive(.createWithKey, .createWithKey)
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.foundNothing(0), [.unknown(0, .outOfTime)])
        var last: [BatchMachineFixture.Action] = []
        for _ in 0..<20 {
            last = batch.trouble(1, .passing)
            if batch.alarm == nil { break }
            _ = batch.ring()
        }
        expectNoDifference(last, [.failed(1)])
        expectNoDifference(batch.now, .uptimeNanoseconds(1_000_000_000_000) + .seconds(20))
    }

    @Test func aRowThatCannotBeSentFailsAlone() {
        var batch = BatchMachineFixture()
        expectNoDifference(batch.receive(.init(kind: .unusable), .create), [.write(1), .failed(0)])
    }
}
