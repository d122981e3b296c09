import CustomDump
import FMData
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Saves against a host on which another client works as well, and whose answers get lost: before the write, after it,
/// or with a write that is executed late.
@Suite struct SaveRandomWalkTests {
    @Test(.thorough, arguments: 0..<3_000 as Range<UInt64>)
    func whatWasSavedIsThereOnceAndNothingOfOthersIsLost(seed: UInt64) throws {
        var walk = Walk(seed: seed)
        try walk.run()
    }

    private struct Host {
        var record = RecordImage(
            1,
            ["a": 0, "b": 0, "c": 0],
            [RowImage(1, ["x": 0, "y": 0]), RowImage(2, ["x": 0, "y": 0])]
        )
        var nextRow = 10
        var nextValue = 100
        /// The fields that others have written since the save began, by name or by row and name.
        var othersWrote: Set<String> = []
        var isOpenElsewhere = 0

        mutating func commit(_ change: RecordDiff, modId: Int?) -> SaveStateMachine.WriteFailure? {
            if let modId, modId != record.modId { return .modIdMismatch }
            for row in change.rows {
                switch row {
                case .add: break
                case .delete(_, let id): if record.portals[0][row: id] == nil { return .recordMissing }
                case .edit(_, let row):
                    guard let old = row.recordId.flatMap({ record.portals[0][row: $0] }) else { return .recordMissing }
                    if row.modId != old.modId { return .modIdMismatch }
                }
            }
            // Writes of rows alone leave the record's modId as it is.
            if !change.fields.isEmpty { record.modId += 1 }
            for member in change.fields.members { record.fields[member.name] = member.value }
            for row in change.rows {
                switch row {
                case .delete(_, let id): record.portals[0].rows.removeAll { $0.recordId == id }
                case .add(_, let fields):
                    nextRow += 1
                    record.portals[0].rows.append(RowImage(nextRow, fields))
                case .edit(_, let row):
                    for place in record.portals[0].rows.indices
                    where record.portals[0].rows[place].recordId == row.recordId {
                        record.portals[0].rows[place].modId? += 1
                        for member in row.fields.members {
                            record.portals[0].rows[place].fields[member.name] = member.value
                        }
                    }
                }
            }
            return nil
        }

        /// Changes something as another client.
        mutating func disturb(_ chance: inout SeededRandom) {
            nextValue += 1
            let value = WireValue.literal("\(nextValue)")
            let rows = record.portals[0].rows
            switch Int.random(in: 0..<6, using: &chance) {
            case 0, 1, 2:
                let name = ["a", "b", "c"].randomElement(using: &chance) ?? "a"
                _ = commit(RecordDiff(fields: [name: value]), modId: nil)
                othersWrote.insert(name)
            case 3:
                guard let row = rows.randomElement(using: &chance), let id = row.recordId else { return }
                _ = commit(RecordDiff(rows: [.edit(id, modId: row.modId, ["x": value])]), modId: nil)
                othersWrote.insert("\(id).x")
            case 4:
                guard let id = rows.randomElement(using: &chance)?.recordId else { return }
                _ = commit(RecordDiff(rows: [.delete(id)]), modId: nil)
            default:
                _ = commit(RecordDiff(rows: [.add(["x": value, "y": "theirs"])]), modId: nil)
            }
        }
    }

    private struct Walk {
        var chance: SeededRandom
        var host = Host()
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        /// A write that the host executes at some later time.
        var late: (change: RecordDiff, modId: Int)?
        var executed: [RecordDiff] = []
        let isQuiet: Bool

        init(seed: UInt64) {
            chance = SeededRandom(seed: seed)
            isQuiet = seed % 4 == 0
        }

        mutating func run() throws {
            let base = host.record
            let change = randomChange()
            let policies: [DataAPI.ConflictPolicy] = [.fail, .mine, .theirs, .merge]
            var settings = SaveStateMachine.Settings(recordId: 1)
            let policy = Int.random(in: 0..<4, using: &chance)
            settings.policy = policies[policy]
            var machine = SaveStateMachine(settings)
            var step = machine.began(base: base, change: change)
            var count = 0
            while true {
                count += 1
                try #require(count < 60, "it does not end")
                if !isQuiet, Int.random(in: 0..<4, using: &chance) == 0 { host.disturb(&chance) }
                switch step {
                case .read:
                    carryOutLate()
                    if Int.random(in: 0..<12, using: &chance) == 0 {
                        step = machine.readFailed(isMissing: false)
                    } else {
                        step = machine.found(host.record)
                    }
                case .send(let change, let modId):
                    step = send(change, modId, isOverwriting: policy == 1, &machine)
                case .wait(let pause):
                    now = now + pause
                    step = machine.waited()
                case .edit:
                    Issue.record("there is no closure")
                    return
                case .publish(let success):
                    check(success, change)
                    return
                case .fail:
                    carryOutLate()
                    checkAdded()
                    return
                }
            }
        }

        private mutating func send(
            _ change: RecordDiff,
            _ modId: Int,
            isOverwriting: Bool,
            _ machine: inout SaveStateMachine
        ) -> SaveStateMachine.Action {
            carryOutLate()
            switch Int.random(in: 0..<8, using: &chance) {
            case 0:
                return machine.refused(.passing, jitter: 0.5, now: now)
            case 1:
                // The request is lost.
                return machine.refused(.unknownOutcome, jitter: 0.5, now: now)
            case 2:
                // The answer is lost.
                execute(change, modId, isOverwriting: isOverwriting)
                return machine.refused(.unknownOutcome, jitter: 0.5, now: now)
            case 3:
                late = (change, modId)
                return machine.refused(.unknownOutcome, jitter: 0.5, now: now)
            default:
                if let writeFailure = execute(change, modId, isOverwriting: isOverwriting) {
                    return machine.refused(writeFailure, jitter: 0.5, now: now)
                }
                return machine.sent(modId: host.record.modId)
            }
        }

        private mutating func carryOutLate() {
            guard let write = late, Bool.random(using: &chance) else { return }
            late = nil
            execute(write.change, write.modId, isOverwriting: true)
        }

        @discardableResult
        private mutating func execute(
            _ change: RecordDiff,
            _ modId: Int,
            isOverwriting: Bool
        ) -> SaveStateMachine.WriteFailure? {
            if let writeFailure = host.commit(change, modId: modId) { return writeFailure }
            executed.append(change)
            guard !isOverwriting else { return nil }
            for name in change.fields.names where host.othersWrote.contains(name) {
                Issue.record("\(name) of others is overwritten")
            }
            for case .edit(_, let row) in change.rows {
                for name in row.fields.names where host.othersWrote.contains("\(row.recordId ?? 0).\(name)") {
                    Issue.record("\(name) of others' row is overwritten")
                }
            }
            return nil
        }

        private func check(_ success: SaveStateMachine.Success, _ change: RecordDiff) {
            checkAdded()
            switch success.outcome {
            case .written:
                #expect(!executed.isEmpty)
                expectNoDifference(executed.contains(where: \.addsRows), change.addsRows)
                for member in success.sent.fields.members where !host.othersWrote.contains(member.name) {
                    expectNoDifference(host.record.fields[member.name], member.value)
                }
            case .nothingDiffered: #expect(change.isEmpty)
            case .gaveUp, .alreadyThere: break
            }
        }

        /// No row is added twice.
        private func checkAdded() {
            #expect(executed.count(where: \.addsRows) <= 1)
        }

        private mutating func randomChange() -> RecordDiff {
            var change = RecordDiff()
            for name in ["a", "b", "c"] where Bool.random(using: &chance) { change.fields[name] = 7 }
            if Int.random(in: 0..<3, using: &chance) == 0 { change.rows.append(.edit(1, ["x": 7])) }
            if Int.random(in: 0..<4, using: &chance) == 0 { change.rows.append(.delete(2)) }
            if Int.random(in: 0..<3, using: &chance) == 0 { change.rows.append(.add(["x": 7, "y": "mine"])) }
            return change
        }
    }
}
