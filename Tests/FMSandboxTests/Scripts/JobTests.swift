import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

/// Many writes in one request: a client puts a job into a record, and a script executes it.
@Suite(.timeLimit(.minutes(15))) struct JobTests {
    private func withJobs(_ body: (Bench) async throws -> Void) async throws {
        var solution = Solution.sample
        solution.addJobs()
        for table in solution.tables.indices where solution.tables[table].name == "Contacts" {
            for field in solution.tables[table].fields.indices
            where solution.tables[table].fields[field].name == "Email" {
                solution.tables[table].fields[field].validation.unique = true
            }
        }
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            try await body(bench)
            expectNoDifference(bench.engine.world.locks, [:])
        }
    }

    /// Creates a record with a job, as a client does.
    private func run(_ job: JSONValue, _ bench: Bench) async throws -> (result: JSONValue, error: String?) {
        try await run(text: String(decoding: JSONWriter.write(job), as: UTF8.self), bench)
    }

    private func run(text: String, _ bench: Bench) async throws -> (result: JSONValue, error: String?) {
        let answer = try await bench.post(
            "layouts/Jobs/records",
            ["fieldData": ["Payload": .string(text)], "script": "Run Job"]
        )
        let id = try #require(answer.response["recordId"].string)
        // The result is kept in the record for clients that did not receive the answer.
        let kept = try await bench.get("layouts/Jobs/records/\(id)").fields["Result"].string ?? ""
        expectNoDifference(answer.response["scriptResult"].string, kept)
        let result = try JSONParser.parse(Array(kept.utf8))
        return (result, answer.response["scriptError"].string)
    }

    private func create(_ email: String) -> JSONValue {
        ["op": "create", "fields": ["Name": .string(email), "Email": .string(email)]]
    }

    @Test func rowsAreCreatedEditedAndDeleted() async throws {
        try await withJobs { (bench: Bench) async throws in
            let rows: JSONValue = [
                create("new@example.com"),
                ["op": "edit", "id": "1", "mod": "0", "fields": ["City": "Kiel", "Notes": "a\rb"]],
                ["op": "delete", "id": "2"],
            ]
            let (result, error) = try await run(["layout": "Contacts", "rows": rows], bench)
            expectNoDifference(error, "0")
            expectNoDifference(
                result,
                [
                    ["i": .int(0), "id": "4", "mod": "0"], ["i": .int(1), "id": "1", "mod": "1"],
                    ["i": .int(2), "id": "2"],
                ]
            )
            let contacts = try await bench.get("layouts/Contacts/records")
            expectNoDifference(contacts.recordIds, ["1", "3", "4"])
            expectNoDifference(contacts.column("City")[0], "Kiel")
            expectNoDifference(contacts.column("Notes")[0], "a\rb")
            expectNoDifference(contacts.response["data"][0]["modId"], "1")
        }
    }

    @Test func aRowThatFailsTakesAllWithIt() async throws {
        try await withJobs { (bench: Bench) async throws in
            let before = try await bench.get("layouts/Contacts/records").json
            let rows: JSONValue = [
                create("a@example.com"), create("b@example.com"), create("a@example.com"), create("c@"),
            ]
            let (result, error) = try await run(["layout": "Contacts", "rows": rows], bench)
            expectNoDifference(error, "504")
            expectNoDifference(result, [["err": .int(504), "i": .int(2)]])
            #expect(try await bench.get("layouts/Contacts/records").json == before)
        }
    }

    @Test func rowsMayFailByThemselves() async throws {
        try await withJobs { (bench: Bench) async throws in
            try bench.engine.commit { world in
                let table = try #require(bench.engine.model.tables.firstIndex { $0.name == "Contacts" })
                var record = try #require(world.tables[table].record(3))
                record.isLocked = true
                world.tables[table].replace(record)
            }
            let rows: JSONValue = [
                create("a@example.com"), create("a@example.com"), ["op": "edit", "id": "99", "fields": ["City": "x"]],
                ["op": "edit", "id": "3", "fields": ["City": "x"]], ["op": "edit", "id": "1", "fields": ["Town": "x"]],
                ["op": "edit", "id": "1", "mod": "8", "fields": ["City": "x"]], ["op": "paint", "id": "1"], .int(5), [],
                ["op": "edit", "id": "1", "fields": ["City": "Kiel"]],
            ]
            let (result, error) = try await run(["layout": "Contacts", "atomic": false, "rows": rows], bench)
            expectNoDifference(error, "0")
            let codes = [0, 504, 101, 301, 102, 5306, 5001, 5001, 5001, 0]
            expectNoDifference(result.array?.map { Int($0["err"].scalarText ?? "0") }, codes)
            expectNoDifference(result[0]["id"], "4")
            expectNoDifference(result[9], ["i": .int(9), "id": "1", "mod": "1"])
            // A row that failed leaves no record, but its record id is not used again.
            #expect(try await bench.get("layouts/Contacts/records").recordIds == ["1", "2", "3", "4"])
        }
    }

    @Test(.thorough, arguments: [0, 1, 200])
    func anyNumberOfRowsWillDo(count: Int) async throws {
        try await withJobs { (bench: Bench) async throws in
            let rows = (0..<count).map { create("\($0)@example.com") }
            let (result, error) = try await run(["layout": "Contacts", "rows": .array(rows)], bench)
            expectNoDifference(error, "0")
            expectNoDifference(
                result,
                .array((0..<count).map { ["i": .int($0), "id": .string("\($0 + 4)"), "mod": "0"] })
            )
            #expect(try await bench.get("layouts/Contacts/records", [("_limit", "1000")]).recordIds.count == count + 3)
        }
    }

    @Test(arguments: [
        "", "{", "[]", "null", "17", #""rows""#, "{}", #"{"layout":"Contacts"}"#, #"{"rows":{}}"#, #"{"rows":7}"#,
        #"{"layout":"Contacts","rows":[{"op":"create"}"#, "{\u{0}}", String(repeating: "[", count: 10_000),
    ])
    func whatIsNoJobIsAnError(text: String) async throws {
        try await withJobs { (bench: Bench) async throws in
            let (result, error) = try await run(text: text, bench)
            expectNoDifference(error, "5000")
            expectNoDifference(result, [["err": .int(5000)]])
        }
    }

    @Test func aLayoutThatIsNotThereIsAnError() async throws {
        try await withJobs { (bench: Bench) async throws in
            for isAtomic in [true, false] {
                let job: JSONValue = [
                    "layout": "Nowhere", "atomic": .bool(isAtomic), "rows": [create("a@example.com")],
                ]
                let (result, error) = try await run(job, bench)
                expectNoDifference(error, "105")
                expectNoDifference(result, [["err": .int(105)]])
            }
        }
    }

    @Test func theJobMayBeTheParameter() async throws {
        try await withJobs { (bench: Bench) async throws in
            let job = #"{"layout":"Contacts","rows":[{"op":"delete","id":"1"}]}"#
            let answer = try await bench.get("layouts/Contacts/script/Run%20Job", [("script.param", job)])
            expectNoDifference(answer.response, ["scriptResult": #"[{"i":0,"id":"1"}]"#, "scriptError": "0"])
            #expect(try await bench.get("layouts/Contacts/records").recordIds == ["2", "3"])
        }
    }

    @Test func solutionsWithJobsAreWrittenAndRead() throws {
        var solution = Solution.sample
        solution.addJobs()
        let again = try JSONDecoder().decode(Solution.self, from: JSONEncoder().encode(solution))
        expectNoDifference(
            again.scripts.flatMap(\.scripts).map(\.steps),
            solution.scripts.flatMap(\.scripts).map(\.steps)
        )
        _ = try ModelBuilder.build([again])
    }
}
