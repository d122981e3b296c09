import CustomDump
import Testing

@testable import FMSandbox

/// Writes to records other than that of the request: portal rows, related fields, deleted related records.
@Suite(.timeLimit(.minutes(15))) struct RelatedWritingTests {
    @Test func deletingTakesRelatedRecordsAlong() async throws {
        try await withBench { (bench: Bench) async throws in
            _ = try await bench.delete("layouts/Contacts/records/1")
            let phones = try await bench.get("layouts/Phones/records")
            #expect(phones.recordIds == ["3"])
        }
    }

    @Test(arguments: [Sandbox.ServerVersion.v18, .v22])
    func newPortalRowsAreTold(_ version: Sandbox.ServerVersion) async throws {
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            let edit: JSONValue = [
                "fieldData": ["City": "Bath", "deleteRelated": "Phones.2"],
                "portalData": [
                    "Phones": [
                        ["recordId": "1", "modId": "0", "Phones::Kind": "home"],
                        ["Phones::Kind": "work", "Phones::Number": "1"],
                        ["Phones::Number": "2"],
                    ]
                ],
            ]
            let answer = try await bench.patch("layouts/Contacts/records/1", edit)
            let told = answer.response["newPortalRecordInfo"].array?.map { $0["recordId"] }
            #expect(told == (version == .v22 ? ["4", "4", "5"] : ["5"]))
            let rows = try await bench.get("layouts/Contacts/records/1").response["data"][0]["portalData"]["Phones"]
            expectNoDifference(
                rows,
                [
                    ["recordId": "1", "Phones::Kind": "home", "Phones::Number": "+44 20 7946 0001", "modId": "1"],
                    ["recordId": "4", "Phones::Kind": "work", "Phones::Number": "1", "modId": "0"],
                    ["recordId": "5", "Phones::Kind": "", "Phones::Number": "2", "modId": "0"],
                ]
            )
            #expect(try await bench.find("Phones", [["ContactId": "1"]]).recordIds == ["1", "4", "5"])
        }
    }

    @Test func aCreateWithRowsDoesNotTellThem() async throws {
        try await withBench { (bench: Bench) async throws in
            let new: JSONValue = ["fieldData": ["Name": "x"], "portalData": ["Phones": [["Phones::Number": "1"]]]]
            #expect(try await bench.post("layouts/Contacts/records", new).response == ["recordId": "4", "modId": "0"])
            let record = try await bench.get("layouts/Contacts/records/4").response["data"][0]
            #expect(record["portalData"]["Phones"][0]["recordId"] == "4")
        }
    }

    @Test func theOlderWayToAddressARow() async throws {
        try await withBench { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": ["Phones::Number.2": "second", "Phones::Number.0": "new"]]
            #expect(try await bench.patch("layouts/Contacts/records/1", edit).code == "0")
            let rows = try await bench.get("layouts/Contacts/records/1").response["data"][0]["portalData"]["Phones"]
            #expect(rows.array?.map { $0["Phones::Number"] } == ["+44 20 7946 0001", "second", "new"])
        }
    }

    @Test func relatedFieldsOnTheLayout() async throws {
        var solution = Solution.sample
        solution.layouts = [.layout(.init(name: "C", table: "Contacts", fields: ["Name", "Phones::Number"]))]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let path = "layouts/C/records/2"
            // An empty text creates no related record; a value does.
            #expect(try await bench.patch(path, ["fieldData": ["Phones::Number": ""]]).code == "0")
            #expect(try await bench.get(path).fields["Phones::Number"] == "")
            #expect(try await bench.patch(path, ["fieldData": ["Phones::Number": "9"]]).code == "0")
            #expect(try await bench.get(path).fields["Phones::Number"] == "9")
            #expect(try await bench.patch("layouts/C/records/1", ["fieldData": ["Phones::Number": "8"]]).code == "0")
            let first = try await bench.get("layouts/C/records/1")
            #expect(first.fields["Phones::Number"] == "8")
            #expect(bench.engine.world.tables[3].records.count == 4)
        }
    }

    @Test func aRelationshipThatForbidsCreationIsRespected() async throws {
        try await withBench { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": [:], "portalData": ["Shared": [["Country::Name": "Atlantis"]]]]
            let answer = try await bench.patch("layouts/Zones/records/1", edit)
            #expect(answer.code == "101")
            #expect(bench.engine.world.tables[0].records.count == 249)
        }
    }

    @Test func relationshipsFollowGlobals() async throws {
        var solution = Solution.oneTable([.init("gKey", isGlobal: true)], [.init([:])])
        solution.tables.append(
            .init(name: "R", fields: [.init("Key")], records: ["a", "b"].map { .init(["Key": $0]) })
        )
        solution.relationships = [.init("T", "R", matches: [.init("gKey", "Key")])]
        solution.layouts = [.layout(.init(name: "L", table: "T", portals: [.init(table: "R", fields: ["R::Key"])]))]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.get("layouts/L/records/1").response["data"][0]["portalData"] == ["R": []])
            _ = try await bench.patch("globals", ["globalFields": ["T::gKey": "b"]])
            let rows = try await bench.get("layouts/L/records/1").response["data"][0]["portalData"]["R"]
            #expect(rows.array?.map { $0["R::Key"] } == ["b"])
        }
    }

    @Test func fieldsOfANewRelatedRecordShareIt() async throws {
        try await withBench { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": ["Phones::Number.0": "9", "Phones::Kind.0": "mobile"]]
            #expect(try await bench.patch("layouts/Contacts/records/2", edit).code == "0")
            let rows = try await bench.get("layouts/Contacts/records/2").response["data"][0]["portalData"]["Phones"]
            expectNoDifference(
                rows,
                [["recordId": "4", "Phones::Kind": "mobile", "Phones::Number": "9", "modId": "0"]]
            )
        }
    }

    @Test(arguments: Sandbox.ServerVersion.allCases)
    func version17DeletesOneRowAtATime(_ version: Sandbox.ServerVersion) async throws {
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            let path = "layouts/Contacts/records/1"
            let list = try await bench.patch(path, ["fieldData": ["deleteRelated": ["Phones.1"]]])
            #expect(list.code == (version == .v17 ? "1708" : "0"))
            #expect(try await bench.patch(path, ["fieldData": ["deleteRelated": "Phones.2"]]).code == "0")
        }
    }

    /// All comparisons of a relationship, from both sides.
    @Test(
        arguments: [
            ("=", "2", "2"), ("≠", "13", "13"), ("<", "3", "1"), ("≤", "23", "12"), (">", "1", "3"), ("≥", "12", "23"),
            ("x", "123", "123"),
        ]
    )
    func relationshipsCompare(_ comparison: String, _ forward: String, _ back: String) async throws {
        var solution = Solution.oneTable([.init("K", .number)], ["1", "2", "3"].map { .init(["K": $0]) })
        solution.tables.append(
            .init(name: "R", fields: [.init("K", .number)], records: ["1", "2", "3"].map { .init(["K": $0]) })
        )
        let kind = try #require(Solution.Relationship.Comparison(rawValue: comparison))
        solution.relationships = [.init("T", "R", matches: [.init("K", "K", comparison: kind)])]
        solution.layouts = [
            .layout(.init(name: "L", table: "T", portals: [.init(table: "R", fields: ["R::K"])])),
            .layout(.init(name: "M", table: "R", portals: [.init(table: "T", fields: ["T::K"])])),
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            func keys(_ layout: String, _ portal: String) async throws -> String {
                let record = try await bench.get("layouts/\(layout)/records/2").response["data"][0]
                let rows = record["portalData"][portal].array ?? []
                return rows.compactMap { $0["\(portal)::K"].scalarText }.joined()
            }
            #expect(try await keys("L", "R") == forward)
            #expect(try await keys("M", "T") == back)
        }
    }

    /// A relationship can be sorted by a value list, like any other sort.
    @Test func relationshipsSortByAValueList() async throws {
        var solution = Solution.oneTable(
            [.init("K")],
            [.init(["K": "k"])],
            valueLists: [.init(name: "Sizes", values: ["small", "large"])]
        )
        solution.tables.append(
            .init(
                name: "R",
                fields: [.init("K"), .init("Size")],
                records: ["odd", "large", "small"].map { .init(["K": "k", "Size": $0]) }
            )
        )
        solution.relationships = [
            .init("T", "R", matches: [.init("K", "K")], rightRules: .init(sort: [.init("Size", "Sizes")]))
        ]
        solution.layouts = [
            .layout(
                .init(name: "L", table: "T", fields: ["R::Size"], portals: [.init(table: "R", fields: ["R::Size"])])
            )
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let record = try await bench.get("layouts/L/records/1").response["data"][0]
            #expect(record["portalData"]["R"].array?.map { $0["R::Size"] } == ["small", "large", "odd"])
            #expect(record["fieldData"]["R::Size"] == "small")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aPortalRowWithoutRecordIdIsCreated(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": [:], "portalData": ["Phones": [["Phones::Number": "123"]]]]
            let answer = try await bench.patch("layouts/Contacts/records/1", edit)
            #expect(answer.status == 200)
            #expect(
                answer.response["newPortalRecordInfo"] == [["tableName": "Phones", "recordId": "4", "modId": "0"]]
            )
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func deleteRelatedTakesAListInsideFieldData(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": ["deleteRelated": ["Phones.1", "Phones.2"]]]
            #expect(try await bench.patch("layouts/Contacts/records/1", edit).status == 200)
            let record = try await bench.get("layouts/Contacts/records/1").response["data"][0]
            #expect(record["portalData"] == ["Phones": []])
        }
    }

    @Test(.tags(.openQuestion)) func rowsOfPortalsWithAnObjectName() async throws {
        var solution = Solution.sample
        solution.layouts = [
            .layout(
                .init(
                    name: "C",
                    table: "Contacts",
                    fields: ["Name"],
                    portals: [.init(table: "Phones", name: "numbers", fields: ["Phones::Number"])]
                )
            )
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let row = try await bench.get("layouts/C/records/1").response["data"][0]["portalData"]["numbers"][0]
            #expect(row.object?.keys == ["recordId", "Phones::Number", "modId"])
            func edit(_ id: String) async throws -> String? {
                let row = JSONObject(members: [
                    .init(key: id, value: "1"), .init(key: "Phones::Number", value: "7"),
                ])
                let portals: JSONValue = ["numbers": [.object(row)]]
                return try await bench.patch("layouts/C/records/1", ["fieldData": [:], "portalData": portals]).code
            }
            #expect(try await edit("recordId") == "0")
            #expect(try await edit("Phones::recordId") == "102")
            #expect(try await edit("numbers::recordId") == "102")
        }
    }

    @Test(
        .tags(.openQuestion),
        arguments: [Sandbox.ServerVersion.v18, .v19, .v22]
    )
    func newRowsAreToldByVersionAndOfACreateWhereAsked(_ version: Sandbox.ServerVersion) async throws {
        let rows: JSONValue = ["Phones": [["Phones::Kind": "work", "Phones::Number": "1"], ["Phones::Number": "2"]]]
        let expected = version == .v22 ? ["4", "4", "5"] : ["5"]
        func ids(_ answer: Bench.Answer) -> [String]? {
            answer.response["newPortalRecordInfo"].array?.compactMap { $0["recordId"].string }
        }
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            let edit = try await bench.patch("layouts/Contacts/records/1", ["fieldData": [:], "portalData": rows])
            #expect(ids(edit) == expected)
            let create = try await bench.post("layouts/Contacts/records", ["fieldData": [:], "portalData": rows])
            #expect(create.response.object?.keys == ["recordId", "modId"])
        }
        try await withBench(
            configure: { ($0.serverVersion, $0.newPortalRecordInfoOnCreate) = (version, true) }
        ) { (bench: Bench) async throws in
            let create = try await bench.post("layouts/Contacts/records", ["fieldData": [:], "portalData": rows])
            #expect(create.response.object?.keys == ["recordId", "modId", "newPortalRecordInfo"])
            #expect(ids(create) == expected)
        }
    }

    @Test(.tags(.openQuestion)) func anEditMayHaveNoFieldData() async throws {
        try await withBench { (bench: Bench) async throws in
            let rows: JSONValue = ["portalData": ["Phones": [["recordId": "1", "Phones::Number": "7"]]]]
            #expect(try await bench.patch("layouts/Contacts/records/1", rows).response == ["modId": "0"])
        }
    }
}
