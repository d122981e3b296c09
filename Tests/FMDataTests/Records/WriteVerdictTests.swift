import CustomDump
import Testing

@testable import FMData

/// Whether a write whose answer was lost was carried out: what proves what.
@Suite struct WriteVerdictTests {
    @Test func aCreateIsProvedByItsKeyAndByWhatWasWrittenWithIt() {
        expectNoDifference(WriteVerdict.ofCreate(matches: [], isKeyOurs: false), .notSeen)
        expectNoDifference(WriteVerdict.ofCreate(matches: [true], isKeyOurs: false), .carriedOut)
        expectNoDifference(WriteVerdict.ofCreate(matches: [false], isKeyOurs: false), .undecided(.otherValues))
        // Nobody else can have written a key that was made up for the record.
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

    @Test func anEditIsProvedByItsModIdAndItsFields() {
        for isSame in [false, true] {
            expectNoDifference(WriteVerdict.ofEdit(base: 3, found: (3, isSame)), .notCarriedOut)
            expectNoDifference(WriteVerdict.ofEdit(base: 3, found: (5, isSame)), .undecided(.changedSince))
            expectNoDifference(WriteVerdict.ofEdit(base: 3, found: (2, isSame)), .undecided(.changedSince))
        }
        expectNoDifference(WriteVerdict.ofEdit(base: 3, found: (4, true)), .carriedOut)
        expectNoDifference(WriteVerdict.ofEdit(base: 3, found: (4, false)), .undecided(.changedSince))
    }

    @Test func anEditWithoutAModIdIsProvedByItsFieldsAlone() {
        expectNoDifference(WriteVerdict.ofEdit(base: nil, found: (9, true)), .carriedOut)
        expectNoDifference(WriteVerdict.ofEdit(base: nil, found: (9, false)), .notSeen)
    }

    @Test func aRecordThatIsGoneProvesNothing() {
        for base in [nil, 3] { expectNoDifference(WriteVerdict.ofEdit(base: base, found: nil), .undecided(.gone)) }
    }
}
