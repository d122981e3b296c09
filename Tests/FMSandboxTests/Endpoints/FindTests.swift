import Testing

@testable import FMSandbox

/// `POST _find`. The tests of single criteria are in `Find`.
@Suite(.timeLimit(.minutes(15))) struct FindTests {
    @Test func findsCombineTheirRequests() async throws {
        try await withBench { (bench: Bench) async throws in
            let either = try await bench.find("Contacts", [["City": "London"], ["City": "Paris"]])
            #expect(either.recordIds == ["1", "2"])
            let both = try await bench.find("Contacts", [["Status": "active", "City": "New"]])
            #expect(both.recordIds == ["3"])
            let without = try await bench.find("Contacts", [["Status": "*"], ["City": "Paris", "omit": "true"]])
            #expect(without.recordIds == ["1", "3"])
            let boolean = try await bench.find("Contacts", [["Status": "*"], ["City": "Paris", "omit": true]])
            #expect(boolean.recordIds == ["1", "3"])
            let ordinary = try await bench.find("Contacts", [["City": "Paris", "omit": "false"]])
            #expect(ordinary.recordIds == ["2"])
            #expect(try await bench.find("Contacts", [["Id": .int(2)]]).recordIds == ["2"])
        }
    }

    @Test func ofACriterionGivenTwiceTheLastCounts() async throws {
        try await withBench { (bench: Bench) async throws in
            let find = #"{"query":[{"City":"London","City":"Paris"}]}"#
            #expect(try await bench.post("layouts/Contacts/_find", text: find).recordIds == ["2"])
            let omit = #"{"query":[{"omit":"true","City":"Paris","omit":"false"}]}"#
            #expect(try await bench.post("layouts/Contacts/_find", text: omit).recordIds == ["2"])
            let edit = #"{"fieldData":{"City":"Kiel","City":"Bonn"}}"#
            #expect(try await bench.post("layouts/Contacts/records", text: edit).code == "0")
            #expect(try await bench.find("Contacts", [["City": "Bonn"]]).recordIds == ["4"])
        }
    }

    @Test func findsReachRelatedFieldsRepetitionsAndCalculations() async throws {
        try await withBench { (bench: Bench) async throws in
            #expect(try await bench.find("Contacts", [["Phones::Number": "*555*"]]).recordIds == ["3"])
            #expect(try await bench.find("Contacts", [["Phones::Kind": "home"]]).recordIds == ["1"])
            #expect(try await bench.find("Contacts", [["Nicknames": "numbers"]]).recordIds == ["1"])
            #expect(try await bench.find("Contacts", [["Nicknames(1)": "numbers"]]).code == "401")
            #expect(try await bench.find("Contacts", [["Nicknames(2)": "numbers"]]).recordIds == ["1"])
            #expect(try await bench.find("Contacts", [["Label": "==Ada Lovelace, London"]]).recordIds == ["1"])
            #expect(try await bench.find("Contacts", [["Contacts::City": "London"]]).recordIds == ["1"])
            #expect(
                try await bench.find("Countries", [["Zones::Name": "==Europe/Berlin"]]).column("Code") == [
                    "DE", "DK", "NO", "SE", "SJ",
                ]
            )
            let answer = try await bench.find("Contacts", [["Nicknames(9)": "x"]])
            #expect(answer.code == "111")
        }
    }

    @Test(
        arguments: [
            ("{}", 400, "958"), (#"{"query":[]}"#, 400, "958"), (#"{"query":{}}"#, 400, "1708"),
            (#"{"query":["x"]}"#, 400, "1708"),
            (#"{"query":[{}]}"#, 500, "400"), (#"{"query":[{"Name":""}]}"#, 500, "400"),
            (#"{"query":[{"Nope":"x"}]}"#, 500, "102"),
            (#"{"query":[{"gFilter":"x"}]}"#, 500, "408"), (#"{"query":[{"Photo":"x"}]}"#, 500, "508"),
            (#"{"query":[{"Birthday":"soon"}]}"#, 500, "500"), (#"{"query":[{"Name":null}]}"#, 400, "1708"),
            (#"{"query":[{"Name":"x","omit":"yes"}]}"#, 400, "1708"), (#"{"query":[{"Name":"x"}"#, 400, "1710"),
            ("[]", 400, "1708"),
            (#"{"query":[{"Name":"x"}],"nope":1}"#, 400, "960"),
            (#"{"query":[{"Name":"*"}],"portal":["Nope"]}"#, 500, "102"),
            (#"{"query":[{"Name":"*"}],"portal":"Phones"}"#, 400, "1708"),
            (#"{"query":[{"Name":"*"}],"layout.response":"Nope"}"#, 500, "105"),
            (#"{"query":[{"Name":"*"}],"script":"Nope"}"#, 500, "104"),
            (#"{"query":[{"Name":"*"}],"script":1}"#, 400, "1708"),
        ]
    )
    func brokenFindsAreErrors(_ body: String, _ status: Int, _ code: String) async throws {
        try await withBench { (bench: Bench) async throws in
            let headers = [("Authorization", "Bearer \(try #require(bench.token))"), Bench.json]
            let target = bench.path("layouts/Contacts/_find")
            let answer = try await bench.send("POST", target, headers: headers, body: Array(body.utf8))
            #expect(answer.status == status)
            #expect(answer.code == code)
            #expect(answer.response == [:])
        }
    }

    @Test func containersAreFoundByBeingEmptyOrNot() async throws {
        try await withBench { (bench: Bench) async throws in
            _ = try await bench.upload("layouts/Contacts/records/2/containers/Photo", [1])
            #expect(try await bench.find("Contacts", [["Photo": "*"]]).recordIds == ["2"])
            #expect(try await bench.find("Contacts", [["Photo": "="]]).recordIds == ["1", "3"])
        }
    }

    @Test func hiddenFieldsAreNeitherSearchedNorSortedBy() async throws {
        var solution = Solution.oneTable(
            [.init("A"), .init("B"), .init("File", .container)],
            [.init(["A": "1", "B": "2"])]
        )
        solution.privilegeSets = [.init(name: "Some", hiddenFields: ["T::B"])]
        solution.accounts.append(.init(name: "some", password: "x", privilegeSet: "Some"))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let some = try await bench.loggedIn("some", "x")
            #expect(try await some.find("L", [["B": "2"]]).code == "202")
            #expect(try await some.find("L", [["A": "1"]], ["sort": [["fieldName": "B"]]]).code == "204")
            #expect(try await bench.find("L", [["B": "2"]], ["sort": [["fieldName": "B"]]]).code == "0")
            #expect(try await bench.find("L", [["A": "1"]], ["sort": [["fieldName": "File"]]]).code == "404")
        }
    }

    @Test func aFindLooksAtTheRepetitionsThatTheLayoutShows() async throws {
        var solution = Solution.oneTable([.init("R", repetitions: 3)], [.init(["R": "one", "R(3)": "three"])])
        solution.layouts = [
            .layout(.init(name: "L", table: "T", fields: [.init("R", firstRepetition: 1, lastRepetition: 2)]))
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.find("L", [["R": "one"]]).recordIds == ["1"])
            #expect(try await bench.find("L", [["R": "three"]]).code == "401")
            #expect(try await bench.find("L", [["R(3)": "three"]]).recordIds == ["1"])
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func anEmptyFindIs401WithStatus500(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["Name": "Nobody"]])
            #expect(answer.status == 500)
            #expect(answer.code == "401")
            #expect(answer.message == "No records match the request")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func underscoredKeysAreRefused(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["Name": "Ada"]], ["_limit.x": "1"])
            #expect(answer.status == 400)
            #expect(answer.code == "960")
            #expect(answer.message == "Unknown parameter(s): _limit.x")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aLoneOmitThatMatchesNothingFindsAll(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["Name": "Nobody", "omit": "true"]])
            #expect(answer.recordIds == ["1", "2", "3"])
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func limitAndOffsetAreNumbersOrTexts(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let texts = try await bench.find("Zones", [["Name": "*"]], ["limit": "2", "offset": "3"])
            let numbers = try await bench.find("Zones", [["Name": "*"]], ["limit": .int(2), "offset": .int(3)])
            #expect(texts.recordIds == ["3", "4"])
            #expect(numbers.body == texts.body)
        }
    }

    @Test(
        .tags(.openQuestion),
        arguments: [
            (nil, 500, "401"), (Sandbox.FindPastEnd.noRecordsMatch, 500, "401"), (.recordMissing, 500, "101"),
            (.emptyPage, 200, "0"),
        ]
    )
    func anOffsetPastTheEnd(_ setting: Sandbox.FindPastEnd?, _ status: Int, _ code: String) async throws {
        try await withBench(configure: { $0.findPastEnd = setting }) { (bench: Bench) async throws in
            let find = try await bench.find("Contacts", [["Name": "*"]], ["offset": "4"])
            #expect(find.status == status)
            #expect(find.code == code)
            if code == "0" {
                #expect(find.response["data"] == [])
                #expect(find.response["dataInfo"]["foundCount"] == .int(3))
                #expect(find.response["dataInfo"]["returnedCount"] == .int(0))
            }
            // A find without matches and a range answer as usual.
            #expect(try await bench.find("Contacts", [["Name": "Nobody"]], ["offset": "4"]).code == "401")
            let range = try await bench.get("layouts/Contacts/records", [("_offset", "4")])
            #expect(range.status == 500)
            #expect(range.code == "101")
        }
    }

    @Test(.tags(.openQuestion)) func dataInfoNamesTheResponseLayout() async throws {
        try await withBench { (bench: Bench) async throws in
            let name = "Names / 100 % Übersicht"
            let answer = try await bench.find("Contacts", [["Id": "1"]], ["layout.response": .string(name)])
            #expect(answer.response["dataInfo"]["layout"] == .string(name))
        }
    }

    @Test(.tags(.openQuestion)) func globalsAreNoCriteria() async throws {
        try await withBench { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["gFilter": "x"]])
            #expect(answer.status == 500)
            #expect(answer.code == "408")
        }
    }

    @Test(.tags(.openQuestion)) func criteriaThatCannotBeReadAreErrors() async throws {
        let fields: [Solution.Field] = [
            .init("D", .date), .init("S", .timestamp), .init("T", .time), .init("N", .number),
        ]
        try await withBench(.inProcess, [.oneTable(fields)]) { (bench: Bench) async throws in
            for (field, code) in [("D", "500"), ("S", "500"), ("T", "501"), ("N", "502")] {
                let query = JSONObject(members: [.init(key: field, value: ">soon")])
                let answer = try await bench.find("L", [.object(query)])
                #expect(answer.status == 500)
                #expect(answer.code == code)
            }
        }
    }

    @Test(.tags(.openQuestion)) func rangesAndWordsOfText() async throws {
        let texts = ["Anna", "Berta", "b", "O'Hara", "3.14"]
        let solution = Solution.oneTable([.init("A")], texts.map { .init(["A": $0]) })
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            // Words are compared as a whole: "Berta" sorts after "B".
            #expect(try await bench.find("L", [["A": "A...B"]]).column("A") == ["Anna", "b"])
            #expect(try await bench.find("L", [["A": "hara"]]).code == "401")
            #expect(try await bench.find("L", [["A": "=3.14"]]).column("A") == ["3.14"])
        }
    }

    @Test(.tags(.openQuestion), arguments: [JSONValue.bool(true), "true"])
    func omitIsATextOrABoolean(_ value: JSONValue) async throws {
        try await withBench { (bench: Bench) async throws in
            #expect(try await bench.find("Contacts", [["City": "Paris", "omit": value]]).recordIds == ["1", "3"])
        }
    }
}
