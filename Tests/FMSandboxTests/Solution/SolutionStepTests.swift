import CustomDump
import Foundation
import Testing

@testable import FMSandbox

/// What solution files can express without Swift: steps, auto-enter options and portals.
@Suite(.timeLimit(.minutes(15))) struct SolutionStepTests {
    private func solution(scripts: String = "[]", fields: String = #"["Name", "City"]"#) throws -> Solution {
        let json = """
            {"name": "One", "accounts": [{"name": "admin", "password": "secret"}],
             "tables": [{"name": "T", "fields": \(fields), "records": [
                {"Name": "Ada", "City": "London"}, {"Name": "Bob", "City": "Paris"}, {"Name": "Cleo", "City": "London"}]}],
             "layouts": [{"name": "L", "table": "T", "fields": ["Name"]}], "scripts": \(scripts)}
            """
        return try JSONDecoder().decode(Solution.self, from: Data(json.utf8))
    }

    @Test func findAndOmitRecord() async throws {
        let scripts = #"""
            [{"name": "Find", "steps": [
                {"set": "$city", "to": "Get ( ScriptParameter )"},
                {"find": [{"City": "==<<$city>>"}, {"Name": "Cleo", "omit": "true"}]},
                {"set": "$names", "to": "\"\""},
                {"loop": [{"set": "$names", "to": "$names & Name"}]},
                {"exit": "$names & Get ( FoundCount )", "error": 0}]},
             {"name": "Nothing", "steps": [{"find": [{"City": "Rome"}]}, {"exit": "Get ( FoundCount )"}]},
             {"name": "Omit", "steps": [{"showAll": true}, {"omitRecord": true}, {"exit": "Name & Get ( FoundCount )"}]},
             {"name": "Unknown", "steps": [{"find": [{"Town": "x"}]}]},
             {"name": "Empty", "steps": [{"find": [{"City": ""}]}]}]
            """#
        try await withBench(.inProcess, [try solution(scripts: scripts)]) { (bench: Bench) async throws in
            func run(_ script: String, _ parameter: String = "") async throws -> JSONValue {
                try await bench.get("layouts/L/script/\(script)", [("script.param", parameter)]).response
            }
            #expect(try await run("Find", "London") == ["scriptResult": "Ada1", "scriptError": "0"])
            #expect(try await run("Find", "Paris") == ["scriptResult": "Bob1", "scriptError": "0"])
            #expect(try await run("Nothing") == ["scriptResult": "0", "scriptError": "401"])
            #expect(try await run("Omit") == ["scriptResult": "Bob2", "scriptError": "0"])
            #expect(try await run("Unknown") == ["scriptError": "102"])
            #expect(try await run("Empty") == ["scriptError": "400"])
            // The answer shows the records that a presort script found.
            let query = [("script.presort", "Find"), ("script.presort.param", "London")]
            #expect(try await bench.get("layouts/L/records", query).recordIds == ["1"])
        }
    }

    @Test func aClosedWindowIs112UntilTheNextLogin() async throws {
        let scripts = #"[{"name": "Close", "steps": [{"closeWindow": true}]}]"#
        try await withBench(.inProcess, [try solution(scripts: scripts)]) { (bench: Bench) async throws in
            #expect(try await bench.get("layouts/L/script/Close").response == ["scriptError": "0"])
            let answer = try await bench.get("layouts/L/records")
            #expect(answer.status == 500)
            #expect(answer.code == "112")
            #expect(answer.message == "Window is missing")
            #expect(try await bench.get("scripts").code == "0")
            #expect(try await bench.loggedIn().get("layouts/L/records").code == "0")
        }
    }

    @Test(arguments: [
        Solution.Step.find([["A": "==1", "omit": "true"]]), .omitRecord, .closeWindow, .wait(1), .showAll, .newRecord,
        .deleteRecord, .openTransaction, .commitTransaction, .commitRecords, .revertTransaction(),
        .revertTransaction(if: "1"), .revertTransaction(if: "1", error: 5001), .revertTransaction(error: "$code"),
        .setRevertTransactionOnError(true), .setRevertTransactionOnError(false), .repeating([.exitLoopIf("1")]),
        .setFieldByName("\"A\"", to: "1"), .performScript("B"), .performScript("B", parameter: "1"),
        .goToLayout("L"), .goToListOfRecords("\"1\""), .set("A", to: "1"), .exit("1", error: 5), .template("<<1>>"),
        .error(5), .loop([.newRecord]), .branch("1", then: [], else: [.newRecord]), .constrain("1"),
    ])
    func stepsAreWrittenAsTheyAreRead(_ step: Solution.Step) throws {
        expectNoDifference(try JSONDecoder().decode(Solution.Step.self, from: JSONEncoder().encode(step)), step)
    }

    // MARK: Auto-enter

    @Test func constantsAndCalculationsAreEntered() async throws {
        let fields = #"""
            ["Name", "City", {"name": "State", "autoEnter": {"constant": "new"}},
             {"name": "Code", "type": "number", "autoEnter": {"constant": 7}},
             {"name": "Label", "autoEnter": {"calculation": "Name & \"/\" & City", "replacesExisting": true}},
             {"name": "First", "autoEnter": {"calculation": "Upper ( Name )"}}]
            """#
        var solution = try solution(fields: fields)
        solution.layouts = [
            .layout(.init(name: "L", table: "T", fields: ["Name", "City", "State", "Code", "Label", "First"]))
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            func fields() async throws -> JSONValue { try await bench.get("layouts/L/records/4").fields }
            func edit(_ data: JSONValue) async throws {
                #expect(try await bench.patch("layouts/L/records/4", ["fieldData": data]).code == "0")
            }
            _ = try await bench.post("layouts/L/records", ["fieldData": ["City": "Rome"]])
            #expect(
                try await fields() == [
                    "Name": "", "City": "Rome", "State": "new", "Code": .int(7), "Label": "/Rome", "First": "",
                ]
            )
            // A calculated auto-enter value is entered into an empty field when a field in its formula changes, and
            // then stays.
            try await edit(["Name": "ada"])
            try await edit(["Name": "bob", "State": "old"])
            #expect(
                try await fields() == [
                    "Name": "bob", "City": "Rome", "State": "old", "Code": .int(7), "Label": "bob/Rome", "First": "ADA",
                ]
            )
            // A value in the request takes precedence over the formula, and changes of other fields do not evaluate it.
            try await edit(["Name": "cleo", "Label": "mine"])
            try await edit(["State": "x"])
            #expect(try await fields()["Label"] == "mine")
            let copy = try await bench.post("layouts/L/records/4").response["recordId"].string ?? ""
            #expect(try await bench.get("layouts/L/records/\(copy)").fields["State"] == "x")
            #expect(try await bench.get("layouts/L").response["fieldMetaData"][2]["autoEnter"] == true)
        }
    }

    @Test(arguments: [
        (#""seriall""#, "expected \"serial\""), ("7", "expected \"serial\""), (#"{"constat": "a"}"#, "unknown key"),
        (#"{"constant": "a", "calculation": "1"}"#, "expected constant, or calculation"), ("{}", "expected constant"),
        (#"{"constant": "a", "replacesExisting": true}"#, "expected constant, or calculation"),
    ])
    func wrongEntriesAreRefused(_ json: String, _ reason: String) {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Solution.AutoEnter.self, from: Data(json.utf8))
        }
        switch error {
        case .dataCorrupted(let context), .typeMismatch(_, let context):
            #expect(context.debugDescription.hasPrefix(reason))
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test func aWrongFormulaHasAPlace() throws {
        let fields = #"["Name", "City", {"name": "X", "autoEnter": {"calculation": "1 +"}}]"#
        let solution = try solution(fields: fields)
        let error = #expect(throws: SolutionError.self) { try ModelBuilder.build([solution]) }
        #expect(error?.path == "tables[0].fields[2].autoEnter.calculation")
    }

    @Test func entriesAreWrittenAsTheyAreRead() throws {
        let all =
            Solution.AutoEnter.Word.allCases.map(\.entry) + [
                .constant("a"), .calculation("1"), .calculation("1", replacesExisting: true),
            ]
        expectNoDifference(try JSONDecoder().decode([Solution.AutoEnter].self, from: JSONEncoder().encode(all)), all)
    }

    // MARK: Portals

    /// FileMaker names a portal without an object name after its table occurrence, and repeats that key for each such
    /// portal.
    @Test func twoPortalsOfOneOccurrenceGoByOneName() async throws {
        var solution = Solution.sample
        solution.layouts = [
            .layout(
                .init(
                    name: "C",
                    table: "Contacts",
                    fields: ["Name"],
                    portals: [
                        .init(table: "Phones", fields: ["Phones::Kind"]),
                        .init(table: "Phones", fields: ["Phones::Number"]),
                    ]
                )
            )
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let record = try await bench.get("layouts/C/records/1").response["data"][0]
            #expect(record["portalData"].object?.keys == ["Phones", "Phones"])
            let rows = record["portalData"].object?.members.map { $0.value[0].object?.keys ?? [] }
            #expect(rows == [["recordId", "Phones::Kind", "modId"], ["recordId", "Phones::Number", "modId"]])
            #expect(record["portalDataInfo"].array?.count == 2)
            #expect(try await bench.get("layouts/C").response["portalMetaData"].object?.keys == ["Phones", "Phones"])
            let edit: JSONValue = ["Phones": [["recordId": "1", "Phones::Number": "7"]]]
            #expect(try await bench.patch("layouts/C/records/1", ["fieldData": [:], "portalData": edit]).code == "0")
            let one = try await bench.get("layouts/C/records/1", [("portal", #"["Phones"]"#), ("_limit.Phones", "1")])
            let limited = one.response["data"][0]["portalData"].object?.members.map { $0.value.array?.count }
            #expect(limited == [1, 1])
        }
        // Object names must be unique.
        var named = solution
        named.layouts = [
            .layout(
                .init(
                    name: "C",
                    table: "Contacts",
                    portals: [
                        .init(table: "Phones", name: "a", fields: []), .init(table: "Phones", name: "a", fields: []),
                    ]
                )
            )
        ]
        #expect(throws: SolutionError.self) { try ModelBuilder.build([named]) }
    }
}
