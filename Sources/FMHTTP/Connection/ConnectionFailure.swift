internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// The errors of the layers below in this library's words.
enum ConnectionFailure {
    /// Errors of TCP, the resolver and TLS say nothing of headers or bodies, so their text may be shown.
    static func text(of error: any Error) -> String { "\(error)" }

    static func code(of error: any Error) -> HTTPClientError.Code {
        switch error {
        case let error as NIOConnectionError: code(of: error)
        case let error as IOError: error.errnoCode == ECONNREFUSED ? .connectionRefused : .connectFailed
        case ChannelError.connectTimeout: .connectTimeout
        case let error as NIOSSLError: code(of: error)
        case is NIOSSLExtraError: .certificateInvalid
        case is BoringSSLError: .tlsFailure
        default: .connectFailed
        }
    }

    private static func code(of error: NIOConnectionError) -> HTTPClientError.Code {
        // Without any attempt to connect there was no address to try.
        if error.connectionErrors.isEmpty { return .unknownHost }
        let codes = error.connectionErrors.map { code(of: $0.error) }
        return codes.contains(.connectionRefused) ? .connectionRefused : codes[0]
    }

    private static func code(of error: NIOSSLError) -> HTTPClientError.Code {
        switch error {
        case .handshakeFailed(.sslError(let stack)) where stack.contains(where: \.isAboutCertificate):
            .certificateInvalid
        case .unableToValidateCertificate, .noCertificateToValidate, .cannotMatchULabel:
            .certificateInvalid
        default:
            .tlsFailure
        }
    }
}

extension BoringSSLInternalError {
    /// BoringSSL tells its reasons by text alone.
    fileprivate var isAboutCertificate: Bool { description.contains("CERTIFICATE_VERIFY_FAILED") }
}

extension HTTPClientError {
    static func connecting(_ error: any Error, origin: Origin) -> HTTPClientError {
        let text = ConnectionFailure.text(of: error)
        return HTTPClientError(ConnectionFailure.code(of: error), .notSent, origin: origin, detail: text)
    }

    init(parsing problem: ResponseParser.Problem, outcome: Outcome, origin: Origin) {
        switch problem {
        case .headTooLarge: self.init(.headTooLarge, outcome, origin: origin, detail: "too many bytes")
        case .tooManyHeaders: self.init(.headTooLarge, outcome, origin: origin, detail: "too many headers")
        case .malformed(let text): self.init(.malformedResponse, outcome, origin: origin, detail: text.description)
        case .truncated: self.init(.truncatedBody, outcome, origin: origin)
        }
    }
}
