import Testing

@testable import FMSandbox

/// Every operator of FileMaker's Find mode, on every type of field to which it applies.
@Suite(.timeLimit(.minutes(15))) struct OperatorTests {
    /// The values of each field in the four records.
    private static let columns: [(type: Solution.FieldType, values: [String])] = [
        (.text, ["Ada Byron", "Adam", "joe@x.net", ""]),
        (.number, ["5", "-12.5", "n/a", ""]),
        (.date, ["06/30/2024", "01/15/2025", "soon", ""]),
        (.time, ["04:30:00", "17:00:00", "late", ""]),
        (.timestamp, ["06/30/2024 04:30:00", "01/15/2025 17:00:00", "then", ""]),
    ]

    private static let solution: Solution = {
        let fields = columns.map { Solution.Field("\($0.type.rawValue)", $0.type) }
        let records = (0..<4).map { row in
            Solution.Record(Dictionary(uniqueKeysWithValues: columns.map { ($0.type.rawValue, $0.values[row]) }))
        }
        return .oneTable(fields, records)
    }()

    @Test(
        arguments: [
            (Solution.FieldType.text, "ada", "12"), (.text, "byr ad", "1"), (.text, "=ada", "1"),
            (.text, "=Ada =Byron", "1"), (.text, "==ada byron", "1"), (.text, "==Ada", ""), (.text, "=", "4"),
            (.text, "==", "4"), (.text, "*", "123"), (.text, "a*m", "2"), (.text, "*dam", "2"), (.text, "ad@", "12"),
            (.text, "=ad@", "1"), (.text, "==a####", ""), (.text, "\"ada b\"", "1"), (.text, "*\"yron\"", "1"),
            (.text, "<b", "12"), (.text, "<=adam", "12"), (.text, "≤ada", "1"), (.text, ">joe", "3"),
            (.text, ">=joe", "3"), (.text, "≥joe", "3"), (.text, "adam..c", "12"), (.text, "adam...c", "12"),
            (.text, "adam…c", "12"), (.text, "joe\\@x", "3"), (.text, "~ADA", "12"), (.text, "!", ""),
            (.text, "//", ""),
            (.text, "?", ""),

            (.number, "5", "1"), (.number, "5.0", "1"), (.number, "=5", "1"), (.number, "==5", "1"),
            (.number, "=", "4"),
            (.number, "==", "4"), (.number, "*", "123"), (.number, "-12*", "2"), (.number, "@", "1"),
            (.number, "#", "1"),
            (.number, "\"5\"", "1"), (.number, "<0", "2"), (.number, "<=5", "12"), (.number, "≤-12.5", "2"),
            (.number, ">0", "1"), (.number, ">=5", "1"), (.number, "≥5.01", ""), (.number, "-20..0", "2"),
            (.number, "-20...5", "12"), (.number, "0…9", "1"), (.number, "?", "3"), (.number, "n", "3"),
            (.number, "!", ""), (.number, "~5", "1"), (.number, "\\5", "1"),

            (.date, "6/30/2024", "1"), (.date, "=6/30/2024", "1"), (.date, "==6/30/2024", "1"), (.date, "=", "4"),
            (.date, "==", "4"), (.date, "*", "123"), (.date, "6/*", "1"), (.date, "*/15/*", "2"), (.date, "2024", "1"),
            (.date, "6/2024", "1"), (.date, "{5..7}/{29..30}/2024", "1"), (.date, "<2025", "1"),
            (.date, "<=1/15/2025", "12"), (.date, "≤6/2024", "1"), (.date, ">2024", "2"), (.date, ">=6/30/2024", "12"),
            (.date, "≥7/2024", "2"), (.date, "6/1/2024..7/1/2024", "1"), (.date, "2024...2025", "12"),
            (.date, "2025…2026", "2"), (.date, "//", "2"), (.date, "<//", "1"), (.date, "6/2024...//", "12"),
            (.date, "Sunday", "1"), (.date, "Mon..Fri", "2"), (.date, "?", "3"), (.date, "!", ""),
            (.date, "\"6/30/2024\"", "1"), (.date, "6-30-2024", "1"), (.date, "6.30.2024", "1"),

            (.time, "4:30", "1"), (.time, "=4:30", "1"), (.time, "==4:30:00", "1"), (.time, "=", "4"),
            (.time, "*", "123"),
            (.time, "4", "1"), (.time, "5pm", "2"), (.time, "*:30", "1"), (.time, "{3...5}:30", "1"),
            (.time, "<5", "1"),
            (.time, "<=17:00", "12"), (.time, "≤4:29", ""), (.time, ">4", "2"), (.time, ">=4:30", "12"),
            (.time, "≥17", "2"), (.time, "4..5", "1"), (.time, "4...17", "12"), (.time, "16…18", "2"),
            (.time, "3:90", "1"), (.time, "?", "3"), (.time, "!", ""),

            (.timestamp, "6/30/2024", "1"), (.timestamp, "=6/30/2024 4:30", "1"),
            (.timestamp, "==6/30/2024 4:30:00", "1"),
            (.timestamp, "=", "4"), (.timestamp, "*", "123"), (.timestamp, "*/15/2025", "2"),
            (.timestamp, "{1..6}/*/2024", "1"), (.timestamp, "2024 *:30 AM", "1"), (.timestamp, "<1/15/2025", "1"),
            (.timestamp, "<=1/15/2025 17:00", "12"), (.timestamp, "≤1/15/2025", "12"),
            (.timestamp, ">6/30/2024 4:00", "12"), (.timestamp, ">=6/30/2024", "12"), (.timestamp, "≥//", "2"),
            (.timestamp, "6/2024..7/2024", "1"), (.timestamp, "2024...//", "12"), (.timestamp, "//", "2"),
            (.timestamp, "Wednesday", "2"), (.timestamp, "?", "3"), (.timestamp, "!", ""),
        ] as [(Solution.FieldType, String, String)]
    )
    func theOperatorFinds(_ type: Solution.FieldType, _ criterion: String, _ expected: String) async throws {
        try await withBench(.inProcess, [Self.solution]) { (bench: Bench) async throws in
            let query = JSONObject(members: [.init(key: type.rawValue, value: .string(criterion))])
            let answer = try await bench.find("L", [.object(query)])
            #expect(answer.code == (expected.isEmpty ? "401" : "0"))
            #expect(answer.recordIds.joined() == expected)
        }
    }

    /// `!` compares whole values over the whole table.
    @Test(arguments: columns.map(\.type)) func repeatedValuesAreFound(_ type: Solution.FieldType) async throws {
        var solution = Self.solution
        let value = try #require(Self.columns.first { $0.type == type }?.values[0])
        solution.tables[0].records.append(.init([type.rawValue: value]))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let query = JSONObject(members: [.init(key: type.rawValue, value: "!")])
            #expect(try await bench.find("L", [.object(query)]).recordIds == ["1", "5"])
        }
    }

    /// Numbers are compared by value, other texts in number fields as texts.
    @Test func repeatedNumbersAreFoundByTheirValue() async throws {
        let values = ["$20.00", "20.0", "2.0", "n/a", "N/A", "-", ""]
        let solution = Solution.oneTable([.init("N", .number)], values.map { .init(["N": $0]) })
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.find("L", [["N": "!"]]).recordIds == ["1", "2", "4", "5"])
        }
    }

    /// The escaped quotes that clients send.
    @Test(arguments: [
        (#"\"quoted\""#, "12"), (#"==\"quoted\""#, "1"), (#"==*\"quoted\"*"#, "12"), (#"*\"quoted\"*"#, "12"),
        ("\\#1", "4"), (#""\"quoted\"""#, "12"),
    ])
    func escapedQuotesAreLiteral(_ criterion: String, _ expected: String) async throws {
        let texts = [#""quoted""#, #"they "Quoted" it"#, "quoted", "we are #1", "1"]
        let solution = Solution.oneTable([.init("A")], texts.map { .init(["A": $0]) })
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.find("L", [["A": .string(criterion)]]).recordIds.joined() == expected)
        }
    }

    /// An escaped operator is an ordinary character.
    @Test(arguments: ["@", "*", "#", "?", "!", "=", "<", ">", "\"", "~", "≤", "≥", "...", "..", "…", "//", "{"])
    func escapedOperatorsAreLiteral(_ sign: String) async throws {
        let texts = ["a\(sign)b", "ab", "axb", "a1b", ""]
        let solution = Solution.oneTable([.init("A")], texts.map { .init(["A": $0]) })
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.find("L", [["A": .string("==a\\\(sign)b")]]).recordIds == ["1"])
            let each = sign.map { "\\\($0)" }.joined()
            #expect(try await bench.find("L", [["A": .string("==a\(each)b")]]).recordIds == ["1"])
        }
    }

    /// An example from readers of the guide: requests are applied in their order, and an omit removes from what was
    /// found so far.
    @Test func requestsWorkInTheirOrder() async throws {
        let names = [("John", "Doe"), ("Joe", "Example"), ("John", "Smith")]
        let solution = Solution.oneTable(
            [.init("First"), .init("Last")],
            names.map { .init(["First": $0.0, "Last": $0.1]) }
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let (john, joe): (JSONValue, JSONValue) = (["First": "=John"], ["First": "=Joe"])
            let noDoe: JSONValue = ["First": "John", "Last": "Doe", "omit": "true"]
            #expect(try await bench.find("L", [john, joe, noDoe]).recordIds == ["2", "3"])
            // A request after the omit adds its records again.
            #expect(try await bench.find("L", [joe, noDoe, john]).recordIds == ["1", "2", "3"])
            // An omit that comes first removes from all records.
            #expect(try await bench.find("L", [noDoe]).recordIds == ["2", "3"])
            #expect(try await bench.find("L", [noDoe, ["Last": "Doe"]]).recordIds == ["1", "2", "3"])
            let all: JSONValue = ["First": "*", "omit": "true"]
            #expect(try await bench.find("L", [john, all]).code == "401")
        }
    }
}
