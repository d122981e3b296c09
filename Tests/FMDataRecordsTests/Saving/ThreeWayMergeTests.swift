import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Merges of my version, their version and the base of both.
@Suite struct ThreeWayMergeTests {
    private let base = RecordImage(
        1,
        ["a": 1, "b": 1, "c": 1],
        [RowImage(7, ["x": 1, "y": 1]), RowImage(8, ["x": 1])]
    )

    private func merge(_ change: RecordDiff, _ theirs: (inout RecordImage) -> Void) -> ThreeWayMerge {
        var image = base
        image.modId += 1
        theirs(&image)
        return ThreeWayMerge(base: base, change: change, theirs: image)
    }

    @Test func changesOfDifferentFieldsAreJoined() {
        let merge = merge(RecordDiff(fields: ["a": 2])) { $0.fields["b"] = 3 }
        expectNoDifference(merge.settled(by: .merge), RecordDiff(fields: ["a": 2]))
        expectNoDifference(merge.fields.map(\.field), ["b"])
        expectNoDifference(merge.contested, [])
    }

    @Test func whatIsTheSameIsNoConflict() {
        let merge = merge(RecordDiff(fields: ["a": 2, "b": 2])) { $0.fields["a"] = .literal("2.0") }
        #expect(merge.isUndisturbed)
        expectNoDifference(merge.change, RecordDiff(fields: ["b": 2]))
    }

    @Test func aModIdThatMovedForNothingDisturbsNobody() {
        #expect(merge(RecordDiff(fields: ["a": 2])) { _ in }.isUndisturbed)
    }

    @Test func theURLOfAContainerIsNoChange() {
        func url(_ key: String) -> WireValue { .text("https://h/Streaming_SSL/MainDB/\(key).png?RCType=x") }
        var base = base
        base.fields["photo"] = url("1")
        var theirs = base
        theirs.fields["photo"] = url("2")
        let change = RecordDiff(fields: ["a": 2])
        #expect(ThreeWayMerge(base: base, change: change, theirs: theirs).isUndisturbed)
        theirs.fields["photo"] = ""
        #expect(!ThreeWayMerge(base: base, change: change, theirs: theirs).isUndisturbed)
    }

    @Test func aFieldThatBothChangedHasThreeVersions() {
        let merge = merge(RecordDiff(fields: ["a": 2, "b": 2])) { $0.fields["a"] = 3 }
        expectNoDifference(
            merge.contested.map(\.conflict),
            [DataAPI.FieldConflict(field: "a", row: nil, base: 1, mine: 2, theirs: 3, isContested: true)]
        )
        #expect(merge.settled(by: .merge) == nil)
        #expect(merge.settled(by: .fail) == nil)
        expectNoDifference(merge.settled(by: .mine)?.fields["a"], 2)
        expectNoDifference(merge.settled(by: .theirs), RecordDiff(fields: ["b": 2]))
        expectNoDifference(merge.settled(by: .resolve { _ in .theirs }), RecordDiff(fields: ["b": 2]))
        expectNoDifference(merge.settled(by: .resolve { _ in .value(5) })?.fields["a"], 5)
        expectNoDifference(merge.settled(by: .resolve { _ in .value(3) }), RecordDiff(fields: ["b": 2]))
        #expect(merge.settled(by: .resolve { _ in .unsettled }) == nil)
    }

    @Test func clearingIsAValue() {
        let merge = merge(RecordDiff(fields: ["a": ""])) { $0.fields["a"] = 3 }
        expectNoDifference(merge.contested.map(\.mine), [""])
        expectNoDifference(merge.settled(by: .mine), RecordDiff(fields: ["a": ""]))
    }

    // MARK: Rows

    @Test func aRowIsWrittenWithItsFreshModId() {
        let merge = merge(RecordDiff(rows: [.edit(7, ["x": 2])])) { theirs in
            theirs.portals[0].rows[0].modId = 5
            theirs.portals[0].rows[0].fields["y"] = 9
            theirs.portals[0].rows.append(RowImage(9, ["x": 1]))
        }
        expectNoDifference(merge.settled(by: .merge), RecordDiff(rows: [.edit(7, modId: 5, ["x": 2])]))
        expectNoDifference(merge.fields.map(\.field), ["y"])
        expectNoDifference(merge.contested, [])
    }

    @Test func aRowThatBothChangedInOneField() {
        let merge = merge(RecordDiff(rows: [.edit(7, ["x": 2, "y": 2])])) { theirs in
            theirs.portals[0].rows[0].modId = 5
            theirs.portals[0].rows[0].fields["x"] = 3
        }
        expectNoDifference(merge.contested.map(\.field), ["x"])
        expectNoDifference(merge.contested.first?.row, DataAPI.RelatedRecord(portal: "L", recordId: 7))
        expectNoDifference(
            merge.settled(by: .mine),
            RecordDiff(rows: [.edit(7, modId: 5, ["y": 2, "x": 2])])
        )
        expectNoDifference(merge.settled(by: .theirs), RecordDiff(rows: [.edit(7, modId: 5, ["y": 2])]))
    }

    @Test func whatOneChangedAndTheOtherDeletedIsAConflict() {
        let changed = merge(RecordDiff(rows: [.edit(7, ["x": 2])])) { $0.portals[0].rows.removeFirst() }
        let row = DataAPI.RelatedRecord(portal: "L", recordId: 7)
        expectNoDifference(changed.rows, [DataAPI.RowConflict(row: row, kind: .deletedByOther)])
        for policy: DataAPI.ConflictPolicy in [.mine, .merge, .resolve { _ in .mine }] {
            #expect(changed.settled(by: policy) == nil)
        }
        expectNoDifference(changed.settled(by: .theirs), RecordDiff())

        let deleted = merge(RecordDiff(rows: [.delete(7)])) { $0.portals[0].rows[0].fields["y"] = 2 }
        expectNoDifference(deleted.rows, [DataAPI.RowConflict(row: row, kind: .changedByOther)])
        #expect(deleted.settled(by: .merge) == nil)
        expectNoDifference(deleted.settled(by: .mine), RecordDiff(rows: [.delete(7)]))
        expectNoDifference(deleted.settled(by: .theirs), RecordDiff())
    }

    @Test func whatBothDeletedIsGoneAndWhatBothAddedStays() {
        let change = RecordDiff(rows: [.delete(7), .add(["x": 4])])
        let merge = merge(change) { theirs in
            theirs.portals[0].rows.removeFirst()
            theirs.portals[0].rows.append(RowImage(9, ["x": 4]))
        }
        expectNoDifference(merge.settled(by: .merge), RecordDiff(rows: [.add(["x": 4])]))
    }

    @Test func aRowBeyondThoseThatWereReadIsUnknownAndNotDeleted() {
        let change = RecordDiff(rows: [.edit(7, ["x": 2]), .delete(8)])
        let merge = merge(change) { $0.portals[0] = PortalImage(name: "L", rows: [RowImage(3, [:])], isWhole: false) }
        expectNoDifference(merge.settled(by: .merge), change)
        // Both rows are still known in the next round.
        expectNoDifference(merge.base.portals[0].rows.map(\.recordId), [3, 7, 8])
        let second = ThreeWayMerge(base: merge.base, change: change, theirs: base)
        expectNoDifference(second.settled(by: .merge), change)
    }

    // MARK: At random

    @Test(arguments: 0..<400 as Range<UInt64>)
    func nothingIsLostAndNothingInvented(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        let base = RecordImage.random(&chance)
        let mine = base.changed(&chance, newRow: "mine")
        let theirs = base.changed(&chance, newRow: "theirs")
        let (change, other) = (
            try RecordDiff(from: base, to: mine), try RecordDiff(from: base, to: theirs.asDrafted)
        )
        let merge = ThreeWayMerge(base: base, change: change, theirs: theirs)
        let swapped = ThreeWayMerge(base: base, change: other, theirs: mine)

        // Swapping the two sides does not change what is contested.
        func places(_ merge: ThreeWayMerge) -> Set<String> {
            Set(
                merge.contested.map { "\($0.field) \($0.row?.recordId ?? 0)" } + merge.rows.map { "\($0.row.recordId)" }
            )
        }
        expectNoDifference(places(merge), places(swapped))
        expectNoDifference(merge.settled(by: .merge) == nil, !places(merge).isEmpty)

        let joined = try #require(ThreeWayMerge(base: base, change: change, theirs: theirs).settled(by: .theirs))
        let result = theirs.applying(joined)
        for name in base.fields.names {
            let isTheirs = other.fields[name] != nil || change.fields[name] == nil
            let wanted = isTheirs ? theirs.fields[name] : mine.fields[name]
            #expect(wanted?.isSame(as: result.fields[name]) == true, "\(name)")
        }
        // Each row that one side added is there once.
        let added = result.rows.filter { $0.recordId == nil || ($0.recordId ?? 0) > 100 }
        expectNoDifference(added.count, change.addedCount + other.addedCount)
        // A row that one side deleted and the other left alone is deleted; all others are there.
        for row in base.rows {
            let id = row.recordId
            let (isMine, isTheirs) = (
                mine.rows.contains { $0.recordId == id }, theirs.rows.contains { $0.recordId == id }
            )
            let theyTouched = theirs.rows.first { $0.recordId == id } != row
            let isThere = result.rows.contains { $0.recordId == id }
            expectNoDifference(isThere, isTheirs && (isMine || theyTouched), "row \(id ?? 0)")
        }
        // What was merged need not be merged again.
        if let rest = merge.settled(by: .merge) {
            let again = ThreeWayMerge(base: merge.base, change: rest, theirs: merge.base)
            #expect(again.isUndisturbed)
            expectNoDifference(again.change, rest)
        }
    }
}

extension RecordImage {
    fileprivate var rows: [RowImage] { portals[0].rows }

    fileprivate static func random(_ chance: inout SeededRandom) -> RecordImage {
        var fields = FieldSet()
        for name in ["a", "b", "c", "d"] { fields[name] = .literal("\(Int.random(in: 0..<3, using: &chance))") }
        let rows = (1...3).map { RowImage($0, ["x": .literal("\(Int.random(in: 0..<3, using: &chance))"), "y": "k"]) }
        return RecordImage(1, fields, rows)
    }

    /// The record before its new rows got their ids.
    fileprivate var asDrafted: RecordImage {
        var image = self
        for place in image.portals[0].rows.indices where (image.portals[0].rows[place].recordId ?? 0) > 100 {
            image.portals[0].rows[place].recordId = nil
        }
        return image
    }

    /// The record after some random changes.
    fileprivate func changed(_ chance: inout SeededRandom, newRow: String) -> RecordImage {
        var image = self
        for name in fields.names where Int.random(in: 0..<3, using: &chance) == 0 {
            image.fields[name] = .literal("\(Int.random(in: 0..<3, using: &chance))")
        }
        var rows: [RowImage] = []
        for var row in self.rows {
            switch Int.random(in: 0..<6, using: &chance) {
            case 0: continue
            case 1, 2: row.fields["x"] = .literal("\(Int.random(in: 0..<3, using: &chance))")
            case 3: row.fields["y"] = .text(newRow)
            default: break
            }
            rows.append(row)
        }
        if Bool.random(using: &chance) {
            // Their rows have been committed, so they have ids.
            rows.append(RowImage(newRow == "theirs" ? 101 : nil, ["x": 9, "y": .text(newRow)]))
        }
        image.portals[0].rows = rows
        return image
    }

    /// The record after a server has carried out the change.
    func applying(_ change: RecordDiff) -> RecordImage {
        var image = self
        for member in change.fields.members { image.fields[member.name] = member.value }
        for row in change.rows {
            let place = image.portals.firstIndex { $0.name == row.portal } ?? 0
            switch row {
            case .delete(_, let id): image.portals[place].rows.removeAll { $0.recordId == id }
            case .add(_, let fields):
                let id = (image.portals[place].rows.compactMap(\.recordId).max() ?? 0) + 1
                image.portals[place].rows.append(RowImage(max(id, 200), fields))
            case .edit(_, let changed):
                for index in image.portals[place].rows.indices
                where image.portals[place].rows[index].recordId == changed.recordId {
                    for member in changed.fields.members {
                        image.portals[place].rows[index].fields[member.name] = member.value
                    }
                    image.portals[place].rows[index].modId? += 1
                }
            }
        }
        return image
    }
}

extension RecordDiff {
    fileprivate var addedCount: Int { rows.count { if case .add = $0 { true } else { false } } }
}
