import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Answers and failures in, steps out.
@Suite struct SaveStateMachineTests {
    private typealias Action = SaveStateMachine.Action
    private typealias Success = SaveStateMachine.Success

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private let base = RecordImage(4, ["a": 1, "b": 1])
    private let change = RecordDiff(fields: ["a": 2])

    private func machine(_ configure: (inout SaveStateMachine.Settings) -> Void = { _ in }) -> SaveStateMachine {
        var settings = SaveStateMachine.Settings(recordId: 17)
        configure(&settings)
        return SaveStateMachine(settings)
    }

    private func theirs(_ modId: Int = 5, _ fields: FieldSet = ["a": 1, "b": 1]) -> RecordImage {
        RecordImage(modId, fields)
    }

    private func written(_ values: Success.Values, _ modId: Int, _ sent: RecordDiff) -> Action {
        .publish(Success(outcome: .written, values: values, modId: modId, sent: sent))
    }

    // MARK: Failures of a write

    @Test func whatPassesIsToldFromWhatLastsByTheOneTable() {
        func writeFailure(_ error: FMRest.APIError) -> SaveStateMachine.WriteFailure { .init(error, runsScript: false) }
        // A refused connection, and a time limit that passed before anything was sent.
        expectNoDifference(writeFailure(.init(.network, reason: "")), .passing)
        expectNoDifference(writeFailure(.init(.timeout, reason: "")), .passing)
        expectNoDifference(writeFailure(.init(.fileMaker, reason: "", fileMakerCode: .recordInUse)), .passing)
        // Refused in the second session, too, by either name.
        expectNoDifference(writeFailure(.init(.fileMaker, reason: "", fileMakerCode: .invalidToken)), .passing)
        expectNoDifference(writeFailure(.init(.tokensRefused, reason: "")), .passing)
        expectNoDifference(writeFailure(.init(.network, reason: "", outcomeIsUnknown: true)), .unknownOutcome)
        expectNoDifference(writeFailure(.init(.invalidRequest, reason: "")), .other)
    }

    // MARK: Without other clients

    @Test func nothingIsSentWhenNothingDiffers() {
        var save = machine()
        expectNoDifference(
            save.began(base: base, change: RecordDiff()),
            .publish(Success(outcome: .nothingDiffered, values: .base))
        )
    }

    @Test func whatDiffersIsSentWithTheBasesModId() {
        var save = machine()
        expectNoDifference(save.began(base: base, change: change), .send(change, modId: 4))
        expectNoDifference(save.sent(modId: 5), written(.wanted, 5, change))
    }

    @Test(arguments: [0, 1, 2])
    func rowsScriptsAndWishesReadTheRecordAgain(why: Int) {
        var save = machine {
            $0.refreshes = why == 0
            $0.runsScripts = why == 1
        }
        let change = why == 2 ? RecordDiff(rows: [.add(["x": 1])]) : change
        _ = save.began(base: base, change: change)
        expectNoDifference(save.sent(modId: 5), .read)
        var failing = save
        expectNoDifference(save.found(theirs()), written(.read, 5, change))
        // It counts as saved all the same.
        expectNoDifference(failing.readFailed(isMissing: false), written(.unconfirmed, 5, change))
    }

    @Test func anyOtherRefusalIsTheEnd() {
        var save = machine()
        _ = save.began(base: base, change: change)
        expectNoDifference(save.refused(.other, jitter: 0, now: Self.start), .fail(.asSent))
    }

    // MARK: 306

    private func conflict(_ fields: [DataAPI.FieldConflict]) -> Action {
        .fail(.conflict(DataAPI.SaveConflict(.changedByOther, recordId: 17, fields: fields)))
    }

    private let both = DataAPI.FieldConflict(field: "a", row: nil, base: 1, mine: 2, theirs: 3, isContested: true)
    private let other = DataAPI.FieldConflict(field: "b", row: nil, base: 1, mine: 1, theirs: 7, isContested: false)

    private func refused(_ policy: DataAPI.ConflictPolicy, found theirs: RecordImage) -> (SaveStateMachine, Action) {
        var save = machine { $0.policy = policy }
        _ = save.began(base: base, change: change)
        expectNoDifference(save.refused(.modIdMismatch, jitter: 0, now: Self.start), .read)
        let step = save.found(theirs)
        return (save, step)
    }

    @Test func aModIdThatMovedForNothingIsNobodysBusiness() {
        for policy: DataAPI.ConflictPolicy in [.fail, .mine, .theirs, .merge] {
            var (save, step) = refused(policy, found: theirs(9))
            expectNoDifference(step, .send(change, modId: 9))
            // No change of theirs was merged, so the draft still says what the record is.
            expectNoDifference(save.sent(modId: 10), written(.wanted, 10, change))
        }
    }

    @Test func failingNamesEverythingThatTheyChanged() {
        expectNoDifference(refused(.fail, found: theirs(5, ["a": 3, "b": 7])).1, conflict([both, other]))
        expectNoDifference(refused(.fail, found: theirs(5, ["a": 1, "b": 7])).1, conflict([other]))
    }

    @Test func mineIsWrittenOverTheirs() {
        var (save, step) = refused(.mine, found: theirs(5, ["a": 3, "b": 7]))
        expectNoDifference(step, .send(change, modId: 5))
        expectNoDifference(save.sent(modId: 6), .read)
        expectNoDifference(save.settled, [both])
    }

    @Test func theirsIsPublishedAndNothingSent() {
        let (save, step) = refused(.theirs, found: theirs(5, ["a": 3, "b": 7]))
        expectNoDifference(step, .publish(Success(outcome: .gaveUp, values: .read)))
        expectNoDifference(save.settled, [both])
    }

    @Test func aMergeSendsWhatIsLeftAndReadsTheWhole() {
        var (save, step) = refused(.merge, found: theirs(5, ["a": 1, "b": 7]))
        expectNoDifference(step, .send(change, modId: 5))
        expectNoDifference(save.sent(modId: 6), .read)
        expectNoDifference(save.found(theirs(6, ["a": 2, "b": 7])), written(.read, 6, change))
        expectNoDifference(save.settled, [])
        expectNoDifference(refused(.merge, found: theirs(5, ["a": 3])).1, conflict([both] + [gone]))
    }

    private let gone = DataAPI.FieldConflict(field: "b", row: nil, base: 1, mine: 1, theirs: "", isContested: false)

    @Test func whatTheyDidTooIsThere() {
        for policy: DataAPI.ConflictPolicy in [.fail, .mine, .theirs, .merge] {
            expectNoDifference(
                refused(policy, found: theirs(5, ["a": 2, "b": 7])).1,
                .publish(Success(outcome: .alreadyThere, values: .read))
            )
        }
    }

    @Test func aClosureSettlesFieldByField() {
        let (save, step) = refused(
            .resolve { $0.field == "a" ? .value(9) : .unsettled },
            found: theirs(5, ["a": 3, "b": 7])
        )
        expectNoDifference(step, .send(RecordDiff(fields: ["a": 9]), modId: 5))
        expectNoDifference(save.settled, [both])
        expectNoDifference(
            refused(.resolve { _ in .theirs }, found: theirs(5, ["a": 3, "b": 1])).1,
            .publish(Success(outcome: .gaveUp, values: .read))
        )
    }

    @Test func itMergesThreeTimesWithPauses() {
        var save = machine { $0.policy = .mine }
        _ = save.began(base: base, change: change)
        for round in 1...3 {
            let step = save.refused(.modIdMismatch, jitter: 1, now: Self.start)
            if round > 1 {
                expectNoDifference(step, .wait(.milliseconds(round == 2 ? 100 : 200)))
                expectNoDifference(save.waited(), .read)
            } else {
                expectNoDifference(step, .read)
            }
            expectNoDifference(
                save.found(theirs(4 + round, ["a": .literal("\(10 + round)"), "b": 1])),
                .send(change, modId: 4 + round)
            )
        }
        let last = DataAPI.FieldConflict(field: "a", row: nil, base: 12, mine: 2, theirs: 13, isContested: true)
        expectNoDifference(save.refused(.modIdMismatch, jitter: 1, now: Self.start), conflict([last]))
    }

    @Test func aReadingThatFailsIsTheEnd() {
        var save = machine()
        _ = save.began(base: base, change: change)
        _ = save.refused(.modIdMismatch, jitter: 0, now: Self.start)
        expectNoDifference(save.readFailed(isMissing: false), .fail(.asRead))
    }

    // MARK: 101

    @Test func aRecordThatIsGoneWasDeletedByOthers() {
        for policy: DataAPI.ConflictPolicy in [.fail, .mine, .theirs, .merge] {
            for writeFailure in [SaveStateMachine.WriteFailure.recordMissing, .modIdMismatch] {
                var save = machine { $0.policy = policy }
                _ = save.began(base: base, change: change)
                expectNoDifference(save.refused(writeFailure, jitter: 0, now: Self.start), .read)
                expectNoDifference(
                    save.readFailed(isMissing: true),
                    .fail(.conflict(DataAPI.SaveConflict(.deletedByOther, recordId: 17)))
                )
            }
        }
    }

    @Test func whatIsMissingMayBeSomethingElse() {
        var save = machine { $0.policy = .merge }
        _ = save.began(base: base, change: RecordDiff(fields: ["Country::Name": "x"]))
        _ = save.refused(.recordMissing, jitter: 0, now: Self.start)
        expectNoDifference(save.found(base), .fail(.asSent))
    }

    @Test func aRowThatIsMissingIsAConflict() {
        let base = RecordImage(4, ["a": 1], [RowImage(7, ["x": 1])])
        let change = RecordDiff(fields: ["a": 2], rows: [.edit(7, ["x": 2])])
        func found(_ policy: DataAPI.ConflictPolicy) -> Action {
            var save = machine { $0.policy = policy }
            _ = save.began(base: base, change: change)
            _ = save.refused(.recordMissing, jitter: 0, now: Self.start)
            return save.found(RecordImage(4, ["a": 1], []))
        }
        let row = DataAPI.RelatedRecord(portal: "L", recordId: 7)
        let conflict = DataAPI.SaveConflict(
            .changedByOther,
            recordId: 17,
            rows: [DataAPI.RowConflict(row: row, kind: .deletedByOther)]
        )
        expectNoDifference(found(.merge), .fail(.conflict(conflict)))
        expectNoDifference(found(.theirs), .publish(Success(outcome: .gaveUp, values: .read)))
    }

    // MARK: 301

    @Test func aRecordInUseIsWaitedFor() {
        var save = machine()
        var now = Self.start
        _ = save.began(base: base, change: change)
        var pauses: [Int64] = []
        while case .wait(let pause) = save.refused(.passing, jitter: 1, now: now) {
            pauses.append(pause.nanoseconds / 1_000_000)
            now = now + pause
            expectNoDifference(save.waited(), .send(change, modId: 4))
        }
        expectNoDifference(pauses, [200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000])
        #expect(now <= Self.start + .seconds(30))
    }

    @Test func aReadingThatFailsOfWhatPassesIsMadeAgain() {
        var save = machine()
        _ = save.began(base: base, change: change)
        expectNoDifference(save.refused(.unknownOutcome, jitter: 0, now: Self.start), .read)
        expectNoDifference(save.readFailedInPassing(jitter: 1, now: Self.start), .wait(.milliseconds(200)))
        expectNoDifference(save.waited(), .read)
        let late = Self.start + .seconds(30)
        expectNoDifference(save.readFailedInPassing(jitter: 1, now: late), .fail(.unknown(.unreadable)))

        var anew = machine { $0.isMadeAnew = true }
        expectNoDifference(anew.began(), .read)
        expectNoDifference(anew.readFailedInPassing(jitter: 1, now: Self.start), .wait(.milliseconds(200)))
        expectNoDifference(anew.waited(), .read)
    }

    @Test func withoutPatienceNothingIsWaitedFor() {
        var save = machine { $0.retryTimeout = .zero }
        _ = save.began(base: base, change: change)
        expectNoDifference(save.refused(.passing, jitter: 1, now: Self.start), .fail(.asSent))
    }

    @Test func jitterMakesThePauseShorterNotLonger() {
        var save = machine()
        _ = save.began(base: base, change: change)
        expectNoDifference(save.refused(.passing, jitter: 0, now: Self.start), .wait(.milliseconds(100)))
    }

    @Test func theTimeOfTheCallEndsTheWaiting() {
        var save = machine()
        _ = save.began(base: base, change: change)
        let deadline = Self.start + .milliseconds(150)
        expectNoDifference(
            save.refused(.passing, jitter: 1, now: Self.start, deadline: deadline),
            .fail(.asSent)
        )
    }

    // MARK: No answer

    private func unanswered(
        _ change: RecordDiff,
        on base: RecordImage,
        found theirs: RecordImage,
        _ configure: (inout SaveStateMachine.Settings) -> Void = { _ in }
    ) -> (SaveStateMachine, Action) {
        var save = machine(configure)
        _ = save.began(base: base, change: change)
        expectNoDifference(save.refused(.unknownOutcome, jitter: 0, now: Self.start), .read)
        let step = save.found(theirs)
        return (save, step)
    }

    @Test func whatWasNotCarriedOutIsSentAgain() {
        var (save, step) = unanswered(change, on: base, found: base)
        expectNoDifference(step, .send(change, modId: 4))
        // The first attempt was carried out after all, late: the server refused the second.
        expectNoDifference(save.refused(.modIdMismatch, jitter: 0, now: Self.start), .read)
        expectNoDifference(save.found(theirs(5, ["a": 2, "b": 1])), .fail(.unknown(.equalWrite)))
    }

    @Test func whatIsThereMayBeAnotherClients() {
        for policy: DataAPI.ConflictPolicy in [.fail, .mine, .theirs, .merge] {
            let action = unanswered(change, on: base, found: theirs(5, ["a": 2, "b": 1])) { $0.policy = policy }.1
            expectNoDifference(action, .fail(.unknown(.equalWrite)))
        }
        let upsert = unanswered(change, on: base, found: theirs(5, ["a": 2, "b": 1])) { $0.isUpsert = true }.1
        expectNoDifference(upsert, written(.read, 5, change))
    }

    @Test func whatIsRefusedInPassingAfterALostAnswerStaysUnknown() {
        var (save, step) = unanswered(change, on: base, found: base) { $0.retryTimeout = .zero }
        expectNoDifference(step, .send(change, modId: 4))
        expectNoDifference(save.refused(.passing, jitter: 0, now: Self.start), .fail(.unknown(nil)))
    }

    @Test func whatSomebodyElseChangedMeanwhileIsAConflict() {
        expectNoDifference(unanswered(change, on: base, found: theirs(6, ["a": 3, "b": 1])).1, conflict([both]))
        // It can be merged like any other conflict.
        expectNoDifference(
            unanswered(change, on: base, found: theirs(6, ["a": 1, "b": 7])) { $0.policy = .merge }.1,
            .send(change, modId: 6)
        )
        // But a closure is not called again: its first change may already be in the record.
        expectNoDifference(
            unanswered(change, on: base, found: theirs(6, ["a": 3, "b": 1])) { $0.isMadeAnew = true }.1,
            conflict([both])
        )
    }

    @Test func withScriptsNobodyKnows() {
        var save = machine { $0.runsScripts = true }
        _ = save.began(base: base, change: change)
        expectNoDifference(save.refused(.unknownOutcome, jitter: 0, now: Self.start), .fail(.asSent))
    }

    @Test func whenTheRecordCannotBeReadTheOutcomeStaysUnknown() {
        var save = machine()
        _ = save.began(base: base, change: change)
        _ = save.refused(.unknownOutcome, jitter: 0, now: Self.start)
        expectNoDifference(save.readFailed(isMissing: false), .fail(.unknown(.unreadable)))
    }

    @Test func itTriesSoManyTimesAndNoMore() {
        var save = machine()
        _ = save.began(base: base, change: change)
        for _ in 1...3 {
            expectNoDifference(save.refused(.unknownOutcome, jitter: 0, now: Self.start), .read)
            expectNoDifference(save.found(base), .send(change, modId: 4))
        }
        expectNoDifference(save.refused(.unknownOutcome, jitter: 0, now: Self.start), .fail(.asSent))
    }

    @Test func aRowIsNotAddedTwice() {
        let base = RecordImage(4, ["a": 1], [RowImage(7, ["x": 1])])
        let alone = RecordDiff(rows: [.add(["x": 5])])
        let added = RecordImage(4, ["a": 1], [RowImage(7, ["x": 1]), RowImage(9, ["x": 5, "y": 1])])
        expectNoDifference(unanswered(alone, on: base, found: added).1, .fail(.unknown(.equalWrite)))
        // Without a modId the server could not refuse the second attempt if the first arrives late.
        expectNoDifference(unanswered(alone, on: base, found: base).1, .fail(.asSent))
        let guarded = RecordDiff(fields: ["a": 2], rows: alone.rows)
        expectNoDifference(unanswered(guarded, on: base, found: base).1, .send(guarded, modId: 4))
        // The row may be among those that the answer does not show.
        let part = RecordImage(7, ["a": 3], [RowImage(7, ["x": 1])], isWhole: false)
        if case .fail(.conflict) = unanswered(guarded, on: base, found: part, { $0.policy = .mine }).1 {
        } else {
            Issue.record("sent again")
        }
    }

    // MARK: By a closure

    @Test func aClosureIsAskedAnewForWhatIsThere() {
        var save = machine { $0.isMadeAnew = true }
        expectNoDifference(save.began(), .read)
        expectNoDifference(save.found(base), .edit)
        expectNoDifference(save.began(base: base, change: change), .send(change, modId: 4))
        expectNoDifference(save.refused(.modIdMismatch, jitter: 0, now: Self.start), .read)
        let newer = theirs(5, ["a": 3, "b": 1])
        expectNoDifference(save.found(newer), .edit)
        let anew = RecordDiff(fields: ["a": 4])
        expectNoDifference(save.began(base: newer, change: anew), .send(anew, modId: 5))
        expectNoDifference(save.sent(modId: 6), written(.wanted, 6, anew))
    }

    @Test func aClosureThatLeavesWhatIsThereSendsNothing() {
        var save = machine { $0.isMadeAnew = true }
        _ = save.began()
        _ = save.found(base)
        expectNoDifference(
            save.began(base: base, change: RecordDiff()),
            .publish(Success(outcome: .nothingDiffered, values: .base))
        )
    }

    @Test func aRecordThatIsNotThereCannotBeEdited() {
        var save = machine { $0.isMadeAnew = true }
        _ = save.began()
        expectNoDifference(save.readFailed(isMissing: true), .fail(.asRead))
    }
}
