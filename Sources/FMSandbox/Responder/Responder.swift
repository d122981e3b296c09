import Foundation
import NIOConcurrencyHelpers

/// Answers requests: an HTTP request in, an HTTP response out, without sockets.
///
/// The order of the checks is that of the real engine: the path (404), the method (405), the content type (415), the
/// body (400), the token (401), the parameters (400), and then FileMaker's own errors (500).
struct Responder: Sendable {
    let engine: Engine
    /// The generation of the connection that it serves.
    let generation: Int

    init(engine: Engine) {
        self.engine = engine
        generation = engine.withState { $0.generation }
    }

    /// An endpoint's answer: the members of `response`, and additional headers.
    struct Answer: Sendable {
        /// The JSON text of an object.
        var response: [UInt8] = Array("{}".utf8)
        var headers: [(name: String, value: String)] = []
        /// A response that replaces the envelope: container bytes and redirects.
        var replacement: SandboxResponse?

        init() {}
        init(_ response: JSONObject) { self.response = JSONWriter.write(.object(response)) }
        init(rendered response: [UInt8]) { self.response = response }
        init(_ replacement: SandboxResponse) { self.replacement = replacement }
    }

    func respond(to request: SandboxRequest) async -> SandboxResponse {
        let era = engine.withState { state in
            state.runningRequests += 1
            state.counters.mostConcurrentRequests = max(state.counters.mostConcurrentRequests, state.runningRequests)
            return state.era
        }
        defer { engine.withState { $0.runningRequests -= 1 } }
        if let call = WebhookCall(request), case .webhooks(let traits) = engine.configuration.odata {
            return respond(to: call, request, traits)
        }
        do {
            let route = try Router.route(
                request,
                serverVersion: engine.version,
                hasProxy: !engine.configuration.keys.isEmpty
            )
            let fault = engine.withState { state in
                state.counters.requests[route.endpoint, default: 0] += 1
                return state.faults.next(for: route.endpoint)
            }
            if let latency = engine.configuration.latency { try await engine.clock.wait(for: latency) }
            return try await respond(to: request, route, fault, era: era)
        } catch let error as FileMakerError {
            if error.code == 1700 || error.code == 1704 { engine.withState { $0.counters.strayRequests += 1 } }
            return Self.response(to: error)
        } catch {
            // A request is interrupted only when the sandbox is stopped.
            return Self.response(to: FileMakerError(1701))
        }
    }

    private func respond(
        to request: SandboxRequest,
        _ route: Route,
        _ fault: Sandbox.Fault?,
        era: Int
    ) async throws -> SandboxResponse {
        let effect = fault?.effect
        let scene = FaultScene(engine: engine, request: request, route: route)
        if case .before(let happen)? = effect { try await happen(scene) }
        var response: SandboxResponse
        do {
            let answer: Answer
            if case .instead(let answerInstead)? = effect {
                answer = try answerInstead(scene)
            } else {
                answer = try await self.answer(request, route, era: era)
            }
            response = Self.response(to: answer, cacheable: route.endpoint != .productInfo)
        } catch let error as FileMakerError {
            response = Self.response(to: error)
        }
        if case .after(let spoil)? = effect { try await spoil(&response, scene) }
        return response
    }

    private func answer(_ request: SandboxRequest, _ route: Route, era: Int) async throws -> Answer {
        let call = try Call(request, route, serverVersion: engine.version, era: era)
        if route.isForProxy { return try await answerByProxy(call) }
        switch route.endpoint.kind {
        case .productInfo: return try productInfo(call)
        case .databases: return try databases(call)
        case .login: return try login(call)
        case .logout: return try logout(call)
        case .validateSession: return try validateSession(call)
        case .oauth: return try oauth(call)
        case .downloadContainer: return try downloadContainer(call)
        case .setGlobals, .scripts, .layouts, .layoutMetadata, .oldMetadata, .getRecords, .getRecord, .createRecord,
            .editRecord, .duplicateRecord, .deleteRecord, .uploadContainer, .find, .runScript:
            let session = try self.session(for: call)
            return try await session.gate.run {
                // The idle time starts again when a request ends.
                defer { session.state.withLockedValue { $0.lastUsed = engine.clock.now } }
                return try await answer(call, in: session)
            }
        }
    }

    /// Answers the endpoints of a database. The requests of one session run one at a time.
    func answer(_ call: Call, in session: Session) async throws -> Answer {
        let context = Context(engine: engine, call: call, session: session)
        switch call.route.endpoint.kind {
        case .setGlobals: return try setGlobals(context)
        case .scripts: return try scripts(context)
        case .layouts: return try layouts(context)
        case .layoutMetadata: return try layoutMetadata(context)
        case .oldMetadata: return try oldMetadata(context)
        case .getRecords: return try await getRecords(context)
        case .getRecord: return try await getRecord(context)
        case .createRecord: return try await createRecord(context)
        case .editRecord: return try await editRecord(context)
        case .duplicateRecord: return try await duplicateRecord(context)
        case .deleteRecord: return try await deleteRecord(context)
        case .uploadContainer: return try uploadContainer(context)
        case .find: return try await find(context)
        case .runScript: return try await runScript(context)
        case .productInfo, .databases, .login, .logout, .validateSession, .oauth, .downloadContainer:
            preconditionFailure("\(call.route.endpoint) was answered without a session")
        }
    }

    private func session(for call: Call) throws -> Session {
        let session = try bearer(of: call)
        guard session.spelling == call.route.database else { throw FileMakerError(952) }
        return session
    }

    /// The session whose bearer token the request has.
    func bearer(of call: Call) throws -> Session {
        guard call.request.header("authorization") != nil else {
            throw FileMakerError(10, message: "Request validation failed: Parameter (Authorization) is required")
        }
        guard let token = call.request.bearerToken, let session = engine.session(token) else {
            throw FileMakerError(952)
        }
        return session
    }

    // MARK: Responses

    private static let commonHeaders: [(name: String, value: String)] = [
        ("Vary", "Accept-Encoding"), ("X-Frame-Options", "SAMEORIGIN"), ("X-XSS-Protection", "1; mode=block"),
        ("X-Content-Type-Options", "nosniff"), ("Access-Control-Allow-Headers", "Content-Type, Authorization"),
        ("Access-Control-Allow-Credentials", "true"),
    ]

    private static func response(to answer: Answer, cacheable: Bool) -> SandboxResponse {
        if let replacement = answer.replacement { return replacement }
        var writer = JSONWriter()
        writer.reserve(answer.response.count + 64)
        writer.beginObject()
        writer.key("response")
        writer.raw(answer.response)
        writer.key("messages")
        writer.value([["code": "0", "message": "OK"]])
        writer.endObject()
        var headers: [(name: String, value: String)] = [("Content-Type", "application/json; charset=utf-8")]
        if cacheable {
            headers += [("Cache-Control", "no-cache"), ("ETag", etag(of: writer.bytes))]
        }
        return SandboxResponse(
            status: 200,
            headers: headers + answer.headers + commonHeaders,
            body: writer.bytes,
            code: 0
        )
    }

    /// An error answer: `messages` first, then an empty `response`, which existing clients need.
    static func response(to error: FileMakerError) -> SandboxResponse {
        let body: JSONValue = [
            "messages": [["code": .string(String(error.code)), "message": .string(error.message)]],
            "response": [:],
        ]
        let bytes = JSONWriter.write(body)
        let headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json; charset=utf-8"), ("Cache-Control", "no-cache"),
            ("ETag", etag(of: bytes)),
        ]
        return SandboxResponse(status: error.status, headers: headers + commonHeaders, body: bytes, code: error.code)
    }

    /// A weak ETag in the engine's format: the length and a hash, which reads eight bytes at a time because pages are
    /// large.
    private static func etag(of body: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        body.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x100_0000_01B3
                hash ^= hash >> 29
            }
            for byte in bytes.suffix(bytes.count % 8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        return "W/\"\(String(body.count, radix: 16))-\(String(hash, radix: 16))\""
    }
}

extension SandboxRequest {
    /// The token of `Authorization: Bearer …`.
    var bearerToken: String? { credentials(scheme: "bearer") }

    /// The text after the scheme of the `Authorization` header; nil if the scheme is another one.
    func credentials(scheme: String) -> String? {
        guard let value = header("authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
        return parts[1].trimmed
    }

    /// The name and password of `Authorization: Basic …`.
    var basicCredentials: (user: String, password: String)? {
        guard let encoded = credentials(scheme: "basic"), let data = Data(base64Encoded: encoded),
            let text = String(validating: data, as: UTF8.self), let colon = text.firstIndex(of: ":")
        else { return nil }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }
}
