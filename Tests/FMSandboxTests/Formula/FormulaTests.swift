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
            ("Case ( 0 ; \"a\" ; Price > 2 ; \"b\" ; \"c\" )", "b"), ("Case ( 0 ; \"a\" ; \"c\" )", "c"),
            ("Case ( 0 ; \"a\" )", ""), ("Let ( a = 2 ; a * A )", "4"), ("Let ( [ a = 2 ; b = a + 1 ] ; a * b )", "6"),
            ("Let ( [ a = 2 ; ] ; a )", "2"), ("Let ( a = 1 ; Let ( a = a + 1 ; a ) & a )", "21"),
            ("Let ( $n = 9 ; $n ) & $n", "93"), ("Let ( Price = 1 ; Price ) & Price", "12.5"),
            ("JSONGetElement ( \"{\\\"a\\\":[1,{\\\"b\\\":true}]}\" ; \"a[1].b\" )", "1"),
            ("JSONGetElement ( \"[1.50,\\\"x\\\",null]\" ; \"[1]\" )", "x"),
            ("JSONGetElement ( \"[1.50,\\\"x\\\",null]\" ; 0 )", "1.50"), ("JSONGetElement ( \"[null]\" ; 0 )", ""),
            ("JSONGetElement ( \"{\\\"a\\\":{}}\" ; \"a\" )", "{}"), ("JSONGetElement ( \"{}\" ; \"a.b\" )", ""),
            ("JSONGetElement ( \"{\" ; \"a\" )", "? not JSON"), ("JSONGetElement ( \"\" ; \"a\" )", ""),
            ("JSONSetElement ( \"\" ; \"a.b[1]\" ; Price ; JSONNumber )", #"{"a":{"b":[null,2.5]}}"#),
            (
                "JSONSetElement ( \"{}\" ; [ \"a\" ; Name ; JSONString ] ; [ \"b\" ; 1 ; JSONBoolean ] )",
                #"{"a":"Ada","b":true}"#
            ),
            ("JSONSetElement ( \"{\\\"a\\\":1,\\\"b\\\":2}\" ; \"a\" ; \"\" ; JSONNull )", #"{"a":null,"b":2}"#),
            ("JSONSetElement ( \"{}\" ; \"a\" ; \"[1]\" ; JSONArray )", #"{"a":[1]}"#),
            ("JSONSetElement ( \"{}\" ; \"a\" ; \"[1\" ; JSONArray )", "? not JSON"),
            ("JSONSetElement ( \"{}\" ; \"a\" ; \"tru\" ; \"\" )", #"{"a":"tru"}"#),
            ("JSONSetElement ( \"[]\" ; \"[999999999]\" ; 1 ; JSONNumber )", "? no such place"),
            ("${Due Date} < \"02/01/2024\"", "1"),
            ("ValueCount ( \"a¶b\" )", "2"), ("ValueCount ( \"a¶¶b¶\" )", "3"), ("ValueCount ( \"\" )", "0"),
            ("GetValue ( \"a¶b\" ; 2 )", "b"), ("GetValue ( \"a¶b\" ; 3 )", ""), ("GetValue ( \"a¶b\" ; 0 )", ""),
            ("JSONListKeys ( \"{\\\"a\\\":1,\\\"b\\\":[7,8]}\" ; \"\" )", "a\rb"),
            ("JSONListKeys ( \"{\\\"b\\\":[7,8]}\" ; \"b\" )", "0\r1"), ("JSONListKeys ( \"7\" ; \"\" )", ""),
            ("JSONListKeys ( \"{\" ; \"\" )", "? not JSON"),
            ("JSONListValues ( \"[1,[2],\\\"x\\\"]\" ; \"\" )", "1\r[2]\rx"),
            ("JSONGetElementType ( \"[\\\"a\\\",1,{},[],true,null]\" ; 3 ) = JSONArray", "1"),
            ("JSONGetElementType ( \"{}\" ; \"a\" )", ""), ("JSONGetElementType ( \"{\" ; \"a\" )", "? not JSON"),
            ("JSONFormatElements ( \"[1,  2]\" )", "[1,2]"), ("Left ( JSONFormatElements ( \"[1\" ) ; 1 )", "?"),
            ("JSONDeleteElement ( \"{\\\"a\\\":[1,2],\\\"b\\\":2}\" ; \"a[0]\" )", #"{"a":[2],"b":2}"#),
            ("JSONDeleteElement ( \"{\\\"a\\\":1}\" ; \"b.c\" )", #"{"a":1}"#),
            ("JSONDeleteElement ( \"[\" ; 0 )", "? not JSON"),
            ("JSONSetElement ( \"[1]\" ; \"[+]\" ; 2 ; JSONNumber )", "[1,2]"),
            ("JSONSetElement ( \"[1]\" ; \"[+].a\" ; 2 ; JSONNumber )", #"[1,{"a":2}]"#),
            ("JSONGetElement ( \"[1,2]\" ; \"[:]\" )", "2"), ("JSONGetElement ( \"[]\" ; \"[:]\" )", ""),
            ("JSONGetElement ( \"{\\\"a.b\\\":{\\\"c\\\":1}}\" ; \"['a.b'].c\" )", "1"),
            ("JSONGetElement ( \"[1]\" ; \"[\" )", ""), ("JSONGetElement ( \"[1]\" ; \"['\" )", ""),
        ]
    )
    func evaluates(_ text: String, _ expected: String) throws {
        #expect(try FormulaParser.parse(text).evaluate(in: fields) == expected)
    }

    @Test(
        arguments: [
            "", "1 +", "( 1", "1 )", "\"open", "Nope ( 1 )", "If ( 1 )", "${open", "1 2", "a @ b", "Get ( 1 )", "\\",
            "Left ( 1 ; )", "Let ( 1 ; 2 )", "Let ( a ; 2 )", "Let ( [ a = 1 ; a )", "Let ( a = 1 )", "Case ( 1 )",
            "JSONSetElement ( 1 )", "JSONSetElement ( 1 ; 2 ; 3 )", "JSONSetElement ( 1 ; [ 2 ; 3 ; 4 )", "[ 1 ]",
        ]
    )
    func refusesWhatIsNoFormula(_ text: String) {
        #expect(throws: FormulaParser.Failure.self) { try FormulaParser.parse(text) }
    }

    @Test func deepNestingIsRefusedAndDoesNotCrash() {
        for piece in ["(", "-", "not ", "If ( ", "Let ( a = ", "JSONSetElement ( 1 ; [ "] {
            #expect(throws: FormulaParser.Failure.self) {
                try FormulaParser.parse(String(repeating: piece, count: 5_000))
            }
        }
    }
}
