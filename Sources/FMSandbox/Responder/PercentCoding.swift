/// Percent-encoding of paths and queries (RFC 3986, section 2.1).
enum PercentCoding {
    /// The decoded text; nil if a `%` is not followed by two hexadecimal digits or the bytes are not UTF-8. Real hosts
    /// refuse both.
    static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var position = 0
        while position < source.count {
            let byte = source[position]
            if byte == UInt8(ascii: "%") {
                guard position + 2 < source.count, let high = digit(source[position + 1]),
                    let low = digit(source[position + 2])
                else { return nil }
                bytes.append(high << 4 | low)
                position += 3
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
                position += 1
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// The text with everything but letters, digits and `-._~` encoded.
    static func encode(_ text: String) -> String {
        let bare = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if bare.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name and value pairs of a query, in order. Unencoded quotes and brackets are accepted, because clients send
    /// them.
    static func pairs(_ query: String) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(sides[0], plusIsSpace: true),
                let value = decode(sides.count == 2 ? sides[1] : "", plusIsSpace: true)
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }
}
