internal import NIOSSL

extension ConnectionReport.Certificate {
    init(_ certificate: NIOSSLCertificate) throws {
        let bytes = try certificate.toDERBytes()
        self.init(
            names: PeerCertificate(certificate).names,
            subject: certificate.subjectName.text,
            issuer: certificate.issuerName.text,
            notBefore: Int(certificate.notValidBefore),
            notAfter: Int(certificate.notValidAfter),
            fingerprint: SHA256.hash(bytes).map(Self.hexadecimal).joined(separator: ":"),
            pem: Self.pem(bytes)
        )
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
    }

    /// Lines of 64 characters ([RFC 7468 §2](https://www.rfc-editor.org/rfc/rfc7468#section-2)).
    private static func pem(_ bytes: [UInt8]) -> String {
        let text = Array(bytes.base64.utf8)
        let lines = stride(from: 0, to: text.count, by: 64).map { start in
            String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self)
        }
        return "-----BEGIN CERTIFICATE-----\n\(lines.joined(separator: "\n"))\n-----END CERTIFICATE-----\n"
    }
}

extension [SSLCertificateName] {
    fileprivate var text: String { PeerCertificate.shown(map(\.value).joined(separator: ", ")) }
}
