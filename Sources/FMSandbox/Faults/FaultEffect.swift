import NIOConcurrencyHelpers

/// What a fault does, by its place in the life of a request.
enum FaultEffect: Sendable {
    /// Something happens, and then the request is executed.
    case before(@Sendable (FaultScene) async throws -> Void)
    /// The request is not executed; this is what it is answered.
    case instead(@Sendable (FaultScene) throws -> Responder.Answer)
    /// The request is executed, and then something happens to its answer.
    case after(@Sendable (inout SandboxResponse, FaultScene) async throws -> Void)

    /// The request is executed, and of its answer these bytes are sent before the connection is closed.
    static func sending(_ bytes: @escaping @Sendable (RawAnswer) -> ArraySlice<UInt8>) -> FaultEffect {
        .after { answer, _ in answer.delivery = .bytes(bytes) }
    }
}

/// Where a fault strikes: the request, and the host that it came to.
struct FaultScene: Sendable {
    let engine: Engine
    let request: SandboxRequest
    let route: Route

    /// Ends the session whose token the request bears.
    func forgetSession() {
        guard let token = request.bearerToken else { return }
        engine.withState { $0.sessions[token] = nil }
    }

    /// Refuses from now on the token that a login has answered.
    func refuseToken(of login: SandboxResponse) {
        guard let token = login.header("x-fm-data-access-token") else { return }
        engine.withState { state in
            state.sessions[token]?.state.withLockedValue { $0.isRefused = true }
        }
    }

    /// Answers a logout whose session goes on for so long, or until it expires.
    func logOut(after duration: Duration?) throws -> Responder.Answer {
        guard engine.delayLogout(of: route.token, spelling: route.database, by: duration) else {
            throw FileMakerError(952)
        }
        return Responder.Answer()
    }

    /// The engine restarts, and the web server in front of it answers.
    func restart() -> Responder.Answer {
        engine.closeAllSessions(isRestart: true)
        return .page(status: 502)
    }
}

extension Responder.Answer {
    /// No byte of an answer: the connection is closed.
    static var nothing: Responder.Answer {
        Responder.Answer(SandboxResponse(status: 0, headers: [], body: [], delivery: .bytes { _ in [] }))
    }

    static func empty(status: Int) -> Responder.Answer {
        Responder.Answer(SandboxResponse(status: status, headers: [], body: []))
    }

    static func page(status: Int) -> Responder.Answer { Responder.Answer(.page(status: status)) }
}

extension SandboxResponse {
    /// What a web server writes for the engine that does not answer.
    static func page(status: Int) -> SandboxResponse {
        let title = status == 503 ? "503 Service Unavailable" : status == 502 ? "502 Proxy Error" : "\(status) Error"
        let page = """
            <!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">
            <html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>

            """
        let headers = [("Content-Type", "text/html; charset=iso-8859-1")]
        return SandboxResponse(status: status, headers: headers, body: Array(page.utf8))
    }
}
