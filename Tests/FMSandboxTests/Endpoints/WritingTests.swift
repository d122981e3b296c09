import CustomDump
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct WritingTests {
    /// The guide documents duplicating since version 18, but the tests of a client passed on server 17.
    @Test(arguments: Sandbox.ServerVersion.allCases)
    func everyReleaseDuplicates(_ version: Sandbox.ServerVersion) async throws {
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            let copy = try await bench.post("layouts/Contacts/records/1")
            #expect(copy.status == 200)
            #expect(copy.response == ["recordId": "4", "modId": "0"])
        }
    }

    @Test func valuesAreReadByTheTypeOfTheirField() async throws {
        try await withBench { (bench: Bench) async throws in
            let new: JSONValue = [
                "fieldData": [
                    "Name": "line\rline\nend", "Balance": .number("12345678901234567890.50"), "Birthday": "1/5/1990",
                    "WakeUp": "6:30 pm", "Nicknames": "one", "Nicknames(3)": "three", "Notes": .int(7),
                ]
            ]
            #expect(try await bench.post("layouts/Contacts/records", new).status == 200)
            let fields = try await bench.get("layouts/Contacts/records/4").fields
            #expect(fields["Name"] == "line\rline\nend")
            #expect(fields["Balance"] == .number("12345678901234567890.5"))
            #expect(fields["Birthday"] == "01/05/1990")
            #expect(fields["WakeUp"] == "18:30:00")
            #expect(fields["Nicknames(1)"] == "one")
            #expect(fields["Nicknames(2)"] == "")
            #expect(fields["Nicknames(3)"] == "three")
            #expect(fields["Notes"] == "7")
            #expect(fields["Id"] == .int(4))
            #expect(fields["CreatedAt"] == "01/15/2025 12:00:00")
        }
    }

    @Test(
        arguments: [
            (#"{"fieldData":{"Birthday":"31/12/2024"}}"#, 500, "500"),
            (#"{"fieldData":{"Birthday":"2024-12-31"}}"#, 500, "500"),
            (#"{"fieldData":{"WakeUp":"late"}}"#, 500, "501"),
            (#"{"fieldData":{"CreatedAt":"01/01/2024 00:00:00"}}"#, 500, "201"),
            (#"{"fieldData":{"Label":"x"}}"#, 500, "201"), (#"{"fieldData":{"Photo":"x"}}"#, 500, "408"),
            (#"{"fieldData":{"Nicknames(4)":"x"}}"#, 500, "111"), (#"{"fieldData":{"Status":"odd"}}"#, 500, "506"),
            (#"{"fieldData":{"Name":true}}"#, 400, "1708"), (#"{"fieldData":{"Name":["a"]}}"#, 400, "1708"),
            (#"{"fieldData":[]}"#, 400, "1708"), (#"{}"#, 400, "958"), (#"{"fieldData":{},"modId":"0"}"#, 400, "960"),
            (#"{"fieldData":{},"portalData":[]}"#, 400, "1708"),
            (#"{"fieldData":{},"portalData":{"Nope":[{}]}}"#, 500, "102"),
            (#"{"fieldData":{},"portalData":{"Phones":[{"Number":"1"}]}}"#, 500, "102"),
            (#"{"fieldData":{},"options":{"x":1}}"#, 400, "960"),
            (#"{"fieldData":{},"options":{"entrymode":"robot"}}"#, 400, "1708"),
            (#"{"fieldData":{},"dateformats":7}"#, 400, "960"),
            (#"{"fieldData":{"Name":"x"},"portalData":{"Phones":[{"Phones::Nope":"1"}]}}"#, 500, "102"),
            (#"{"fieldData":{"deleteRelated":"Phones.1"}}"#, 500, "102"),
        ]
    )
    func brokenCreatesLeaveNothing(_ body: String, _ status: Int, _ code: String) async throws {
        try await withBench { (bench: Bench) async throws in
            let headers = [("Authorization", "Bearer \(try #require(bench.token))"), Bench.json]
            let target = bench.path("layouts/Contacts/records")
            let answer = try await bench.send("POST", target, headers: headers, body: Array(body.utf8))
            #expect(answer.status == status)
            #expect(answer.code == code)
            let world = bench.engine.world
            #expect(world.tables.map(\.records.count) == [249, 312, 3, 3])
            #expect(bench.engine.counters.executedWrites == 0)
        }
    }

    @Test(
        arguments: [
            (#"{"fieldData":{"City":"x"},"modId":0}"#, "1708"),
            (#"{"fieldData":{"City":"x","deleteRelated":"Phones.3"}}"#, "101"),
            (#"{"fieldData":{"City":"x","deleteRelated":"Nope.1"}}"#, "102"),
            (#"{"fieldData":{"City":"x","deleteRelated":"Phones"}}"#, "1708"),
            (#"{"fieldData":{"City":"x"},"portalData":{"Phones":[{"recordId":"3","Phones::Number":"1"}]}}"#, "101"),
            (
                #"{"fieldData":{"City":"x"},"portalData":{"Phones":[{"recordId":"1","modId":"9","Phones::Number":"1"}]}}"#,
                "306"
            ),
            (
                #"{"fieldData":{"City":"x"},"portalData":{"Phones":[{"Phones::recordId":"1","Phones::Number":"1"}]}}"#,
                "102"
            ),
            (#"{"fieldData":{"City":"x"},"deleteRelated":"Phones.1"}"#, "960"),
        ]
    )
    func brokenEditsAreOneCommitThatDoesNotHappen(_ body: String, _ code: String) async throws {
        try await withBench { (bench: Bench) async throws in
            let headers = [("Authorization", "Bearer \(try #require(bench.token))"), Bench.json]
            let target = bench.path("layouts/Contacts/records/1")
            let answer = try await bench.send("PATCH", target, headers: headers, body: Array(body.utf8))
            #expect(answer.code == code)
            let record = try await bench.get("layouts/Contacts/records/1").response["data"][0]
            #expect(record["fieldData"]["City"] == "London")
            #expect(record["modId"] == "0")
            #expect(record["portalData"]["Phones"].array?.map { $0["modId"] } == ["0", "0"])
        }
    }

    @Test func anEditOfNothingChangesNothing() async throws {
        try await withBench { (bench: Bench) async throws in
            #expect(try await bench.patch("layouts/Contacts/records/1", ["fieldData": [:]]).response == ["modId": "0"])
            #expect(try await bench.patch("layouts/Contacts/records/1", [:]).response == ["modId": "0"])
            bench.clock.advance(by: .seconds(60))
            let edited = try await bench.patch(
                "layouts/Contacts/records/1",
                ["fieldData": ["City": "Bath", "Notes": ""]]
            )
            #expect(edited.response == ["modId": "1"])
            let fields = try await bench.get("layouts/Contacts/records/1").fields
            #expect(fields["ModifiedAt"] == "01/15/2025 12:01:00")
            #expect(fields["CreatedAt"] == "01/02/2024 09:00:00")
            #expect(fields["Notes"] == "")
        }
    }

    @Test func datesOfWritesFollowDateformats() async throws {
        try await withBench { (bench: Bench) async throws in
            let new: JSONValue = ["fieldData": ["Birthday": "1990-01-05"], "dateformats": .int(2)]
            #expect(try await bench.post("layouts/Contacts/records", new).status == 200)
            #expect(try await bench.get("layouts/Contacts/records/4").fields["Birthday"] == "01/05/1990")
        }
        try await withBench(configure: { $0.serverVersion = .v19 }) { (bench: Bench) async throws in
            let answer = try await bench.post("layouts/Contacts/records", ["fieldData": [:], "dateformats": .int(2)])
            #expect(answer.message == "Unknown parameter(s): dateformats")
        }
    }

    @Test func optionsOfScriptsOverrideTheRules() async throws {
        try await withBench { (bench: Bench) async throws in
            let odd: JSONValue = ["fieldData": ["Status": "odd"], "options": ["entrymode": "script"]]
            #expect(try await bench.patch("layouts/Contacts/records/1", odd).code == "0")
            let stamp: JSONValue = [
                "fieldData": ["CreatedAt": "01/01/2020 00:00:00"], "options": ["prohibitmode": "script"],
            ]
            #expect(try await bench.patch("layouts/Contacts/records/1", stamp).code == "0")
            let fields = try await bench.get("layouts/Contacts/records/1").fields
            #expect(fields["Status"] == "odd")
            #expect(fields["CreatedAt"] == "01/01/2020 00:00:00")
        }
    }

    @Test func lockedRecordsAre301() async throws {
        let solution = Solution.oneTable([.init("A")], [.init(isLocked: true, ["A": "1"])])
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.patch("layouts/L/records/1", ["fieldData": ["A": "2"]]).code == "301")
            #expect(try await bench.delete("layouts/L/records/1").code == "301")
            #expect(try await bench.get("layouts/L/records/1").fields["A"] == "1")
        }
    }

    @Test func recordIdsAreNeverUsedAgain() async throws {
        try await withBench { (bench: Bench) async throws in
            for id in 4...6 {
                #expect(
                    try await bench.post("layouts/Contacts/records", ["fieldData": [:]]).response["recordId"]
                        == .string("\(id)")
                )
                #expect(try await bench.delete("layouts/Contacts/records/\(id)").text.hasPrefix(#"{"response":{},"#))
            }
            let answer = try await bench.delete("layouts/Contacts/records/6")
            #expect(answer.code == "101")
        }
    }

    @Test func globalsBelongToTheSession() async throws {
        try await withBench { (bench: Bench) async throws in
            let other = try await bench.loggedIn()
            let answer = try await bench.patch("globals", ["globalFields": ["Contacts::gFilter": "mine"]])
            #expect(answer.text == #"{"response":{},"messages":[{"code":"0","message":"OK"}]}"#)
            #expect(try await bench.get("layouts/Contacts/records/2").fields["gFilter"] == "mine")
            #expect(try await other.get("layouts/Contacts/records/2").fields["gFilter"] == "")
            // A global field in `fieldData` sets the session's value and does not change the record.
            #expect(
                try await other.patch("layouts/Contacts/records/1", ["fieldData": ["gFilter": "theirs"]]).response == [
                    "modId": "0"
                ]
            )
            #expect(try await other.get("layouts/Contacts/records/2").fields["gFilter"] == "theirs")
            #expect(try await bench.get("layouts/Contacts/records/2").fields["gFilter"] == "mine")
            for (name, code) in [
                ("gFilter", "102"), ("Contacts::Name", "102"), ("Nope::x", "102"), ("Contacts::gFilter(2)", "111"),
            ] {
                let refused = try await bench.patch(
                    "globals",
                    ["globalFields": .object(JSONObject(members: [.init(key: name, value: "x")]))]
                )
                #expect(refused.code == code)
            }
            #expect(try await bench.patch("globals", ["Contacts::gFilter": "x"]).code == "960")
            #expect(try await bench.patch("globals/", [:]).code == "958")
        }
    }

    @Test func privilegesAreRespected() async throws {
        try await withBench { (bench: Bench) async throws in
            let guest = try await bench.loggedIn("guest", "welcome")
            #expect(try await guest.get("layouts/Contacts/records/1").code == "0")
            #expect(try await guest.post("layouts/Contacts/records", ["fieldData": [:]]).code == "200")
            #expect(try await guest.patch("layouts/Contacts/records/1", ["fieldData": ["City": "x"]]).code == "200")
            #expect(try await guest.delete("layouts/Contacts/records/1").code == "200")
            #expect(try await guest.post("layouts/Contacts/records/1").code == "200")
            let upload = try await guest.upload("layouts/Contacts/records/1/containers/Photo/1", [1])
            #expect(upload.code == "200")
        }
        var solution = Solution.oneTable(
            [.init("A"), .init("B"), .init("C")],
            [.init(["A": "1", "B": "2", "C": "3"])]
        )
        solution.layouts.append(.layout(.init(name: "Hidden", table: "T", fields: ["A"])))
        solution.scripts = [.script(.init(name: "S"))]
        solution.privilegeSets = [
            .init(
                name: "Some",
                canRunScripts: false,
                hiddenLayouts: ["Hidden"],
                hiddenFields: ["T::B"],
                readOnlyFields: ["T::C"]
            )
        ]
        solution.accounts.append(.init(name: "some", password: "x", privilegeSet: "Some"))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let some = try await bench.loggedIn("some", "x")
            #expect(try await some.get("layouts/L/records/1").fields == ["A": "1", "B": "<No Access>", "C": "3"])
            #expect(try await some.get("layouts").response == ["layouts": [["name": "L", "table": "T"]]])
            #expect(try await some.get("layouts/Hidden/records").code == "9")
            #expect(try await some.get("layouts/L/script/S").code == "9")
            #expect(try await some.patch("layouts/L/records/1", ["fieldData": ["B": "x"]]).code == "202")
            #expect(try await some.patch("layouts/L/records/1", ["fieldData": ["C": "x"]]).code == "201")
        }
    }

    /// A request changes a record once, however many of its fields it names one by one.
    @Test func aCommitCountsAModIdUpOnce() async throws {
        try await withBench { (bench: Bench) async throws in
            let edit: JSONValue = [
                "fieldData": ["City": "Bath", "Phones::Number.2": "22", "Phones::Kind.2": "work"],
                "portalData": ["Phones": [["recordId": "2", "Phones::Number": "23"]]],
            ]
            #expect(try await bench.patch("layouts/Contacts/records/1", edit).response == ["modId": "1"])
            let rows = try await bench.get("layouts/Contacts/records/1").response["data"][0]["portalData"]["Phones"]
            expectNoDifference(
                rows[1],
                ["recordId": "2", "Phones::Kind": "work", "Phones::Number": "23", "modId": "1"]
            )
        }
    }

    /// Existing clients send DELETE with a form-typed body, and GET with a JSON type.
    @Test func needlessBodiesAreTaken() async throws {
        try await withBench { (bench: Bench) async throws in
            let token = ("Authorization", "Bearer \(try #require(bench.token))")
            let form = ("Content-Type", "application/x-www-form-urlencoded")
            let record = bench.path("layouts/Contacts/records/3")
            #expect(try await bench.send("GET", record, headers: [token, Bench.json]).code == "0")
            for body in ["null", "[]"] {
                let answer = try await bench.send("DELETE", record, headers: [token, form], body: Array(body.utf8))
                #expect(answer.code == (body == "null" ? "0" : "101"))
            }
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func anUnknownFieldIs102(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.post("layouts/Contacts/records", ["fieldData": ["Nope": "1"]])
            #expect(answer.status == 500)
            #expect(answer.code == "102")
            #expect(bench.engine.counters.executedWrites == 0)
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func anEmptyRecordCanBeCreated(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.post("layouts/Contacts/records", ["fieldData": [:]])
            #expect(answer.status == 200)
            #expect(answer.response == ["recordId": "4", "modId": "0"])
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func nullIsRefused(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.post("layouts/Contacts/records", ["fieldData": ["Name": .null]])
            #expect(answer.status == 400)
            #expect(answer.code == "1708")
            #expect(answer.message == "Parameter value is invalid")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aWrongModIdChangesNothing(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": ["City": "Oxford"], "modId": "7"]
            let answer = try await bench.patch("layouts/Contacts/records/1", edit)
            #expect(answer.status == 500)
            #expect(answer.code == "306")
            #expect(try await bench.get("layouts/Contacts/records/1").fields["City"] == "London")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func theRightModIdCountsUp(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": ["City": "Oxford"], "modId": "0"]
            let answer = try await bench.patch("layouts/Contacts/records/1", edit)
            #expect(answer.status == 200)
            #expect(answer.response == ["modId": "1"])
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aDuplicateHasANewIdAndModId0(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            _ = try await bench.patch("layouts/Contacts/records/1", ["fieldData": ["City": "Oxford"]])
            let answer = try await bench.post("layouts/Contacts/records/1")
            #expect(answer.response == ["recordId": "4", "modId": "0"])
        }
    }
}
