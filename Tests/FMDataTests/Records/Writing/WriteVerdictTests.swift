import CustomDump
import Testing

@testable import FMData

/// Whether a write whose answer was lost was carried out, and what proves it.
@Suite struct WriteVerdictTests {
    @Test func aCreateIsProvedByItsKeyAndByWhatWasWrittenWithIt() {
        expectNoDifference(WriteVerdict.ofCreate(matches: [], isKeyOurs: false), .notSeen)
        expectNoDifference(WriteVerdict.ofCreate(matches: [true], isKeyOurs: false), .carriedOut)
        expectNoDifference(WriteVerdict.ofCreate(matches: [false], isKeyOurs: false), .undecided(.otherValues))
        // No other client can have written a key that was generated for the record.
        expectNoDifference(WriteVerdict.ofCreate(matches: [false], isKeyOurs: true), .carriedOut)
        for matches in [[true, true], [true, false], [false, false]] {
            for isKeyOurs in [false, true] {
                expectNoDifference(
                    WriteVerdict.ofCreate(matches: matches, isKeyOurs: isKeyOurs),
                    .undecided(.severalRecords)
                )
            }
        }
    }

    /// Another client may have written the same fields into the next version.
    @Test func anEditIsProvedByItsModIdAlone() {
        for isSame in [false, true] {
            expectNoDifference(WriteVerdict.ofEdit(base: 3, found: (3, isSame)), .notCarriedOut)
            for modId in [2, 4, 5] {
                let verdict = WriteVerdict.ofEdit(base: 3, found: (modId, isSame))
                expectNoDifference(verdict, .undecided(isSame ? .equalWrite : .changedSince))
            }
        }
    }

    @Test func anEditWithoutAModIdIsProvedByItsFieldsAlone() {
        expectNoDifference(WriteVerdict.ofEdit(base: nil, found: (9, true)), .carriedOut)
        expectNoDifference(WriteVerdict.ofEdit(base: nil, found: (9, false)), .notSeen)
    }

    @Test func anUpsertIsProvedByItsFieldsAndByTheVersionThatItWasOver() {
        let base = WrittenVersion(recordId: 7, modId: 3)
        func verdict(_ base: WrittenVersion?, _ recordId: Int, _ modId: Int, _ isSame: Bool) -> WriteVerdict {
            .ofUpsert(over: base, found: (WrittenVersion(recordId: recordId, modId: modId), isSame))
        }
        for modId in 2...9 { expectNoDifference(verdict(base, 7, modId, true), .carriedOut) }
        expectNoDifference(verdict(base, 7, 3, false), .notCarriedOut)
        for modId in [2, 4, 5] { expectNoDifference(verdict(base, 7, modId, false), .undecided(.changedSince)) }
        expectNoDifference(verdict(base, 8, 3, false), .undecided(.changedSince))
        expectNoDifference(verdict(nil, 7, 0, true), .carriedOut)
        expectNoDifference(verdict(nil, 7, 0, false), .undecided(.otherValues))
        expectNoDifference(WriteVerdict.ofUpsert(over: nil, found: nil), .notSeen)
        expectNoDifference(WriteVerdict.ofUpsert(over: base, found: nil), .notCarriedOut)
    }

    @Test func aRecordThatIsGoneProvesNothing() {
        for base in [nil, 3] { expectNoDifference(WriteVerdict.ofEdit(base: base, found: nil), .undecided(.gone)) }
    }
}
