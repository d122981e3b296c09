import CustomDump
import FMTestSupport
import Testing

@testable import FMModel

/// From FileMaker's names to Swift's.
@Suite struct NameTests {
    private func fields(
        _ names: [String],
        kept: [(name: String, identifier: String)] = [],
        prefixes: [String] = []
    ) -> [String] {
        let table = NameTable(names, kept: kept, style: .fields(prefixes))
        return names.map { table[$0] }
    }

    private func field(_ name: String) -> String { fields([name])[0] }

    @Test(arguments: [
        ("Name", "name"), ("First Name", "firstName"), ("first_name", "firstName"), ("customerID", "customerId"),
        ("HTMLText", "htmlText"), ("ORDER", "order"), ("gFilter", "gFilter"), ("Address2", "address2"),
        ("Line2Text", "line2Text"), ("Größe", "größe"), ("ÜBER MASS", "überMass"), ("名前", "名前"), ("日付/開始", "日付開始"),
        ("हिन्दी", "हिन्दी"), ("ไทย", "ไทย"), ("ab١", "ab١"), ("Orders::Total", "total"), ("Total %", "total"),
        ("%", "percent"), ("#", "number"), ("A & B", "aB"), ("…", "field1"), ("😀", "field1"), ("", "field1"),
        ("1st", "_1st"), ("2. Mate", "_2Mate"),
    ])
    func aNameBecomesAnIdentifier(_ name: String, _ expected: String) {
        expectNoDifference(field(name), expected)
    }

    @Test func aDecomposedNameBecomesAComposedIdentifier() {
        #expect(ExactName(field("Cafe\u{301}")) == ExactName("caf\u{E9}"))
        #expect(ExactName(field("\u{1112}\u{1161}\u{11AB}")) == ExactName("\u{D55C}"))
    }

    @Test(arguments: ["init", "self", "Self", "allCases", "hashValue", "globalFields"])
    func whatIsReservedGetsASuffix(_ name: String) {
        #expect(field(name).hasSuffix("Field"))
    }

    @Test func keywordsStandInBackticks() {
        expectNoDifference(
            ["class", "default", "name", "Any", "type"].map(SwiftIdentifier.source),
            ["`class`", "`default`", "name", "`Any`", "type"]
        )
    }

    @Test func aLongNameIsCutBetweenWords() {
        expectNoDifference(
            field("The quantity of goods that was delivered in the last quarter"),
            "theQuantityOfGoodsThatWasDeliveredInThe"
        )
        expectNoDifference(field(String(repeating: "x", count: 100)), String(repeating: "x", count: 40))
    }

    // MARK: Names that would be the same

    @Test func theTableTellsFieldsApart() {
        expectNoDifference(fields(["Name", "Lines::Name"]), ["name", "linesName"])
        expectNoDifference(fields(["Composers::label", "Epochs::label"]), ["composersLabel", "epochsLabel"])
        expectNoDifference(fields(["Composers::label", "Composers::town"]), ["label", "town"])
    }

    @Test func symbolsTellFieldsApart() {
        expectNoDifference(fields(["Total", "Total %", "Total #"]), ["total", "totalPercent", "totalNumber"])
        expectNoDifference(fields(["X::Total", "X::Total %"]), ["total", "totalPercent"])
    }

    @Test func numbersTellTheRestApart() {
        expectNoDifference(fields(["a_b", "A-B", "A B"]), ["aB_3", "aB_2", "aB"])
        expectNoDifference(fields(["X::a_b", "X::A-B"]), ["aB_2", "aB"])
    }

    @Test func aNameThatIsAnIdentifierComesFirst() {
        expectNoDifference(fields(["total!", "Total", "total"]), ["total_3", "total_2", "total"])
    }

    @Test func twoFormsOfOneTextAreTwoNames() {
        let names = ["Caf\u{E9}", "Cafe\u{301}"]
        let table = NameTable(names, style: .fields([]))
        let identifiers = Set(names.map { ExactName(table[$0]) })
        #expect(identifiers.count == 2)
        expectNoDifference(table.notices, [#""Café" is café_2: café is taken"#])
    }

    @Test func noNameIsThatOfARowsOwnIds() {
        let style = NameStyle.fields([], reserved: ["recordId", "modId"])
        let table = NameTable(["X::recordId", "X::mod_id"], style: style)
        expectNoDifference([table["X::recordId"], table["X::mod_id"]], ["recordIdField", "modIdField"])
    }

    @Test func typesDifferInMoreThanCase() {
        let table = NameTable(["Order", "ORDER", "String", "URL", "Type"], style: .layouts)
        expectNoDifference(
            ["Order", "ORDER", "String", "URL", "Type"].map { table[$0] },
            ["Order", "Order_2", "StringRecord", "UrlRecord", "TypeRecord"]
        )
    }

    @Test func anOptionalsOwnMembersAreNoValues() {
        let table = NameTable(["none", "some", "None!"], style: .values)
        expectNoDifference(
            ["none", "some", "None!"].map { table[$0] },
            ["noneValue_2", "someValue", "noneValue"]
        )
    }

    @Test func prefixesAreLeftOutWhereThatLeavesOneName() {
        expectNoDifference(fields(["_k_id", "z_total"], prefixes: ["_k_", "z_"]), ["id", "total"])
        expectNoDifference(fields(["z_total", "total", "z_"], prefixes: ["z_"]), ["zTotal", "total", "z"])
    }

    // MARK: Names that were given

    /// Pitfall 5.
    @Test func aNewFieldRenamesNoOldOne() {
        expectNoDifference(fields(["Total %"]), ["total"])
        expectNoDifference(
            fields(["Total", "Total %"], kept: [("Total %", "total")]),
            ["total_2", "total"]
        )
        expectNoDifference(
            fields(["Total %", "Total"], kept: [("Total", "total")]),
            ["totalPercent", "total"]
        )
    }

    @Test func aNameThatAUserGaveStays() {
        expectNoDifference(fields(["KdNr", "Name"], kept: [("KdNr", "customerNumber")]), ["customerNumber", "name"])
    }

    /// What a table gives depends on the names and on nothing else, and no two names become one.
    @Test(arguments: 1...40) func theOrderOfNamesPlaysNoRole(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let names = RandomNames.fields(count: 60, using: &random)
        let first = NameTable(names, style: .fields(["z_"]))
        let second = NameTable(names.shuffled(using: &random), style: .fields(["z_"]))
        // Names that nothing is left of are called by their positions.
        for name in names where !first[name].hasPrefix("field") {
            expectNoDifference(first[name], second[name], "seed: \(seed)")
        }
        let identifiers = Set(names.map { ExactName(first[$0]) })
        #expect(identifiers.count == names.count, "seed: \(seed)")
        for name in names { #expect(SwiftIdentifier.isValid(first[name]), "seed: \(seed)") }

        let more = RandomNames.fields(count: 60, using: &random)
        let known = Set(names.map(ExactName.init))
        let all = (more.filter { !known.contains(ExactName($0)) } + names).shuffled(using: &random)
        let later = NameTable(all, kept: names.map { ($0, first[$0]) }, style: .fields(["z_"]))
        for name in names { expectNoDifference(later[name], first[name], "seed: \(seed)") }
    }
}
