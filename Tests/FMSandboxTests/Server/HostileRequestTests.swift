import FMTestSupport
import Testing

@testable import FMSandbox

/// Any input over the network is answered or refused: nothing traps or hangs. The damage comes from a seeded generator,
/// so that a failure can be reproduced.
@Suite(.timeLimit(.minutes(15))) struct HostileRequestTests {
    /// Requests of every kind, to be damaged. The script that waits is left out.
    private static func requests(_ token: String) -> [SandboxRequest] {
        let database = "/fmi/data/v1/databases/World"
        let contacts = "\(database)/layouts/Contacts"
        let find = #"""
            {"query":[{"Name":"=A*","Balance":">=-17.5","Birthday":"{1..12}/*/1815","WakeUp":"5...{6..7}:30"},
            {"City":"\\@x \"y z\"","omit":"true"},{"CreatedAt":"1/2/2024 9...//","Nicknames(2)":"!"}],
            "sort":[{"fieldName":"Status","sortOrder":"Statuses"}],"limit":"2","offset":1,"portal":["Phones"],
            "limit.Phones":"1","layout.response":"Contacts","dateformats":2,"script":"Echo","script.param":"x"}
            """#
        let edit = #"""
            {"fieldData":{"Name":"x","Balance":-1.5e3,"Birthday":"1/2/2003","WakeUp":"6:30 pm","Nicknames(2)":"n",
            "Phones::Number.1":"1","deleteRelated":["Phones.2"]},"portalData":{"Phones":[{"recordId":"1","modId":"0",
            "Phones::Kind":"home"},{"Phones::Number":"2"}]},"options":{"entrymode":"script"},"script.presort":"Keep Active"}
            """#
        let part = "--XyZ\r\nContent-Disposition: form-data; name=\"upload\"; filename*=UTF-8''a%20b.png\r\n"
        let multipart = "\(part)Content-Type: image/png\r\n\r\nbytes\r\n--XyZ--\r\n"
        func request(
            _ method: String,
            _ target: String,
            _ body: String = "",
            type: String = "application/json"
        )
            -> SandboxRequest
        {
            SandboxRequest(
                method: method,
                target: target,
                headers: [("Host", "localhost"), ("Authorization", "Bearer \(token)"), ("Content-Type", type)],
                body: Array(body.utf8),
                origin: "http://localhost"
            )
        }
        let sort = "%5B%7B%22fieldName%22%3A%22Name%22%7D%5D"
        return [
            request("GET", "/fmi/data/v2/productInfo"), request("GET", "/fmi/data/vLatest/databases"),
            request("POST", "\(database)/sessions", #"{"fmDataSource":[{"database":"World","username":"a"}]}"#),
            request("PATCH", "\(database)/globals", #"{"globalFields":{"Contacts::gFilter":"x"}}"#),
            request("GET", "\(database)/layouts"), request("GET", "\(contacts)?recordId=1"),
            request("GET", "\(contacts)/records?_offset=1&_limit=2&_sort=\(sort)&portal=%5B%5D&dateformats=2"),
            request("POST", "\(contacts)/_find", find), request("PATCH", "\(contacts)/records/1", edit),
            request("POST", "\(contacts)/records", #"{"fieldData":{"Name":"y","Status":"active"}}"#),
            request("POST", "\(contacts)/records/1", "{}"), request("DELETE", "\(contacts)/records/3?script=Echo"),
            request("GET", "\(contacts)/script/Visit%20All?script.param=1"),
            request(
                "POST",
                "\(contacts)/records/1/containers/Photo/1?modId=0",
                multipart,
                type: "multipart/form-data; boundary=XyZ"
            ),
            request("GET", "/Streaming_SSL/MainDB/0123.jpg?RCType=EmbeddedRCFileProcessor"),
            request("GET", "/oauth/getoauthurl?trackingID=1&provider=Sandbox"),
        ]
    }

    @Test(.thorough, arguments: 1...4) func damagedRequestsAreAnswered(_ seed: UInt64) async throws {
        var generator = SeededRandom(seed: seed)
        try await withBench { (bench: Bench) async throws in
            let responder = Responder(engine: bench.engine)
            for round in 0..<600 {
                let token = try #require(bench.token)
                var request = try #require(Self.requests(token).randomElement(using: &generator))
                switch round % 4 {
                case 0:
                    request.target = String(decoding: damaged(Array(request.target.utf8), &generator), as: UTF8.self)
                case 1:
                    let place = Int.random(in: 0..<request.headers.count, using: &generator)
                    let value = Array(request.headers[place].value.utf8)
                    request.headers[place].value = String(decoding: damaged(value, &generator), as: UTF8.self)
                default: request.body = damaged(request.body, &generator)
                }
                let response = await responder.respond(to: request)
                #expect([200, 302, 400, 401, 404, 405, 413, 415, 500].contains(response.status))
                if response.header("content-type")?.hasPrefix("application/json") == true {
                    let json = try JSONParser.parse(response.body)
                    #expect(json["messages"][0]["code"].string != nil || json["data"].object != nil)
                }
            }
            #expect(try await bench.get("layouts").code == "0")
            #expect(bench.engine.withState { $0.runningRequests } == 0)
        }
    }

    /// The same over a socket, where the HTTP itself is damaged.
    @Test(.thorough, arguments: 1...3) func damagedHTTPIsAnswered(_ seed: UInt64) async throws {
        var generator = SeededRandom(seed: seed)
        try await withBench(.http, configure: { $0.maximumBodyBytes = 100_000 }) { (bench: Bench) async throws in
            let port = try #require(bench.port)
            for round in 0..<120 {
                let request = try #require(Self.requests(bench.token ?? "").randomElement(using: &generator))
                var head = "\(request.method) \(request.target) HTTP/1.1\r\nContent-Length: \(request.body.count)\r\n"
                for (name, value) in request.headers { head += "\(name): \(value)\r\n" }
                let bytes =
                    round % 8 == 0
                    ? (0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) }
                    : damaged(Array("\(head)\r\n".utf8) + request.body, &generator)
                let answer = try await RawSocket.exchange(port: port, bytes, endsInput: true)
                #expect(answer.isEmpty || answer.starts(with: "HTTP/1.1 ".utf8))
            }
            #expect(try await bench.get("layouts").code == "0")
        }
    }

    @Test func deepAndLongJSONIsRefused() async throws {
        try await withBench { (bench: Bench) async throws in
            let headers = [("Authorization", "Bearer \(try #require(bench.token))"), Bench.json]
            for opening in ["[", #"{"a":"#, #"{"query":["#] {
                let body = Array(String(repeating: opening, count: 50_000).utf8)
                let target = bench.path("layouts/Contacts/_find")
                let answer = try await bench.send("POST", target, headers: headers, body: body)
                #expect(answer.status == 400)
                #expect(answer.code == "1710")
            }
            let deepSort = String(repeating: "[", count: 50_000)
            #expect(try await bench.get("layouts/Contacts/records", [("_sort", deepSort)]).code == "1708")
        }
    }
}
