import FMTestSupport
import Testing

@testable import FMSandbox

/// Rules that apply to every endpoint, tested with each of them.
@Suite(.timeLimit(.minutes(15))) struct EndpointMatrixTests {
    struct Call: CustomTestStringConvertible, Sendable {
        var endpoint: Sandbox.Endpoint
        var method: String
        /// Relative to the database, or with a leading slash relative to the API.
        var path: String
        var body = ""
        /// Whether the request needs the session's token.
        var needsToken = true

        var testDescription: String { "\(endpoint)" }
        var isMultipart: Bool { endpoint == .uploadContainer }
    }

    static let calls = [
        Call(endpoint: .productInfo, method: "GET", path: "/productInfo", needsToken: false),
        Call(endpoint: .validateSession, method: "GET", path: "/validateSession"),
        Call(endpoint: .databases, method: "GET", path: "/databases", needsToken: false),
        Call(endpoint: .login, method: "POST", path: "sessions", body: "{}", needsToken: false),
        Call(endpoint: .logout, method: "DELETE", path: "sessions/0123", needsToken: false),
        Call(
            endpoint: .setGlobals,
            method: "PATCH",
            path: "globals",
            body: #"{"globalFields":{"Contacts::gFilter":"x"}}"#
        ),
        Call(endpoint: .scripts, method: "GET", path: "scripts"),
        Call(endpoint: .layouts, method: "GET", path: "layouts"),
        Call(endpoint: .layoutMetadata, method: "GET", path: "layouts/Contacts"),
        Call(endpoint: .oldMetadata, method: "GET", path: "layouts/Contacts/metadata"),
        Call(endpoint: .getRecords, method: "GET", path: "layouts/Contacts/records"),
        Call(endpoint: .getRecord, method: "GET", path: "layouts/Contacts/records/1"),
        Call(endpoint: .createRecord, method: "POST", path: "layouts/Contacts/records", body: #"{"fieldData":{}}"#),
        Call(endpoint: .editRecord, method: "PATCH", path: "layouts/Contacts/records/1", body: #"{"fieldData":{}}"#),
        Call(endpoint: .duplicateRecord, method: "POST", path: "layouts/Phones/records/1", body: "{}"),
        Call(endpoint: .deleteRecord, method: "DELETE", path: "layouts/Contacts/records/1"),
        Call(
            endpoint: .uploadContainer,
            method: "POST",
            path: "layouts/Contacts/records/1/containers/Photo/1",
            body: "--b\r\nContent-Disposition: form-data; name=upload; filename=a\r\n\r\nx\r\n--b--\r\n"
        ),
        Call(endpoint: .find, method: "POST", path: "layouts/Contacts/_find", body: #"{"query":[{"Id":"1"}]}"#),
        Call(endpoint: .runScript, method: "GET", path: "layouts/Contacts/script/Echo"),
    ]

    private func send(
        _ call: Call,
        _ bench: Bench,
        method: String? = nil,
        path: String? = nil,
        query: String = "",
        type: String? = nil,
        token: String?,
        body: String? = nil
    ) async throws -> Bench.Answer {
        var headers: [(String, String)] = []
        if call.endpoint == .login { headers.append(Bench.basic("admin", "secret")) }
        if let token, call.needsToken { headers.append(("Authorization", "Bearer \(token)")) }
        let own = call.isMultipart ? "multipart/form-data; boundary=b" : call.body.isEmpty ? "" : "application/json"
        let type = type ?? own
        if !type.isEmpty { headers.append(("Content-Type", type)) }
        return try await bench.send(
            method ?? call.method,
            bench.path(path ?? call.path) + query,
            headers: headers,
            body: Array((body ?? call.body).utf8)
        )
    }

    @Test func nothingIsLeftOut() {
        // These two do not belong to the Data API proper and have their own tests.
        let others: Set<Sandbox.Endpoint> = [.oauth, .downloadContainer]
        #expect(Set(Self.calls.map(\.endpoint)).union(others) == Set(Sandbox.Endpoint.allCases))
    }

    @Test(.thorough, arguments: calls, ["v1", "v2", "vLatest"])
    func itAnswersInEveryVersionOfTheAPI(_ call: Call, _ version: String) async throws {
        try await withBench { (bench: Bench) async throws in
            var bench = bench
            bench.version = version
            let answer = try await send(call, bench, token: bench.token)
            #expect(answer.code == (call.endpoint == .logout ? "952" : "0"))
            #expect(bench.engine.counters.requests[call.endpoint, default: 0] >= 1)
            let slash = try await send(call, bench, path: "\(call.path)/", token: bench.token)
            // The first call has already deleted the session or the record.
            let codes: [Sandbox.Endpoint: String] = [.logout: "952", .deleteRecord: "101"]
            #expect(slash.code == codes[call.endpoint] ?? "0")
            bench.version = "v3"
            #expect(try await send(call, bench, token: bench.token).status == 404)
        }
    }

    @Test(arguments: calls) func unknownParametersAre960(_ call: Call) async throws {
        try await withBench { (bench: Bench) async throws in
            let inQuery = try await send(call, bench, query: "?nope=1", token: bench.token)
            #expect(inQuery.status == 400)
            #expect(inQuery.code == "960")
            #expect(inQuery.message == "Unknown parameter(s): nope")
            guard call.body.first == "{" else { return }
            let body = call.body.dropFirst() == "}" ? #"{"nope":1}"# : #"{"nope":1,"# + call.body.dropFirst()
            let inBody = try await send(call, bench, token: bench.token, body: body)
            #expect(inBody.status == 400)
            #expect(inBody.message == "Unknown parameter(s): nope")
        }
    }

    @Test(arguments: calls) func otherMethodsAre405(_ call: Call) async throws {
        try await withBench { (bench: Bench) async throws in
            for method in ["GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "TRACE"] {
                // Skip methods that another endpoint with the same path supports.
                if Self.calls.contains(where: { $0.path == call.path && $0.method == method }) { continue }
                if call.endpoint == .duplicateRecord, ["GET", "PATCH", "DELETE"].contains(method) { continue }
                if call.path == "layouts/Contacts/records/1", method == "POST" { continue }
                let answer = try await send(call, bench, method: method, token: bench.token)
                #expect(answer.status == 405, "\(method)")
                #expect(answer.code == "1704")
            }
        }
    }

    @Test(arguments: calls) func wordsOfURLsAreInLowerCase(_ call: Call) async throws {
        try await withBench { (bench: Bench) async throws in
            let word = call.path.hasPrefix("/") ? "/\(call.path.dropFirst().uppercased())" : nil
            var parts = call.path.split(separator: "/").map(String.init)
            // Change the last component of the path that is a keyword of the API.
            let words: Set = [
                "sessions", "globals", "scripts", "layouts", "metadata", "records", "containers", "script",
            ]
            if let place = parts.lastIndex(where: { words.contains($0) || $0 == "_find" }) {
                parts[place] = parts[place].uppercased()
            }
            let answer = try await send(call, bench, path: word ?? parts.joined(separator: "/"), token: bench.token)
            #expect(answer.status == 404)
            #expect(answer.code == "1700")
        }
    }

    @Test(arguments: calls.filter(\.needsToken)) func tokensAreAskedFor(_ call: Call) async throws {
        try await withBench { (bench: Bench) async throws in
            let none = try await send(call, bench, token: nil)
            #expect(none.status == 400)
            #expect(none.code == "10")
            #expect(none.message == "Request validation failed: Parameter (Authorization) is required")
            let wrong = try await send(call, bench, token: "deadbeef")
            #expect(wrong.status == 401)
            #expect(wrong.code == "952")
            #expect(wrong.message == "Invalid FileMaker Data API token (*)")
            #expect(bench.engine.counters.executedWrites == 0)
        }
    }

    @Test(arguments: calls.filter { !$0.body.isEmpty }) func bodiesSayWhatTheyAre(_ call: Call) async throws {
        try await withBench { (bench: Bench) async throws in
            for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "none"] {
                let answer = try await send(call, bench, type: type, token: bench.token)
                #expect(answer.status == 415)
                #expect(answer.code == "1705")
            }
            #expect(bench.engine.counters.executedWrites == 0)
        }
    }

    /// A fault for one endpoint does not affect another.
    @Test(arguments: calls) func faultsStrikeWhereTheyAreMeantTo(_ call: Call) async throws {
        try await withBench { (bench: Bench) async throws in
            bench.engine.withState { $0.faults.add(.init(.error(FileMakerError(951)), on: call.endpoint)) }
            let other = call.endpoint == .layouts ? "scripts" : "layouts"
            #expect(try await bench.get(other).code == "0")
            let answer = try await send(call, bench, token: bench.token)
            #expect(answer.status == 500)
            #expect(answer.code == "951")
            #expect(bench.engine.withState { $0.faults.rules }.isEmpty)
        }
    }
}
