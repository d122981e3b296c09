import CustomDump
import NIOCore
import Testing

@testable import FMData

/// What each error leads to: the table of ``DataAPI/Batch``, line by line.
@Suite struct BatchPolicyMachineTests {
    @Test func aLockedRecordIsTriedAgainWithGrowingPausesUntilPatienceEnds() {
        var script = BatchMachineFixture { $0.concurrency = 1 }
        _ = script.receive(.edit(7), .create)
        // The other row continues meanwhile.
        expectNoDifference(script.trouble(0, .passing), [.write(1)])
        expectNoDifference(script.created(1), [.made(1)])
        var pauses: [TimeAmount] = []
        var last: [BatchMachineFixture.Step] = []
        while let pause = script.untilAlarm, pauses.count < 20 {
            pauses.append(pause)
            expectNoDifference(script.ring(), [.write(0)])
            last = script.trouble(0, .passing)
        }
        let milliseconds: [Int64] = [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000, 3_800]
        expectNoDifference(pauses, milliseconds.map { .milliseconds($0) })
        expectNoDifference(last, [.failed(0)])
    }

    @Test func jitterShortensThePauses() {
        var script = BatchMachineFixture()
        script.jitter = 0
        _ = script.receive(.create)
        _ = script.trouble(0, .passing)
        expectNoDifference(script.untilAlarm, .milliseconds(100))
    }

    @Test func aLockThatGoesIsForgotten() {
        var script = BatchMachineFixture()
        _ = script.receive(.create)
        _ = script.trouble(0, .passing)
        expectNoDifference(script.ring(), [.write(0)])
        expectNoDifference(script.created(0), [.made(0)])
        expectNoDifference(script.alarm, nil)
    }

    @Test func aFullHostIsTriedAgainWithFewerCalls() {
        var script = BatchMachineFixture()
        _ = script.receive(.create)
        expectNoDifference(script.trouble(0, .busy), [])
        expectNoDifference(script.machine.limit, 2)
        expectNoDifference(script.ring(), [.write(0)])
        expectNoDifference(script.created(0), [.made(0)])
    }

    @Test func anotherModIdIsAConflictAndNotTriedAgain() {
        var script = BatchMachineFixture()
        _ = script.receive(.edit(7, base: 3))
        expectNoDifference(script.trouble(0, .modIdMismatch), [.failed(0)])
    }

    @Test func anEditOfARecordThatIsGoneFails() {
        var script = BatchMachineFixture()
        _ = script.receive(.edit(7))
        expectNoDifference(script.trouble(0, .recordMissing), [.failed(0)])
    }

    @Test func aDeleteOfARecordThatIsGoneIsDone() {
        var script = BatchMachineFixture()
        _ = script.receive(.delete(7))
        expectNoDifference(script.trouble(0, .recordMissing), [.publish(0, .deleted(wasThere: false))])
    }

    @Test(arguments: [BatchTrouble.refused, .fieldMissing, .notUnique])
    func whatTheServerDoesNotWantFailsAtOnce(trouble: BatchTrouble) {
        var script = BatchMachineFixture()
        _ = script.receive(.createWithKey, .edit(7), .upsert())
        _ = script.foundNothing(2)
        for index in 0...1 { expectNoDifference(script.trouble(index, trouble), [.failed(index)]) }
    }

    @Test func aMissingFieldInTheFirstThreeRowsEndsTheBatch() {
        var script = BatchMachineFixture { $0.concurrency = 1 }
        _ = script.receive(.create, .create, .create, .create)
        expectNoDifference(script.trouble(0, .fieldMissing), [.write(1), .failed(0)])
        expectNoDifference(script.trouble(1, .fieldMissing), [.write(2), .failed(1)])
        expectNoDifference(
            script.trouble(2, .fieldMissing),
            [.stopped(by: 2), .failed(2), .skipped(3)]
        )
        expectNoDifference(script.inputEnds(), [.end(.stopped)])
    }

    @Test func aMissingFieldInLaterRowsDoesNot() {
        var script = BatchMachineFixture { $0.concurrency = 1 }
        _ = script.receive(.create, .create, .create, .create, .create)
        _ = script.trouble(0, .fieldMissing)
        _ = script.created(1)
        _ = script.trouble(2, .fieldMissing)
        _ = script.trouble(3, .fieldMissing)
        expectNoDifference(script.trouble(4, .fieldMissing), [.failed(4)])
        expectNoDifference(script.machine.mode, .open)
    }

    @Test func anUpsertLooksFirstAndThenMakesOrEdits() {
        var script = BatchMachineFixture()
        expectNoDifference(script.receive(.upsert("a"), .upsert("b"), .upsert("c")), [.view(0), .view(1), .view(2)])
        expectNoDifference(script.foundNothing(0), [.write(0)])
        expectNoDifference(script.created(0), [.made(0)])
        expectNoDifference(script.found(1, modId: 4), [.write(1, over: 7, modId: 4)])
        expectNoDifference(
            script.answer(1, .edited(recordId: 7, modId: 5)),
            [.publish(1, .edited(recordId: 7, modId: 5))]
        )
        expectNoDifference(script.answer(2, .found(.several)), [.failed(2, .ambiguousKey)])
    }

    @Test(arguments: [BatchTrouble.modIdMismatch, .recordMissing])
    func anUpsertWhoseRecordChangesMeanwhileLooksAgain(trouble: BatchTrouble) {
        var script = BatchMachineFixture()
        _ = script.receive(.upsert())
        _ = script.found(0, modId: 4)
        expectNoDifference(script.trouble(0, trouble), [])
        expectNoDifference(script.ring(), [.view(0)])
        expectNoDifference(script.foundNothing(0), [.write(0)])
    }

    @Test func anUpsertWhoseKeySomebodyElseTookMeanwhileEditsThat() {
        var script = BatchMachineFixture()
        _ = script.receive(.upsert())
        _ = script.foundNothing(0)
        expectNoDifference(script.trouble(0, .notUnique), [.view(0)])
        expectNoDifference(script.found(0, modId: 0), [.write(0, over: 7)])
    }

    @Test func anUpsertWhoseDoubleIsInAnotherFieldFails() {
        var script = BatchMachineFixture()
        _ = script.receive(.upsert())
        _ = script.foundNothing(0)
        expectNoDifference(script.trouble(0, .notUnique), [.view(0)])
        expectNoDifference(script.foundNothing(0), [.failed(0)])
    }

    @Test func anUpsertThatCannotLookFailsAndIsNotWritten() {
        var script = BatchMachineFixture()
        _ = script.receive(.upsert("a"), .upsert("b"))
        expectNoDifference(script.trouble(0, .refused), [.failed(0)])
        expectNoDifference(script.trouble(1, .busy), [])
        expectNoDifference(script.ring(), [.view(1)])
    }
}
