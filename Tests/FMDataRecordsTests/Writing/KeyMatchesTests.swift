import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Which of the records that a find returns has exactly the key that was asked for.
@Suite struct KeyMatchesTests {
    private func matches(_ key: FieldValue, _ values: WireValue?..., hasMore: Bool = false) -> KeyMatches<Int> {
        KeyMatches(Array(values.indices), of: key, hasMore: hasMore) { values[$0] }
    }

    @Test func onlyTheExactKeyIsTheKey() {
        let both = matches(.text("ab3x"), .text("AB3X"), .text("ab3x"), .text("Äb3x"))
        expectNoDifference(both.exact, [1])
        expectNoDifference(both.others, .none)
        expectNoDifference(matches(.text("a"), .text("a"), .text("a")).exact, [0, 1])
        expectNoDifference(matches(.text("a")).others, .none)
    }

    @Test(arguments: ["AB3X", "Äb3x", " ab3x", "ab3x ", "ａb3x"])
    func anotherSpellingIsSomebodyElses(other: String) {
        let found = matches(.text("ab3x"), .text(other))
        expectNoDifference(found.exact, [])
        expectNoDifference(found.others, .spelledOtherwise)
    }

    @Test func anotherFormIsNeither() {
        expectNoDifference(matches(.text("1/2/2026"), .text("01/02/2026")).others, .inOtherForm)
        expectNoDifference(matches(.text("a"), .text("A"), nil).others, .inOtherForm)
        expectNoDifference(matches(.text("a"), .text("A"), hasMore: true).others, .tooMany)
        expectNoDifference(matches(.text("a"), .text("a"), hasMore: true).others, .none)
    }

    @Test func numbersAreComparedAsNumbers() {
        expectNoDifference(matches(.number(3), .literal("3.0")).exact, [0])
        expectNoDifference(matches(.text("03"), .literal("3")).exact, [0])
        expectNoDifference(matches(.number(3), .literal("4")).others, .inOtherForm)
    }
}
