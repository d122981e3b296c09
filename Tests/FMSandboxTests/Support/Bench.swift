import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

/// Where a request is answered: by the responder in this process, or by a server at the other end of a socket. A test
/// with a venue argument expects the same from all of them.
enum Venue: CaseIterable, CustomTestStringConvertible {
    case inProcess, http, https

    var testDescription: String { "\(self)" }
}

/// Sends the requests of a test to an engine or a sandbox, with the token of a session.
///
///     try await withBench { (bench: Bench) async throws in
///         let answer = try await bench.get("layouts/Contacts/records/1")
///         #expect(answer.code == "0")
///     }
struct Bench: Sendable {
    /// A parsed answer.
    struct Answer {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSONValue { (try? JSONParser.parse(body)) ?? .null }
        var response: JSONValue { json["response"] }
        var code: String? { json["messages"][0]["code"].string }
        var message: String? { json["messages"][0]["message"].string }
        /// `fieldData` of the first record.
        var fields: JSONValue { response["data"][0]["fieldData"] }
        /// The record ids of `data`.
        var recordIds: [String] { response["data"].array?.compactMap { $0["recordId"].string } ?? [] }

        func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

        /// The values of a field, one per record.
        func column(_ field: String) -> [String] {
            response["data"].array?.map { $0["fieldData"][field].scalarText ?? "–" } ?? []
        }
    }

    static let json = ("Content-Type", "application/json")

    let engine: Engine
    let clock: ManualClock
    let database: String
    var version = "v1"
    var token: String?
    /// `nil` in process.
    let sandbox: Sandbox?
    private let client: RawHTTPClient?

    static func start(
        _ venue: Venue,
        _ solutions: [Solution],
        _ configure: (inout Sandbox.Configuration) -> Void
    ) async throws -> Bench {
        let clock = ManualClock()
        // The idle limit runs in real time: on a busy machine it must not make a test fail.
        var configuration = Sandbox.Configuration {
            $0.keepAlive = .seconds(3600)
            $0.clock = clock
        }
        configure(&configuration)
        let name = solutions.first?.name ?? ""
        guard venue != .inProcess else {
            let engine = try Engine(solutions, configuration: configuration)
            return Bench(engine: engine, clock: clock, database: name, sandbox: nil, client: nil)
        }
        configuration.tls = venue == .https
        let sandbox = try await Sandbox.start(solutions, configuration: configuration)
        let client = try await RawHTTPClient.connect(
            host: sandbox.host,
            port: sandbox.port,
            certificateAuthority: configuration.tls ? Sandbox.certificateAuthorityFile : nil
        )
        return Bench(engine: sandbox.engine, clock: clock, database: name, sandbox: sandbox, client: client)
    }

    private init(engine: Engine, clock: ManualClock, database: String, sandbox: Sandbox?, client: RawHTTPClient?) {
        self.engine = engine
        self.clock = clock
        self.database = database
        self.sandbox = sandbox
        self.client = client
    }

    /// The port of the sandbox, if it listens on a socket.
    var port: Int? { sandbox?.port }

    func stop() async {
        try? await client?.close()
        await sandbox?.stop()
    }

    // MARK: Requests

    /// Sends a request as it is.
    func send(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: [UInt8] = []
    ) async throws -> Answer {
        if let client {
            let response = try await client.send(method, target, headers: headers, body: body)
            let headers = response.headers.map { (name: $0.name, value: $0.value) }
            return Answer(status: response.status, headers: headers, body: response.body)
        }
        let request = SandboxRequest(
            method: method,
            target: target,
            headers: headers.map { (name: $0.0, value: $0.1) },
            body: body,
            origin: "http://127.0.0.1"
        )
        let response = await Responder(engine: engine).respond(to: request)
        return Answer(status: response.status, headers: response.headers, body: response.body)
    }

    /// A path relative to the database, or with a leading slash relative to the API.
    func path(_ rest: String) -> String {
        if rest.hasPrefix("/") { return "/fmi/data/\(version)\(rest)" }
        return "/fmi/data/\(version)/databases/\(Self.encode(database))\(rest.isEmpty ? "" : "/\(rest)")"
    }

    static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    private var authorization: [(String, String)] { token.map { [("Authorization", "Bearer \($0)")] } ?? [] }

    func get(_ rest: String, _ query: [(String, String)] = []) async throws -> Answer {
        try await send("GET", path(rest) + Self.query(query), headers: authorization)
    }

    func delete(_ rest: String, _ query: [(String, String)] = []) async throws -> Answer {
        try await send("DELETE", path(rest) + Self.query(query), headers: authorization)
    }

    func post(_ rest: String, _ body: JSONValue = [:]) async throws -> Answer {
        try await send("POST", path(rest), headers: authorization + [Self.json], body: JSONWriter.write(body))
    }

    /// Posts a text that may not be JSON.
    func post(_ rest: String, text: String) async throws -> Answer {
        try await send("POST", path(rest), headers: authorization + [Self.json], body: Array(text.utf8))
    }

    func patch(_ rest: String, _ body: JSONValue) async throws -> Answer {
        try await send("PATCH", path(rest), headers: authorization + [Self.json], body: JSONWriter.write(body))
    }

    func upload(
        _ rest: String,
        part: String = "upload",
        filename: String? = "photo.jpg",
        type: String = "image/jpeg",
        _ bytes: [UInt8]
    ) async throws -> Answer {
        let name = filename.map { "; filename=\"\($0)\"" } ?? ""
        let head = "--XyZ\r\nContent-Disposition: form-data; name=\"\(part)\"\(name)\r\nContent-Type: \(type)\r\n\r\n"
        return try await send(
            "POST",
            path(rest),
            headers: authorization + [("Content-Type", "multipart/form-data; boundary=XyZ")],
            body: Array(head.utf8) + bytes + Array("\r\n--XyZ--\r\n".utf8)
        )
    }

    private static func query(_ items: [(String, String)]) -> String {
        items.isEmpty ? "" : "?" + items.map { "\(encode($0.0))=\(encode($0.1))" }.joined(separator: "&")
    }

    func find(_ layout: String, _ query: JSONValue, _ more: JSONObject = [:]) async throws -> Answer {
        var body: JSONObject = ["query": query]
        for member in more.members { body.append(member.key, member.value) }
        return try await post("layouts/\(Self.encode(layout))/_find", .object(body))
    }

    // MARK: Sessions

    static func basic(_ user: String, _ password: String) -> (String, String) {
        ("Authorization", "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }

    func login(_ user: String = "admin", _ password: String = "secret", _ body: JSONValue = [:]) async throws -> Answer
    {
        try await send(
            "POST",
            path("sessions"),
            headers: [Self.basic(user, password), Self.json],
            body: JSONWriter.write(body)
        )
    }

    /// The same bench with a session of its own.
    func loggedIn(
        _ user: String = "admin",
        _ password: String = "secret",
        _ body: JSONValue = [:]
    ) async throws -> Bench {
        let answer = try await login(user, password, body)
        let token: String = try #require(answer.header("x-fm-data-access-token"), "login answered \(answer.text)")
        var bench = self
        bench.token = token
        return bench
    }
}

/// Runs a test's body on a bench that is logged in as `admin`, and then stops it.
func withBench(
    _ venue: Venue = .inProcess,
    _ solutions: [Solution] = [.sample],
    configure: (inout Sandbox.Configuration) -> Void = { _ in },
    _ body: (Bench) async throws -> Void
) async throws {
    let bench = try await Bench.start(venue, solutions, configure)
    do {
        try await body(try await bench.loggedIn())
        await bench.stop()
    } catch {
        await bench.stop()
        throw error
    }
}

extension JSONValue {
    subscript(key: String) -> JSONValue { object?[key] ?? .null }
    subscript(index: Int) -> JSONValue { array.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? .null }
}

extension Solution {
    /// A solution with one table `T` and one layout `L` that shows all of it; account `admin`, password `secret`.
    static func oneTable(
        _ fields: [Field],
        _ records: [Record] = [],
        valueLists: [ValueList] = [],
        scripts: [ScriptItem] = []
    ) -> Solution {
        Solution(
            name: "One",
            tables: [Table(name: "T", fields: fields, records: records)],
            valueLists: valueLists,
            layouts: [.layout(Layout(name: "L", table: "T", fields: fields.map { LayoutField($0.name) }))],
            scripts: scripts,
            accounts: [Account(name: "admin", password: "secret")]
        )
    }
}
