import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct SolutionFileTests {
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
        try await withTemporaryFolder { folder in
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
        let sandbox = try await Sandbox.start(configuration: .patient)
        defer { sandbox.stopAndWait() }
        let bench = sandbox.engine
        try bench.commit { world in
            var record = try #require(world.tables[2].record(1))
            record.values[11] = .text("changed")
            record.modId = 9
            world.tables[2].replace(record)
        }
        try withTemporaryFolder { folder in
            try sandbox.save(to: folder)
            let loaded = try Solution.load(from: folder.appendingPathComponent("World.json"))
            let again = try Engine([loaded], configuration: .init { $0.clock = ManualClock() })
            for (one, other) in zip(sandbox.engine.world.tables, again.world.tables) {
                #expect(one.records.map(\.id) == other.records.map(\.id))
                #expect(one.records.map(\.modId) == other.records.map(\.modId))
                #expect(one.records.map(\.values) == other.records.map(\.values))
            }
            #expect(sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first?.modId == 9)
            #expect(sandbox.solution(named: "Nope") == nil)
        }
    }

    /// A solution with everything that a file can contain is saved and read again.
    @Test func whatIsSavedIsWhatIsRead() async throws {
        let solution = Solution(
            name: "Full",
            tables: [
                .init(
                    name: "T",
                    fields: [
                        .init("Id", .number, autoEnter: .serial), .init("Text"), .init("gOne", isGlobal: true),
                        .init("gTwo", repetitions: 2, isGlobal: true), .init("gFile", .container, isGlobal: true),
                    ],
                    records: [.init(["Text": "a"]), .init(recordId: 7, modId: 3, isLocked: true, ["Id": "12"])],
                    globals: ["gOne": "x", "gTwo(2)": "y", "gFile": "data:text/plain;name=a;base64,YQ=="]
                )
            ],
            layouts: [
                .layout(.init(name: "L", table: "T", fields: ["Id", "Text", "gOne", "gTwo"])),
                .folder("F", [.layout(.init(name: "-", table: ""))]),
            ],
            scripts: [
                .script(
                    .init(
                        name: "S",
                        steps: [
                            .set("$a", to: "1"), .wait(0.5), .wait("$a"), .error(5), .error("$a"), .exit("$a"),
                            .template("<<$a>>"), .loop([.deleteRecord]),
                            .branch("$a", then: [.newRecord], else: [.showAll]),
                            .goToLayout("L"), .constrain("1"),
                        ]
                    )
                )
            ],
            accounts: [.init(name: "admin", password: "secret")],
            server: .init(
                version: .v19,
                findPastEnd: .emptyPage,
                ignoresNameCase: true,
                newPortalRecordInfoOnCreate: true,
                isoTimestampSeparator: .space,
                isoCriterionDates: .iso,
                portalFieldNames: .plain
            )
        )
        let sandbox = try await Sandbox.start([solution], configuration: .patient)
        try await withTemporaryFolder { folder in
            let place = folder.appendingPathComponent("new/folder")
            try sandbox.save(to: place)
            let loaded = try Solution.load(from: place.appendingPathComponent("Full.json"))
            expectNoDifference(
                loaded.scripts.flatMap(\.scripts).map(\.steps),
                solution.scripts.flatMap(\.scripts).map(\.steps)
            )
            expectNoDifference(loaded.server, solution.server)
            expectNoDifference(loaded.tables[0].globals, solution.tables[0].globals)
            #expect(loaded.tables[0].nextRecordId == 8)
            #expect(loaded.tables[0].fields[0].nextSerial == "13")
            #expect(loaded.tables[0].records.map(\.recordId) == [1, 7])
            #expect(loaded.tables[0].records.map(\.modId) == [0, 3])
            #expect(loaded.tables[0].records.map(\.isLocked) == [false, true])
            // A file that is saved, read and saved again has the same bytes.
            let first = try Data(contentsOf: place.appendingPathComponent("Full.json"))
            let again = try await Sandbox.start([loaded], configuration: .patient)
            try again.save(to: folder)
            #expect(try Data(contentsOf: folder.appendingPathComponent("Full.json")) == first)
            await again.stop()
        }
        await sandbox.stop()
    }

    /// Ids and serial numbers of deleted records are not used again after a file was saved and read.
    @Test func idsOfDeletedRecordsStayUsed() async throws {
        let solution = Solution.oneTable(
            [.init("Id", .number, autoEnter: .serial), .init("gX", isGlobal: true)],
            [.init(["Id": "1"])]
        )
        let sandbox = try await Sandbox.start([solution], configuration: .patient)
        let engine = sandbox.engine
        try await withTemporaryFolder { folder in
            try engine.commit { world in
                let record = world.tables[0].append(values: [.text("2")])
                world.tables[0].serials[0] = FMNumber(3)
                world.tables[0].remove(record.id)
            }
            try sandbox.save(to: folder)
            let loaded = try Solution.load(from: folder.appendingPathComponent("One.json"))
            try await withBench(.inProcess, [loaded]) { (bench: Bench) async throws in
                let created = try await bench.post("layouts/L/records", ["fieldData": [:]])
                #expect(created.response["recordId"] == "3")
                #expect(try await bench.get("layouts/L/records/3").fields["Id"] == .int(3))
            }
        }
        await sandbox.stop()
    }

    @Test func recordsAreLockedAndLetGoFromOutside() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
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
        let text = ContainerContent(filename: "a", contentType: "text/x; charset=utf-8; a=\"1,2;%\"", bytes: [1])
        #expect(ContainerContent(dataURL: text.dataURL) == text)
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
            (#"{"name":"X","scripts":[{"name":"S","steps":[{}]}]}"#, "scripts[0].steps[0]"), ("{", "line 1, column 2"),
            ("[]", ""),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"wait":true}]}]}"#, "scripts[0].steps[0].wait"),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"error":[]}]}]}"#, "scripts[0].steps[0].error"),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"template":1}]}]}"#, "scripts[0].steps[0].template"),
            (#"{"name":"X","server":{"version":20}}"#, "server.version"),
            (#"{"name":"X","server":{"findPastEnd":"102"}}"#, "server.findPastEnd"),
            (#"{"name":"X","server":{"colour":1}}"#, "server.colour"),
        ]
    )
    func brokenFilesNameThePlace(_ text: String, _ path: String) throws {
        try withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("broken.json")
            try Data(text.utf8).write(to: file)
            let error = #expect(throws: SolutionError.self) { try Solution.load(from: file) }
            #expect(error?.path == path)
            #expect(error?.solution == file.path)
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
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"wait":-1}]}]}"#, "scripts[S].steps[0].wait"),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"wait":"1 +"}]}]}"#, "scripts[S].steps[0].wait"),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"error":1.5}]}]}"#, "scripts[S].steps[0].error"),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"error":"("}]}]}"#, "scripts[S].steps[0].error"),
            (
                #"{"name":"X","scripts":[{"name":"S","steps":[{"template":"<<1 +>>"}]}]}"#,
                "scripts[S].steps[0].template"
            ),
            (#"{"name":"X","scripts":[{"name":"S","steps":[{"template":"a <<1"}]}]}"#, "scripts[S].steps[0].template"),
            (
                #"{"name":"X","scripts":[{"name":"S","steps":[{"if":"1","else":[{"loop":[{"wait":"("}]}]}]}]}"#,
                "scripts[S].steps[0].else[0].loop[0].wait"
            ),
            (#"{"name":"X","valueLists":[{"name":"V","values":[]},{"name":"V","values":[]}]}"#, "valueLists[1].name"),
            (#"{"name":"X","valueLists":[{"name":"V","field":"A"}]}"#, "valueLists[0].field"),
            (
                #"{"name":"X","privilegeSets":[{"name":"P","hiddenLayouts":["L"]}]}"#,
                "privilegeSets[0].hiddenLayouts[0]"
            ),
            (
                #"{"name":"X","privilegeSets":[{"name":"P","hiddenFields":["T::A"]}]}"#,
                "privilegeSets[0].hiddenFields[0]"
            ),
            (
                #"{"name":"X","privilegeSets":[{"name":"P","readOnlyFields":["T::A"]}]}"#,
                "privilegeSets[0].readOnlyFields[0]"
            ),
            (
                #"{"name":"X","privilegeSets":[{"name":"P","visibleRecords":{"T":"1"}}]}"#,
                "privilegeSets[0].visibleRecords[T]"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["B"]}],"privilegeSets":[{"name":"P","visibleRecords":{"T":"A"}}]}"#,
                "privilegeSets[0].visibleRecords[T]"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":[]}],"privilegeSets":[{"name":"P","visibleRecords":{"T":"1 +"}}]}"#,
                "privilegeSets[0].visibleRecords[T]"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","validation":{"valueList":"V"}}]}]}"#,
                "tables[0].fields[0].validation.valueList"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"],"records":[{"$modId":-1}]}]}"#,
                "tables[0].records[0].$modId"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"],"records":[{"$recordId":9223372036854775807}]}]}"#,
                "tables[0].records[0].$recordId"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"],"records":[{}],"nextRecordId":1}]}"#,
                "tables[0].nextRecordId"
            ),
            (#"{"name":"X","tables":[{"name":"T","fields":["A"],"globals":{"A":"1"}}]}"#, "tables[0].globals.A"),
            (
                #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","global":true}],"records":[{"A":"1"}]}]}"#,
                "tables[0].records[0].A"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","autoEnter":"serial","nextSerial":"x"}]}]}"#,
                "tables[0].fields[0].nextSerial"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"]}],"occurrences":[{"name":"O","table":"T"}],"relationships":[{"left":"T","right":"O","matches":[],"rightRules":{"sort":[{"field":"B"}]}}]}"#,
                "relationships[0].rightRules.sort[0].field"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"]}],"occurrences":[{"name":"O","table":"T"}],"relationships":[{"left":"T","right":"O","matches":[],"leftRules":{"sort":[{"field":"A","order":"V"}]}}]}"#,
                "relationships[0].leftRules.sort[0].order"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"]}],"occurrences":[{"name":"O","table":"T"}],"relationships":[{"left":"T","right":"O","matches":[]}],"layouts":[{"name":"L","table":"T","portals":[{"table":"O","fields":[],"rowCount":-1}]}]}"#,
                "layouts[L].portals[0].rowCount"
            ),
            (
                #"{"name":"X","tables":[{"name":"T","fields":["A"]}],"occurrences":[{"name":"O","table":"T"}],"relationships":[{"left":"T","right":"O","matches":[]}],"layouts":[{"name":"L","table":"T","portals":[{"table":"O","fields":[],"firstRow":0}]}]}"#,
                "layouts[L].portals[0].firstRow"
            ),
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
        try withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("x.json")
            try Data([0xFF]).write(to: folder.appendingPathComponent("items.txt"))
            for name in ["../items.csv", "/etc/passwd", "items.txt", "nowhere.csv"] {
                let text = #"{"name":"X","tables":[{"name":"T","fields":["A"],"recordsFile":"\#(name)"}]}"#
                try Data(text.utf8).write(to: file)
                let error = #expect(throws: SolutionError.self) { try Solution.load(from: file) }
                #expect(error?.path == "tables[0].recordsFile")
            }
        }
    }

    @Test func brokenRecordsFilesNameThePlace() async throws {
        try withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("x.json")
            for (name, content, path) in [
                ("a.csv", "A,$recordId\n1,x", "record 1"), ("b.csv", "A,$locked\n1,maybe", "record 1"),
                ("c.csv", "A,B\n1", "record 1"), ("d.csv", "A\n\"open", "line 2"), ("e.json", #"[{"A":[]}]"#, "[0].A"),
                ("f.json", "[", "line 1, column 2"),
            ] {
                try Data(content.utf8).write(to: folder.appendingPathComponent(name))
                let text = #"{"name":"X","tables":[{"name":"T","fields":["A"],"recordsFile":"\#(name)"}]}"#
                try Data(text.utf8).write(to: file)
                let error = #expect(throws: SolutionError.self) { try Solution.load(from: file) }
                #expect(error?.path == path)
                #expect(error?.solution == folder.appendingPathComponent(name).path)
            }
            try Data([0x41, 0x0A, 0xFF]).write(to: folder.appendingPathComponent("g.csv"))
            try Data(#"{"name":"X","tables":[{"name":"T","fields":["A"],"recordsFile":"g.csv"}]}"#.utf8).write(to: file)
            let error = #expect(throws: SolutionError.self) { try Solution.load(from: file) }
            #expect(error?.reason == "expected UTF-8")
        }
    }

    @Test func recordsFilesHoldIdsAndLocks() async throws {
        try withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("x.json")
            try Data("$recordId,$modId,$locked,A\n5,2,true,x\n9,0,false,\n".utf8)
                .write(to: folder.appendingPathComponent("r.csv"))
            try Data(#"{"name":"X","tables":[{"name":"T","fields":["A"],"recordsFile":"r.csv"}]}"#.utf8).write(to: file)
            let records = try Solution.load(from: file).tables[0].records
            #expect(records.map(\.recordId) == [5, 9])
            #expect(records.map(\.modId) == [2, 0])
            #expect(records.map(\.isLocked) == [true, false])
            #expect(records.map(\.values) == [["A": "x"], [:]])
        }
    }

    /// Numbers of any length may be written without quotes, and dates and times without padding.
    @Test func valuesAreReadAsTheWireWritesThem() async throws {
        let text = #"""
            {"name":"One","accounts":[{"name":"admin","password":"secret"}],
             "tables":[{"name":"T","fields":[{"name":"N","type":"number"},{"name":"D","type":"date"},
              {"name":"H","type":"time"},{"name":"S","type":"timestamp"}],
              "records":[{"N":12345678901234567890.5,"D":"1/5/2024","H":"6:30 pm","S":"1/5/2024 6:30"},{"D":"soon"}]}],
             "layouts":[{"name":"L","table":"T","fields":["N","D","H","S"]}]}
            """#
        let solution = try JSONDecoder().decode(Solution.self, from: Data(text.utf8))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/L/records")
            let expected: JSONValue = [
                "N": .number("12345678901234567890.5"), "D": "01/05/2024", "H": "18:30:00", "S": "01/05/2024 06:30:00",
            ]
            expectNoDifference(answer.fields, expected)
            #expect(answer.column("D") == ["01/05/2024", "soon"])
        }
    }

    /// Fields without stored values of their own ignore `autoEnter: serial`.
    @Test func serialNumbersOfCalculationsAndGlobalsAreIgnored() async throws {
        let solution = Solution.oneTable(
            [
                .init("A"), .init("C", calculation: "1", autoEnter: .serial),
                .init("g", isGlobal: true, autoEnter: .serial),
            ],
            [.init(["A": "1"])]
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.post("layouts/L/records", ["fieldData": [:]]).code == "0")
            #expect(try await bench.get("layouts/L/records/2").fields == ["A": "", "C": "1", "g": ""])
        }
    }
}
