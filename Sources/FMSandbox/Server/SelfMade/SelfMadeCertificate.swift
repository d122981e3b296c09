import Foundation

/// A certificate made at start for names of one's choice, and the authority that vouches for it and for nothing else: its private
/// key is forgotten at once.
///
/// Source: RFC 5280, section 4 (certificates); RFC 5480 (keys on curves); RFC 5958 (private keys); X.690 (DER).
struct SelfMadeCertificate {
    /// The certificate of the authority, PEM.
    let authority: String
    /// The certificate, PEM.
    let certificate: String
    /// Its private key, PEM.
    let key: String

    /// - Parameters:
    ///   - names: Host names and addresses; at least one.
    ///   - now: The day it begins to be valid is the one before; it ends after two years, which is the longest that some
    ///     clients take.
    init(names: [Name], now: Date) {
        let (authorityKey, key) = (Self.randomKey(), Self.randomKey())
        let authorityName = Self.name("FMSandbox authority (made at start)")
        let authorityId = Array(SHA256.hash(authorityKey.publicKey).prefix(20))
        let authority = Self.certificate(
            of: authorityName,
            by: authorityName,
            authorityKey.publicKey,
            signedWith: authorityKey,
            now: now,
            [
                DER.extension(
                    Self.basicConstraints,
                    DER.sequence([DER.tagged(0x01, [0xFF]), DER.integer([])]),
                    isCritical: true
                ),
                DER.extension(Self.keyUsage, DER.tagged(0x03, [1, 0x06]), isCritical: true),
                DER.extension(Self.subjectKey, DER.tagged(0x04, authorityId)),
            ]
        )
        let certificate = Self.certificate(
            of: Self.name("FMSandbox"),
            by: authorityName,
            key.publicKey,
            signedWith: authorityKey,
            now: now,
            [
                DER.extension(Self.basicConstraints, DER.sequence([]), isCritical: true),
                DER.extension(Self.keyUsage, DER.tagged(0x03, [7, 0x80]), isCritical: true),
                DER.extension(Self.extendedKeyUsage, DER.sequence([DER.identifier(Self.serverAuthentication)])),
                DER.extension(Self.authorityKey, DER.sequence([DER.tagged(0x80, authorityId)])),
                DER.extension(Self.alternativeNames, DER.sequence(names.map(\.der))),
            ]
        )
        self.authority = Self.pem(authority, "CERTIFICATE")
        self.certificate = Self.pem(certificate, "CERTIFICATE")
        let inner = DER.sequence([
            DER.integer([1]), DER.tagged(0x04, key.bytes), DER.tagged(0xA1, DER.bits(key.publicKey)),
        ])
        let outer = DER.sequence([
            DER.integer([0]), DER.sequence([DER.identifier(Self.elliptic), DER.identifier(Self.curve)]),
            DER.tagged(0x04, inner),
        ])
        self.key = Self.pem(outer, "PRIVATE KEY")
    }

    private static func certificate(
        of subject: [UInt8],
        by issuer: [UInt8],
        _ publicKey: [UInt8],
        signedWith key: P256.PrivateKey,
        now: Date,
        _ extensions: [[UInt8]]
    ) -> [UInt8] {
        let algorithm = DER.sequence([DER.identifier(ecdsa)])
        let day: TimeInterval = 86_400
        let body = DER.sequence([
            DER.tagged(0xA0, DER.integer([2])),
            DER.integer(Array(randomBytes().prefix(16))),
            algorithm,
            issuer,
            DER.sequence([DER.time(now - day), DER.time(now + 730 * day)]),
            subject,
            DER.sequence([DER.sequence([DER.identifier(elliptic), DER.identifier(curve)]), DER.bits(publicKey)]),
            DER.tagged(0xA3, DER.sequence(extensions)),
        ])
        let signature = key.signature(of: SHA256.hash(body), nonce: randomKey())
        return DER.sequence([
            body, algorithm, DER.bits(DER.sequence([DER.integer(signature.r), DER.integer(signature.s)])),
        ])
    }

    private static func name(_ text: String) -> [UInt8] {
        DER.sequence([DER.set([DER.sequence([DER.identifier(commonName), DER.text(text)])])])
    }

    private static func randomBytes() -> [UInt8] { (0..<32).map { _ in UInt8.random(in: .min ... .max) } }
    private static func randomKey() -> P256.PrivateKey { P256.PrivateKey(random: randomBytes()) }

    private static func pem(_ bytes: [UInt8], _ label: String) -> String {
        let text = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }

    private static let elliptic: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let curve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let ecdsa: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
    private static let commonName: [UInt8] = [0x55, 0x04, 0x03]
    private static let subjectKey: [UInt8] = [0x55, 0x1D, 0x0E]
    private static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]
    private static let alternativeNames: [UInt8] = [0x55, 0x1D, 0x11]
    private static let basicConstraints: [UInt8] = [0x55, 0x1D, 0x13]
    private static let authorityKey: [UInt8] = [0x55, 0x1D, 0x23]
    private static let extendedKeyUsage: [UInt8] = [0x55, 0x1D, 0x25]
    private static let serverAuthentication: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]

    /// What a certificate is for.
    enum Name: Equatable {
        /// A host name in ASCII; `*.` may stand before it.
        case host(String)
        /// The four or sixteen bytes of an address.
        case address([UInt8])

        /// nil when the text is neither.
        init?(_ text: String) {
            if let bytes = Self.address(text) {
                self = .address(bytes)
                return
            }
            let labels = (text.hasPrefix("*.") ? text.dropFirst(2) : text[...]).split(
                separator: ".",
                omittingEmptySubsequences: false
            )
            guard text.utf8.count <= 253, labels.allSatisfy(Self.isLabel) else { return nil }
            self = .host(text)
        }

        private static func address(_ text: String) -> [UInt8]? {
            var four = in_addr()
            if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four, Array.init) }
            var sixteen = in6_addr()
            if inet_pton(AF_INET6, text, &sixteen) == 1 { return withUnsafeBytes(of: &sixteen, Array.init) }
            return nil
        }

        private static func isLabel(_ label: Substring) -> Bool {
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { byte in
                    let character = Character(Unicode.Scalar(byte))
                    return byte < 0x80 && (character.isLetter || character.isNumber || character == "-")
                }
        }

        fileprivate var der: [UInt8] {
            switch self {
            case .host(let name): DER.tagged(0x82, Array(name.utf8))
            case .address(let bytes): DER.tagged(0x87, bytes)
            }
        }
    }
}

/// Writes ASN.1 by the distinguished encoding rules.
private enum DER {
    static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        let length = content.count < 0x100 ? [0x81] : [0x82, UInt8(content.count >> 8)]
        return [tag] + length + [UInt8(truncatingIfNeeded: content.count)] + content
    }

    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { tagged(0x30, Array(elements.joined())) }
    static func set(_ elements: [[UInt8]]) -> [UInt8] { tagged(0x31, Array(elements.joined())) }
    static func identifier(_ bytes: [UInt8]) -> [UInt8] { tagged(0x06, bytes) }
    static func text(_ text: String) -> [UInt8] { tagged(0x0C, Array(text.utf8)) }
    static func bits(_ bytes: [UInt8]) -> [UInt8] { tagged(0x03, [0] + bytes) }

    /// A number that is not negative: no more zeros before it than its sign needs.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return tagged(0x02, (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits)
    }

    /// `GeneralizedTime`, as dates from 2050 on must be, and `UTCTime` before.
    static func time(_ date: Date) -> [UInt8] {
        let parts = Calendar.gregorianGMT.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func two(_ number: Int?) -> String { String((number ?? 0) % 100 + 100).dropFirst().description }
        let year = parts.year ?? 0
        let rest = [parts.month, parts.day, parts.hour, parts.minute, parts.second].map(two).joined() + "Z"
        return (1950..<2050).contains(year)
            ? tagged(0x17, Array((two(year) + rest).utf8)) : tagged(0x18, Array(("\(year)" + rest).utf8))
    }

    static func `extension`(_ kind: [UInt8], _ value: [UInt8], isCritical: Bool = false) -> [UInt8] {
        sequence([identifier(kind), isCritical ? tagged(0x01, [0xFF]) : [], tagged(0x04, value)])
    }
}

extension Calendar {
    fileprivate static var gregorianGMT: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }
}
