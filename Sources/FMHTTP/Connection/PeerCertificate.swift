internal import NIOCore
internal import NIOSSL

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The parts of a server's certificate that can explain why it was rejected. The server chooses these texts, so they
/// are shown shortened and without control characters.
struct PeerCertificate: Equatable {
    /// The names and addresses that it is for.
    var names: [String]
    /// The subject's common name, if there are no other names. It no longer counts (RFC 9525 §6.1).
    var commonName: String?
    /// The authority that signed it.
    var issuer: String
    var isSelfSigned: Bool
    /// Seconds since 1970.
    var validFrom: Int
    /// Seconds since 1970.
    var validUntil: Int

    private static let maximumNames = 8
    private static let maximumNameLength = 100

    /// Why it was rejected although it is readable.
    func refusal(now: Int = PeerCertificate.now()) -> (HTTPClientError.Code, detail: String) {
        if now > validUntil { return (.certificateExpired, "it was valid until \(Self.text(of: validUntil))") }
        if now < validFrom { return (.certificateNotYetValid, "it is valid from \(Self.text(of: validFrom)) on") }
        let purpose = "it is for \(listOfNames) and "
        return (.certificateUntrusted, purpose + (isSelfSigned ? "self-signed" : "was issued by \"\(issuer)\""))
    }

    /// `localhost, 127.0.0.1`.
    var listOfNames: String {
        if names.isEmpty {
            return commonName.map { "no name that counts: \"\($0)\" is its common name, not an alternative name" }
                ?? "no name"
        }
        let more = names.count - Self.maximumNames
        return names.prefix(Self.maximumNames).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// The present, in seconds since 1970.
    static let now: @Sendable () -> Int = { time(nil) }

    static func text(of time: Int) -> String {
        var time = time_t(time)
        var parts = tm()
        gmtime_r(&time, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("the allocation has a capacity") }
            let length = strftime(start, buffer.count, "%Y-%m-%d %H:%M:%S UTC", &parts)
            return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    static func shown(_ text: String) -> String {
        String(text.prefix(maximumNameLength).filter { !$0.unicodeScalars.contains { $0.properties.isControl } })
    }
}

extension PeerCertificate {
    init(_ certificate: NIOSSLCertificate) {
        let subject = certificate.subjectName
        let issuer = certificate.issuerName
        let names = certificate.names.compactMap(\.text).map(Self.shown)
        self.init(
            names: names,
            commonName: names.isEmpty ? subject.commonName.map(Self.shown) : nil,
            issuer: Self.shown(issuer.commonName ?? issuer.map(\.value).joined(separator: ", ")),
            isSelfSigned: subject == issuer,
            validFrom: Int(certificate.notValidBefore),
            validUntil: Int(certificate.notValidAfter)
        )
    }
}

extension [SSLCertificateName] {
    fileprivate var commonName: String? { first { $0.type == .commonName }?.value }
}

extension CertificateName {
    fileprivate var text: String? {
        switch self {
        case .dns(let bytes): String(decoding: bytes, as: UTF8.self)
        case .address(let bytes):
            (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))?.ipAddress
        }
    }
}

extension NIOSSLCertificate {
    /// The subject alternative names that are host names or addresses.
    var names: [CertificateName] {
        _subjectAlternativeNames().compactMap { name in
            switch name.nameType {
            case .dnsName: .dns(Array(name.contents))
            case .ipAddress: .address(Array(name.contents))
            default: nil
            }
        }
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
