import Foundation
import Testing

@testable import FMSandbox

@Suite struct SolutionFileTests {
    /// A folder of its own for each test, gone afterwards.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "FMSandboxTests-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private static let shop = #"""
        {
          "name": "Shop",
          "tables": [
            {"name": "Items", "fields": ["Name", {"name": "Price", "type": "number", "validation": {"minimum": 0}}],
             "recordsFile": "items.csv"},
            {"name": "Sales", "fields": ["Item", {"name": "Count", "type": "number"},
                {"name": "Value", "type": "number", "calculation": "Count * Items::Price"}],
             "records": [{"$recordId": 7, "$modId": 2, "Item": "Tea", "Count": 3}, {"Item": "Nuts", "Count": 1}]}
          ],
          "relationships": [{"left": "Sales", "right": "Items", "matches": [{"left": "Item", "right": "Name"}]}],
          "layouts": [
            {"folder": "All", "items": [{"name": "Sales", "table": "Sales", "fields": ["Item", "Count", "Value"]}]},
            {"name": "Items", "table": "Items", "fields": ["Name", {"field": "Price", "display": "popupMenu"}]}
          ],
          "scripts": ["Idle", {"folder": "F", "items": [{"name": "Total", "steps": [{"exit": "Sum ( Value )"}]}]}],
          "accounts": [{"name": "admin", "password": "secret"}]
        }
        """#

    @Test func aSolutionIsReadAndServed() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("shop.json")
            try Data(Self.shop.utf8).write(to: file)
            try Data("Name,Price\r\nTea,2.50\r\n\"Nuts, \"\"mixed\"\"\",4\r\nNuts,1\r\n".utf8)
                .write(to: folder.appendingPathComponent("items.csv"))
            let solution = try Solution.load(from: file)
            try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
                let sales = try await bench.get("layouts/Sales/records")
                #expect(sales.recordIds == ["7", "8"])
                #expect(sales.column("Value") == ["7.5", "1"])
                #expect(sales.response["data"][0]["modId"] == "2")
                #expect(
                    try await bench.get("layouts/Items/records").column("Name") == ["Tea", "Nuts, \"mixed\"", "Nuts"]
                )
                #expect(try await bench.post("layouts/Items/records", ["fieldData": ["Price": .int(-1)]]).code == "503")
                #expect(try await bench.get("layouts/Sales/script/Idle").response == ["scriptError": "0"])
            }
        }
    }

    @Test func theStateIsWrittenAndReadAgain() async throws {
        let sandbox = try await Sandbox.start()
        defer { sandbox.stopAndWait() }
        let bench = sandbox.engine
        try bench.commit { world in
            var record = try #require(world.tables[2].record(1))
            record.values[11] = .text("changed")
            record.modId = 9
            world.tables[2].replace(record)
        }
        try await withFolder { folder in
            try sandbox.save(to: folder)
            let loaded = try Solution.load(from: folder.appendingPathComponent("World.json"))
            let again = try Engine([loaded], configuration: .init(clock: ManualClock()))
            for (one, other) in zip(sandbox.engine.world.tables, again.world.tables) {
                #expect(one.records.map(\.id) == other.records.map(\.id))
                #expect(one.records.map(\.modId) == other.records.map(\.modId))
                #expect(one.records.map(\.values) == other.records.map(\.values))
            }
            #expect(sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first?.modId == 9)
            #expect(sandbox.solution(named: "Nope") == nil)
        }
    }

    @Test func recordsAreLockedAndLetGoFromOutside() async throws {
        let sandbox = try await Sandbox.start()
        defer { sandbox.stopAndWait() }
        try sandbox.setLocked(true, recordId: 2, ofTable: "Contacts", inDatabase: "World")
        #expect(sandbox.records(ofTable: "Contacts", inDatabase: "World")?.map(\.isLocked) == [false, true, false])
        try sandbox.setLocked(false, recordId: 2, ofTable: "Contacts", inDatabase: "World")
        #expect(sandbox.records(ofTable: "Contacts", inDatabase: "World")?.map(\.isLocked) == [false, false, false])
        for (id, table, database, code) in [
            (9, "Contacts", "World", 101), (1, "Nope", "World", 106), (1, "T", "Nope", 802),
        ] {
            #expect(throws: FileMakerError(code)) {
                try sandbox.setLocked(true, recordId: id, ofTable: table, inDatabase: database)
            }
        }
    }

    @Test func containersSurviveTheFile() async throws {
        let content = ContainerContent(filename: "naïve, \"x\";.jpg", contentType: "image/jpeg", bytes: [0, 1, 255])
        #expect(ContainerContent(dataURL: content.dataURL) == content)
        for text in ["x", "data:a;base64", "data:image/png,xx", "data:image/png;base64,%%"] {
            #expect(ContainerContent(dataURL: text) == nil)
        }
    }

    @Test(
        arguments: [
            (#"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","type":"txt"}]}]}"#, "tables[0].fields[0].type"),
            (#"{"name":"X","tables":[{"name":"T","fields":["A"],"colour":1}]}"#, "tables[0].colour"),
            (#"{"name":"X","tables":[{"fields":["A"]}]}"#, "tables[0]"), (#"{"name":7}"#, "name"),
            (#"{"name":"X","tables":{}}"#, "tables"),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"jump":1}]}]}"#, "scripts[0].steps[0].jump"),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{}]}]}"#, "scripts[0].steps[0]"), ("{", ""), ("[]", ""),
        ]
    )
    func brokenFilesNameThePlace(_ text: String, _ path: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("broken.json")
            try Data(text.utf8).write(to: file)
            let error = #expect(throws: SolutionError.self) { try Solution.load(from: file) }
            #expect(error?.path == path)
            #expect(error?.solution == "broken.json")
        }
    }

    @Test(
        arguments: [
            (#"{"name":""}"#, "name"), (#"{"name":"X","dateFormat":"dd"}"#, "dateFormat"),
            (#"{"name":"X","tables":[{"name":"T","fields":["A","A"]}]}"#, "tables[0].fields[1].name"),
            (#"{"name":"X","tables":[{"name":"T","fields":["A"]},{"name":"T","fields":[]}]}"#, "tables[1].name"),
            (
                #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","calculation":"1 +"}]}]}"#,
                "tables[0].fields[0].calculation"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","repetitions":0}]}]}"#,
                "tables[0].fields[0].repetitions"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","summary":{"function":"total","field":"B"}}]}]}"#,
                "tables[0].fields[0].summary.field"
            ),
            (#"{"name":"X","tables":[{"name":"T","fields":["A"],"records":[{"B":"1"}]}]}"#, "tables[0].records[0].B"),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"],"records":[{"A(2)":"1"}]}]}"#,
                "tables[0].records[0].A(2)"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"],"records":[{"$recordId":2},{"$recordId":2}]}]}"#,
                "tables[0].records[1].$recordId"
            ),
            (#"{"name":"X","occurrences":[{"name":"O","table":"T"}]}"#, "occurrences[0].table"),
            (#"{"name":"X","occurrences":[{"name":"O","table":"T","dataSource":"D"}]}"#, "occurrences[0].dataSource"),
            (#"{"name":"X","relationships":[{"left":"L","right":"R","matches":[]}]}"#, "relationships[0].left"),
            (#"{"name":"X","layouts":[{"name":"L","table":"T"}]}"#, "layouts[L].table"),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"]}],"layouts":[{"name":"L","table":"T","fields":["B"]}]}"#,
                "layouts[L].fields[0]"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"]}],"layouts":[{"name":"L","table":"T","portals":[{"table":"T","fields":[]}]}]}"#,
                "layouts[L].portals[0].table"
            ),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"goToLayout":"L"}]}]}"#, "scripts[S].steps[0].goToLayout"),
            (#"{"name":"X","accounts":[{"name":"a","privilegeSet":"P"}]}"#, "accounts[0].privilegeSet"),
        ]
    )
    func looseEndsNameThePlace(_ text: String, _ path: String) throws {
        let solution = try JSONDecoder().decode(Solution.self, from: Data(text.utf8))
        let error = #expect(throws: SolutionError.self) { try ModelBuilder.build([solution]) }
        #expect(error?.path == path)
    }

    @Test(arguments: [("a,b\n\"x\" y,1", 2), ("a\n\"open", 2)])
    func brokenCSVNamesTheLine(_ text: String, _ line: Int) {
        let failure = #expect(throws: CSV.Failure.self) { try CSV.rows(of: text) }
        #expect(failure?.line == line)
    }

    @Test func recordsFilesStayBesideTheSolution() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("x.json")
            for name in ["../items.csv", "/etc/passwd", "items.txt"] {
                let text = #"{"name":"X","tables":[{"name":"T","fields":["A"],"recordsFile":"\#(name)"}]}"#
                try Data(text.utf8).write(to: file)
                let error = #expect(throws: SolutionError.self) { try Solution.load(from: file) }
                #expect(error?.path == "tables[0].recordsFile")
            }
        }
    }
}
