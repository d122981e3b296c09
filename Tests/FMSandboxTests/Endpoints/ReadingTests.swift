import CustomDump
import FMTestSupport
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct ReadingTests {
    @Test func aRecordIsWrittenKeyForKeyLikeTheRealOne() async throws {
        try await withBench { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Zones/records/101")
            expectNoDifference(
                answer.text,
                #"""
                {"response":{"dataInfo":{"database":"World","layout":"Zones","table":"Zones","totalRecordCount":312,\#
                "foundCount":1,"returnedCount":1},"data":[{"fieldData":{"Name":"Europe/Berlin","CountryCode":"DE",\#
                "Countries":"DE\rDK\rNO\rSE\rSJ","Latitude":52.5,"Longitude":13.3667,"Comments":"most of Germany",\#
                "Countries::Name":"Germany"},"portalData":{"Shared":[{"recordId":"57","Country::Code":"DE",\#
                "Country::Name":"Germany","modId":"0"},{"recordId":"59","Country::Code":"DK","Country::Name":"Denmark",\#
                "modId":"0"},{"recordId":"167","Country::Code":"NO","Country::Name":"Norway","modId":"0"},\#
                {"recordId":"197","Country::Code":"SE","Country::Name":"Sweden","modId":"0"},{"recordId":"201",\#
                "Country::Code":"SJ","Country::Name":"Svalbard & Jan Mayen","modId":"0"}]},"recordId":"101","modId":"0",\#
                "portalDataInfo":[{"portalObjectName":"Shared","database":"World","table":"Country","foundCount":5,\#
                "returnedCount":5}]}]},"messages":[{"code":"0","message":"OK"}]}
                """#
            )
        }
    }

    @Test func numbersAreNumbersWhereTheyCanBe() async throws {
        let values = [
            "1", "-0.50", ".5", "007", "25abc", "", "9007199254740993", "12345678901234567890.123", "1e3", "-",
        ]
        let solution = Solution.oneTable([.init("N", .number)], values.map { .init(["N": $0]) })
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/L/records")
            let written = answer.response["data"].array?.map { $0["fieldData"]["N"] }
            expectNoDifference(
                written,
                [
                    .number("1"), .number("-0.5"), .number("0.5"), .number("7"), .string("25abc"), .string(""),
                    .number("9007199254740993"), .number("12345678901234567890.123"), .number("1000"), .string("-"),
                ]
            )
        }
    }

    @Test func dateFormatsChangeDatesAndTimestamps() async throws {
        var solution = Solution.oneTable(
            [.init("D", .date), .init("S", .timestamp), .init("H", .time)],
            [.init(["D": "03/09/2024", "S": "03/09/2024 13:02:03", "H": "25:00:00"])]
        )
        solution.dateFormat = "dd.MM.yyyy"
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            for (format, date, stamp) in [
                ("0", "03/09/2024", "03/09/2024 13:02:03"), ("1", "09.03.2024", "09.03.2024 13:02:03"),
                ("2", "2024-03-09", "2024-03-09T13:02:03"),
            ] {
                let read = try await bench.get("layouts/L/records", [("dateformats", format)])
                #expect(read.fields == ["D": .string(date), "S": .string(stamp), "H": "25:00:00"])
                let found = try await bench.find("L", [["D": "3/2024"]], ["dateformats": .string(format)])
                #expect(found.fields["D"] == .string(date))
            }
            #expect(try await bench.get("layouts/L/records", [("dateformats", "3")]).code == "960")
            #expect(try await bench.find("L", [["D": "2024-03-09"]], ["dateformats": .int(2)]).recordIds == ["1"])
        }
    }

    @Test func rangesPastTheEnd() async throws {
        try await withBench(.inProcess, [.oneTable([.init("A")])]) { (bench: Bench) async throws in
            let empty = try await bench.get("layouts/L/records")
            #expect(empty.status == 200)
            #expect(empty.response["data"] == [])
            let offset = try await bench.get("layouts/L/records", [("_offset", "1")])
            #expect(offset.status == 500)
            #expect(offset.code == "101")
        }
        try await withBench { (bench: Bench) async throws in
            #expect(try await bench.get("layouts/Contacts/records", [("_offset", "4")]).code == "101")
            #expect(try await bench.find("Contacts", [["Name": "*"]], ["offset": "4"]).code == "401")
            #expect(try await bench.get("layouts/Contacts/records", [("_limit", "1000000")]).recordIds.count == 3)
        }
    }

    @Test(arguments: ["0", "-1", "x", "1.5", "99999999999999999999"])
    func countsAreWholeNumbersFromOne(_ count: String) async throws {
        try await withBench { (bench: Bench) async throws in
            for name in ["_limit", "_offset", "_limit.Phones"] {
                let answer = try await bench.get("layouts/Contacts/records", [(name, count)])
                #expect(answer.status == 400)
                #expect(answer.code == "960")
            }
            #expect(try await bench.find("Contacts", [["Name": "*"]], ["limit": .string(count)]).code == "960")
        }
    }

    @Test func sortsByFieldsAndValueLists() async throws {
        try await withBench { (bench: Bench) async throws in
            func names(_ sort: JSONValue) async throws -> [String] {
                let text = String(decoding: JSONWriter.write(sort), as: UTF8.self)
                return try await bench.get("layouts/Contacts/records", [("_sort", text)]).column("Name")
            }
            let (ada, emilie, grace) = ("Ada Lovelace", "Émilie du Châtelet", "Grace Hopper")
            #expect(try await names([["fieldName": "Name"]]) == [ada, emilie, grace])
            #expect(try await names([["fieldName": "Balance", "sortOrder": "descend"]]) == [grace, ada, emilie])
            #expect(try await names([["fieldName": "Birthday", "sortOrder": "ascend"]]) == [emilie, ada, grace])
            // Empty values come first.
            #expect(try await names([["fieldName": "WakeUp"]]) == [grace, emilie, ada])
            let byList: JSONValue = [
                ["fieldName": "Status", "sortOrder": "Statuses"], ["fieldName": "Name", "sortOrder": "descend"],
            ]
            #expect(try await names(byList) == [grace, ada, emilie])
            let bad: [(String, String)] = [
                (#"[{"fieldName":"Nope"}]"#, "102"), (#"[{"fieldName":"Name","sortOrder":"Nope"}]"#, "108"),
                (#"[{"sortOrder":"ascend"}]"#, "1708"), (#"{"fieldName":"Name"}"#, "1708"), ("[1]", "1708"),
            ]
            for (sort, code) in bad {
                #expect(try await bench.get("layouts/Contacts/records", [("_sort", sort)]).code == code)
            }
        }
    }

    /// Sorting by a value list from a field uses the values that the records have at that time.
    @Test func portalsSortByTheValuesOfAField() async throws {
        let solution = Solution(
            name: "Sorted",
            tables: [
                .init(name: "Box", fields: [.init("Id")], records: [.init(["Id": "1"])]),
                .init(
                    name: "Item",
                    fields: [.init("BoxId"), .init("Kind")],
                    records: ["zz", "a", "b", "", "aa"].map { .init(["BoxId": "1", "Kind": $0]) }
                ),
                .init(name: "Kind", fields: [.init("Name")], records: ["zz", "b"].map { .init(["Name": $0]) }),
            ],
            relationships: [.init("Box", "Item", matches: [.init("Id", "BoxId")])],
            valueLists: [.init(name: "Kinds", field: "Kind::Name")],
            layouts: [
                .layout(
                    .init(
                        name: "Box",
                        table: "Box",
                        portals: [
                            .init(table: "Item", fields: ["Item::Kind"], sort: [.init("Item::Kind", "Kinds")])
                        ]
                    )
                ),
                .layout(.init(name: "Kind", table: "Kind", fields: ["Name"])),
            ],
            accounts: [.init(name: "admin", password: "secret")]
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            func kinds() async throws -> [String?] {
                let record = try await bench.get("layouts/Box/records/1").response["data"][0]
                return record["portalData"]["Item"].array?.map { $0["Item::Kind"].string } ?? []
            }
            #expect(try await kinds() == ["b", "zz", "", "a", "aa"])
            #expect(try await bench.post("layouts/Kind/records", ["fieldData": ["Name": "aa"]]).code == "0")
            #expect(try await kinds() == ["aa", "b", "zz", "", "a"])
        }
    }

    @Test func theResponseLayoutShapesTheAnswer() async throws {
        try await withBench { (bench: Bench) async throws in
            let name = "Names / 100 % Übersicht"
            let answer = try await bench.get("layouts/Contacts/records/1", [("layout.response", name)])
            #expect(answer.fields == ["Name": "Ada Lovelace", "City": "London"])
            #expect(answer.response["dataInfo"]["layout"] == .string(name))
            #expect(answer.response["data"][0]["portalData"] == [:])
        }
    }

    @Test func aResponseLayoutOfAnotherTableIsRefused() async throws {
        try await withBench { (bench: Bench) async throws in
            let answers = [
                try await bench.get("layouts/Contacts/records", [("layout.response", "Zones")]),
                try await bench.get("layouts/Contacts/records/1", [("layout.response", "Zones")]),
                try await bench.find("Contacts", [["Id": "1"]], ["layout.response": "Zones"]),
            ]
            for answer in answers {
                #expect(answer.status == 400)
                #expect(answer.code == "960")
                #expect(answer.message == "Parameter is invalid: layout.response is a layout of another table")
            }
        }
    }

    @Test func portalsAreChosenAndPaged() async throws {
        try await withBench { (bench: Bench) async throws in
            let limited = try await bench.get(
                "layouts/Contacts/records/1",
                [("portal", #"["Phones"]"#), ("_limit.Phones", "1")]
            )
            let record = limited.response["data"][0]
            #expect(record["portalData"]["Phones"].array?.map { $0["recordId"] } == ["1"])
            expectNoDifference(
                record["portalDataInfo"],
                [["database": "World", "table": "Phones", "foundCount": .int(2), "returnedCount": .int(1)]]
            )
            let second = try await bench.find("Contacts", [["Id": "1"]], ["offset.Phones": "2", "portal": ["Phones"]])
            #expect(second.response["data"][0]["portalData"]["Phones"].array?.map { $0["recordId"] } == ["2"])
            // In the URL of a find, names with an underscore are ignored.
            let url = bench.path("layouts/Contacts/_find?_limit.Phones=1")
            let headers = [("Authorization", "Bearer \(try #require(bench.token))"), Bench.json]
            let lax = try await bench.send("POST", url, headers: headers, body: Array(#"{"query":[{"Id":"1"}]}"#.utf8))
            #expect(lax.response["data"][0]["portalData"]["Phones"].array?.count == 1)
            #expect(
                try await bench.get("layouts/Contacts/records", [("limit", "1")]).message
                    == "Unknown parameter(s): limit"
            )
        }
    }

    @Test func version1InTableViewShowsOneRow() async throws {
        var solution = Solution.sample
        guard case .layout(var layout) = solution.layouts[2] else { return }
        layout.view = .table
        solution.layouts[2] = .layout(layout)
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            var bench = bench
            for (version, rows) in [("v1", 1), ("v2", 2), ("vLatest", 2)] {
                bench.version = version
                let answer = try await bench.get("layouts/Contacts/records/1")
                #expect(answer.response["data"][0]["portalData"]["Phones"].array?.count == rows)
            }
        }
    }

    @Test func plusIsASpaceAndRawBracketsAreTaken() async throws {
        try await withBench { (bench: Bench) async throws in
            let headers = [("Authorization", "Bearer \(try #require(bench.token))")]
            let script = try await bench.send(
                "GET",
                bench.path("layouts/Contacts/records?script=Count+Found"),
                headers: headers
            )
            #expect(script.response["scriptResult"] == "3")
            let raw = bench.path(#"layouts/Contacts/records?_sort=[{"fieldName":"Name","sortOrder":"descend"}]"#)
            #expect(try await bench.send("GET", raw, headers: headers).column("Name").first == "Grace Hopper")
            let slash = try await bench.send("GET", bench.path("layouts/Contacts/records/"), headers: headers)
            #expect(slash.recordIds.count == 3)
        }
    }

    @Test func portalsAreFilteredSortedAndCut() async throws {
        var solution = Solution.oneTable([.init("Key"), .init("Low", .number)], [.init(["Key": "1", "Low": "2"])])
        solution.tables.append(
            .init(
                name: "Rows",
                fields: [.init("Key"), .init("N", .number)],
                records: ["3", "1", "5", "2", "4"].map { .init(["Key": "1", "N": $0]) }
            )
        )
        solution.relationships = [.init("T", "Rows", matches: [.init("Key", "Key")])]
        solution.layouts = [
            .layout(
                .init(
                    name: "L",
                    table: "T",
                    portals: [
                        .init(table: "Rows", name: "sorted", fields: ["Rows::N"], sort: [.init("N", "descend")]),
                        .init(table: "Rows", name: "filtered", fields: ["Rows::N"], filter: "Rows::N > 2"),
                        .init(table: "Rows", name: "cut", fields: ["Rows::N"], firstRow: 2, rowCount: 3),
                    ]
                )
            )
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let portals = try await bench.get("layouts/L/records/1").response["data"][0]["portalData"]
            func numbers(_ portal: String) -> [String] {
                portals[portal].array?.compactMap { $0["Rows::N"].scalarText } ?? []
            }
            #expect(portals.object?.keys == ["sorted", "filtered", "cut"])
            #expect(numbers("sorted") == ["5", "4", "3", "2", "1"])
            #expect(numbers("filtered") == ["3", "5", "4"])
            #expect(numbers("cut") == ["1", "5", "2"])
        }
    }

    /// Real layouts show this where a field was deleted, and clients must be able to read it.
    @Test func anObjectWithoutItsFieldIsAValueWithoutAName() async throws {
        var solution = Solution.oneTable([.init("A")], [.init(["A": "1"])])
        solution.layouts = [.layout(.init(name: "L", table: "T", fields: ["", "A", ""]))]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/L/records")
            #expect(answer.text.contains(#""fieldData":{"A":"1","":""}"#))
            let metadata = try await bench.get("layouts/L").response["fieldMetaData"].array ?? []
            #expect(metadata.map(\.["name"]) == ["", "A", ""])
            #expect(metadata[0]["result"] == "text")
            #expect(metadata[0].object?.keys == metadata[1].object?.keys)
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aMissingRecordIs101(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/records/999999")
            #expect(answer.status == 500)
            #expect(answer.code == "101")
            #expect(answer.message == "Record is missing")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aMissingLayoutIs105(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Nope/records")
            #expect(answer.status == 500)
            #expect(answer.text == #"{"messages":[{"code":"105","message":"Layout is missing"}],"response":{}}"#)
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aRangeIs100RecordsByDefault(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Countries/records")
            #expect(answer.recordIds.count == 100)
            #expect(answer.response["dataInfo"]["foundCount"] == .int(249))
            #expect(answer.response["dataInfo"]["returnedCount"] == .int(100))
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aPortalShows50RowsByDefaultAndNonePastItsEnd(_ venue: Venue) async throws {
        var solution = Solution.sample
        solution.tables[3].records += (1...58).map { .init(["ContactId": "1", "Number": "\($0)"]) }
        try await withBench(venue, [solution]) { (bench: Bench) async throws in
            let record = try await bench.get("layouts/Contacts/records/1").response["data"][0]
            #expect(record["portalData"]["Phones"].array?.count == 50)
            #expect(record["portalDataInfo"][0]["foundCount"] == .int(60))
            let answer = try await bench.get("layouts/Contacts/records/1", [("_offset.Phones", "61")])
            #expect(answer.status == 200)
            #expect(answer.response["data"][0]["portalData"] == ["Phones": []])
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func anEmptyListOfPortalsShowsNone(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/records/1", [("portal", "[]")])
            #expect(answer.response["data"][0]["portalData"] == [:])
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aSortThatIsNoJSONIsRefused(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/records", [("_sort", "Name")])
            #expect(answer.status == 400)
            #expect(answer.code == "1708")
        }
    }

    @Test(.tags(.openQuestion)) func aRangeOfAnEmptyTable() async throws {
        try await withBench(.inProcess, [.oneTable([.init("A")])]) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/L/records")
            #expect(answer.status == 200)
            #expect(answer.response["data"] == [])
            #expect(answer.response["dataInfo"]["totalRecordCount"] == .int(0))
            #expect(answer.response["dataInfo"]["foundCount"] == .int(0))
            #expect(answer.response["dataInfo"]["returnedCount"] == .int(0))
        }
    }

    @Test(.tags(.openQuestion), arguments: ["0", "-1", "x"]) func countsThatAreNoneAre960(_ count: String) async throws
    {
        try await withBench { (bench: Bench) async throws in
            for name in ["_limit", "_offset"] {
                let answer = try await bench.get("layouts/Contacts/records", [(name, count)])
                #expect(answer.status == 400)
                #expect(answer.code == "960")
            }
        }
    }

    @Test(.tags(.openQuestion)) func isoDatesInAnswersWritesAndCriteria() async throws {
        let solution = Solution.oneTable([.init("S", .timestamp)], [.init(["S": "03/09/2024 13:02:03"])])
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let read = try await bench.get("layouts/L/records", [("dateformats", "2")])
            #expect(read.fields["S"] == "2024-03-09T13:02:03")
            for text in ["2024-03-10T01:02:03", "2024-03-10 01:02:03"] {
                let edit: JSONValue = ["fieldData": ["S": .string(text)], "dateformats": "2"]
                #expect(try await bench.patch("layouts/L/records/1", edit).code == "0")
                #expect(try await bench.get("layouts/L/records/1").fields["S"] == "03/10/2024 01:02:03")
            }
            // Criteria have US dates; ISO dates are accepted too if they were requested.
            for format in ["0", "1", "2"] {
                let found = try await bench.find("L", [["S": "3/10/2024"]], ["dateformats": .string(format)])
                #expect(found.recordIds == ["1"])
            }
            #expect(try await bench.find("L", [["S": "2024-03-10"]], ["dateformats": "2"]).recordIds == ["1"])
            #expect(try await bench.find("L", [["S": "2024-03-10"]]).code == "500")
        }
    }

    @Test(
        .tags(.openQuestion),
        arguments: [
            (nil, "2024-03-09T13:02:03"), (Sandbox.ISOTimestampSeparator.letter, "2024-03-09T13:02:03"),
            (.space, "2024-03-09 13:02:03"),
        ]
    )
    func whatStandsInATimestamp(_ setting: Sandbox.ISOTimestampSeparator?, _ expected: String) async throws {
        let solution = Solution.oneTable([.init("S", .timestamp)], [.init(["S": "03/09/2024 13:02:03"])])
        try await withBench(.inProcess, [solution], configure: { $0.isoTimestampSeparator = setting }) {
            (bench: Bench) async throws in
            let read = try await bench.get("layouts/L/records", [("dateformats", "2")])
            #expect(read.fields["S"] == .string(expected))
            // A write may have either separator, and other formats stay the same.
            for text in ["2024-03-10T01:02:03", "2024-03-10 01:02:03"] {
                let edit: JSONValue = ["fieldData": ["S": .string(text)], "dateformats": "2"]
                #expect(try await bench.patch("layouts/L/records/1", edit).code == "0")
                #expect(try await bench.get("layouts/L/records/1").fields["S"] == "03/10/2024 01:02:03")
            }
        }
    }

    @Test(
        .tags(.openQuestion),
        arguments: [
            (nil, "0", "0", "0"), (Sandbox.CriterionDates.usAndISO, "0", "0", "0"), (.us, "0", "500", "0"),
            (.iso, "500", "0", "500"),
        ]
    )
    func whichDatesCriteriaMayHold(
        _ setting: Sandbox.CriterionDates?,
        _ american: String,
        _ iso: String,
        _ month: String
    ) async throws {
        let solution = Solution.oneTable(
            [.init("D", .date), .init("S", .timestamp)],
            [.init(["D": "03/09/2024", "S": "03/09/2024 13:02:03"])]
        )
        try await withBench(.inProcess, [solution], configure: { $0.isoCriterionDates = setting }) {
            (bench: Bench) async throws in
            func code(_ field: String, _ text: String, format: String = "2") async throws -> String? {
                try await bench.find("L", [.object([field: .string(text)])], ["dateformats": .string(format)]).code
            }
            for field in ["D", "S"] {
                #expect(try await code(field, "3/9/2024") == american)
                #expect(try await code(field, "2024-03-09") == iso)
                #expect(try await code(field, "3/2024") == month)
                #expect(try await code(field, "2024") == "0")
                // With other settings of `dateformats`, criteria have US dates.
                #expect(try await code(field, "3/9/2024", format: "0") == "0")
                #expect(try await code(field, "2024-03-09", format: "0") == "500")
            }
            #expect(try await code("S", "2024-03-09T13:02:03") == iso)
            #expect(try await code("D", "2024-03-01...2024-03-31") == iso)
            #expect(try await code("D", ">2/1/2024") == american)
        }
    }

    @Test(
        .tags(.openQuestion),
        arguments: [
            (nil, ["recordId", "Phones::Kind", "Phones::Number", "modId"]),
            (Sandbox.PortalFieldNames.qualified, ["recordId", "Phones::Kind", "Phones::Number", "modId"]),
            (.plain, ["recordId", "Kind", "Number", "modId"]),
        ]
    )
    func howFieldsOfPortalRowsAreNamed(_ setting: Sandbox.PortalFieldNames?, _ names: [String]) async throws {
        try await withBench(configure: { $0.portalFieldNames = setting }) { (bench: Bench) async throws in
            let record = try await bench.get("layouts/Contacts/records/1").response["data"][0]
            expectNoDifference(record["portalData"]["Phones"][0].object?.keys, names)
        }
    }

    @Test(.tags(.openQuestion)) func noTransferLimitIsEverMet() async throws {
        try await withBench { (bench: Bench) async throws in
            for _ in 1...Effort.of(50, brief: 5) {
                #expect(try await bench.get("layouts/Zones/records", [("_limit", "999")]).code == "0")
            }
        }
    }
}
