import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// What happens after a lost answer: what is looked up, and what follows from it.
@Suite struct BatchSettlingMachineTests {
    // MARK: Creates

    @Test func aCreateWithoutAKeyStaysUnknown() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.create)
        expectNoDifference(batch.trouble(0, .answerLost), [.unknown(0, .nothingToTellBy)])
    }

    @Test func aCreateThatWasCarriedOutIsFoundByItsKey() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        expectNoDifference(batch.trouble(0, .answerLost), [.view(0)])
        expectNoDifference(batch.found(0, modId: 0), [.publish(0, .created(recordId: 7, modId: 0))])
    }

    @Test func aCreateIsSentAgainWhenNothingIsFoundTwice() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.foundNothing(0), [])
        // The second lookup comes when the host can no longer be working on the first attempt.
        expectNoDifference(batch.untilAlarm, .seconds(30))
        expectNoDifference(batch.ring(), [.view(0)])
        expectNoDifference(batch.foundNothing(0), [.write(0)])
        expectNoDifference(batch.created(0), [.made(0)])
    }

    @Test func aCreateThatArrivesLateIsFoundByTheSecondLook() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        _ = batch.trouble(0, .answerLost)
        _ = batch.foundNothing(0)
        expectNoDifference(batch.ring(), [.view(0)])
        expectNoDifference(batch.found(0, modId: 1), [.publish(0, .created(recordId: 7, modId: 1))])
    }

    /// A row that an earlier run may have sent, though its journal says nothing of it.
    @Test func whatAJournalMayHaveLostIsLookedUpOnce() {
        var task = BatchStateMachine.RowTask.createWithKey.perhapsDone
        task.attempt?.isNoted = false
        var batch = BatchMachineFixture { $0.isJournalled = true }
        expectNoDifference(batch.receive(task, task), [.view(0), .view(1)])
        expectNoDifference(
            batch.found(0, modId: 0),
            [
                .note(0, .outcome(.created(recordId: 7, modId: 0))), .publish(0, .created(recordId: 7, modId: 0)),
            ]
        )
        expectNoDifference(batch.foundNothing(1), [.note(1, .attempt(over: nil))])
        expectNoDifference(batch.noted(1), [.write(1)])
        // From here on it is as any row.
        expectNoDifference(batch.trouble(1, .answerLost), [.view(1)])
        expectNoDifference(batch.foundNothing(1), [])
        expectNoDifference(batch.ring(), [.view(1)])
    }

    @Test func whatAJournalMayHaveLostIsSkippedWhenTheBatchStopsBeforeIt() {
        var task = BatchStateMachine.RowTask.createWithKey.perhapsDone
        task.attempt?.isNoted = false
        var batch = BatchMachineFixture {
            $0.concurrency = 1
            $0.failureLimit = 1
        }
        _ = batch.receive(.create, task)
        expectNoDifference(batch.trouble(0, .refused), [.stopped(by: 0), .failed(0), .skipped(1)])
    }

    @Test func aDoubleAfterALostAnswerIsOurs() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        _ = batch.trouble(0, .answerLost)
        _ = batch.foundNothing(0)
        _ = batch.ring()
        expectNoDifference(batch.foundNothing(0), [.write(0)])
        expectNoDifference(batch.trouble(0, .notUnique), [.view(0)])
        expectNoDifference(batch.found(0, modId: 0), [.publish(0, .created(recordId: 7, modId: 0))])
    }

    @Test func aDoubleInAnotherFieldIsNot() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        _ = batch.trouble(0, .answerLost)
        _ = batch.foundNothing(0)
        _ = batch.ring()
        _ = batch.foundNothing(0)
        _ = batch.trouble(0, .notUnique)
        expectNoDifference(batch.foundNothing(0), [.failed(0)])
    }

    /// One of the records may be the row's.
    @Test(arguments: [WriteOutcome.Doubt.severalRecords, .otherValues])
    func aRecordThatMayBeSomebodyElsesIsNotTaken(doubt: WriteOutcome.Doubt) {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.found(0, .undecided(doubt), modId: 0), [.unknown(0, doubt)])
    }

    @Test func aLookThatFailsIsRepeatedAndThenTheOutcomeStaysUnknown() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        _ = batch.trouble(0, .answerLost)
        var views = 1
        var last: [BatchMachineFixture.Action] = []
        repeat {
            last = batch.trouble(0, .passing)
            if batch.alarm == nil { break }
            expectNoDifference(batch.ring(), [.view(0)])
            views += 1
        } while views < 20
        expectNoDifference(views, 11)
        expectNoDifference(last, [.unknown(0, .unreadable)])
    }

    @Test func aLookWhoseAnswerIsGarbledIsRepeated() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey, .upsert())
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.trouble(0, .garbled), [])
        expectNoDifference(batch.ring(), [.view(0)])
        expectNoDifference(batch.trouble(1, .garbled), [])
        expectNoDifference(batch.ring(), [.view(1)])
    }

    @Test func aServerThatLosesEveryAnswerIsGivenUp() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        for _ in 0..<2 {
            _ = batch.trouble(0, .answerLost)
            _ = batch.foundNothing(0)
            _ = batch.ring()
            expectNoDifference(batch.foundNothing(0), [.write(0)])
        }
        _ = batch.trouble(0, .answerLost)
        _ = batch.foundNothing(0)
        _ = batch.ring()
        // By now it is certain that no record was made.
        expectNoDifference(batch.foundNothing(0), [.failed(0, .neverArrived)])
    }

    /// It is sent until the retry timeout, with pauses that grow.
    @Test func aServerThatLosesAnswersIsWaitedFor() {
        var batch = BatchMachineFixture { $0.retryTimeout = .seconds(200) }
        _ = batch.receive(.createWithKey)
        var writes = 1
        var last: [BatchMachineFixture.Action] = []
        repeat {
            expectNoDifference(batch.trouble(0, .answerLost), [.view(0)])
            _ = batch.foundNothing(0)
            expectNoDifference(batch.ring(), [.view(0)])
            last = batch.foundNothing(0)
            if last.isEmpty { last = batch.ring() }
            if last == [.write(0)] { writes += 1 }
        } while last == [.write(0)] && writes < 20
        // Each attempt takes the settling time of 30 seconds.
        expectNoDifference(writes, 7)
        expectNoDifference(last, [.failed(0, .neverArrived)])
    }

    @Test func aRefusalAfterALostAnswerIsAFailure() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey)
        _ = batch.trouble(0, .answerLost)
        _ = batch.foundNothing(0)
        _ = batch.ring()
        _ = batch.foundNothing(0)
        expectNoDifference(batch.trouble(0, .refused), [.failed(0)])
    }

    // MARK: Edits

    @Test func anEditThatWasNotCarriedOutIsSentAgain() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.edit(7, base: 3))
        expectNoDifference(batch.trouble(0, .answerLost), [.view(0)])
        expectNoDifference(batch.found(0, .notCarriedOut, modId: 3), [])
        expectNoDifference(batch.ring(), [.write(0)])
        expectNoDifference(
            batch.answer(0, .edited(recordId: 7, modId: 4)),
            [.publish(0, .edited(recordId: 7, modId: 4))]
        )
    }

    /// Whether the edit was carried out before that change cannot be found out.
    @Test(arguments: [WriteOutcome.Doubt.changedSince, .equalWrite])
    func aRecordThatWasChangedSinceLeavesItUnknown(doubt: WriteOutcome.Doubt) {
        var batch = BatchMachineFixture()
        _ = batch.receive(.edit(7, base: 3))
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.found(0, .undecided(doubt), modId: 4), [.unknown(0, doubt)])
    }

    @Test func anEditThatArrivesLateRefusesItsRepetitionAndIsUnknown() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.edit(7, base: 3))
        _ = batch.trouble(0, .answerLost)
        _ = batch.found(0, .notCarriedOut, modId: 3)
        expectNoDifference(batch.ring(), [.write(0)])
        expectNoDifference(batch.trouble(0, .modIdMismatch), [.view(0)])
        expectNoDifference(batch.found(0, .undecided(.equalWrite), modId: 4), [.unknown(0, .equalWrite)])
    }

    @Test func anEditOfARecordThatIsGoneSinceIsUnknown() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.edit(7, base: 3))
        _ = batch.trouble(0, .answerLost)
        let gone = BatchStateMachine.LookupResult(outcome: .undecided(.gone))
        expectNoDifference(batch.answer(0, .found(gone)), [.unknown(0, .gone)])
    }

    @Test func anEditWithoutAModIdIsNeverSentAgain() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.edit(7), .edit(8))
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(
            batch.found(0, modId: 9),
            [.publish(0, .edited(recordId: 7, modId: 9))]
        )
        expectNoDifference(batch.trouble(1, .answerLost), [.view(1)])
        expectNoDifference(batch.found(1, .notSeen, recordId: 8, modId: 9), [])
        expectNoDifference(batch.ring(), [.view(1)])
        expectNoDifference(batch.found(1, .notSeen, recordId: 8, modId: 9), [.unknown(1, .nothingToTellBy)])
    }

    @Test func anEditWithoutAModIdIsSentAgainByChoice() {
        var batch = BatchMachineFixture { $0.repeatsUnguardedEdits = true }
        _ = batch.receive(.edit(7))
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.found(0, .notSeen, modId: 9), [])
        expectNoDifference(batch.untilAlarm, .seconds(30))
        expectNoDifference(batch.ring(), [.view(0)])
        expectNoDifference(batch.found(0, .notSeen, modId: 9), [.write(0)])
    }

    // MARK: Deletes

    @Test func aDeleteIsSentAgainAndAMissingRecordIsTheProof() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.delete(7), .delete(8))
        expectNoDifference(batch.trouble(0, .answerLost), [])
        expectNoDifference(batch.ring(), [.write(0)])
        // The record may have been deleted by the first attempt or before it.
        expectNoDifference(batch.trouble(0, .recordMissing), [.publish(0, .deleted(wasThere: nil))])
        _ = batch.trouble(1, .answerLost)
        expectNoDifference(batch.ring(), [.write(1)])
        expectNoDifference(batch.answer(1, .deleted), [.publish(1, .deleted(wasThere: true))])
    }

    /// The first attempt may have deleted the record.
    @Test(arguments: [BatchTrouble.refused, .garbled])
    func aDeleteThatIsRefusedAfterALostAnswerIsUnknown(trouble: BatchTrouble) {
        var batch = BatchMachineFixture()
        _ = batch.receive(.delete(7), .delete(8))
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.ring(), [.write(0)])
        expectNoDifference(batch.trouble(0, trouble), [.publish(0, .unknown(nil))])
        expectNoDifference(batch.trouble(1, trouble), [.publish(1, .failed(.lastError))])
    }

    // MARK: Upserts

    @Test func anUpsertThatMadeARecordFindsIt() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.upsert())
        _ = batch.foundNothing(0)
        expectNoDifference(batch.trouble(0, .answerLost), [.view(0)])
        expectNoDifference(
            batch.found(0, modId: 0),
            [.publish(0, .created(recordId: 7, modId: 0))]
        )
    }

    @Test func anUpsertThatMadeNoneLooksTwiceBeforeItTriesAgain() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.upsert())
        _ = batch.foundNothing(0)
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.foundNothing(0), [])
        expectNoDifference(batch.ring(), [.view(0)])
        expectNoDifference(batch.foundNothing(0), [.write(0)])
    }

    @Test func anUpsertOverARecordWritesAgainUnlessItHoldsTheFields() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.upsert("a"), .upsert("b"))
        _ = batch.found(0, modId: 3)
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(
            batch.found(0, modId: 4),
            [.publish(0, .edited(recordId: 7, modId: 4))]
        )
        _ = batch.found(1, modId: 3)
        _ = batch.trouble(1, .answerLost)
        expectNoDifference(batch.found(1, .notSeen, modId: 3), [])
        expectNoDifference(batch.ring(), [.write(1, over: 7, modId: 3)])
    }

    /// A change that another client has made since is not overwritten.
    @Test(arguments: [(3, nil), (7, 4), (7, 5), (7, 2), (8, 3)] as [(Int, Int?)])
    func anUpsertLeavesWhatSomebodyElseHasChangedSince(recordId: Int, modId: Int?) {
        var batch = BatchMachineFixture()
        let over = modId.map { _ in WrittenVersion(recordId: 7, modId: 3) }
        _ = batch.receive(.upsert().perhapsDone(until: batch.now, over: over))
        let found = batch.found(0, .undecided(.otherValues), recordId: recordId, modId: modId ?? 0)
        expectNoDifference(found, [.unknown(0, over == nil ? .otherValues : .changedSince)])
    }

    /// This holds however often the record was changed.
    @Test func anUpsertIsDoneWhenTheRecordHoldsItsFields() {
        var batch = BatchMachineFixture()
        let over = WrittenVersion(recordId: 7, modId: 3)
        _ = batch.receive(.upsert().perhapsDone(until: batch.now, over: over))
        expectNoDifference(batch.found(0, modId: 9), [.publish(0, .edited(recordId: 7, modId: 9))])
    }

    @Test func anUpsertTakesNoRecordThatHasItsKeyInAnotherWay() {
        var batch = BatchMachineFixture { $0.concurrency = 8 }
        func found(_ others: OtherMatches, _ outcome: WriteOutcome = .notSeen) -> BatchStateMachine.CallResult {
            var finding = BatchStateMachine.LookupResult(outcome: outcome)
            finding.others = others
            return .found(finding)
        }
        _ = batch.receive(.upsert("a"), .upsert("b"), .upsert("c"), .upsert("d").perhapsDone)
        expectNoDifference(batch.answer(0, found(.spelledOtherwise)), [.failed(0, .keySpelledOtherwise)])
        expectNoDifference(batch.answer(1, found(.inOtherForm)), [.failed(1, .keyInOtherForm)])
        expectNoDifference(batch.answer(2, found(.tooMany)), [.failed(2, .ambiguousKey)])
        expectNoDifference(
            batch.answer(3, found(.inOtherForm, .undecided(.keyInOtherForm))),
            [.unknown(3, .keyInOtherForm)]
        )
    }

    /// The file may have changed the key as it was entered.
    @Test func aKeyInAnotherSpellingIsNeverSentAgain() {
        var batch = BatchMachineFixture()
        var finding = BatchStateMachine.LookupResult(outcome: .undecided(.keySpelledOtherwise))
        finding.others = .spelledOtherwise
        _ = batch.receive(.createWithKey, .upsert())
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.answer(0, .found(finding)), [.unknown(0, .keySpelledOtherwise)])
        _ = batch.foundNothing(1)
        _ = batch.trouble(1, .answerLost)
        _ = batch.foundNothing(1)
        _ = batch.ring()
        expectNoDifference(batch.foundNothing(1), [.write(1)])
        // It has arrived after the settling time, and the field is unique.
        expectNoDifference(batch.trouble(1, .notUnique), [.view(1)])
        expectNoDifference(batch.answer(1, .found(finding)), [.unknown(1, .keySpelledOtherwise)])
    }

    @Test func anUpsertWhoseRecordIsGoneSinceMakesOne() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.upsert())
        _ = batch.found(0, modId: 3)
        _ = batch.trouble(0, .answerLost)
        expectNoDifference(batch.foundNothing(0), [])
        expectNoDifference(batch.ring(), [.write(0)])
    }

    // MARK: Rows of an earlier run

    @Test func rowsOfAnEarlierRunAreLookedUpFirst() {
        var batch = BatchMachineFixture { $0.concurrency = 8 }
        expectNoDifference(
            batch.receive(
                .createWithKey.perhapsDone,
                .edit(7, base: 3).perhapsDone,
                .delete(8).perhapsDone,
                .create.perhapsDone
            ),
            [.view(0), .view(1), .write(2), .unknown(3)]
        )
        expectNoDifference(batch.trouble(2, .recordMissing), [.publish(2, .deleted(wasThere: nil))])
    }

    @Test func aRowOfAnEarlierRunIsLookedForASecondTimeWhenItCanNoLongerBeAtWork() {
        var batch = BatchMachineFixture()
        let end = batch.now + .seconds(20)
        expectNoDifference(batch.receive(.createWithKey.perhapsDone(until: end)), [.view(0)])
        expectNoDifference(batch.foundNothing(0), [])
        expectNoDifference(batch.untilAlarm, .seconds(20))
        expectNoDifference(batch.ring(), [.view(0)])
        expectNoDifference(batch.foundNothing(0), [.write(0)])
    }

    @Test func aRowOfWhichItIsKnownThatNobodyCanTellIsNotLookedUp() {
        var batch = BatchMachineFixture()
        var task = BatchStateMachine.RowTask.createWithKey.perhapsDone
        task.attempt?.doubt = .otherKeyField
        expectNoDifference(batch.receive(task), [.unknown(0, .otherKeyField)])
    }

    @Test func anUnknownRowThatIsNotReachedStaysUnknown() {
        var batch = BatchMachineFixture {
            $0.concurrency = 1
            $0.failureLimit = 1
        }
        _ = batch.receive(.create, .createWithKey.perhapsDone, .create)
        expectNoDifference(
            batch.trouble(0, .refused),
            [.stopped(by: 0), .failed(0), .unknown(1), .skipped(2)]
        )
        expectNoDifference(batch.inputEnds(), [.end(.stopped)])
    }
}
