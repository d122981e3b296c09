import CustomDump
import FMTestSupport
import Testing

@testable import FMModel

/// How FileMaker's names become Swift names.
@Suite struct NameTests {
    private func fields(
        _ names: [String],
        kept: [(name: String, identifier: String)] = [],
        prefixes: [String] = []
    ) -> [String] {
        let table = NameTable(names, kept: kept, style: .fields(prefixes))
        return names.map { table[$0] }
    }

    private func rowFields(_ names: [String], of own: String? = nil) -> [String] {
        let table = NameTable(names, style: .rowFields([], of: own.map(SchemaName.init)))
        return names.map { table[$0] }
    }

    private func field(_ name: String) -> String { fields([name])[0] }

    @Test(arguments: [
        ("Name", "name"), ("First Name", "firstName"), ("first_name", "firstName"), ("customerID", "customerId"),
        ("HTMLText", "htmlText"), ("ORDER", "order"), ("gFilter", "gFilter"), ("Address2", "address2"),
        ("Line2Text", "line2Text"), ("Größe", "größe"), ("ÜBER MASS", "überMass"), ("名前", "名前"), ("日付/開始", "日付開始"),
        ("हिन्दी", "हिन्दी"), ("ไทย", "ไทย"), ("ab١", "ab١"), ("Orders::Total", "ordersTotal"), ("Total %", "total"),
        ("%", "percent"), ("#", "number"), ("A & B", "aB"), ("…", "field1"), ("😀", "field1"), ("", "field1"),
        ("1st", "_1st"), ("2. Mate", "_2Mate"),
    ])
    func aNameBecomesAnIdentifier(_ name: String, _ expected: String) {
        expectNoDifference(field(name), expected)
    }

    @Test func aDecomposedNameBecomesAComposedIdentifier() {
        #expect(SchemaName(field("Cafe\u{301}")) == SchemaName("caf\u{E9}"))
        #expect(SchemaName(field("\u{1112}\u{1161}\u{11AB}")) == SchemaName("\u{D55C}"))
    }

    @Test(arguments: ["init", "self", "Self", "allCases", "hashValue", "globalFields"])
    func whatIsReservedGetsASuffix(_ name: String) {
        #expect(field(name).hasSuffix("Field"))
    }

    @Test func keywordsStandInBackticks() {
        expectNoDifference(
            ["class", "default", "name", "Any", "type", "await", "async"].map(SwiftIdentifier.source),
            ["`class`", "`default`", "name", "`Any`", "type", "`await`", "async"]
        )
    }

    @Test func aLongNameIsCutBetweenWords() {
        expectNoDifference(
            field("The quantity of goods that was delivered in the last quarter"),
            "theQuantityOfGoodsThatWasDeliveredInThe"
        )
        expectNoDifference(field(String(repeating: "x", count: 100)), String(repeating: "x", count: 40))
    }

    // MARK: Equal names

    @Test func aFieldOfAnotherTableShowsItsTable() {
        expectNoDifference(
            fields(["City", "Customers::City", "Customers::#", "Customers::a b", "Customers::A-B"]),
            ["city", "customersCity", "customersNumber", "customersAB_2", "customersAB"]
        )
        expectNoDifference(fields(["Customers::z_Town", "z_Town"], prefixes: ["z_"]), ["customersTown", "town"])
    }

    @Test func theTableTellsFieldsOfRowsApart() {
        expectNoDifference(rowFields(["Composers::label", "Epochs::label"]), ["composersLabel", "epochsLabel"])
        expectNoDifference(rowFields(["Composers::label", "Composers::town"]), ["label", "town"])
        expectNoDifference(
            rowFields(["Composers::label", "Epochs::name"], of: "Composers"),
            ["label", "epochsName"]
        )
    }

    @Test func symbolsTellFieldsApart() {
        expectNoDifference(fields(["Total", "Total %", "Total #"]), ["total", "totalPercent", "totalNumber"])
        expectNoDifference(rowFields(["X::Total", "X::Total %"]), ["total", "totalPercent"])
    }

    @Test func numbersTellTheRestApart() {
        expectNoDifference(fields(["a_b", "A-B", "A B"]), ["aB_3", "aB_2", "aB"])
        expectNoDifference(rowFields(["X::a_b", "X::A-B"]), ["aB_2", "aB"])
    }

    @Test func aNameThatIsAnIdentifierComesFirst() {
        expectNoDifference(fields(["total!", "Total", "total"]), ["total_3", "total_2", "total"])
    }

    @Test func twoFormsOfOneTextAreTwoNames() {
        let names = ["Caf\u{E9}", "Cafe\u{301}"]
        let table = NameTable(names, style: .fields([]))
        let identifiers = Set(names.map { SchemaName(table[$0]) })
        #expect(identifiers.count == 2)
        expectNoDifference(table.notices, [#""Café" is café_2: café is taken"#])
    }

    @Test func noNameIsThatOfARowsOwnIds() {
        let table = NameTable(["X::recordId", "X::mod_id"], style: .rowFields([]))
        expectNoDifference([table["X::recordId"], table["X::mod_id"]], ["recordIdField", "modIdField"])
    }

    @Test func typesDifferInMoreThanCase() {
        let table = NameTable(["Order", "ORDER", "String", "URL", "Type"], style: .layouts)
        expectNoDifference(
            ["Order", "ORDER", "String", "URL", "Type"].map { table[$0] },
            ["Order", "Order_2", "StringRecord", "UrlRecord", "TypeRecord"]
        )
    }

    // MARK: Singular names

    private func types(_ names: [String], kept: [(name: String, identifier: String)] = []) -> [String] {
        let table = NameTable(names, kept: kept, style: .layouts)
        return names.map { table[$0] }
    }

    @Test(arguments: [
        ("Orders", "Order"), ("orders", "Order"), ("ORDERS", "Order"), ("Order Lines", "OrderLine"),
        ("API_Invoices", "ApiInvoice"), ("People", "Person"), ("Children", "Child"), ("Companies", "Company"),
        ("Addresses", "Address"), ("Boxes", "Box"), ("Branches", "Branch"), ("Statuses", "Status"),
        ("Purchases", "Purchase"), ("Warehouses", "Warehouse"), ("Sizes", "Size"), ("Ties", "Tie"), ("Keys", "Key"),
        ("Movies", "Movie"), ("Photos", "Photo"), ("Employees", "Employee"), ("Areas", "Area"),
    ])
    func theTypeOfALayoutInThePluralIsSingular(_ layout: String, _ type: String) {
        expectNoDifference(types([layout]), [type])
    }

    @Test(arguments: [
        ("Order", "Order"), ("Address", "Address"), ("Status", "Status"), ("Analysis", "Analysis"),
        ("Series", "Series"), ("News", "News"), ("Bus", "Bus"), ("Atlas", "Atlas"), ("Glas", "Glas"),
        ("Kunden", "Kunden"), ("Aufträge", "Aufträge"), ("顧客", "顧客"), ("Orders 2024", "Orders2024"),
        ("Orders (Web)", "OrdersWeb"),
    ])
    func whatIsNoPluralStays(_ layout: String, _ type: String) {
        expectNoDifference(types([layout]), [type])
    }

    /// `Date` and `Task` have another meaning in Swift.
    @Test func aSingularThatIsTakenIsNotGiven() {
        expectNoDifference(types(["Dates", "Tasks"]), ["Dates", "Tasks"])
        expectNoDifference(types(["Orders", "Order"]), ["Orders", "Order"])
        expectNoDifference(types(["Order", "Orders"], kept: [("Order", "Order")]), ["Order", "Orders"])
        expectNoDifference(types(["Orders", "ORDERS"]), ["Order_2", "Order"])
    }

    @Test func aTypeThatWasNamedInThePluralStays() {
        expectNoDifference(types(["Orders", "Lines"], kept: [("Orders", "Orders")]), ["Orders", "Line"])
    }

    @Test func fieldsStayInThePlural() {
        expectNoDifference(fields(["Notes", "Nicknames"]), ["notes", "nicknames"])
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

    // MARK: Names that are kept

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

    /// The identifiers depend only on the set of names, and they are all different.
    @Test(arguments: 1...UInt64(Effort.of(40, brief: 8))) func theOrderOfNamesPlaysNoRole(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let names = RandomNames.fields(count: 60, using: &random)
        let first = NameTable(names, style: .fields(["z_"]))
        let second = NameTable(names.shuffled(using: &random), style: .fields(["z_"]))
        // Names without any usable character are named after their positions.
        for name in names where !first[name].hasPrefix("field") {
            expectNoDifference(first[name], second[name], "seed: \(seed)")
        }
        let identifiers = Set(names.map { SchemaName(first[$0]) })
        #expect(identifiers.count == names.count, "seed: \(seed)")
        for name in names { #expect(SwiftIdentifier.isValid(first[name]), "seed: \(seed)") }

        let more = RandomNames.fields(count: 60, using: &random)
        let known = Set(names.map(SchemaName.init))
        let all = (more.filter { !known.contains(SchemaName($0)) } + names).shuffled(using: &random)
        let later = NameTable(all, kept: names.map { ($0, first[$0]) }, style: .fields(["z_"]))
        for name in names { expectNoDifference(later[name], first[name], "seed: \(seed)") }
    }
}
