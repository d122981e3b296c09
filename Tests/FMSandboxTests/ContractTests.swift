import Foundation
import Testing

@testable import FMSandbox

/// The 32 contract vectors of the Data API: each is backed by a recording, by the tests of a client in use, or by a rule of
/// the guide. All of them hold in process, over HTTP and over TLS.
@Suite struct ContractTests {
    @Test("1 productInfo needs no headers", arguments: Venue.allCases)
    func productInfo(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            var anonymous = bench
            anonymous.token = nil
            let answer = try await anonymous.get("/productInfo")
            #expect(answer.status == 200)
            #expect(
                answer.response["productInfo"].object?.keys == ["name", "dateFormat", "timeFormat", "timeStampFormat"]
            )
        }
    }

    @Test("2 a login answers the token in header and body", arguments: Venue.allCases)
    func login(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.login()
            let token = try #require(answer.header("x-fm-data-access-token"))
            #expect(answer.status == 200)
            #expect(answer.response["token"] == .string(token))
            #expect(token.count == 52)
            #expect(token.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        }
    }

    @Test("3 a wrong password is 212", arguments: Venue.allCases)
    func wrongPassword(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.login("admin", "wrong")
            #expect(answer.status == 401)
            #expect(answer.code == "212")
            #expect(answer.header("x-fm-data-access-token") == nil)
        }
    }

    @Test("4 a login without credentials is 10", arguments: Venue.allCases)
    func noCredentials(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.send(
                "POST",
                bench.path("sessions"),
                headers: [Bench.json],
                body: Array("{}".utf8)
            )
            #expect(answer.status == 401)
            #expect(answer.code == "10")
            #expect(answer.message == "HTTP Authorization header or OAuth headers are missing.")
        }
    }

    @Test("5 a wrong token is 952", arguments: Venue.allCases)
    func wrongToken(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            var stranger = bench
            stranger.token = "deadbeef"
            let answer = try await stranger.get("layouts/Contacts/records")
            #expect(answer.status == 401)
            #expect(
                answer.text
                    == #"{"messages":[{"code":"952","message":"Invalid FileMaker Data API token (*)"}],"response":{}}"#
            )
        }
    }

    @Test("6 a session lives 15 minutes after its last call", arguments: Venue.allCases)
    func expiry(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            bench.clock.advance(by: .seconds(14 * 60))
            let early = try await bench.get("layouts")
            #expect(early.code == "0")
            bench.clock.advance(by: .seconds(14 * 60))
            #expect(try await bench.get("layouts").code == "0")
            bench.clock.advance(by: .seconds(15 * 60 + 1))
            #expect(try await bench.get("layouts").code == "952")
            #expect(bench.engine.counters.expiredSessions == 1)
        }
    }

    @Test("7 a logout ends the session", arguments: Venue.allCases)
    func logout(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let path = bench.path("sessions/\(try #require(bench.token))")
            let answer = try await bench.send("DELETE", path)
            #expect(answer.status == 200)
            #expect(answer.text == #"{"response":{},"messages":[{"code":"0","message":"OK"}]}"#)
            #expect(answer.body.count == 56)
            #expect(try await bench.get("layouts").code == "952")
            #expect(try await bench.send("DELETE", path).code == "952")
        }
    }

    @Test("8 a missing record is 101", arguments: Venue.allCases)
    func missingRecord(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/records/999999")
            #expect(answer.status == 500)
            #expect(answer.code == "101")
            #expect(answer.message == "Record is missing")
        }
    }

    @Test("9 a missing layout is 105", arguments: Venue.allCases)
    func missingLayout(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Nope/records")
            #expect(answer.status == 500)
            #expect(answer.text == #"{"messages":[{"code":"105","message":"Layout is missing"}],"response":{}}"#)
        }
    }

    @Test("10 an unknown field is 102", arguments: Venue.allCases)
    func missingField(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.post("layouts/Contacts/records", ["fieldData": ["Nope": "1"]])
            #expect(answer.status == 500)
            #expect(answer.code == "102")
            #expect(bench.engine.counters.executedWrites == 0)
        }
    }

    @Test("11 an empty record can be created", arguments: Venue.allCases)
    func emptyRecord(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.post("layouts/Contacts/records", ["fieldData": [:]])
            #expect(answer.status == 200)
            #expect(answer.response == ["recordId": "4", "modId": "0"])
        }
    }

    @Test("12 null is refused", arguments: Venue.allCases)
    func null(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.post("layouts/Contacts/records", ["fieldData": ["Name": .null]])
            #expect(answer.status == 400)
            #expect(answer.code == "1708")
            #expect(answer.message == "Parameter value is invalid")
        }
    }

    @Test("13 a wrong modId changes nothing", arguments: Venue.allCases)
    func wrongModId(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": ["City": "Oxford"], "modId": "7"]
            let answer = try await bench.patch("layouts/Contacts/records/1", edit)
            #expect(answer.status == 500)
            #expect(answer.code == "306")
            #expect(try await bench.get("layouts/Contacts/records/1").fields["City"] == "London")
        }
    }

    @Test("14 the right modId counts up", arguments: Venue.allCases)
    func rightModId(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": ["City": "Oxford"], "modId": "0"]
            let answer = try await bench.patch("layouts/Contacts/records/1", edit)
            #expect(answer.status == 200)
            #expect(answer.response == ["modId": "1"])
        }
    }

    @Test("15 a portal row without recordId is created", arguments: Venue.allCases)
    func newPortalRow(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": [:], "portalData": ["Phones": [["Phones::Number": "123"]]]]
            let answer = try await bench.patch("layouts/Contacts/records/1", edit)
            #expect(answer.status == 200)
            #expect(
                answer.response["newPortalRecordInfo"] == [["tableName": "Phones", "recordId": "4", "modId": "0"]]
            )
        }
    }

    @Test("16 deleteRelated takes a list inside fieldData", arguments: Venue.allCases)
    func deleteRelated(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let edit: JSONValue = ["fieldData": ["deleteRelated": ["Phones.1", "Phones.2"]]]
            #expect(try await bench.patch("layouts/Contacts/records/1", edit).status == 200)
            let record = try await bench.get("layouts/Contacts/records/1").response["data"][0]
            #expect(record["portalData"] == ["Phones": []])
        }
    }

    @Test("17 a duplicate has a new id and modId 0", arguments: Venue.allCases)
    func duplicate(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            _ = try await bench.patch("layouts/Contacts/records/1", ["fieldData": ["City": "Oxford"]])
            let answer = try await bench.post("layouts/Contacts/records/1")
            #expect(answer.response == ["recordId": "4", "modId": "0"])
        }
    }

    @Test("18 an empty find is 401 with status 500", arguments: Venue.allCases)
    func emptyFind(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["Name": "Nobody"]])
            #expect(answer.status == 500)
            #expect(answer.code == "401")
            #expect(answer.message == "No records match the request")
        }
    }

    @Test("19 underscored keys in a find are refused", arguments: Venue.allCases)
    func unknownParameter(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["Name": "Ada"]], ["_limit.x": "1"])
            #expect(answer.status == 400)
            #expect(answer.code == "960")
            #expect(answer.message == "Unknown parameter(s): _limit.x")
        }
    }

    @Test("20 a lone omit that matches nothing finds all", arguments: Venue.allCases)
    func loneOmit(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["Name": "Nobody", "omit": "true"]])
            #expect(answer.recordIds == ["1", "2", "3"])
        }
    }

    @Test("21 limit and offset are numbers or texts", arguments: Venue.allCases)
    func limitsAsText(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let texts = try await bench.find("Zones", [["Name": "*"]], ["limit": "2", "offset": "3"])
            let numbers = try await bench.find("Zones", [["Name": "*"]], ["limit": .int(2), "offset": .int(3)])
            #expect(texts.recordIds == ["3", "4"])
            #expect(numbers.body == texts.body)
        }
    }

    @Test("22 a range is 100 records by default", arguments: Venue.allCases)
    func defaultLimit(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Countries/records")
            #expect(answer.recordIds.count == 100)
            #expect(answer.response["dataInfo"]["foundCount"] == .int(249))
            #expect(answer.response["dataInfo"]["returnedCount"] == .int(100))
        }
    }

    @Test("23 a portal shows 50 rows by default, and none past its end", arguments: Venue.allCases)
    func portalRows(_ venue: Venue) async throws {
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

    @Test("24 an empty list of portals shows none", arguments: Venue.allCases)
    func noPortals(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/records/1", [("portal", "[]")])
            #expect(answer.response["data"][0]["portalData"] == [:])
        }
    }

    @Test("25 a sort that is no JSON is refused", arguments: Venue.allCases)
    func brokenSort(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/records", [("_sort", "Name")])
            #expect(answer.status == 400)
            #expect(answer.code == "1708")
        }
    }

    @Test("26 an upload is a part named upload", arguments: Venue.allCases)
    func upload(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let target = "layouts/Contacts/records/1/containers/Photo/1"
            let answer = try await bench.upload(target, [1, 2, 3])
            #expect(answer.status == 200)
            #expect(answer.response == ["modId": "1"])
            let refused = try await bench.upload(target, part: "file", [1, 2, 3])
            #expect(refused.status == 400)
            #expect(refused.code == "960")
            #expect(refused.message == "Upload payload must contain a part named 'upload'.")
        }
    }

    @Test("27 a container is served after a redirect with a cookie", arguments: Venue.allCases, [true, false])
    func download(_ venue: Venue, _ isAuthenticated: Bool) async throws {
        let streaming: Sandbox.ContainerStreaming = isAuthenticated ? .authenticated : .open
        try await withBench(venue, configure: { $0.containerStreaming = streaming }) { (bench: Bench) async throws in
            _ = try await bench.upload("layouts/Contacts/records/1/containers/Photo/1", [1, 2, 3])
            let value = try await bench.get("layouts/Contacts/records/1").fields["Photo"]
            let url = try #require(value.string.flatMap(URL.init(string:)))
            let target = url.path + "?" + (url.query ?? "")
            #expect(url.path.hasSuffix(".jpg"))
            let bearer = isAuthenticated ? [("Authorization", "Bearer \(try #require(bench.token))")] : []
            let first = try await bench.send("GET", target, headers: bearer)
            #expect(first.status == 302)
            #expect(first.header("location") == target)
            let cookie = try #require(first.header("set-cookie")?.split(separator: ";").first).description
            let second = try await bench.send("GET", target, headers: bearer + [("Cookie", cookie)])
            #expect(second.status == 200)
            #expect(second.body == [1, 2, 3])
            #expect(second.header("content-type") == "image/jpeg")
            let withoutBearer = try await bench.send("GET", target)
            #expect(withoutBearer.status == (isAuthenticated ? 401 : 302))
            let wrongCookie = try await bench.send("GET", target, headers: bearer + [("Cookie", "X-FMS-Session-Key=0")])
            #expect(wrongCookie.status == 401)
        }
    }

    @Test("28 script results come first, and a failing script is no failure", arguments: Venue.allCases)
    func scripts(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.find(
                "Contacts",
                [["Name": "Ada"]],
                ["script": "Echo", "script.param": "hello", "script.presort": "Fail"]
            )
            #expect(answer.status == 200)
            #expect(answer.code == "0")
            #expect(
                answer.response.object?.keys == [
                    "scriptError.presort", "scriptResult", "scriptError", "dataInfo", "data",
                ]
            )
            #expect(answer.response["scriptResult"] == "hello")
            #expect(answer.response["scriptError"] == "0")
            #expect(answer.response["scriptError.presort"] == "5")
        }
    }

    @Test("29 separators are scripts, layouts have no isFolder", arguments: Venue.allCases)
    func lists(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let scripts = try await bench.get("scripts").response["scripts"]
            #expect(scripts.array?.contains(["name": "-", "isFolder": false]) == true)
            let layouts = try await bench.get("layouts").response["layouts"]
            #expect(layouts[0] == ["name": "Countries", "table": "Country"])
        }
    }

    @Test("30 wrong content type, wrong method, wrong path", arguments: Venue.allCases)
    func wrongRequests(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let token = ("Authorization", "Bearer \(try #require(bench.token))")
            let path = bench.path("layouts/Contacts/records")
            let plain = try await bench.send(
                "POST",
                path,
                headers: [token, ("Content-Type", "text/plain")],
                body: Array("{}".utf8)
            )
            #expect(plain.status == 415)
            #expect(plain.code == "1705")
            let find = try await bench.get("layouts/Contacts/_find")
            #expect(find.status == 405)
            #expect(find.code == "1704")
            let stray = try await bench.get("nothing")
            #expect(stray.status == 404)
            #expect(stray.code == "1700")
            #expect(try await bench.get("Layouts").status == 404)
            #expect(bench.engine.counters.strayRequests == 3)
        }
    }

    @Test("31 names are percent-decoded segment by segment", arguments: Venue.allCases)
    func encodedNames(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let name = "Names / 100 % Übersicht"
            let answer = try await bench.get("layouts/\(Bench.encode(name))/records")
            #expect(answer.response["dataInfo"]["layout"] == .string(name))
        }
    }

    @Test("32 large bodies are compressed for those who take gzip", arguments: [Venue.http, .https])
    func compression(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let headers = [
                ("Authorization", "Bearer \(try #require(bench.token))"), ("Accept-Encoding", "deflate, gzip, br"),
            ]
            let large = try await bench.send("GET", bench.path("layouts/Contacts/records"), headers: headers)
            #expect(large.header("content-encoding") == "gzip")
            #expect(Array(large.body.prefix(2)) == [0x1F, 0x8B])
            #expect(large.header("transfer-encoding") == "chunked")
            #expect(large.header("content-length") == nil)
            #expect(large.header("etag")?.hasPrefix("W/\"") == true)
            let small = try await bench.send("GET", bench.path("/databases"), headers: headers)
            #expect(small.header("content-encoding") == nil)
            #expect(small.header("content-length") == String(small.body.count))
            #expect(small.header("keep-alive") == "timeout=3600, max=100")
            let plain = try await bench.get("layouts/Contacts/records")
            #expect(plain.header("content-encoding") == nil)
            #expect(plain.code == "0")
        }
    }
}
