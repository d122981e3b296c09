internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Translates errors of the lower layers into codes and texts of this library.
enum ConnectionFailure {
    /// A text for an error of TCP, the resolver or TLS. Such errors contain no headers and no bodies, so their meaning
    /// may be shown. Their own descriptions are not used: they are made for debugging NIO.
    static func text(of error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError: text(of: error)
        case let error as IOError: systemText(of: error.errnoCode)
        case let error as NIOSSLError: TLSFailure.text(of: error)
        case let error as NIOSSLExtraError: TLSFailure.text(of: error)
        case let error as BoringSSLError: TLSFailure.text(of: error)
        case is NIOSSLCloseTimedOutError: "the close_notify of TLS did not come in time"
        default: "\(error)"
        }
    }

    /// The system's text for an error number, such as "Connection refused".
    static func systemText(of errno: CInt) -> String {
        strerror(errno).map { String(cString: $0) } ?? "error \(errno) of the system"
    }

    private static func text(of error: NIOConnectionError) -> String {
        guard !error.connectionErrors.isEmpty else {
            return (error.dnsAError ?? error.dnsAAAAError).map(text(of:)) ?? "no address was found"
        }
        return error.connectionErrors.map { "\(name(of: $0.target)): \(text(of: $0.error))" }.joined(separator: "; ")
    }

    private static func name(of address: SocketAddress) -> String {
        guard let ip = address.ipAddress, let port = address.port else { return "\(address)" }
        return "\(HostGrammar.bracketed(ip)):\(port)"
    }

    static func code(of error: any Error) -> HTTPClientError.Code {
        switch error {
        case let error as NIOConnectionError: code(of: error)
        case let error as IOError: error.errnoCode == ECONNREFUSED ? .connectionRefused : .connectFailed
        case ChannelError.connectTimeout: .connectTimeout
        case let error as NIOSSLError: TLSFailure.code(of: error)
        case let error as NIOSSLExtraError: TLSFailure.code(of: error)
        case is BoringSSLError: .tlsFailure
        default: .connectFailed
        }
    }

    private static func code(of error: NIOConnectionError) -> HTTPClientError.Code {
        // If nothing was attempted, the look-up found no address.
        if error.connectionErrors.isEmpty { return .unknownHost }
        let codes = error.connectionErrors.map { code(of: $0.error) }
        return codes.contains(.connectionRefused) ? .connectionRefused : codes[0]
    }
}

extension HTTPClientError {
    static func connecting(_ error: any Error, origin: Origin) -> HTTPClientError {
        let code = ConnectionFailure.code(of: error)
        // The text of a timeout would only repeat the code.
        let text = code == .connectTimeout ? nil : ConnectionFailure.text(of: error)
        return HTTPClientError(code, .notSent, origin: origin, detail: text)
    }

    init(parsing problem: ResponseParser.Problem, outcome: Outcome, origin: Origin) {
        switch problem {
        case .headTooLarge: self.init(.headTooLarge, outcome, origin: origin, detail: "too many bytes")
        case .tooManyHeaders: self.init(.headTooLarge, outcome, origin: origin, detail: "too many headers")
        case .malformed(let text): self.init(.malformedResponse, outcome, origin: origin, detail: text.description)
        // A server that expects TLS could not read the request, so it has not acted on it.
        case .tls: self.init(.tlsServer, .answered, origin: origin)
        case .truncated: self.init(.truncatedBody, outcome, origin: origin)
        }
    }
}
