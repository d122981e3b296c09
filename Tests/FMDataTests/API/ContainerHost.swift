import FMHTTP
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore

@testable import FMData

/// A scripted host that knows just enough of the Data API to hand out sessions, and answers all that has to do with
/// containers as a test says: what the sandbox, which does it right, cannot play.
struct ContainerHost: Sendable {
    typealias Step = FaultServer.Step

    let server: FaultServer
    private let sessions: Sessions

    /// - Parameter answer: answers what is neither login, logout nor validation; gets the request and whether its token
    ///   is that of a session that is alive.
    static func start(
        _ options: FaultServer.Options = FaultServer.Options(),
        _ answer: @escaping @Sendable (FaultServer.Request, _ hasSession: Bool) -> [Step]
    ) async throws -> ContainerHost {
        let sessions = Sessions()
        let server = try await FaultServer.start(options) { request in
            switch (request.method, request.target) {
            case (.POST, let target) where target.hasSuffix("/sessions"):
                return json("{}", ["X-FM-Data-Access-Token": sessions.open()])
            case (.DELETE, let target):
                return sessions.close(target) ? json("{}") : invalidToken
            case (.GET, let target) where target.hasSuffix("/validateSession"):
                return sessions.isAlive(request.token) ? json("{}") : invalidToken
            default:
                return answer(request, sessions.isAlive(request.token))
            }
        }
        return ContainerHost(server: server, sessions: sessions)
    }

    func database(_ configure: (inout DataAPI.Config) -> Void = { _ in }) -> DataAPI.Database {
        var config = DataAPI.Config.patient
        configure(&config)
        return DataAPI.Server(host: "http://127.0.0.1:\(server.port)", config: config)
            .addDatabase("d", credentials: Credentials(user: "u", password: "p"))
    }

    /// The URL that a container field would hold.
    func url(
        _ path: String = "/Streaming_SSL/MainDB/AB.jpg?RCType=EmbeddedRCFileProcessor"
    ) -> DataAPI.ContainerReference {
        .url("http://127.0.0.1:\(server.port)\(path)")
    }

    /// All sessions end, as when the server restarts.
    func forgetSessions() { sessions.forget() }

    var openSessions: Int { sessions.count }
    var logins: Int { server.requests.count { $0.method == .POST && $0.target.hasSuffix("/sessions") } }
    /// What was asked besides sessions.
    var downloads: [FaultServer.Request] { server.requests.filter { $0.target.hasPrefix("/Streaming_SSL") } }
}

extension ContainerHost {
    /// The tokens that are alive.
    private final class Sessions: Sendable {
        private let state = NIOLockedValueBox((alive: Set<String>(), opened: 0))

        func open() -> String {
            state.withLockedValue { state in
                state.opened += 1
                state.alive.insert("T\(state.opened)")
                return "T\(state.opened)"
            }
        }

        func close(_ target: String) -> Bool {
            let token = target.split(separator: "/").last.map(String.init) ?? ""
            return state.withLockedValue { $0.alive.remove(token) != nil }
        }

        func forget() { state.withLockedValue { $0.alive = [] } }
        func isAlive(_ token: String?) -> Bool { state.withLockedValue { $0.alive.contains(token ?? "") } }
        var count: Int { state.withLockedValue { $0.alive.count } }
    }

    // MARK: Answers

    static let invalidToken = response(
        "401 Unauthorized",
        ["Content-Type": "application/json"],
        #"{"messages":[{"code":"952","message":"Invalid FileMaker Data API token (*)"}],"response":{}}"#
    )

    static func json(_ response: String, _ headers: HTTPHeaders = [:]) -> [Step] {
        var headers = headers
        headers.add(name: "Content-Type", value: "application/json")
        return self.response("200 OK", headers, #"{"response":\#(response),"messages":[{"code":"0","message":"OK"}]}"#)
    }

    /// A record with one field.
    static func record(_ field: String, _ value: String) -> [Step] {
        json(#"{"data":[{"fieldData":{"\#(field)":"\#(value)"},"portalData":{},"recordId":"1","modId":"0"}]}"#)
    }

    static func response(_ status: String, _ headers: HTTPHeaders = [:], _ body: String = "") -> [Step] {
        [.send(head(status, headers, length: body.utf8.count) + body)]
    }

    static func head(_ status: String, _ headers: HTTPHeaders = [:], length: Int) -> String {
        var text = "HTTP/1.1 \(status)\r\nContent-Length: \(length)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return text + "\r\n"
    }

    /// What most servers do: to the same place with a cookie.
    static func redirect(to location: String, cookie: String? = "X-FMS-Session-Key=K1; Path=/; HttpOnly") -> [Step] {
        var headers: HTTPHeaders = ["Location": location]
        if let cookie { headers.add(name: "Set-Cookie", value: cookie) }
        return response("302 Found", headers)
    }
}

extension FaultServer.Request {
    var token: String? {
        headers.first(name: "Authorization").flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
    }
    var cookie: String? { headers.first(name: "Cookie") }
}
