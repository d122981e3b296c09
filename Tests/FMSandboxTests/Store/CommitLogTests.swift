import CustomDump
import Testing

@testable import FMSandbox

/// Commits that do not come through the API, and the log that a file keeps of its commits.
@Suite(.timeLimit(.minutes(15))) struct CommitLogTests {
    /// Two ships; one has a crate, which is deleted with it.
    private static var harbour: Solution {
        let arrival: [Solution.Step] = [.newRecord, .set("Name", to: "\"Gjoa\"")]
        let refit: [Solution.Step] = [
            .openTransaction, .newRecord, .set("Name", to: "\"Maud\""), .goToListOfRecords("1"),
            .set("Berth", to: "1"), .set("Berth", to: "2"), .goToListOfRecords("2"), .deleteRecord,
        ]
        var solution = Solution(
            name: "Harbour",
            tables: [
                .init(
                    name: "Ships",
                    fields: [
                        .init("Name", validation: .init(unique: true)), .init("Berth", .number),
                        .init("Changed", .timestamp, autoEnter: .modificationTimestamp),
                    ],
                    records: [.init(["Name": "Fram"]), .init(["Name": "Embla"])]
                ),
                .init(name: "Crates", fields: [.init("Ship")], records: [.init(["Ship": "Fram"])]),
            ],
            relationships: [
                .init(
                    "Ships",
                    "Crates",
                    matches: [.init("Name", "Ship")],
                    rightRules: .init(deletesWithOther: true)
                )
            ],
            layouts: [.layout(.init(name: "Ships", table: "Ships", fields: ["Name", "Berth"]))],
            scripts: [
                .script(.init(name: "Arrival", steps: arrival)),
                .script(.init(name: "Refit", steps: refit + [.commitTransaction])),
                .script(.init(name: "Doubt", steps: refit + [.revertTransaction(error: 5001), .commitTransaction])),
            ],
            accounts: [.init(name: "admin", password: "secret")]
        )
        solution.addCommitLog()
        return solution
    }

    /// Runs a body on a sandbox and compares its log: serial number, operation, table, record.
    private func expectLog(_ entries: [String], after body: (Bench, Sandbox) async throws -> Void) async throws {
        try await withBench(.http, [Self.harbour]) { bench in
            let sandbox: Sandbox = try #require(bench.sandbox)
            try await body(bench, sandbox)
            let log = sandbox.records(ofTable: "Log", inDatabase: "Harbour")
            expectNoDifference(
                log?.map { entry in
                    ["Serial", "Operation", "Table", "Record"].map { entry.values[$0] ?? "–" }.joined(separator: " ")
                },
                entries
            )
        }
    }

    @Test func whatAnotherPartyCommitsIsLogged() async throws {
        try await expectLog(["1 New Ships 3", "2 Modified Ships 2", "3 Deleted Ships 1", "4 Deleted Crates 1"]) {
            bench,
            sandbox in
            let id = try sandbox.createRecord(["Name": "Gjoa"], ofTable: "Ships", inDatabase: "Harbour")
            expectNoDifference(id, 3)
            try sandbox.editRecord(2, ["Name": "Ask", "Berth": "7"], ofTable: "Ships", inDatabase: "Harbour")
            let ship = sandbox.records(ofTable: "Ships", inDatabase: "Harbour")?[1]
            expectNoDifference(ship?.modId, 1)
            expectNoDifference(ship?.values["Berth"], "7")
            // Auto-entered, as in any other commit.
            #expect(ship?.values["Changed"] != nil)
            try sandbox.deleteRecord(1, ofTable: "Ships", inDatabase: "Harbour")
        }
    }

    @Test func whatIsRefusedHasNotHappened() async throws {
        try await expectLog([]) { (bench: Bench, sandbox: Sandbox) async throws in
            let before = bench.engine.withState(\.worldVersion)
            func refusal(_ commit: () throws -> Void) -> Int? {
                do {
                    try commit()
                    return nil
                } catch {
                    return (error as? FileMakerError)?.code
                }
            }
            func create(_ values: [String: String] = [:], _ table: String = "Ships", _ file: String = "Harbour") -> Int?
            {
                refusal { try sandbox.createRecord(values, ofTable: table, inDatabase: file) }
            }
            expectNoDifference(create([:], "Ships", "Nowhere"), 802)
            expectNoDifference(create([:], "Nothing"), 106)
            expectNoDifference(create(["Nothing": "x"]), 102)
            expectNoDifference(create(["Name": "Fram"]), 504)
            let missing = refusal { try sandbox.deleteRecord(9, ofTable: "Ships", inDatabase: "Harbour") }
            expectNoDifference(missing, 101)
            expectNoDifference(bench.engine.withState(\.worldVersion), before)
            try sandbox.setLocked(true, recordId: 1, ofTable: "Ships", inDatabase: "Harbour")
            let locked = refusal { try sandbox.editRecord(1, [:], ofTable: "Ships", inDatabase: "Harbour") }
            expectNoDifference(locked, nil)
            let inUse = refusal { try sandbox.editRecord(1, ["Berth": "2"], ofTable: "Ships", inDatabase: "Harbour") }
            expectNoDifference(inUse, 301)
        }
    }

    @Test func directWritesByTheDataAPIAreNotLogged() async throws {
        try await expectLog([]) { (bench: Bench, _: Sandbox) async throws in
            #expect(try await bench.post("layouts/Ships/records", ["fieldData": ["Name": "Gjoa"]]).code == "0")
            #expect(try await bench.patch("layouts/Ships/records/1", ["fieldData": ["Berth": "2"]]).code == "0")
            #expect(try await bench.delete("layouts/Ships/records/2").code == "0")
        }
    }

    @Test func eachCommitOfAScriptIsLogged() async throws {
        try await expectLog(["1 New Ships 3", "2 Modified Ships 3"]) { (bench: Bench, _: Sandbox) async throws in
            #expect(try await bench.get("layouts/Ships/script/Arrival").response["scriptError"] == "0")
        }
    }

    @Test func aTransactionIsOneCommit() async throws {
        let entries = ["1 Modified Ships 1", "2 Deleted Ships 2", "3 New Ships 3"]
        try await expectLog(entries) { (bench: Bench, _: Sandbox) async throws in
            #expect(try await bench.get("layouts/Ships/script/Refit").response["scriptError"] == "0")
        }
    }

    @Test func whatIsRevertedIsNotLogged() async throws {
        try await expectLog([]) { (bench: Bench, _: Sandbox) async throws in
            #expect(try await bench.get("layouts/Ships/script/Doubt").response["scriptError"] == "5001")
        }
    }
}
