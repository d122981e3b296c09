import Foundation
import Testing

@testable import FMSandbox

/// Whatever comes over the wire or out of a file is answered or refused: nothing traps, nothing hangs. The damage is drawn
/// from a seeded generator, so that a failure can be seen again.
@Suite(.timeLimit(.minutes(5))) struct HostileInputTests {
    private static let interesting = Array("\"\\{}[]:,-+.0129eE%/?&=;<>*#@!~ \r\n\t\0".utf8) + [0x7F, 0x80, 0xC3, 0xFF]

    /// The bytes with a few of them changed, left out, doubled or cut off.
    private static func damaged(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 1...20, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[place] = interesting.randomElement(using: &generator) ?? 0
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes.insert(interesting.randomElement(using: &generator) ?? 0, at: place)
            case 3: bytes.removeSubrange(place..<end)
            case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
            default: bytes.removeLast(min(bytes.count, Int.random(in: 1...40, using: &generator)))
            }
        }
        return bytes
    }

    /// Requests of every kind, to be damaged. The script that waits is not among them.
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

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(arguments: 1...4) func damagedRequestsAreAnswered(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        try await withBench { (bench: Bench) async throws in
            let responder = Responder(engine: bench.engine)
            for round in 0..<600 {
                let token = try #require(bench.token)
                var request = try #require(Self.requests(token).randomElement(using: &generator))
                switch round % 4 {
                case 0: request.target = Self.text(Self.damaged(Array(request.target.utf8), &generator))
                case 1:
                    let place = Int.random(in: 0..<request.headers.count, using: &generator)
                    let value = Array(request.headers[place].value.utf8)
                    request.headers[place].value = Self.text(Self.damaged(value, &generator))
                default: request.body = Self.damaged(request.body, &generator)
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
    @Test(arguments: 1...3) func damagedHTTPIsAnswered(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        try await withBench(.http, configure: { $0.maximumBodyBytes = 100_000 }) { (bench: Bench) async throws in
            let port = try #require(bench.port)
            for round in 0..<120 {
                let request = try #require(Self.requests(bench.token ?? "").randomElement(using: &generator))
                var head = "\(request.method) \(request.target) HTTP/1.1\r\nContent-Length: \(request.body.count)\r\n"
                for (name, value) in request.headers { head += "\(name): \(value)\r\n" }
                let bytes =
                    round % 8 == 0
                    ? (0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) }
                    : Self.damaged(Array("\(head)\r\n".utf8) + request.body, &generator)
                let answer = try await RawSocket.exchange(port: port, bytes, endsInput: true)
                #expect(answer.isEmpty || Self.text(answer).hasPrefix("HTTP/1.1 "))
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

    // MARK: Files

    /// A little of everything a solution file can say.
    private static let solution = Array(
        #"""
        {"name":"X","dateFormat":"dd.MM.yyyy","tables":[{"name":"T","fields":["K",{"name":"N","type":"number",
        "autoEnter":"serial","nextSerial":3,"validation":{"minimum":1,"maxCharacters":9}},{"name":"R","repetitions":3},
        {"name":"C","calculation":"N * 2 & If ( K = \"a\" ; R[2] ; Sum ( U::N ) )"},{"name":"S","type":"number",
        "summary":{"function":"total","field":"N"}},{"name":"g","global":true},{"name":"F","type":"container"}],
        "records":[{"$recordId":1,"$modId":2,"K":"a","N":1,"R(2)":"r"},{"$recordId":4,"$locked":true,"K":"b"}],
        "globals":{"g":"a"},"nextRecordId":9},{"name":"U","fields":["K",{"name":"N","type":"number"}],
        "records":[{"K":"a","N":1},{"K":"a","N":-2.5}]}],"occurrences":[{"name":"O","table":"U"}],
        "relationships":[{"left":"T","right":"U","matches":[{"left":"K","right":"K","comparison":"="}],
        "rightRules":{"allowsCreation":true,"deletesWithOther":true,"sort":[{"field":"N","order":"descend"}]}}],
        "valueLists":[{"name":"V","values":["a","b"]},{"name":"W","field":"U::N","relatedFrom":"T"}],
        "layouts":[{"name":"L","table":"T","fields":["K",{"field":"N","display":"popupMenu","valueList":"V"},
        {"field":"R","firstRepetition":1,"lastRepetition":2},"C","S","g","F","U::N"],"portals":[{"table":"U","name":"P",
        "fields":["U::N"],"firstRow":1,"rowCount":2,"sort":[{"field":"N"}],"filter":"N > -9"}],"view":"form"}],
        "scripts":[{"name":"A","steps":[{"set":"$x","to":"N"},{"loop":[{"set":"R(2)","to":"$x"}]},{"if":"$x > 1",
        "then":[{"newRecord":true}],"else":[{"constrain":"K = \"a\""}]},{"template":"<<Get ( DataInfo )>>"}]}],
        "accounts":[{"name":"admin","password":"secret","privilegeSet":"P"}],"privilegeSets":[{"name":"P",
        "hiddenFields":["T::R"]}],"server":{"version":22,"findPastEnd":"401"}}
        """#.utf8
    )

    private static func decode(_ bytes: [UInt8]) throws -> Solution {
        try JSONDecoder().decode(Solution.self, from: Data(bytes))
    }

    /// Uses whatever the damage has left: what starts must also answer.
    private static func use(_ solution: Solution) async throws {
        guard let engine = try? Engine([solution], configuration: .init(clock: ManualClock())) else { return }
        let headers = [Bench.basic("admin", "secret"), Bench.json]
        func send(
            _ method: String,
            _ target: String,
            _ headers: [(String, String)],
            _ body: String
        ) async -> SandboxResponse {
            let request = SandboxRequest(
                method: method,
                target: target,
                headers: headers.map { (name: $0.0, value: $0.1) },
                body: Array(body.utf8),
                origin: "http://localhost"
            )
            return await Responder(engine: engine).respond(to: request)
        }
        let database = "/fmi/data/v1/databases/\(Bench.encode(solution.name))"
        let login = await send("POST", "\(database)/sessions", headers, "{}")
        let token = [("Authorization", "Bearer \(login.header("x-fm-data-access-token") ?? "")"), Bench.json]
        for (method, rest, body) in [
            ("GET", "layouts/L?recordId=1", ""), ("GET", "layouts/L/records?_sort=[{\"fieldName\":\"N\"}]", ""),
            ("POST", "layouts/L/_find", #"{"query":[{"N":">0","C":"*","U::N":"<5"}]}"#),
            ("PATCH", "layouts/L/records/1", #"{"fieldData":{"N":"5"},"portalData":{"P":[{"U::N":"1"}]}}"#),
            ("POST", "layouts/L/records", #"{"fieldData":{"K":"c"}}"#), ("GET", "layouts/L/script/A", ""),
            ("DELETE", "layouts/L/records/1", ""),
        ] {
            let response = await send(method, "\(database)/\(rest)", token, body)
            #expect([200, 400, 401, 404, 405, 500].contains(response.status))
        }
    }

    @Test func theUndamagedFileIsWhole() async throws {
        let solution = try Self.decode(Self.solution)
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.get("layouts/L/records").recordIds == ["1", "4"])
        }
        try await Self.use(solution)
    }

    /// Every byte of a solution file in turn is changed to another one, and the file is cut off there.
    @Test(arguments: 0..<4) func damagedSolutionsAreReadOrRefused(_ part: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(part))
        for place in stride(from: part, to: Self.solution.count, by: 4) {
            #expect(throws: (any Error).self) { try Self.decode(Array(Self.solution.prefix(place))) }
            var bytes = Self.solution
            bytes[place] = Self.interesting.randomElement(using: &generator) ?? 0
            do {
                try await Self.use(Self.decode(bytes))
            } catch let error as DecodingError {
                #expect(SolutionError(solution: "X", error).description.hasPrefix("X: "))
            }
        }
    }

    @Test func damagedTablesAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 9)
        let csv = Array("$recordId,Name,\"a \"\"b\"\"\"\r\n1,x,\"y\nz\"\r\n2,,\r\n".utf8)
        for _ in 0..<2_000 {
            let text = Self.text(Self.damaged(csv, &generator))
            do {
                _ = try CSV.rows(of: text)
            } catch let failure as CSV.Failure {
                #expect(failure.line >= 1)
            }
        }
    }

    @Test func deepSolutionsAreRefused() {
        for text in ["[", #"{"name":"X","layouts":["#, #"{"name":"X","layouts":[{"folder":"F","items":["#] {
            let deep = String(repeating: text, count: 20_000)
            #expect(throws: (any Error).self) { try Self.decode(Array(deep.utf8)) }
        }
        let nested = String(repeating: #"{"loop":["#, count: 5_000) + String(repeating: "]}", count: 5_000)
        let steps = #"{"name":"X","scripts":[{"name":"S","steps":[\#(nested)]}]}"#
        #expect(throws: (any Error).self) { try Self.decode(Array(steps.utf8)) }
    }
}
