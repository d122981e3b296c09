import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Whether a write whose answer was lost was carried out, and what proves it.
@Suite struct WriteOutcomeTests {
    @Test func aCreateIsProvedByItsKeyAndByWhatWasWrittenWithIt() {
        expectNoDifference(WriteOutcome.ofCreate(matches: [], isKeyOurs: false), .notSeen)
        expectNoDifference(WriteOutcome.ofCreate(matches: [true], isKeyOurs: false), .carriedOut)
        expectNoDifference(WriteOutcome.ofCreate(matches: [false], isKeyOurs: false), .undecided(.otherValues))
        // No other client can have written a key that was generated for the record.
        expectNoDifference(WriteOutcome.ofCreate(matches: [false], isKeyOurs: true), .carriedOut)
        for matches in [[true, true], [true, false], [false, false]] {
            for isKeyOurs in [false, true] {
                expectNoDifference(
                    WriteOutcome.ofCreate(matches: matches, isKeyOurs: isKeyOurs),
                    .undecided(.severalRecords)
                )
            }
        }
    }

    /// Another client may have written the same fields into the next version.
    @Test func anEditIsProvedByItsModIdAlone() {
        for isSame in [false, true] {
            expectNoDifference(WriteOutcome.ofEdit(base: 3, found: (3, isSame)), .notCarriedOut)
            for modId in [2, 4, 5] {
                let outcome = WriteOutcome.ofEdit(base: 3, found: (modId, isSame))
                expectNoDifference(outcome, .undecided(isSame ? .equalWrite : .changedSince))
            }
        }
    }

    @Test func anEditWithoutAModIdIsProvedByItsFieldsAlone() {
        expectNoDifference(WriteOutcome.ofEdit(base: nil, found: (9, true)), .carriedOut)
        expectNoDifference(WriteOutcome.ofEdit(base: nil, found: (9, false)), .notSeen)
    }

    @Test func anUpsertIsProvedByItsFieldsAndByTheVersionThatItWasOver() {
        let base = WrittenVersion(recordId: 7, modId: 3)
        func outcome(_ base: WrittenVersion?, _ recordId: Int, _ modId: Int, _ isSame: Bool) -> WriteOutcome {
            .ofUpsert(over: base, found: (WrittenVersion(recordId: recordId, modId: modId), isSame))
        }
        for modId in 2...9 { expectNoDifference(outcome(base, 7, modId, true), .carriedOut) }
        expectNoDifference(outcome(base, 7, 3, false), .notCarriedOut)
        for modId in [2, 4, 5] { expectNoDifference(outcome(base, 7, modId, false), .undecided(.changedSince)) }
        expectNoDifference(outcome(base, 8, 3, false), .undecided(.changedSince))
        expectNoDifference(outcome(nil, 7, 0, true), .carriedOut)
        expectNoDifference(outcome(nil, 7, 0, false), .undecided(.otherValues))
        expectNoDifference(WriteOutcome.ofUpsert(over: nil, found: nil), .notSeen)
        expectNoDifference(WriteOutcome.ofUpsert(over: base, found: nil), .notCarriedOut)
    }

    @Test func aRecordThatIsGoneProvesNothing() {
        for base in [nil, 3] { expectNoDifference(WriteOutcome.ofEdit(base: base, found: nil), .undecided(.gone)) }
    }
}
