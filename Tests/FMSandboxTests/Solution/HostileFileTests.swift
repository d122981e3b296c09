import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

/// Any file is read or refused: nothing traps or hangs. The damage comes from a seeded generator, so that a failure can
/// be reproduced.
@Suite(.timeLimit(.minutes(15))) struct HostileFileTests {
    /// A solution file that uses a little of every feature.
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
        "hiddenFields":["T::R"],"visibleRecords":{"T":"N > -9 or IsEmpty ( K )"}}],"server":{"version":22,"findPastEnd":"401"}}
        """#.utf8
    )

    private static func decode(_ bytes: [UInt8]) throws -> Solution {
        try JSONDecoder().decode(Solution.self, from: Data(bytes))
    }

    /// Uses what is left after the damage: a solution that starts must also answer.
    private static func use(_ solution: Solution) async throws {
        guard let engine = try? Engine([solution], configuration: .init { $0.clock = ManualClock() }) else { return }
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

    /// Each byte of a solution file in turn is changed to another one, and the file is cut off there.
    @Test(.thorough, arguments: 0..<4) func damagedSolutionsAreReadOrRefused(_ part: Int) async throws {
        var generator = SeededRandom(seed: UInt64(part))
        for place in stride(from: part, to: Self.solution.count, by: 4) {
            #expect(throws: (any Error).self) { try Self.decode(Array(Self.solution.prefix(place))) }
            var bytes = Self.solution
            bytes[place] = signs.randomElement(using: &generator) ?? 0
            do {
                try await Self.use(Self.decode(bytes))
            } catch let error as DecodingError {
                #expect(SolutionError(solution: "X", error).description.hasPrefix("X: "))
            }
        }
    }

    @Test func damagedTablesAreReadOrRefused() throws {
        var generator = SeededRandom(seed: 9)
        let csv = Array("$recordId,Name,\"a \"\"b\"\"\"\r\n1,x,\"y\nz\"\r\n2,,\r\n".utf8)
        for _ in 0..<2_000 {
            let text = String(decoding: damaged(csv, &generator), as: UTF8.self)
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
