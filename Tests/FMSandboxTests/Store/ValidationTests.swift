import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct ValidationTests {
    /// Writes a value into a field with validation rules, in a table that already contains "old", and returns the code.
    private func code(
        _ value: String,
        _ validation: Solution.Validation,
        type: Solution.FieldType = .text
    ) async throws -> String? {
        let solution = Solution.oneTable(
            [.init("A", type, validation: validation), .init("Other")],
            [.init(["A": "old", "Other": "x"])],
            valueLists: [.init(name: "Colours", values: ["red", "green"])]
        )
        var code: String?
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            code = try await bench.post("layouts/L/records", ["fieldData": ["A": .string(value)]]).code
        }
        return code
    }

    @Test func eachRuleHasItsCode() async throws {
        #expect(try await code("", .init(notEmpty: true)) == "509")
        #expect(try await code("x", .init(notEmpty: true)) == "0")
        #expect(try await code("OLD", .init(unique: true)) == "504")
        #expect(try await code("new", .init(unique: true)) == "0")
        #expect(try await code("new", .init(existing: true)) == "505")
        #expect(try await code("old", .init(existing: true)) == "0")
        #expect(try await code("5", .init(minimum: "1", maximum: "10"), type: .number) == "0")
        #expect(try await code("11", .init(minimum: "1", maximum: "10"), type: .number) == "503")
        #expect(try await code("0", .init(minimum: "1"), type: .number) == "503")
        #expect(try await code("01/01/2020", .init(minimum: "06/01/2021"), type: .date) == "503")
        #expect(try await code("abcd", .init(maxCharacters: 3)) == "511")
        #expect(try await code("Red", .init(valueList: "Colours")) == "0")
        #expect(try await code("red\rgreen", .init(valueList: "Colours")) == "0")
        #expect(try await code("blue", .init(valueList: "Colours")) == "506")
        #expect(try await code("25abc", .init(numeric: true), type: .number) == "502")
        #expect(try await code("abc", .init(calculation: "Length ( A ) < 3")) == "507")
        #expect(try await code("ab", .init(calculation: "Length ( A ) < 3")) == "0")
    }

    @Test func aChangeIsHeldToTheRulesOfTheFieldsItWrites() async throws {
        let solution = Solution.oneTable(
            [.init("A", validation: .init(notEmpty: true, unique: true)), .init("B")],
            [.init(["A": "1"]), .init(["A": ""])]
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            // The second record already breaks a rule; a write to another field of it is accepted.
            #expect(try await bench.patch("layouts/L/records/2", ["fieldData": ["B": "x"]]).code == "0")
            #expect(try await bench.patch("layouts/L/records/2", ["fieldData": ["A": "1"]]).code == "504")
            #expect(try await bench.patch("layouts/L/records/1", ["fieldData": ["A": "1"]]).code == "0")
            let duplicate = try await bench.post("layouts/L/records/1")
            #expect(duplicate.code == "504")
        }
    }

    @Test func autoEnteredValues() async throws {
        let solution = Solution.oneTable(
            [
                .init("Serial", .number, autoEnter: .serial), .init("Day", .date, autoEnter: .creationDate),
                .init("Time", .time, autoEnter: .creationTime), .init("By", autoEnter: .creationAccount),
                .init("Changed", .timestamp, autoEnter: .modificationTimestamp),
                .init("Editor", autoEnter: .modificationAccount),
                .init("Key", autoEnter: .uuid), .init("A"),
            ],
            [.init(["Serial": "41"])]
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            _ = try await bench.post("layouts/L/records", ["fieldData": [:]])
            let fields = try await bench.get("layouts/L/records/2").fields
            #expect(fields["Serial"] == .int(42))
            #expect(fields["Day"] == "01/15/2025")
            #expect(fields["Time"] == "12:00:00")
            #expect(fields["By"] == "admin")
            #expect(fields["Editor"] == "admin")
            bench.clock.advance(by: .seconds(1))
            _ = try await bench.post("layouts/L/records/2")
            let copy = try await bench.get("layouts/L/records/3").fields
            #expect(copy["Serial"] == .int(43))
            #expect(copy["Key"] != fields["Key"])
            #expect(copy["Changed"] == "01/15/2025 12:00:01")
            // A value in the request replaces the serial number and does not use one up.
            _ = try await bench.post("layouts/L/records", ["fieldData": ["Serial": .int(7)]])
            _ = try await bench.post("layouts/L/records", ["fieldData": [:]])
            #expect(try await bench.get("layouts/L/records").column("Serial") == ["41", "42", "43", "7", "44"])
        }
    }

    @Test func aFormulaThatNamesItsOwnFieldChangesWhatIsEntered() async throws {
        let fields: [Solution.Field] = [
            .init("Code", autoEnter: .calculation("Upper ( Code )", replacesExisting: true)),
            .init("Kept", autoEnter: .calculation("Upper ( Kept )")),
            .init("Copy", autoEnter: .calculation("Code", replacesExisting: true)),
        ]
        try await withBench(.inProcess, [Solution.oneTable(fields, [])]) { (bench: Bench) async throws in
            _ = try await bench.post("layouts/L/records", ["fieldData": ["Code": "b-0", "Kept": "k", "Copy": "own"]])
            #expect(try await bench.get("layouts/L/records/1").fields == ["Code": "B-0", "Kept": "k", "Copy": "own"])
            _ = try await bench.patch("layouts/L/records/1", ["fieldData": ["Code": "c-1"]])
            #expect(try await bench.get("layouts/L/records/1").fields == ["Code": "C-1", "Kept": "k", "Copy": "C-1"])
        }
    }

    @Test func summariesRunOverTheFoundSet() async throws {
        let solution = Solution.oneTable(
            [
                .init("N", .number), .init("Total", .number, summary: .init(.total, of: "N")),
                .init("Count", .number, summary: .init(.count, of: "N")),
                .init("Most", .number, summary: .init(.maximum, of: "N")),
            ],
            ["1", "2.5", "10"].map { .init(["N": $0]) }
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let all = try await bench.get("layouts/L/records", [("_limit", "1")])
            #expect(all.fields == ["N": .int(1), "Total": .number("13.5"), "Count": .int(3), "Most": .int(10)])
            let some = try await bench.find("L", [["N": "<5"]])
            #expect(some.fields["Total"] == .number("3.5"))
            #expect(try await bench.find("L", [["Total": "1"]]).code == "408")
        }
    }
}
