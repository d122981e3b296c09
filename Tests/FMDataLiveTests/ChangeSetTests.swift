import CustomDump
import FMData
import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// The changes between two states of a live query.
@Suite struct ChangeSetTests {
    private typealias State = LiveState<FieldData>
    private typealias Record = DataAPI.TypedLayout<FieldData>.Record

    private static func record(_ id: Int, _ modId: Int = 0, _ text: String = "") -> Record {
        Record(fieldData: ["Text": .text(text)], recordId: id, modId: modId)
    }

    private static let policy = ChangePolicy<FieldData>(areEqual: { $0.fieldData == $1.fieldData })

    private static func findings(
        _ order: [Int]?,
        _ read: [Record] = [],
        unreadable: [DataAPI.UnreadableRecord] = [],
        isInconsistent: Bool = false
    ) -> PollFindings<FieldData> {
        PollFindings(
            order: order,
            read: read.map { .record($0) } + unreadable.map { .unreadable($0) },
            isInconsistent: isInconsistent,
            strategy: RereadPolling(maximum: .max)
        )
    }

    private static func state(
        _ records: [Record],
        after state: State = State(),
        gone: [Int: State.Reason] = [:],
        overtaken: Set<Int> = [],
        isInconsistent: Bool = false,
        _ policy: ChangePolicy<FieldData> = policy
    ) -> (state: State, isNews: Bool) {
        let findings = Self.findings(records.map(\.recordId), records, isInconsistent: isInconsistent)
        return state.next(
            findings,
            gone: gone,
            overtaken: overtaken,
            policy,
            origin: .poll,
            asOf: .uptimeNanoseconds(1)
        )
    }

    @Test func versionsAreKnownWhereverTheirRecordsStand() {
        let state = Self.state([Self.record(1), Self.record(2, 8), Self.record(3)]).state
        let versions = LiveVersions(state)
        expectNoDifference([1, 2, 3].enumerated().map { versions.modId(of: $1, near: $0) }, state.records.map(\.modId))
        expectNoDifference(versions.modId(of: 2, near: 0), 8)
        expectNoDifference(versions.modId(of: 2, near: 70), 8)
        expectNoDifference(versions.modId(of: 4, near: 0), nil)
        expectNoDifference(versions.count, 3)
    }

    @Test func aLookConfirmsWhatIsHeldInItsOrder() {
        let records = [Self.record(1), Self.record(2)]
        func findings(_ order: [Int]?, _ read: [Record] = []) -> PollFindings<FieldData> {
            Self.findings(order, read)
        }
        expectNoDifference(State().isConfirmed(by: findings([])), false)
        let state = Self.state(records).state
        expectNoDifference(state.isConfirmed(by: findings([1, 2])), true)
        expectNoDifference(state.isConfirmed(by: findings([1, 2], records)), true)
        expectNoDifference(state.isConfirmed(by: findings([2, 1])), false)
        expectNoDifference(state.isConfirmed(by: findings([1])), false)
        expectNoDifference(state.isConfirmed(by: findings(nil)), true)
        expectNoDifference(state.isConfirmed(by: findings(nil, [Self.record(2, 8)])), false)
        expectNoDifference(state.isConfirmed(by: findings([1, 2], [Self.record(2)])), false)
        expectNoDifference(state.isConfirmed(by: findings([1, 2], [Self.record(1), Self.record(2, 8)])), false)
    }

    @Test func theFirstValueIsAllInserted() {
        let state = Self.state([Self.record(1), Self.record(2)]).state
        let changes = state.changes(since: State())
        expectNoDifference(changes.inserted.map(\.recordId), [1, 2])
        expectNoDifference(Array(changes.insertions), [0, 1])
        #expect(changes.deletions.isEmpty && changes.modifications.isEmpty)
    }

    @Test func aSetThatWasReadInMotionSaysSo() {
        func isComplete(_ state: State) -> Bool {
            DataAPI.Freshness(state, since: State(), TestClock().sessionTime).isComplete
        }
        let torn = Self.state([Self.record(1)], isInconsistent: true).state
        expectNoDifference(isComplete(torn), false)
        // The same records, read while the table did not change.
        expectNoDifference(isComplete(Self.state([Self.record(1)], after: torn).state), true)
    }

    @Test func anEmptyFirstValueIsNews() {
        #expect(Self.state([]).isNews)
    }

    @Test func nothingNewIsNoNews() {
        let first = Self.state([Self.record(1)]).state
        let second = Self.state([Self.record(1)], after: first)
        #expect(!second.isNews)
        expectNoDifference(second.state.changeCount, first.changeCount)
    }

    @Test func insertedUpdatedRemovedAndMoved() {
        let first = Self.state([1, 2, 3, 4].map { Self.record($0) }).state
        let second = Self.state(
            [Self.record(4), Self.record(2, 1), Self.record(5), Self.record(3)],
            after: first,
            gone: [1: .deleted]
        ).state
        let changes = second.changes(since: first)
        expectNoDifference(changes.inserted.map(\.recordId), [5])
        expectNoDifference(changes.updated.map(\.record.recordId), [2])
        expectNoDifference(changes.updated.map(\.oldModId), [0])
        expectNoDifference(changes.removed.map(\.recordId), [1])
        expectNoDifference(changes.removed.map(\.reason), [.deleted])
        expectNoDifference(Array(changes.deletions), [0, 3])
        expectNoDifference(Array(changes.insertions), [0, 2])
        expectNoDifference(Array(changes.modifications), [1])
    }

    @Test func whatIsMissingWithoutProofStaysInItsPlace() {
        let first = Self.state([1, 2, 3].map { Self.record($0) }).state
        let second = Self.state([Self.record(1), Self.record(3, 1)], after: first).state
        expectNoDifference(second.records.map(\.recordId), [1, 2, 3])
    }

    @Test func whatWasWrittenDuringTheLookIsNotSetBack() {
        let first = Self.state([Self.record(1, 5, "new")]).state
        let second = Self.state([Self.record(1, 4, "old")], after: first, overtaken: [1])
        #expect(!second.isNews)
        expectNoDifference(second.state.records.map(\.modId), [5])
    }

    @Test func aModIdThatFallsIsAnotherFile() {
        let first = Self.state([Self.record(1, 5), Self.record(2)]).state
        let second = Self.state([Self.record(1, 4), Self.record(2)], after: first)
        #expect(second.isNews)
        expectNoDifference(second.state.replacementCount, first.replacementCount + 1)
    }

    @Test func aCommitOfNothingIsAChangeUnlessItIsNotWanted() {
        let first = Self.state([Self.record(1, 0, "same")]).state
        let news = Self.state([Self.record(1, 1, "same")], after: first)
        expectNoDifference(news.state.changes(since: first).updated.map(\.record.modId), [1])

        var policy = Self.policy
        policy.ignoresEqual = true
        let quiet = Self.state([Self.record(1, 1, "same")], after: first, policy)
        #expect(!quiet.isNews)
        // The modId is stored all the same: the next poll compares with it.
        expectNoDifference(quiet.state.records.map(\.modId), [1])
    }

    @Test func whoIsEquallyFarSharesTheChangesUntilAllAreTold() {
        let first = Self.state([Self.record(1)]).state
        let second = Self.state([Self.record(1, 1)], after: first).state
        let shared = SharedChanges<FieldData>()
        var workedOut: [Int] = []
        func tell(_ edition: Int) -> [Int] {
            shared.since(edition) {
                workedOut.append(edition)
                return second.changes(since: first)
            }
            .updated.map(\.record.recordId)
        }
        for edition in [1, 1, 0, 1, 0] { expectNoDifference(tell(edition), [1]) }
        expectNoDifference(workedOut, [1, 0])
        shared.allAreTold()
        for _ in 0..<2 { expectNoDifference(tell(1), [1]) }
        expectNoDifference(workedOut, [1, 0, 1, 1])
    }

    @Test func whoHasTheSameValueInANewerEditionIsToldOfItsOwn() {
        var policy = Self.policy
        policy.ignoresEqual = true
        let first = Self.state([Self.record(1, 0, "same")]).state
        let quiet = Self.state([Self.record(1, 1, "same")], after: first, policy).state
        let second = Self.state([Self.record(1, 2, "new")], after: quiet, policy).state
        expectNoDifference(second.changes(since: first).updated.map(\.oldModId), [0])
        expectNoDifference(second.changes(since: quiet).updated.map(\.oldModId), [1])
    }

    @Test func whatChangesBeneathAModIdIsSeenWhereItIsWanted() {
        let first = Self.state([Self.record(1, 0, "one")]).state
        #expect(!Self.state([Self.record(1, 0, "two")], after: first).isNews)

        var policy = Self.policy
        policy.seesUncommitted = true
        let second = Self.state([Self.record(1, 0, "two")], after: first, policy)
        #expect(second.isNews)
        expectNoDifference(second.state.changes(since: first).updated.map(\.record.recordId), [1])
    }

    @Test func whoWasAwayGetsTheDifferenceOfTwoStates() {
        let first = Self.state([Self.record(1), Self.record(2)]).state
        let second = Self.state([Self.record(1, 1), Self.record(2), Self.record(3)], after: first).state
        let third = Self.state([Self.record(1, 2)], after: second, gone: [2: .left, 3: .deleted]).state
        let changes = third.changes(since: first)
        // Record 3 was inserted and deleted meanwhile.
        expectNoDifference(changes.inserted.map(\.recordId), [])
        expectNoDifference(changes.updated.map(\.oldModId), [0])
        expectNoDifference(changes.removed.map(\.recordId), [2])
        expectNoDifference(changes.removed.map(\.reason), [.left])
    }

    /// Applying the index sets to the old list gives the new list.
    @Test(arguments: 0..<200) func theIndexSetsLeadFromTheOldListToTheNewOne(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var records = (1...Int.random(in: 1...12, using: &random)).map { Self.record($0) }
        let first = Self.state(records).state
        let old = records
        var next = 100
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !records.isEmpty: records.remove(at: Int.random(in: records.indices, using: &random))
            case 1 where !records.isEmpty: records[Int.random(in: records.indices, using: &random)].modId += 1
            case 2: records.shuffle(using: &random)
            default:
                next += 1
                records.insert(Self.record(next), at: Int.random(in: 0...records.count, using: &random))
            }
        }
        let ids = Set(records.map(\.recordId))
        let gone = Dictionary(
            uniqueKeysWithValues: old.filter { !ids.contains($0.recordId) }.map { ($0.recordId, State.Reason.deleted) }
        )
        let second = Self.state(records, after: first, gone: gone).state
        let changes = second.changes(since: first)

        var list = old
        for place in changes.deletions.reversed() { list.remove(at: place) }
        for place in changes.insertions { list.insert(second.records[place], at: place) }
        for place in changes.modifications { list[place] = second.records[place] }
        expectNoDifference(
            list.map { [$0.recordId, $0.modId] },
            records.map { [$0.recordId, $0.modId] },
            "seed \(seed)"
        )
        #expect(changes.modifications.isDisjoint(with: changes.insertions))
    }
}
