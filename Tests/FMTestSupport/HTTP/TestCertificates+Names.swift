public import Foundation

extension TestCertificates {
    /// A subject alternative name (RFC 5280 §4.2.1.6).
    public enum Name: Sendable, Hashable {
        case dns(String)
        case address([UInt8])
        /// A kind of name that is not for hosts.
        case email(String)
    }

    /// A certificate made on the fly, valid from 2020 on, with the key of `selfSigned`. Its signature is invalid: a
    /// client that trusts this very certificate does not verify the signature, only the rest.
    ///
    /// - Parameter validUntil: by default a day in 2120.
    public static func made(
        commonName: String,
        names: [Name],
        validUntil: Date = Date(timeIntervalSince1970: 4_733_510_400)
    ) -> Pair {
        let algorithm = sequence(objectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
        let name = sequence(tagged(0x31, sequence(objectIdentifier([0x55, 0x04, 0x03]) + text(0x0C, commonName))))
        let key = sequence(
            sequence(
                objectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01])
                    + objectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
            ) + bitString(publicPoint)
        )
        let extensions = names.isEmpty ? [] : tagged(0xA3, sequence(sequence(alternatives(names))))
        let body = sequence(
            tagged(0xA0, integer(2)) + integer(1) + algorithm + name
                + sequence(text(0x18, "20200101000000Z") + text(0x18, generalizedTime(validUntil)))
                + name + key + extensions
        )
        let certificate = sequence(body + algorithm + bitString(sequence(integer(1) + integer(1))))
        let base64 = Data(certificate).base64EncodedString(options: .lineLength64Characters)
        return Pair(
            certificate: "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n",
            key: selfSigned.key
        )
    }

    /// The public key at the end of the private key's file.
    private static var publicPoint: [UInt8] {
        let lines = selfSigned.key.split(separator: "\n").filter { !$0.hasPrefix("-") }
        return Data(base64Encoded: lines.joined()).map { Array($0.suffix(65)) } ?? []
    }

    private static func alternatives(_ names: [Name]) -> [UInt8] {
        let list = names.flatMap { name in
            switch name {
            case .email(let name): text(0x81, name)
            case .dns(let name): text(0x82, name)
            case .address(let bytes): tagged(0x87, bytes)
            }
        }
        return objectIdentifier([0x55, 0x1D, 0x11]) + tagged(0x04, sequence(list))
    }

    // MARK: DER (X.690)

    private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<0x80: [tag, UInt8(content.count)] + content
        case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
    }

    private static func generalizedTime(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyyMMddHHmmss'Z'"
        return formatter.string(from: date)
    }

    private static func sequence(_ content: [UInt8]) -> [UInt8] { tagged(0x30, content) }
    private static func integer(_ value: UInt8) -> [UInt8] { tagged(0x02, [value]) }
    private static func objectIdentifier(_ bytes: [UInt8]) -> [UInt8] { tagged(0x06, bytes) }
    private static func bitString(_ bytes: [UInt8]) -> [UInt8] { tagged(0x03, [0] + bytes) }
    private static func text(_ tag: UInt8, _ text: String) -> [UInt8] { tagged(tag, Array(text.utf8)) }
}
