import CustomDump
import NIOCore
import Testing

@testable import FMData

/// What happens after a lost answer: what is looked up, and what follows from it.
@Suite struct BatchSettlingMachineTests {
    // MARK: Creates

    @Test func aCreateWithoutAKeyStaysUnknown() {
        var script = BatchMachineFixture()
        _ = script.receive(.create)
        expectNoDifference(script.trouble(0, .answerLost), [.unknown(0, .nothingToTellBy)])
    }

    @Test func aCreateThatWasCarriedOutIsFoundByItsKey() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        expectNoDifference(script.trouble(0, .answerLost), [.view(0)])
        expectNoDifference(script.found(0, modId: 0), [.publish(0, .created(recordId: 7, modId: 0))])
    }

    @Test func aCreateIsSentAgainWhenNothingIsFoundTwice() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        _ = script.trouble(0, .answerLost)
        expectNoDifference(script.foundNothing(0), [])
        // The second lookup comes when the host can no longer be working on the first attempt.
        expectNoDifference(script.untilAlarm, .seconds(30))
        expectNoDifference(script.ring(), [.view(0)])
        expectNoDifference(script.foundNothing(0), [.write(0)])
        expectNoDifference(script.created(0), [.made(0)])
    }

    @Test func aCreateThatArrivesLateIsFoundByTheSecondLook() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        _ = script.trouble(0, .answerLost)
        _ = script.foundNothing(0)
        expectNoDifference(script.ring(), [.view(0)])
        expectNoDifference(script.found(0, modId: 1), [.publish(0, .created(recordId: 7, modId: 1))])
    }

    @Test func aDoubleAfterALostAnswerIsOurs() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        _ = script.trouble(0, .answerLost)
        _ = script.foundNothing(0)
        _ = script.ring()
        expectNoDifference(script.foundNothing(0), [.write(0)])
        expectNoDifference(script.trouble(0, .notUnique), [.view(0)])
        expectNoDifference(script.found(0, modId: 0), [.publish(0, .created(recordId: 7, modId: 0))])
    }

    @Test func aDoubleInAnotherFieldIsNot() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        _ = script.trouble(0, .answerLost)
        _ = script.foundNothing(0)
        _ = script.ring()
        _ = script.foundNothing(0)
        _ = script.trouble(0, .notUnique)
        expectNoDifference(script.foundNothing(0), [.failed(0)])
    }

    /// One of the records may be the row's.
    @Test(arguments: [WriteVerdict.Doubt.severalRecords, .otherValues])
    func aRecordThatMayBeSomebodyElsesIsNotTaken(doubt: WriteVerdict.Doubt) {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        _ = script.trouble(0, .answerLost)
        expectNoDifference(script.found(0, .undecided(doubt), modId: 0), [.unknown(0, doubt)])
    }

    @Test func aLookThatFailsIsRepeatedAndThenTheOutcomeStaysUnknown() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        _ = script.trouble(0, .answerLost)
        var views = 1
        var last: [BatchMachineFixture.Step] = []
        repeat {
            last = script.trouble(0, .passing)
            if script.alarm == nil { break }
            expectNoDifference(script.ring(), [.view(0)])
            views += 1
        } while views < 20
        expectNoDifference(views, 11)
        expectNoDifference(last, [.unknown(0, .unreadable)])
    }

    @Test func aLookWhoseAnswerIsGarbledIsRepeated() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey, .upsert())
        _ = script.trouble(0, .answerLost)
        expectNoDifference(script.trouble(0, .garbled), [])
        expectNoDifference(script.ring(), [.view(0)])
        expectNoDifference(script.trouble(1, .garbled), [])
        expectNoDifference(script.ring(), [.view(1)])
    }

    @Test func aServerThatLosesEveryAnswerIsGivenUp() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        for _ in 0..<2 {
            _ = script.trouble(0, .answerLost)
            _ = script.foundNothing(0)
            _ = script.ring()
            expectNoDifference(script.foundNothing(0), [.write(0)])
        }
        _ = script.trouble(0, .answerLost)
        _ = script.foundNothing(0)
        _ = script.ring()
        // By now it is certain that no record was made.
        expectNoDifference(script.foundNothing(0), [.failed(0, .neverArrived)])
    }

    @Test func aRefusalAfterALostAnswerIsAFailure() {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey)
        _ = script.trouble(0, .answerLost)
        _ = script.foundNothing(0)
        _ = script.ring()
        _ = script.foundNothing(0)
        expectNoDifference(script.trouble(0, .refused), [.failed(0)])
    }

    // MARK: Edits

    @Test func anEditThatWasNotCarriedOutIsSentAgain() {
        var script = BatchMachineFixture()
        _ = script.receive(.edit(7, base: 3))
        expectNoDifference(script.trouble(0, .answerLost), [.view(0)])
        expectNoDifference(script.found(0, .notCarriedOut, modId: 3), [])
        expectNoDifference(script.ring(), [.write(0)])
        expectNoDifference(
            script.answer(0, .edited(recordId: 7, modId: 4)),
            [.publish(0, .edited(recordId: 7, modId: 4))]
        )
    }

    @Test func anEditThatWasCarriedOutIsSeenByModIdAndFields() {
        var script = BatchMachineFixture()
        _ = script.receive(.edit(7, base: 3))
        _ = script.trouble(0, .answerLost)
        expectNoDifference(
            script.found(0, modId: 4),
            [.publish(0, .edited(recordId: 7, modId: 4))]
        )
    }

    /// Whether the edit was carried out before that change cannot be found out.
    @Test func aRecordThatWasChangedSinceLeavesItUnknown() {
        var script = BatchMachineFixture()
        _ = script.receive(.edit(7, base: 3))
        _ = script.trouble(0, .answerLost)
        expectNoDifference(
            script.found(0, .undecided(.changedSince), modId: 5),
            [.unknown(0, .changedSince)]
        )
    }

    @Test func anEditThatArrivesLateRefusesItsRepetitionAndIsFoundThen() {
        var script = BatchMachineFixture()
        _ = script.receive(.edit(7, base: 3))
        _ = script.trouble(0, .answerLost)
        _ = script.found(0, .notCarriedOut, modId: 3)
        expectNoDifference(script.ring(), [.write(0)])
        expectNoDifference(script.trouble(0, .modIdMismatch), [.view(0)])
        expectNoDifference(
            script.found(0, modId: 4),
            [.publish(0, .edited(recordId: 7, modId: 4))]
        )
    }

    @Test func anEditOfARecordThatIsGoneSinceIsUnknown() {
        var script = BatchMachineFixture()
        _ = script.receive(.edit(7, base: 3))
        _ = script.trouble(0, .answerLost)
        let gone = BatchStateMachine.Finding(verdict: .undecided(.gone))
        expectNoDifference(script.answer(0, .found(gone)), [.unknown(0, .gone)])
    }

    @Test func anEditWithoutAModIdIsNeverSentAgain() {
        var script = BatchMachineFixture()
        _ = script.receive(.edit(7), .edit(8))
        _ = script.trouble(0, .answerLost)
        expectNoDifference(
            script.found(0, modId: 9),
            [.publish(0, .edited(recordId: 7, modId: 9))]
        )
        expectNoDifference(script.trouble(1, .answerLost), [.view(1)])
        expectNoDifference(script.found(1, .notSeen, recordId: 8, modId: 9), [])
        expectNoDifference(script.ring(), [.view(1)])
        expectNoDifference(script.found(1, .notSeen, recordId: 8, modId: 9), [.unknown(1, .nothingToTellBy)])
    }

    @Test func anEditWithoutAModIdIsSentAgainByChoice() {
        var script = BatchMachineFixture { $0.repeatsUnguardedEdits = true }
        _ = script.receive(.edit(7))
        _ = script.trouble(0, .answerLost)
        expectNoDifference(script.found(0, .notSeen, modId: 9), [])
        expectNoDifference(script.untilAlarm, .seconds(30))
        expectNoDifference(script.ring(), [.view(0)])
        expectNoDifference(script.found(0, .notSeen, modId: 9), [.write(0)])
    }

    // MARK: Deletes

    @Test func aDeleteIsSentAgainAndAMissingRecordIsTheProof() {
        var script = BatchMachineFixture()
        _ = script.receive(.delete(7), .delete(8))
        expectNoDifference(script.trouble(0, .answerLost), [])
        expectNoDifference(script.ring(), [.write(0)])
        // The record may have been deleted by the first attempt or before it.
        expectNoDifference(script.trouble(0, .recordMissing), [.publish(0, .deleted(wasThere: nil))])
        _ = script.trouble(1, .answerLost)
        expectNoDifference(script.ring(), [.write(1)])
        expectNoDifference(script.answer(1, .deleted), [.publish(1, .deleted(wasThere: true))])
    }

    /// The first attempt may have deleted the record.
    @Test(arguments: [BatchTrouble.refused, .garbled])
    func aDeleteThatIsRefusedAfterALostAnswerIsUnknown(trouble: BatchTrouble) {
        var script = BatchMachineFixture()
        _ = script.receive(.delete(7), .delete(8))
        _ = script.trouble(0, .answerLost)
        expectNoDifference(script.ring(), [.write(0)])
        expectNoDifference(script.trouble(0, trouble), [.publish(0, .unknown(nil))])
        expectNoDifference(script.trouble(1, trouble), [.publish(1, .failed(.lastError))])
    }

    // MARK: Upserts

    @Test func anUpsertThatMadeARecordFindsIt() {
        var script = BatchMachineFixture()
        _ = script.receive(.upsert())
        _ = script.foundNothing(0)
        expectNoDifference(script.trouble(0, .answerLost), [.view(0)])
        expectNoDifference(
            script.found(0, modId: 0),
            [.publish(0, .created(recordId: 7, modId: 0))]
        )
    }

    @Test func anUpsertThatMadeNoneLooksTwiceBeforeItTriesAgain() {
        var script = BatchMachineFixture()
        _ = script.receive(.upsert())
        _ = script.foundNothing(0)
        _ = script.trouble(0, .answerLost)
        expectNoDifference(script.foundNothing(0), [])
        expectNoDifference(script.ring(), [.view(0)])
        expectNoDifference(script.foundNothing(0), [.write(0)])
    }

    @Test func anUpsertOverARecordWritesAgainUnlessItHoldsTheFields() {
        var script = BatchMachineFixture()
        _ = script.receive(.upsert("a"), .upsert("b"))
        _ = script.found(0, modId: 3)
        _ = script.trouble(0, .answerLost)
        expectNoDifference(
            script.found(0, modId: 4),
            [.publish(0, .edited(recordId: 7, modId: 4))]
        )
        _ = script.found(1, modId: 3)
        _ = script.trouble(1, .answerLost)
        expectNoDifference(script.found(1, .notSeen, modId: 3), [])
        expectNoDifference(script.ring(), [.write(1, over: 7, modId: 3)])
    }

    /// A change that another client has made since is not overwritten.
    @Test(arguments: [(3, nil), (7, 4), (7, 5), (7, 2), (8, 3)] as [(Int, Int?)])
    func anUpsertLeavesWhatSomebodyElseHasChangedSince(recordId: Int, modId: Int?) {
        var script = BatchMachineFixture()
        let over = modId.map { _ in WrittenVersion(recordId: 7, modId: 3) }
        _ = script.receive(.upsert().perhapsDone(until: script.now, over: over))
        let found = script.found(0, .undecided(.otherValues), recordId: recordId, modId: modId ?? 0)
        expectNoDifference(found, [.unknown(0, over == nil ? .otherValues : .changedSince)])
    }

    /// This holds however often the record was changed.
    @Test func anUpsertIsDoneWhenTheRecordHoldsItsFields() {
        var script = BatchMachineFixture()
        let over = WrittenVersion(recordId: 7, modId: 3)
        _ = script.receive(.upsert().perhapsDone(until: script.now, over: over))
        expectNoDifference(script.found(0, modId: 9), [.publish(0, .edited(recordId: 7, modId: 9))])
    }

    @Test func anUpsertTakesNoRecordThatHasItsKeyInAnotherWay() {
        var script = BatchMachineFixture { $0.concurrency = 8 }
        func found(_ others: OtherMatches, _ verdict: WriteVerdict = .notSeen) -> BatchStateMachine.Answer {
            var finding = BatchStateMachine.Finding(verdict: verdict)
            finding.others = others
            return .found(finding)
        }
        _ = script.receive(.upsert("a"), .upsert("b"), .upsert("c"), .upsert("d").perhapsDone)
        expectNoDifference(script.answer(0, found(.spelledOtherwise)), [.write(0)])
        expectNoDifference(script.trouble(0, .notUnique), [.view(0)])
        expectNoDifference(script.answer(0, found(.spelledOtherwise)), [.failed(0, .keySpelledOtherwise)])
        expectNoDifference(script.answer(1, found(.inOtherForm)), [.failed(1, .keyInOtherForm)])
        expectNoDifference(script.answer(2, found(.tooMany)), [.failed(2, .ambiguousKey)])
        expectNoDifference(
            script.answer(3, found(.inOtherForm, .undecided(.keyInOtherForm))),
            [.unknown(3, .keyInOtherForm)]
        )
    }

    @Test func anUpsertWhoseRecordIsGoneSinceMakesOne() {
        var script = BatchMachineFixture()
        _ = script.receive(.upsert())
        _ = script.found(0, modId: 3)
        _ = script.trouble(0, .answerLost)
        expectNoDifference(script.foundNothing(0), [])
        expectNoDifference(script.ring(), [.write(0)])
    }

    // MARK: Rows of an earlier run

    @Test func rowsOfAnEarlierRunAreLookedUpFirst() {
        var script = BatchMachineFixture { $0.concurrency = 8 }
        expectNoDifference(
            script.receive(
                .createWithKey.perhapsDone,
                .edit(7, base: 3).perhapsDone,
                .delete(8).perhapsDone,
                .create.perhapsDone
            ),
            [.view(0), .view(1), .write(2), .unknown(3)]
        )
        expectNoDifference(script.trouble(2, .recordMissing), [.publish(2, .deleted(wasThere: nil))])
    }

    @Test func aRowOfAnEarlierRunIsLookedForASecondTimeWhenItCanNoLongerBeAtWork() {
        var script = BatchMachineFixture()
        let end = script.now + .seconds(20)
        expectNoDifference(script.receive(.createWithKey.perhapsDone(until: end)), [.view(0)])
        expectNoDifference(script.foundNothing(0), [])
        expectNoDifference(script.untilAlarm, .seconds(20))
        expectNoDifference(script.ring(), [.view(0)])
        expectNoDifference(script.foundNothing(0), [.write(0)])
    }

    @Test func aRowOfWhichItIsKnownThatNobodyCanTellIsNotLookedUp() {
        var script = BatchMachineFixture()
        var task = BatchStateMachine.Task.createWithKey.perhapsDone
        task.attempt?.doubt = .otherKeyField
        expectNoDifference(script.receive(task), [.unknown(0, .otherKeyField)])
    }

    @Test func anUnknownRowThatIsNotReachedStaysUnknown() {
        var script = BatchMachineFixture {
            $0.concurrency = 1
            $0.failureLimit = 1
        }
        _ = script.receive(.create, .createWithKey.perhapsDone, .create)
        expectNoDifference(
            script.trouble(0, .refused),
            [.stopped(by: 0), .failed(0), .unknown(1), .skipped(2)]
        )
        expectNoDifference(script.inputEnds(), [.end(.stopped)])
    }
}
