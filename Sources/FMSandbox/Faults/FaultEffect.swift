import NIOConcurrencyHelpers

/// The effect of a fault, by its place in the handling of a request.
enum FaultEffect: Sendable {
    /// The closure runs before the request is executed.
    case before(@Sendable (FaultScene) async throws -> Void)
    /// The request is not executed; the closure returns its answer.
    case instead(@Sendable (FaultScene) throws -> Responder.Answer)
    /// The request is executed, then the closure changes its answer.
    case after(@Sendable (inout SandboxResponse, FaultScene) async throws -> Void)

    /// The request is executed, and the connection is closed after these bytes of its answer.
    static func sending(_ bytes: @escaping @Sendable (RawAnswer) -> ArraySlice<UInt8>) -> FaultEffect {
        .after { answer, _ in answer.delivery = .bytes(bytes) }
    }
}

/// The request that a fault affects, and the engine that received it.
struct FaultScene: Sendable {
    let engine: Engine
    let request: SandboxRequest
    let route: Route

    /// Ends the session of the request's token.
    func forgetSession() {
        guard let token = request.bearerToken else { return }
        engine.withState { $0.sessions[token] = nil }
    }

    /// From now on, refuses the token in the answer to a login.
    func refuseToken(of login: SandboxResponse) {
        guard let token = login.header("x-fm-data-access-token") else { return }
        engine.withState { state in
            state.sessions[token]?.state.withLockedValue { $0.isRefused = true }
        }
    }

    /// Answers a logout, but keeps its session for the duration, or until it expires if that is nil.
    func logOut(after duration: Duration?) throws -> Responder.Answer {
        guard engine.delayLogout(of: route.token, spelling: route.database, by: duration) else {
            throw FileMakerError(952)
        }
        return Responder.Answer()
    }

    /// Restarts the engine and returns the 502 page of the web server in front of it.
    func restart() -> Responder.Answer {
        engine.closeAllSessions(isRestart: true)
        return .page(status: 502)
    }
}

extension Responder.Answer {
    static var nothing: Responder.Answer { Responder.Answer(SandboxResponse.nothing) }

    static func empty(status: Int) -> Responder.Answer {
        Responder.Answer(SandboxResponse(status: status, headers: [], body: []))
    }

    static func page(status: Int) -> Responder.Answer { Responder.Answer(.page(status: status)) }
}

extension SandboxResponse {
    /// An answer without a byte: the connection is closed.
    static var nothing: SandboxResponse {
        SandboxResponse(status: 0, headers: [], body: [], delivery: .bytes { _ in [] })
    }

    /// The page that a web server sends when the engine does not answer.
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
