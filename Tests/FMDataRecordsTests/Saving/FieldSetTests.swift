import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Which values and fields differ in FileMaker's sense.
@Suite struct FieldSetTests {
    @Test(
        arguments: [
            ("a", "a"), ("", .literal("null")), (.literal("1"), .literal("1.0")), (.literal("1e2"), .literal("100")),
            (.literal("0"), .literal("-0")), (.literal("7"), "007"), (.literal("0.5"), ".5"),
            ("a\rb", "a\nb"), ("a\rb", "a\r\nb"), ("a\n\n", "a\r\r"),
        ] as [(WireValue, WireValue)]
    )
    func areTheSame(left: WireValue, right: WireValue) {
        #expect(left.isSame(as: right))
        #expect(right.isSame(as: left))
    }

    @Test(
        arguments: [
            ("a", "A"), ("a", "a "), ("1.0", "1"), ("é", "e\u{301}"), (.literal("1"), "1 a"), (.literal("0"), ""),
            ("a\r\rb", "a\rb"), (.literal("9007199254740993"), .literal("9007199254740992")), (.literal("true"), "1"),
        ] as [(WireValue, WireValue)]
    )
    func differ(left: WireValue, right: WireValue) {
        #expect(!left.isSame(as: right))
        #expect(!right.isSame(as: left))
    }

    @Test func emptyIsAbsent() {
        #expect(WireValue.text("").isSame(as: nil))
        #expect(!WireValue.text("a").isSame(as: nil))
        #expect(!WireValue.literal("0").isSame(as: nil))
    }

    @Test func onlyWhatDiffersIsAChange() {
        let base: FieldSet = ["Name": "Ada", "City": "", "Balance": .literal("1815.10"), "Notes": "a\rb"]
        let mine: FieldSet = ["Name": "Ada", "City": "London", "Balance": .literal("1815.1"), "Notes": "a\nb"]
        expectNoDifference(mine.changes(from: base, keepsAbsent: false), ["City": "London"])
        expectNoDifference(base.changes(from: base, keepsAbsent: false), [:])
    }

    @Test func whatIsAbsentIsClearedOrKept() {
        let base: FieldSet = ["Name": "Ada", "City": "London", "Phone": ""]
        let mine: FieldSet = ["Name": "Ada"]
        expectNoDifference(mine.changes(from: base, keepsAbsent: false), ["City": ""])
        expectNoDifference(mine.changes(from: base, keepsAbsent: true), [:])
        let null: FieldSet = ["Name": "Ada", "City": .literal("null")]
        expectNoDifference(null.changes(from: base, keepsAbsent: true), ["City": ""])
    }

    @Test func namesAreToldApartByTheirBytes() {
        let base: FieldSet = ["\u{E9}": "a", "e\u{301}": "b"]
        let mine: FieldSet = ["\u{E9}": "a", "e\u{301}": "c"]
        let changes = mine.changes(from: base, keepsAbsent: false)
        expectNoDifference(changes.members.count, 1)
        #expect(changes["e\u{301}"] == "c" && changes["\u{E9}"] == nil)
    }

    @Test func valuesComeBackAsProgramsSeeThem() {
        expectNoDifference(WireValue.text("a").fieldValue, "a")
        expectNoDifference(WireValue.literal("1.50").fieldValue, 1.5)
        expectNoDifference(WireValue.literal("true").fieldValue, 1)
        expectNoDifference(WireValue.literal("null").fieldValue, .empty)
        expectNoDifference(WireValue(FieldValue.number(12)), 12)
        expectNoDifference(WireValue("12345678901234567890" as FieldValue), "12345678901234567890")
    }
}
