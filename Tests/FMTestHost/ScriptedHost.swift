public import FMDataCore
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1

/// A Data API host that logs every client in (token `T1`, `T2` …) and out, keeps the open sessions, and leaves other
/// answers to a closure. It is for behaviour that the sandbox cannot show, since that does everything right, and for
/// prepared answers in measurements.
public struct ScriptedHost: Sendable {
    /// A request that is neither login, logout nor validation.
    @dynamicMemberLookup
    public struct Call: Sendable {
        /// The request as received.
        public let request: FaultServer.Request
        /// The number of calls before it.
        public let number: Int
        /// Whether its token belongs to an open session.
        public let hasSession: Bool

        /// A property of the request.
        public subscript<Value>(dynamicMember member: KeyPath<FaultServer.Request, Value>) -> Value {
            request[keyPath: member]
        }

        /// Returns the first value of a header of the request; `nil` if it has no such header.
        public func header(_ name: String) -> String? { request.header(name) }
    }

    /// The server that receives the requests.
    public let server: FaultServer
    /// A client's database on the host.
    public let database: DataAPI.Database
    private let sessions: Sessions

    /// - Parameter answer: returns the answer to a call.
    public static func start(
        _ options: FaultServer.Options = FaultServer.Options(),
        credentials: Credentials = Credentials(user: "api", password: "secret"),
        dataSources: FMDataSourceAuth? = nil,
        client configure: (inout DataAPI.Config) -> Void = { _ in },
        answer: @escaping @Sendable (Call) -> [FaultServer.Step]
    ) async throws -> ScriptedHost {
        let sessions = Sessions()
        let calls = NIOLockedValueBox(0)
        let server = try await FaultServer.start(options) { request in
            if let answer = sessions.answer(request) { return answer }
            let number = calls.withLockedValue { count in
                defer { count += 1 }
                return count
            }
            return answer(Call(request: request, number: number, hasSession: sessions.isOpen(request.token)))
        }
        var config = DataAPI.Config.patient
        configure(&config)
        let database = DataAPI.Server(host: "http://127.0.0.1:\(server.port)", config: config)
            .addDatabase("Harbor", credentials: credentials, dataSources: dataSources)
        return ScriptedHost(server: server, database: database, sessions: sessions)
    }

    /// Starts a host for the duration of a test, and logs the client out at its end.
    ///
    /// - Parameter answer: returns the answer to a call; an empty response by default.
    public static func run(
        _ options: FaultServer.Options = FaultServer.Options(),
        credentials: Credentials = Credentials(user: "api", password: "secret"),
        dataSources: FMDataSourceAuth? = nil,
        client configure: (inout DataAPI.Config) -> Void = { _ in },
        answer: @escaping @Sendable (Call) -> [FaultServer.Step] = { _ in .json("{}") },
        _ body: (ScriptedHost) async throws -> Void
    ) async throws {
        let host = try await start(
            options,
            credentials: credentials,
            dataSources: dataSources,
            client: configure,
            answer: answer
        )
        defer { host.stop() }
        try await body(host)
        _ = await host.database.logOut().awaitSingleResult()
    }

    /// Stops listening. Open connections stay as they are.
    public func stop() { server.stop() }

    /// The layout "People" of the database.
    public var layout: DataAPI.Layout { database.addLayout("People") }

    /// A URL as a container field would contain it.
    public func url(
        _ path: String = "/Streaming_SSL/MainDB/AB.jpg?RCType=EmbeddedRCFileProcessor"
    ) -> DataAPI.ContainerReference {
        .url("http://127.0.0.1:\(server.port)\(path)")
    }

    // MARK: What was received

    /// The requests other than logins and logouts.
    public var calls: [FaultServer.Request] { server.requests.filter { !$0.target.contains("/sessions") } }
    /// The requests that log in.
    public var logIns: [FaultServer.Request] { server.requests.filter(\.isLogIn) }
    /// The requests for the contents of container fields.
    public var downloads: [FaultServer.Request] { server.requests.filter { $0.target.hasPrefix("/Streaming_SSL") } }
    /// The number of open sessions.
    public var openSessions: Int { sessions.count }

    /// Ends all sessions, as a restart of the server does.
    public func forgetSessions() { sessions.forget() }
}

/// The tokens of open sessions.
private final class Sessions: Sendable {
    private let state = NIOLockedValueBox((open: Set<String>(), opened: 0))

    /// Returns the answer; `nil` if the request is not about sessions.
    func answer(_ request: FaultServer.Request) -> [FaultServer.Step]? {
        if request.isLogIn { return .json("{}", ["X-FM-Data-Access-Token": logIn()]) }
        if request.target.contains("/sessions/") { return logOut(request.target) ? .json("{}") : .invalidToken }
        if request.method == .GET, request.target.hasSuffix("/validateSession") {
            return isOpen(request.token) ? .json("{}") : .invalidToken
        }
        return nil
    }

    private func logIn() -> String {
        state.withLockedValue { state in
            state.opened += 1
            state.open.insert("T\(state.opened)")
            return "T\(state.opened)"
        }
    }

    private func logOut(_ target: String) -> Bool {
        let token = target.split(separator: "/").last.map(String.init) ?? ""
        return state.withLockedValue { $0.open.remove(token) != nil }
    }

    func forget() { state.withLockedValue { $0.open = [] } }
    func isOpen(_ token: String?) -> Bool { state.withLockedValue { $0.open.contains(token ?? "") } }
    var count: Int { state.withLockedValue { $0.open.count } }
}

extension FaultServer.Request {
    fileprivate var isLogIn: Bool { method == .POST && target.hasSuffix("/sessions") }

    /// The body as text.
    public var text: String { String(buffer: body) }
    /// Whether the method is GET.
    public var isGET: Bool { method == .GET }
    /// The token in `Authorization: Bearer …`.
    public var token: String? {
        header("Authorization").flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
    }
    /// The value of the `Cookie` header.
    public var cookie: String? { header("Cookie") }

    /// Returns the first value of a header; `nil` if there is no such header.
    public func header(_ name: String) -> String? { headers.first(name: name) }
}
