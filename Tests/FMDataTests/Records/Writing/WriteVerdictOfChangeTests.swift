import CustomDump
import Testing

@testable import FMData

/// Whether the write of a save whose answer was lost was carried out. It is one commit, so what is found of its portal
/// rows is evidence as well.
@Suite struct WriteVerdictOfChangeTests {
    private let base = RecordImage(
        3,
        ["Name": "Ada", "Vendor::City": "Kiel"],
        [RowImage(7, modId: 2, ["L::Kind": "work"]), RowImage(8, ["L::Kind": "home"])]
    )

    /// - Parameter change: makes the record that is found from the base.
    private func verdict(
        _ fields: FieldSet = [:],
        _ rows: [RowChange] = [],
        found change: (inout RecordImage) -> Void = { _ in }
    ) -> WriteVerdict {
        var theirs = base
        change(&theirs)
        return .ofChange(RecordDiff(fields: fields, rows: rows), on: base, found: theirs)
    }

    // MARK: Fields of the record

    @Test func aChangeOfTheRecordIsProvedByItsModIdAndItsFields() {
        func found(_ modId: Int, _ name: WireValue) -> WriteVerdict {
            verdict(["Name": "Eve"]) {
                $0.modId = modId
                $0.fields["Name"] = name
            }
        }
        expectNoDifference(found(3, "Ada"), .notCarriedOut)
        expectNoDifference(found(4, "Eve"), .carriedOut)
        expectNoDifference(found(4, "Bob"), .undecided(.changedSince))
        expectNoDifference(found(5, "Eve"), .undecided(.changedSince))
    }

    /// Writing them changes the modId of the related record only.
    @Test func fieldsOfRelatedRecordsAreProvedByTheirValues() {
        expectNoDifference(verdict(["Vendor::City": "Bonn"]), .notCarriedOut)
        expectNoDifference(verdict(["Vendor::City": "Bonn"]) { $0.fields["Vendor::City"] = "Bonn" }, .carriedOut)
        // Another client's value: to write again would overwrite it, since the record's modId has not moved.
        expectNoDifference(
            verdict(["Vendor::City": "Bonn"]) { $0.fields["Vendor::City"] = "Paris" },
            .undecided(.changedSince)
        )
    }

    // MARK: Rows that were added

    @Test func anAddedRowThatIsThereProvesTheWhole() {
        let fax = RowImage(9, ["L::Kind": "fax"])
        expectNoDifference(verdict([:], [.add(["L::Kind": "fax"])]) { $0.portals[0].rows.append(fax) }, .carriedOut)
        let both = verdict(["Name": "Eve"], [.add(["L::Kind": "fax"])]) {
            $0.modId = 9
            $0.fields["Name"] = "Bob"
            $0.portals[0].rows.append(fax)
        }
        expectNoDifference(both, .carriedOut)
        // An empty field is the same as one that the row does not show.
        let partlyEmpty = verdict([:], [.add(["L::Kind": "fax", "L::Note": ""])]) { $0.portals[0].rows.append(fax) }
        expectNoDifference(partlyEmpty, .carriedOut)
    }

    @Test func whereAnAddedRowIsNotThereTheWholeIsNot() {
        expectNoDifference(verdict([:], [.add(["L::Kind": "fax"])]), .notCarriedOut)
        // A row like it was there before.
        expectNoDifference(verdict([:], [.add(["L::Kind": "work"])]), .notCarriedOut)
        // The fields alone look carried out, but they would not have been without the row.
        let fieldsOnly = verdict(["Name": "Eve"], [.add(["L::Kind": "fax"])]) {
            $0.modId = 4
            $0.fields["Name"] = "Eve"
        }
        expectNoDifference(fieldsOnly, .undecided(.changedSince))
    }

    @Test func equalRowsAreFoundOneByOne() {
        func found(_ ids: Int...) -> WriteVerdict {
            verdict([:], [.add(["L::Kind": "fax"]), .add(["L::Kind": "fax"])]) { record in
                record.portals[0].rows += ids.map { RowImage($0, ["L::Kind": "fax"]) }
            }
        }
        expectNoDifference(found(9, 10), .carriedOut)
        #expect(found(9) != .carriedOut)
    }

    @Test func ofAddedRowsThatMayBeOutOfSightNothingIsProved() {
        let adding = [RowChange.add(["L::Kind": "fax"])]
        expectNoDifference(verdict([:], adding) { $0.portals[0].isWhole = false }, .undecided(.changedSince))
        expectNoDifference(verdict([:], adding) { $0.portals = [] }, .undecided(.changedSince))
        // Any row is like one without values.
        expectNoDifference(verdict([:], [.add(["L::Kind": ""])]), .undecided(.changedSince))
        // Then the fields of the record decide.
        let fields = verdict(["Name": "Eve"], adding) {
            $0.modId = 4
            $0.fields["Name"] = "Eve"
            $0.portals[0].isWhole = false
        }
        expectNoDifference(fields, .carriedOut)
    }

    /// A row that is new to the client may have been there, beyond the rows that it had read.
    @Test func aRowProvesNothingWhereNotAllWereReadBefore() {
        var (base, theirs) = (base, base)
        base.portals[0].isWhole = false
        theirs.portals[0].rows.append(RowImage(9, ["L::Kind": "fax"]))
        expectNoDifference(
            WriteVerdict.ofChange(RecordDiff(rows: [.add(["L::Kind": "fax"])]), on: base, found: theirs),
            .undecided(.changedSince)
        )
    }

    // MARK: Rows that were changed or deleted

    @Test func anEditedRowIsProvedByItself() {
        let editing = [RowChange.edit(7, modId: 2, ["L::Kind": "fax"])]
        expectNoDifference(verdict([:], editing), .notCarriedOut)
        let done = verdict([:], editing) { $0.portals[0].rows[0] = RowImage(7, modId: 3, ["L::Kind": "fax"]) }
        expectNoDifference(done, .carriedOut)
        let other = verdict([:], editing) { $0.portals[0].rows[0] = RowImage(7, modId: 3, ["L::Kind": "car"]) }
        expectNoDifference(other, .undecided(.changedSince))
        expectNoDifference(verdict([:], editing) { $0.portals[0].rows.removeFirst() }, .undecided(.changedSince))
    }

    @Test func aDeletedRowIsProvedByAPortalThatIsWhole() {
        expectNoDifference(verdict([:], [.delete(8)]), .notCarriedOut)
        expectNoDifference(verdict([:], [.delete(8)]) { $0.portals[0].rows.removeLast() }, .carriedOut)
        let hidden = verdict([:], [.delete(8)]) {
            $0.portals[0].rows.removeLast()
            $0.portals[0].isWhole = false
        }
        expectNoDifference(hidden, .undecided(.changedSince))
    }

    @Test func severalRowsAreDoneOrUntouchedTogether() {
        let changes = [RowChange.edit(7, modId: 2, ["L::Kind": "fax"]), .delete(8)]
        let edited = RowImage(7, modId: 3, ["L::Kind": "fax"])
        expectNoDifference(verdict([:], changes), .notCarriedOut)
        expectNoDifference(verdict([:], changes) { $0.portals[0].rows = [edited] }, .carriedOut)
        expectNoDifference(verdict([:], changes) { $0.portals[0].rows[0] = edited }, .undecided(.changedSince))
        expectNoDifference(verdict([:], changes) { $0.portals[0].rows.removeLast() }, .undecided(.changedSince))
        // With fields of related records it is the same.
        let withCity = verdict(["Vendor::City": "Bonn"], changes) { $0.portals[0].rows = [edited] }
        expectNoDifference(withCity, .undecided(.changedSince))
    }
}
