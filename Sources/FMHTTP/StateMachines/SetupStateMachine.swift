/// The steps from an open TCP connection to one that can carry requests: the proxy's tunnel if there is a proxy, and
/// TLS if it is HTTPS.
struct SetupStateMachine: Equatable {
    enum Action: Equatable {
        case sendConnect
        case startTLS
        case succeed
        case fail(HTTPClientError.Code, detail: String?)
    }

    private enum State: Equatable {
        /// TCP is being opened → `tunnelling`, `handshaking`, `ended`.
        case opening
        /// CONNECT is sent → `handshaking`, `ended`.
        case tunnelling
        /// → `ended`.
        case handshaking
        case ended
    }

    private let usesProxy: Bool
    private let usesTLS: Bool
    private var state = State.opening

    init(usesProxy: Bool, usesTLS: Bool) {
        self.usesProxy = usesProxy
        self.usesTLS = usesTLS
    }

    var isTunnelling: Bool { state == .tunnelling }
    var isHandshaking: Bool { state == .handshaking }

    mutating func opened() -> Action {
        guard usesProxy else { return tunnelReady() }
        state = .tunnelling
        return .sendConnect
    }

    /// The proxy has answered. `hasLeftover`: bytes follow its answer. In a tunnel to an HTTP server the server never
    /// sends first, so they are an error.
    mutating func proxyAnswered(status: UInt, hasLeftover: Bool) -> Action {
        switch status {
        case 200..<300 where !hasLeftover: return tunnelReady()
        case 200..<300: return end(.fail(.proxyFailure, detail: "bytes after the proxy's answer"))
        case 407: return end(.fail(.proxyAuthenticationRequired, detail: nil))
        default: return end(.fail(.proxyFailure, detail: "the proxy answered \(status)"))
        }
    }

    mutating func proxyAnswerMalformed() -> Action {
        end(.fail(.proxyFailure, detail: "the proxy's answer is not valid HTTP"))
    }

    /// `refusal`: why the server's certificate is not accepted; `nil` if it is.
    mutating func handshakeCompleted(refusal: PeerCheck.Refusal?) -> Action {
        end(refusal.map { .fail($0.code, detail: $0.detail) } ?? .succeed)
    }

    /// The server or the proxy has closed the connection. `nil` if the set-up had ended before.
    mutating func closed() -> Action? {
        switch state {
        case .opening: end(.fail(.connectFailed, detail: "the connection was closed at once"))
        case .tunnelling: end(.fail(.proxyFailure, detail: "the proxy closed the connection"))
        case .handshaking: end(.fail(.tlsFailure, detail: TLSFailure.closedDuringHandshake))
        case .ended: nil
        }
    }

    /// An error of a lower layer, or the deadline. Returns whether the set-up had not ended before.
    mutating func failed() -> Bool {
        defer { state = .ended }
        return state != .ended
    }

    private mutating func tunnelReady() -> Action {
        guard usesTLS else { return end(.succeed) }
        state = .handshaking
        return .startTLS
    }

    private mutating func end(_ action: Action) -> Action {
        state = .ended
        return action
    }
}
