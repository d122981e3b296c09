import Testing

@testable import FMSandbox

/// The thirty points on which sources are silent or disagree: the sandbox does what the protocol notes call the safest for a
/// test server, and where they ask for a setting there is one.
@Suite struct OpenDoubtTests {
    private static let contacts = "layouts/Contacts/records"

    private func raw(_ bench: Bench, _ method: String, _ rest: String, _ body: String) async throws -> Bench.Answer {
        let headers = [("Authorization", "Bearer \(bench.token ?? "")"), Bench.json]
        return try await bench.send(method, bench.path(rest), headers: headers, body: Array(body.utf8))
    }

    @Test(
        "1 an offset past the end",
        arguments: [
            (nil, 500, "401"), (Sandbox.FindPastEnd.noRecordsMatch, 500, "401"), (.recordMissing, 500, "101"),
            (.emptyPage, 200, "0"),
        ]
    )
    func pastTheEnd(_ setting: Sandbox.FindPastEnd?, _ status: Int, _ code: String) async throws {
        try await withBench(configure: { $0.findPastEnd = setting }) { (bench: Bench) async throws in
            let find = try await bench.find("Contacts", [["Name": "*"]], ["offset": "4"])
            #expect(find.status == status)
            #expect(find.code == code)
            if code == "0" {
                #expect(find.response["data"] == [])
                #expect(find.response["dataInfo"]["foundCount"] == .int(3))
                #expect(find.response["dataInfo"]["returnedCount"] == .int(0))
            }
            // A find of nothing, and a range, are as ever.
            #expect(try await bench.find("Contacts", [["Name": "Nobody"]], ["offset": "4"]).code == "401")
            let range = try await bench.get(Self.contacts, [("_offset", "4")])
            #expect(range.status == 500)
            #expect(range.code == "101")
        }
    }

    @Test("2 a range of an empty table") func emptyTable() async throws {
        try await withBench(.inProcess, [.oneTable([.init("A")])]) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/L/records")
            #expect(answer.status == 200)
            #expect(answer.response["data"] == [])
            #expect(answer.response["dataInfo"]["totalRecordCount"] == .int(0))
            #expect(answer.response["dataInfo"]["foundCount"] == .int(0))
            #expect(answer.response["dataInfo"]["returnedCount"] == .int(0))
        }
    }

    @Test("3 counts that are none", arguments: ["0", "-1", "x"]) func brokenCounts(_ count: String) async throws {
        try await withBench { (bench: Bench) async throws in
            for name in ["_limit", "_offset"] {
                let answer = try await bench.get(Self.contacts, [(name, count)])
                #expect(answer.status == 400)
                #expect(answer.code == "960")
            }
        }
    }

    @Test("4 and 5 ISO dates in answers, writes and criteria") func isoDates() async throws {
        let solution = Solution.oneTable([.init("S", .timestamp)], [.init(["S": "03/09/2024 13:02:03"])])
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let read = try await bench.get("layouts/L/records", [("dateformats", "2")])
            #expect(read.fields["S"] == "2024-03-09T13:02:03")
            for text in ["2024-03-10T01:02:03", "2024-03-10 01:02:03"] {
                let edit: JSONValue = ["fieldData": ["S": .string(text)], "dateformats": "2"]
                #expect(try await bench.patch("layouts/L/records/1", edit).code == "0")
                #expect(try await bench.get("layouts/L/records/1").fields["S"] == "03/10/2024 01:02:03")
            }
            // Criteria are US; ISO is taken too where it was asked for.
            for format in ["0", "1", "2"] {
                let found = try await bench.find("L", [["S": "3/10/2024"]], ["dateformats": .string(format)])
                #expect(found.recordIds == ["1"])
            }
            #expect(try await bench.find("L", [["S": "2024-03-10"]], ["dateformats": "2"]).recordIds == ["1"])
            #expect(try await bench.find("L", [["S": "2024-03-10"]]).code == "500")
        }
    }

    @Test("6 and 7 rows of portals with an object name") func namedPortals() async throws {
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
        "8 and 9 newPortalRecordInfo by version, and of a create",
        arguments: [Sandbox.ServerVersion.v18, .v19, .v22]
    )
    func newRows(_ version: Sandbox.ServerVersion) async throws {
        let rows: JSONValue = ["Phones": [["Phones::Kind": "work", "Phones::Number": "1"], ["Phones::Number": "2"]]]
        let expected = version == .v22 ? ["4", "4", "5"] : ["5"]
        func ids(_ answer: Bench.Answer) -> [String]? {
            answer.response["newPortalRecordInfo"].array?.compactMap { $0["recordId"].string }
        }
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            let edit = try await bench.patch("\(Self.contacts)/1", ["fieldData": [:], "portalData": rows])
            #expect(ids(edit) == expected)
            let create = try await bench.post(Self.contacts, ["fieldData": [:], "portalData": rows])
            #expect(create.response.object?.keys == ["recordId", "modId"])
        }
        try await withBench(
            configure: { ($0.serverVersion, $0.newPortalRecordInfoOnCreate) = (version, true) }
        ) { (bench: Bench) async throws in
            let create = try await bench.post(Self.contacts, ["fieldData": [:], "portalData": rows])
            #expect(create.response.object?.keys == ["recordId", "modId", "newPortalRecordInfo"])
            #expect(ids(create) == expected)
        }
    }

    @Test("10 dataInfo names the response layout") func responseLayout() async throws {
        try await withBench { (bench: Bench) async throws in
            let name = "Names / 100 % Übersicht"
            let answer = try await bench.find("Contacts", [["Id": "1"]], ["layout.response": .string(name)])
            #expect(answer.response["dataInfo"]["layout"] == .string(name))
        }
    }

    @Test("11 an unknown script") func unknownScript() async throws {
        try await withBench { (bench: Bench) async throws in
            let run = try await bench.get("layouts/Contacts/script/Nope")
            let edit = try await bench.patch("\(Self.contacts)/1", ["fieldData": ["City": "x"], "script": "Nope"])
            for answer in [run, edit] {
                #expect(answer.status == 500)
                #expect(answer.code == "104")
            }
            #expect(try await bench.get("\(Self.contacts)/1").fields["City"] == "London")
        }
    }

    @Test("12 malformed JSON") func malformed() async throws {
        try await withBench { (bench: Bench) async throws in
            for (body, code) in [("{", "1710"), ("[1", "1710"), ("[]", "1708"), (#"{"fieldData":[]}"#, "1708")] {
                let answer = try await raw(bench, "POST", Self.contacts, body)
                #expect(answer.status == 400)
                #expect(answer.code == code)
            }
        }
    }

    @Test("13 bodies of 404, 405 and 415") func strayBodies() async throws {
        try await withBench { (bench: Bench) async throws in
            let plain = [("Authorization", "Bearer \(try #require(bench.token))"), ("Content-Type", "text/plain")]
            let answers = [
                try await bench.get("nowhere"), try await bench.get("layouts/Contacts/_find"),
                try await bench.send("POST", bench.path(Self.contacts), headers: plain, body: Array("{}".utf8)),
            ]
            #expect(answers.map(\.status) == [404, 405, 415])
            #expect(answers.map(\.code) == ["1700", "1704", "1705"])
        }
    }

    @Test("14 a missing token") func missingToken() async throws {
        try await withBench { (bench: Bench) async throws in
            var anonymous = bench
            anonymous.token = nil
            let call = try await anonymous.get(Self.contacts)
            #expect(call.status == 400)
            #expect(call.code == "10")
            let login = try await raw(anonymous, "POST", "sessions", "{}")
            #expect(login.code == "212")
            let bare = try await bench.send("POST", bench.path("sessions"), headers: [Bench.json], body: [0x7B, 0x7D])
            #expect(bare.status == 401)
            #expect(bare.code == "10")
        }
    }

    @Test("15 and 16 databases and accounts that are not there") func refusedLogins() async throws {
        var solution = Solution.oneTable([.init("A")])
        solution.privilegeSets = [.init(name: "Desk", allowsDataAPI: false)]
        solution.accounts.append(.init(name: "desk", password: "x", privilegeSet: "Desk"))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let headers = [Bench.basic("admin", "secret"), Bench.json]
            let unknown = try await bench.send("POST", "/fmi/data/v1/databases/Nope/sessions", headers: headers)
            #expect(unknown.status == 500)
            #expect(unknown.code == "802")
            let desk = try await bench.login("desk", "x")
            #expect(desk.status == 401)
            #expect(desk.code == "212")
        }
    }

    @Test("17 the ceiling of sessions", arguments: [nil, 956, 812]) func ceiling(_ code: Int?) async throws {
        try await withBench(
            configure: { configuration in
                configuration.maximumSessions = 1
                if let code { configuration.sessionLimitCode = code }
            }
        ) { (bench: Bench) async throws in
            let refused = try await bench.login()
            #expect(refused.status == 500)
            #expect(refused.code == String(code ?? 956))
            // A scripted full host says the same.
            bench.engine.withState { $0.faults.add(.init(.fullHost)) }
            #expect(try await bench.get("layouts").code == String(code ?? 956))
        }
    }

    @Test("18 validateSession renews") func validateRenews() async throws {
        try await withBench { (bench: Bench) async throws in
            for _ in 1...3 {
                bench.clock.advance(by: .seconds(14 * 60))
                #expect(try await bench.get("/validateSession").code == "0")
            }
        }
    }

    @Test("19 globals are no criteria") func globals() async throws {
        try await withBench { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["gFilter": "x"]])
            #expect(answer.status == 500)
            #expect(answer.code == "408")
        }
    }

    @Test("20 criteria that cannot be read") func unreadable() async throws {
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

    @Test("21 and 22 ranges and words of text") func words() async throws {
        let texts = ["Anna", "Berta", "b", "O'Hara", "3.14"]
        let solution = Solution.oneTable([.init("A")], texts.map { .init(["A": $0]) })
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            // Words are compared as they are: Berta lies behind B.
            #expect(try await bench.find("L", [["A": "A...B"]]).column("A") == ["Anna", "b"])
            #expect(try await bench.find("L", [["A": "hara"]]).code == "401")
            #expect(try await bench.find("L", [["A": "=3.14"]]).column("A") == ["3.14"])
        }
    }

    @Test("23 and 24 odd uploads and large ones") func uploads() async throws {
        let target = "\(Self.contacts)/1/containers/Photo/1"
        try await withBench { (bench: Bench) async throws in
            #expect(try await bench.upload(target, []).code == "0")
            let nameless = try await bench.upload(target, filename: nil, [1])
            #expect(nameless.status == 400)
            #expect(nameless.code == "960")
        }
        try await withBench(.http, configure: { $0.maximumBodyBytes = 1000 }) { (bench: Bench) async throws in
            let large = try await bench.upload(target, Array(repeating: 1, count: 1001))
            #expect(large.status == 413)
        }
    }

    @Test("25 omit as a text and as a boolean", arguments: [JSONValue.bool(true), "true"])
    func omit(_ value: JSONValue) async throws {
        try await withBench { (bench: Bench) async throws in
            #expect(try await bench.find("Contacts", [["City": "Paris", "omit": value]]).recordIds == ["1", "3"])
        }
    }

    @Test("26 an edit without fieldData") func noFieldData() async throws {
        try await withBench { (bench: Bench) async throws in
            let rows: JSONValue = ["portalData": ["Phones": [["recordId": "1", "Phones::Number": "7"]]]]
            #expect(try await bench.patch("\(Self.contacts)/1", rows).response == ["modId": "0"])
        }
    }

    @Test("27 names in any case", arguments: [nil, false, true]) func nameCase(_ ignoresCase: Bool?) async throws {
        try await withBench(configure: { $0.ignoresNameCase = ignoresCase }) { (bench: Bench) async throws in
            func code(_ expected: String) -> String { ignoresCase == true ? "0" : expected }
            #expect(try await bench.get("layouts/CONTACTS/records").code == code("105"))
            #expect(try await bench.get("layouts/contacts").code == code("105"))
            #expect(try await bench.get("layouts/Contacts/script/ECHO").code == code("104"))
            #expect(try await bench.find("Contacts", [["name": "Ada"]]).code == code("102"))
            #expect(try await bench.find("Contacts", [["phones::number": "*555*"]]).code == code("102"))
            let sort: JSONValue = [["fieldName": "STATUS", "sortOrder": "statuses"]]
            #expect(try await bench.find("Contacts", [["Id": "1"]], ["sort": sort]).code == code("102"))
            let edit = try await bench.patch("\(Self.contacts)/1", ["fieldData": ["city": "Bath"]])
            #expect(edit.code == code("102"))
            let globals = try await bench.patch("globals", ["globalFields": ["contacts::GFILTER": "x"]])
            #expect(globals.code == code("102"))
            let portals = [("portal", #"["PHONES"]"#), ("_limit.phones", "1")]
            let read = try await bench.get("\(Self.contacts)/1", portals)
            #expect(read.code == code("102"))
            guard ignoresCase == true else { return }
            // Answers spell names as the solution does.
            let record = read.response["data"][0]
            #expect(read.response["dataInfo"]["layout"] == "Contacts")
            #expect(record["fieldData"]["City"] == "Bath")
            #expect(record["portalData"]["Phones"].array?.count == 1)
            let deletion = try await bench.patch("\(Self.contacts)/1", ["fieldData": ["deleteRelated": "phones.1"]])
            #expect(deletion.code == "0")
        }
    }

    /// The fields of the layout list, of `validateSession` and of an upload follow the version that is imitated.
    @Test("28 the version is a setting", arguments: Sandbox.ServerVersion.allCases)
    func version(_ version: Sandbox.ServerVersion) async throws {
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            let layouts = try await bench.get("layouts").response["layouts"][0]
            #expect((layouts["table"].string != nil) == (version >= .v19))
            let session = try await bench.get("/validateSession").response["isSessionInUse"]
            #expect((session != .null) == (version >= .v22))
            let upload = try await bench.upload("\(Self.contacts)/1/containers/Photo/1?modId=0", [1])
            #expect(upload.response == ["modId": "1"])
        }
    }

    @Test("29 two calls on one token wait for each other") func queue() async throws {
        try await withBench { (bench: Bench) async throws in
            async let first = bench.get("layouts/Contacts/script/Wait", [("script.param", "5")])
            await bench.clock.untilWaiting()
            async let second = bench.get("layouts")
            bench.clock.advance(by: .seconds(5))
            #expect(try await first.code == "0")
            #expect(try await second.code == "0")
        }
    }

    @Test("30 no transfer limit is ever met") func noTransferLimit() async throws {
        try await withBench { (bench: Bench) async throws in
            for _ in 1...50 { #expect(try await bench.get("layouts/Zones/records", [("_limit", "999")]).code == "0") }
        }
    }
}
