internal import NIOCore
internal import NIOSSL

/// Translates errors of NIOSSL and BoringSSL into codes and texts of this library. Their own texts are dumps of enums
/// and contain paths of BoringSSL's source files on the machine that built the library.
enum TLSFailure {
    static let closedDuringHandshake = "the connection was closed during the handshake"

    static func code(of error: NIOSSLError) -> HTTPClientError.Code {
        switch error {
        case .handshakeFailed(.sslError(let stack)) where stack.contains(where: \.isAboutCertificate):
            .certificateInvalid
        case .unableToValidateCertificate, .noCertificateToValidate, .cannotMatchULabel:
            .certificateInvalid
        default:
            .tlsFailure
        }
    }

    static func code(of error: NIOSSLExtraError) -> HTTPClientError.Code {
        switch error {
        case .failedToValidateHostname, .serverHostnameImpossibleToMatch: .certificateNameMismatch
        default: .tlsFailure
        }
    }

    static func text(of error: NIOSSLError) -> String {
        switch error {
        case .handshakeFailed(let cause), .shutdownFailed(let cause): text(of: cause)
        case .noSuchFilesystemObject: "there is no such file"
        case .failedToLoadCertificate: "a certificate cannot be read"
        case .failedToLoadPrivateKey: "a private key cannot be read"
        case .noCertificateToValidate: "the server showed no certificate"
        case .unableToValidateCertificate: "the certificate could not be verified"
        case .cannotMatchULabel: "the certificate holds an international name that cannot be compared"
        case .cannotFindPeerIP: "the server's address is not known"
        case .writeDuringTLSShutdown, .readInInvalidTLSState: "the encrypted connection was ending"
        case .uncleanShutdown: "the connection was cut off without the close_notify of TLS"
        default: "a fault in TLS"
        }
    }

    static func text(of error: NIOSSLExtraError) -> String {
        switch error {
        case .invalidSNIHostname: "the host's name is too long for TLS"
        case .cannotUseIPAddressInSNI: "an address is no name"
        case .unknownPrivateKeyFileType: "the private key's file is of an unknown type"
        case .failedToValidateHostname: "the certificate is for another name"
        case .serverHostnameImpossibleToMatch:
            "a certificate is compared only with names of letters, digits, \"-\" and \".\""
        default: "a fault in TLS"
        }
    }

    static func text(of error: BoringSSLError) -> String {
        switch error {
        case .sslError(let stack), .unknownError(let stack), .invalidSNIName(let stack), .failedToSetALPN(let stack):
            stack.isEmpty ? "a fault in TLS" : stack.map(\.reason).joined(separator: "; ")
        case .zeroReturn, .syscallError: "the connection was closed"
        default: "a fault in TLS"
        }
    }
}

extension HTTPClientError {
    /// Why a handshake failed. If the certificate was the reason, the error describes the certificate that the server
    /// showed.
    static func handshake(_ error: any Error, certificate: PeerCertificate?, origin: Origin) -> HTTPClientError {
        // A server that closes without reading on may cause a reset instead of an end of stream, depending on the
        // network.
        if error is IOError {
            return HTTPClientError(.tlsFailure, .notSent, origin: origin, detail: TLSFailure.closedDuringHandshake)
        }
        if error as? NIOSSLExtraError == .failedToValidateHostname {
            let (code, detail) = PeerCheck.nameRefusal(of: certificate, for: origin.host)
            return HTTPClientError(code, .notSent, origin: origin, detail: detail)
        }
        let plain = HTTPClientError.connecting(error, origin: origin)
        guard let certificate, plain.code == .certificateInvalid else { return plain }
        // BoringSSL only reports that the certificate was rejected; its dates and its issuer explain why.
        let (code, detail) = certificate.refusal()
        return HTTPClientError(code, .notSent, origin: origin, detail: detail)
    }
}

extension BoringSSLInternalError {
    /// Whether it is about the certificate. BoringSSL gives its reasons as text only.
    fileprivate var isAboutCertificate: Bool { description.contains("CERTIFICATE_VERIFY_FAILED") }

    /// "wrong version number", out of `Error: 268435703
    /// error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER at …/boringssl/ssl/tls_record.cc:123`.
    fileprivate var reason: String {
        if self == .eofDuringHandshake { return TLSFailure.closedDuringHandshake }
        guard let start = description.firstRange(of: "OPENSSL_internal:")?.upperBound else { return "a fault in TLS" }
        let rest = description[start...]
        let reason = rest[..<(rest.firstRange(of: " at ")?.lowerBound ?? rest.endIndex)]
        return String(reason.map { $0 == "_" ? " " : $0 }).lowercased()
    }
}
