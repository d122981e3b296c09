import Testing

@testable import FMSandbox

@Suite struct FormulaTests {
    private struct Fields: FormulaContext {
        var values: [String: [String]] = [:]

        func value(ofField name: String) -> String? { values[name]?.first }
        func values(ofField name: String) -> [String] { values[name] ?? [] }
        func value(ofVariable name: String) -> String { name == "$n" ? "3" : "" }
        func get(_ name: String) -> String? { name == "foundcount" ? "7" : nil }
    }

    private let fields = Fields(values: [
        "Name": ["Ada"], "Price": ["2.5"], "Empty": [""], "Items::Price": ["1", "2", "", "3.5"],
        "Due Date": ["01/31/2024"],
        "Tags(2)": ["second"],
    ])

    @Test(
        arguments: [
            ("1 + 2 * 3", "7"), ("( 1 + 2 ) * 3", "9"), ("-Price", "-2.5"), ("10 / 4", "2.5"), ("1 / 0", "?"),
            ("0.1 + 0.2", "0.3"), ("\"a\" & \"b\" & 1 + 1", "ab2"), ("Name & \"¶\" & ¶", "Ada\r\r"),
            ("\"say \\\"hi\\\"\"", "say \"hi\""),
            ("Name = \"ADA\"", "1"), ("Name ≠ \"Ada\"", "0"), ("10 > 9", "1"), ("\"10\" < \"9\"", "0"),
            ("\"b\" >= \"a\"", "1"),
            ("1 < 2 and 2 < 1", "0"), ("1 < 2 or 2 < 1", "1"), ("not 0", "1"),
            ("If ( Price > 2 ; \"dear\" ; \"cheap\" )", "dear"),
            ("If ( 0 ; \"x\" )", ""), ("Upper ( Name ) & Lower ( Name )", "ADAada"),
            ("Left ( Name ; 2 ) & Right ( Name ; 1 )", "Ada"),
            ("Length ( Trim ( \"  a \" ) )", "1"), ("Round ( 2.345 ; 2 )", "2.35"), ("Int ( -2.5 )", "-2"),
            ("IsEmpty ( Empty )", "1"),
            ("Count ( Items::Price )", "3"), ("Sum ( Items::Price )", "6.5"), ("Max ( Items::Price )", "3.5"),
            ("Min ( 3 ; 2 )", "2"),
            ("List ( Items::Price )", "1\r2\r3.5"), ("Substitute ( Name ; \"A\" ; \"a\" )", "ada"),
            ("${Due Date}", "01/31/2024"),
            ("Tags[2]", "second"), ("$n + 1", "4"), ("Get ( FoundCount )", "7"), ("Get ( Nothing )", "?"),
            ("Nowhere", "?"),
            ("${Due Date} < \"02/01/2024\"", "1"),
        ]
    )
    func evaluates(_ text: String, _ expected: String) throws {
        #expect(try FormulaParser.parse(text).evaluate(in: fields) == expected)
    }

    @Test(
        arguments: [
            "", "1 +", "( 1", "1 )", "\"open", "Nope ( 1 )", "If ( 1 )", "${open", "1 2", "a @ b", "Get ( 1 )", "\\",
            "Left ( 1 ; )",
        ]
    )
    func refusesWhatIsNoFormula(_ text: String) {
        #expect(throws: FormulaParser.Failure.self) { try FormulaParser.parse(text) }
    }

    @Test func deepNestingIsRefusedAndDoesNotCrash() {
        for piece in ["(", "-", "not ", "If ( "] {
            #expect(throws: FormulaParser.Failure.self) {
                try FormulaParser.parse(String(repeating: piece, count: 50_000))
            }
        }
    }
}
