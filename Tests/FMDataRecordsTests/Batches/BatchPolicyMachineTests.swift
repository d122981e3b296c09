import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// What each error leads to: the table of ``DataAPI/Batch``, line by line.
@Suite struct BatchPolicyMachineTests {
    @Test func aLockedRecordIsTriedAgainWithGrowingPausesUntilPatienceEnds() {
        var batch = BatchMachineFixture { $0.concurrency = 1 }
        _ = batch.receive(.edit(7), .create)
        // The other row continues meanwhile.
        expectNoDifference(batch.trouble(0, .passing), [.write(1)])
        expectNoDifference(batch.created(1), [.made(1)])
        var pauses: [TimeAmount] = []
        var last: [BatchMachineFixture.Action] = []
        while let pause = batch.untilAlarm, pauses.count < 20 {
            pauses.append(pause)
            expectNoDifference(batch.ring(), [.write(0)])
            last = batch.trouble(0, .passing)
        }
        let milliseconds: [Int64] = [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000, 3_800]
        expectNoDifference(pauses, milliseconds.map { .milliseconds($0) })
        expectNoDifference(last, [.failed(0)])
    }

    @Test func jitterShortensThePauses() {
        var batch = BatchMachineFixture()
        batch.jitter = 0
        _ = batch.receive(.create)
        _ = batch.trouble(0, .passing)
        expectNoDifference(batch.untilAlarm, .milliseconds(100))
    }

    @Test func aLockThatGoesIsForgotten() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.create)
        _ = batch.trouble(0, .passing)
        expectNoDifference(batch.ring(), [.write(0)])
        expectNoDifference(batch.created(0), [.made(0)])
        expectNoDifference(batch.alarm, nil)
    }

    @Test func aFullHostIsTriedAgainWithFewerCalls() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.create)
        expectNoDifference(batch.trouble(0, .busy), [])
        expectNoDifference(batch.machine.limit, 2)
        expectNoDifference(batch.ring(), [.write(0)])
        expectNoDifference(batch.created(0), [.made(0)])
    }

    @Test func anotherModIdIsAConflictAndNotTriedAgain() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.edit(7, base: 3))
        expectNoDifference(batch.trouble(0, .modIdMismatch), [.failed(0)])
    }

    @Test func anEditOfARecordThatIsGoneFails() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.edit(7))
        expectNoDifference(batch.trouble(0, .recordMissing), [.failed(0)])
    }

    @Test func aDeleteOfARecordThatIsGoneIsDone() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.delete(7))
        expectNoDifference(batch.trouble(0, .recordMissing), [.publish(0, .deleted(wasThere: false))])
    }

    @Test(arguments: [BatchTrouble.refused, .fieldMissing, .notUnique])
    func whatTheServerDoesNotWantFailsAtOnce(trouble: BatchTrouble) {
        var batch = BatchMachineFixture()
        _ = batch.receive(.createWithKey, .edit(7), .upsert())
        _ = batch.foundNothing(2)
        for index in 0...1 { expectNoDifference(batch.trouble(index, trouble), [.failed(index)]) }
    }

    @Test func aMissingFieldInTheFirstThreeRowsEndsTheBatch() {
        var batch = BatchMachineFixture { $0.concurrency = 1 }
        _ = batch.receive(.create, .create, .create, .create)
        expectNoDifference(batch.trouble(0, .fieldMissing), [.write(1), .failed(0)])
        expectNoDifference(batch.trouble(1, .fieldMissing), [.write(2), .failed(1)])
        expectNoDifference(
            batch.trouble(2, .fieldMissing),
            [.stopped(by: 2), .failed(2), .skipped(3)]
        )
        expectNoDifference(batch.inputEnds(), [.end(.stopped)])
    }

    @Test func aMissingFieldInLaterRowsDoesNot() {
        var batch = BatchMachineFixture { $0.concurrency = 1 }
        _ = batch.receive(.create, .create, .create, .create, .create)
        _ = batch.trouble(0, .fieldMissing)
        _ = batch.created(1)
        _ = batch.trouble(2, .fieldMissing)
        _ = batch.trouble(3, .fieldMissing)
        expectNoDifference(batch.trouble(4, .fieldMissing), [.failed(4)])
        expectNoDifference(batch.machine.mode, .open)
    }

    @Test func anUpsertLooksFirstAndThenMakesOrEdits() {
        var batch = BatchMachineFixture()
        expectNoDifference(batch.receive(.upsert("a"), .upsert("b"), .upsert("c")), [.view(0), .view(1), .view(2)])
        expectNoDifference(batch.foundNothing(0), [.write(0)])
        expectNoDifference(batch.created(0), [.made(0)])
        expectNoDifference(batch.found(1, modId: 4), [.write(1, over: 7, modId: 4)])
        expectNoDifference(
            batch.answer(1, .edited(recordId: 7, modId: 5)),
            [.publish(1, .edited(recordId: 7, modId: 5))]
        )
        expectNoDifference(batch.answer(2, .found(.several)), [.failed(2, .ambiguousKey)])
    }

    @Test(arguments: [BatchTrouble.modIdMismatch, .recordMissing])
    func anUpsertWhoseRecordChangesMeanwhileLooksAgain(trouble: BatchTrouble) {
        var batch = BatchMachineFixture()
        _ = batch.receive(.upsert())
        _ = batch.found(0, modId: 4)
        expectNoDifference(batch.trouble(0, trouble), [])
        expectNoDifference(batch.ring(), [.view(0)])
        expectNoDifference(batch.foundNothing(0), [.write(0)])
    }

    @Test func anUpsertWhoseKeySomebodyElseTookMeanwhileEditsThat() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.upsert())
        _ = batch.foundNothing(0)
        expectNoDifference(batch.trouble(0, .notUnique), [.view(0)])
        expectNoDifference(batch.found(0, modId: 0), [.write(0, over: 7)])
    }

    @Test func anUpsertWhoseDoubleIsInAnotherFieldFails() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.upsert())
        _ = batch.foundNothing(0)
        expectNoDifference(batch.trouble(0, .notUnique), [.view(0)])
        expectNoDifference(batch.foundNothing(0), [.failed(0)])
    }

    @Test func anUpsertThatCannotLookFailsAndIsNotWritten() {
        var batch = BatchMachineFixture()
        _ = batch.receive(.upsert("a"), .upsert("b"))
        expectNoDifference(batch.trouble(0, .refused), [.failed(0)])
        expectNoDifference(batch.trouble(1, .busy), [])
        expectNoDifference(batch.ring(), [.view(1)])
    }
}
