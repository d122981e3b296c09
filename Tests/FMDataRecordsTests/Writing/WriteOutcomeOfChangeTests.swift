import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Whether the write of a save whose answer was lost was carried out. What is found proves only that it was not:
/// another client may have written the same.
@Suite struct WriteOutcomeOfChangeTests {
    private let base = RecordImage(
        3,
        ["Name": "Ada", "Vendor::City": "Kiel"],
        [RowImage(7, modId: 2, ["L::Kind": "work"]), RowImage(8, ["L::Kind": "home"])]
    )

    /// - Parameter change: makes the record that is found from the base.
    private func outcome(
        _ fields: FieldSet = [:],
        _ rows: [RowChange] = [],
        found change: (inout RecordImage) -> Void = { _ in }
    ) -> WriteOutcome {
        var theirs = base
        change(&theirs)
        return .ofChange(RecordDiff(fields: fields, rows: rows), on: base, found: theirs)
    }

    // MARK: Fields of the record

    @Test func aChangeOfTheRecordIsProvedByItsModId() {
        func found(_ modId: Int, _ name: WireValue) -> WriteOutcome {
            outcome(["Name": "Eve"]) {
                $0.modId = modId
                $0.fields["Name"] = name
            }
        }
        expectNoDifference(found(3, "Ada"), .notCarriedOut)
        expectNoDifference(found(4, "Eve"), .undecided(.equalWrite))
        expectNoDifference(found(4, "Bob"), .undecided(.changedSince))
        expectNoDifference(found(5, "Eve"), .undecided(.equalWrite))
    }

    /// Writing them changes the modId of the related record only.
    @Test func fieldsOfRelatedRecordsThatAreAsBeforeWereNotWritten() {
        expectNoDifference(outcome(["Vendor::City": "Bonn"]), .notCarriedOut)
        expectNoDifference(
            outcome(["Vendor::City": "Bonn"]) { $0.fields["Vendor::City"] = "Bonn" },
            .undecided(.equalWrite)
        )
        // Another client's value: to write again would overwrite it, since the record's modId has not moved.
        expectNoDifference(
            outcome(["Vendor::City": "Bonn"]) { $0.fields["Vendor::City"] = "Paris" },
            .undecided(.changedSince)
        )
    }

    // MARK: Rows that were added

    @Test func anAddedRowThatIsThereMayBeAnotherClients() {
        let fax = RowImage(9, ["L::Kind": "fax"])
        let alone = outcome([:], [.add(["L::Kind": "fax"])]) { $0.portals[0].rows.append(fax) }
        expectNoDifference(alone, .undecided(.equalWrite))
        let both = outcome(["Name": "Eve"], [.add(["L::Kind": "fax"])]) {
            $0.modId = 4
            $0.fields["Name"] = "Eve"
            $0.portals[0].rows.append(fax)
        }
        expectNoDifference(both, .undecided(.equalWrite))
        // The record has the old modId, so the row is another client's.
        let theirs = outcome(["Name": "Eve"], [.add(["L::Kind": "fax"])]) { $0.portals[0].rows.append(fax) }
        expectNoDifference(theirs, .notCarriedOut)
        // An empty field is the same as one that the row does not show.
        let partlyEmpty = outcome([:], [.add(["L::Kind": "fax", "L::Note": ""])]) { $0.portals[0].rows.append(fax) }
        expectNoDifference(partlyEmpty, .undecided(.equalWrite))
    }

    @Test func whereAnAddedRowIsNotThereTheWholeIsNot() {
        expectNoDifference(outcome([:], [.add(["L::Kind": "fax"])]), .notCarriedOut)
        // A row like it was there before.
        expectNoDifference(outcome([:], [.add(["L::Kind": "work"])]), .notCarriedOut)
        // The fields alone look carried out, but they would not have been without the row.
        let fieldsOnly = outcome(["Name": "Eve"], [.add(["L::Kind": "fax"])]) {
            $0.modId = 4
            $0.fields["Name"] = "Eve"
        }
        expectNoDifference(fieldsOnly, .undecided(.changedSince))
    }

    @Test func equalRowsAreFoundOneByOne() {
        func found(_ ids: Int...) -> WriteOutcome {
            outcome([:], [.add(["L::Kind": "fax"]), .add(["L::Kind": "fax"])]) { record in
                record.portals[0].rows += ids.map { RowImage($0, ["L::Kind": "fax"]) }
            }
        }
        expectNoDifference(found(9, 10), .undecided(.equalWrite))
        expectNoDifference(found(9), .notCarriedOut)
    }

    @Test func ofAddedRowsThatMayBeOutOfSightNothingIsProved() {
        let adding = [RowChange.add(["L::Kind": "fax"])]
        expectNoDifference(outcome([:], adding) { $0.portals[0].isWhole = false }, .undecided(.changedSince))
        expectNoDifference(outcome([:], adding) { $0.portals = [] }, .undecided(.changedSince))
        // Any row is like one without values.
        expectNoDifference(outcome([:], [.add(["L::Kind": ""])]), .undecided(.changedSince))
        // The fields of the record prove no more.
        let fields = outcome(["Name": "Eve"], adding) {
            $0.modId = 4
            $0.fields["Name"] = "Eve"
            $0.portals[0].isWhole = false
        }
        expectNoDifference(fields, .undecided(.changedSince))
    }

    /// A row that is new to the client may have been there, beyond the rows that it had read.
    @Test func aRowProvesNothingWhereNotAllWereReadBefore() {
        var (base, theirs) = (base, base)
        base.portals[0].isWhole = false
        theirs.portals[0].rows.append(RowImage(9, ["L::Kind": "fax"]))
        expectNoDifference(
            WriteOutcome.ofChange(RecordDiff(rows: [.add(["L::Kind": "fax"])]), on: base, found: theirs),
            .undecided(.changedSince)
        )
    }

    // MARK: Rows that were changed or deleted

    @Test func anEditedRowThatIsAsBeforeWasNotWritten() {
        let editing = [RowChange.edit(7, modId: 2, ["L::Kind": "fax"])]
        expectNoDifference(outcome([:], editing), .notCarriedOut)
        let done = outcome([:], editing) { $0.portals[0].rows[0] = RowImage(7, modId: 3, ["L::Kind": "fax"]) }
        expectNoDifference(done, .undecided(.equalWrite))
        let other = outcome([:], editing) { $0.portals[0].rows[0] = RowImage(7, modId: 3, ["L::Kind": "car"]) }
        expectNoDifference(other, .undecided(.changedSince))
        expectNoDifference(outcome([:], editing) { $0.portals[0].rows.removeFirst() }, .undecided(.changedSince))
    }

    @Test func aDeletedRowIsProvedByAPortalThatIsWhole() {
        expectNoDifference(outcome([:], [.delete(8)]), .notCarriedOut)
        expectNoDifference(outcome([:], [.delete(8)]) { $0.portals[0].rows.removeLast() }, .carriedOut)
        let hidden = outcome([:], [.delete(8)]) {
            $0.portals[0].rows.removeLast()
            $0.portals[0].isWhole = false
        }
        expectNoDifference(hidden, .undecided(.changedSince))
    }

    @Test func severalRowsAreDoneOrUntouchedTogether() {
        let changes = [RowChange.edit(7, modId: 2, ["L::Kind": "fax"]), .delete(8)]
        let edited = RowImage(7, modId: 3, ["L::Kind": "fax"])
        expectNoDifference(outcome([:], changes), .notCarriedOut)
        expectNoDifference(outcome([:], changes) { $0.portals[0].rows = [edited] }, .undecided(.equalWrite))
        expectNoDifference(outcome([:], changes) { $0.portals[0].rows[0] = edited }, .undecided(.changedSince))
        expectNoDifference(outcome([:], changes) { $0.portals[0].rows.removeLast() }, .undecided(.changedSince))
        // With fields of related records it is the same.
        let withCity = outcome(["Vendor::City": "Bonn"], changes) { $0.portals[0].rows = [edited] }
        expectNoDifference(withCity, .undecided(.changedSince))
    }
}
