import FMTestSupport
import NIOCore
import NIOHTTP1

@testable import FMData

/// A Data API server that logs everybody in (token `T1`, `T2` …) and out, and answers the rest as a test says.
struct FaultyHost {
    let server: FaultServer
    let database: DataAPI.Database

    var layout: DataAPI.Layout { database.addLayout("People") }

    /// The requests that were neither log-in nor log-out.
    var calls: [FaultServer.Request] { server.requests.filter { !$0.target.contains("/sessions") } }
    var logIns: [FaultServer.Request] {
        server.requests.filter { $0.method == .POST && $0.target.hasSuffix("/sessions") }
    }

    /// - Parameter answer: gets each request and how many calls came before it.
    static func run(
        credentials: Credentials = Credentials(user: "api", password: "secret"),
        dataSources: FMDataSourceAuth? = nil,
        client configure: (inout DataAPI.Config) -> Void = { _ in },
        answer: @escaping @Sendable (FaultServer.Request, Int) -> Reply = { _, _ in .json("{}") },
        _ body: (FaultyHost) async throws -> Void
    ) async throws {
        let logIns = Locked(0)
        let calls = Locked(0)
        let server = try await FaultServer.start { request in
            if request.target.contains("/sessions") {
                guard request.method == .POST else { return Reply.json("{}").steps }
                let number = logIns.next()
                return Reply.json("{}", headers: ["X-FM-Data-Access-Token: T\(number)"]).steps
            }
            return answer(request, calls.next() - 1).steps
        }
        defer { server.stop() }
        var config = DataAPI.Config.patient
        configure(&config)
        let database = DataAPI.Server(host: "http://127.0.0.1:\(server.port)", config: config)
            .addDatabase("Harbor", credentials: credentials, dataSources: dataSources)
        try await body(FaultyHost(server: server, database: database))
        _ = await database.logOut().awaitSingleResult()
    }

    /// What the host sends back.
    struct Reply: Sendable {
        var status = 200
        var contentType: String? = "application/json; charset=utf-8"
        var headers: [String] = []
        var body = ""
        var isSilent = false

        /// No answer at all, ever.
        static let silence = Reply(isSilent: true)

        /// `response` in an envelope without error.
        static func json(_ response: String, headers: [String] = []) -> Reply {
            Reply(headers: headers, body: #"{"response":\#(response),"messages":[{"code":"0","message":"OK"}]}"#)
        }

        static func error(_ code: Int, _ message: String = "", status: Int = 500) -> Reply {
            Reply(status: status, body: #"{"messages":[{"code":"\#(code)","message":"\#(message)"}],"response":{}}"#)
        }

        static func html(_ status: Int) -> Reply {
            Reply(status: status, contentType: "text/html", body: "<html><title>\(status)</title></html>")
        }

        fileprivate var steps: [FaultServer.Step] {
            if isSilent { return [] }
            let lines =
                ["HTTP/1.1 \(status) Text", "Content-Length: \(body.utf8.count)"]
                + (contentType.map { ["Content-Type: \($0)"] } ?? []) + headers
            return [.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)]
        }
    }
}

extension Locked<Int> {
    /// Counts up and returns the new number.
    fileprivate func next() -> Int {
        var number = 0
        change {
            $0 += 1
            number = $0
        }
        return number
    }
}

extension FaultServer.Request {
    var text: String { String(buffer: body) }
    var isGET: Bool { method == .GET }

    func header(_ name: String) -> String? { headers.first(name: name) }
}
