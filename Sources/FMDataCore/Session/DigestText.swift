import FMHTTP

/// Several texts joined into one. Each is preceded by its length, so different lists give different texts.
package struct DigestText {
    let text: String

    package init(_ parts: [String]) {
        text = parts.map { "\($0.utf8.count):\($0)" }.joined(separator: " ")
    }

    private var bytes: [UInt8] { Array(text.utf8) }

    /// SHA-256.
    package var digest: [UInt8] { SHA256.hash(bytes) }

    /// PBKDF2 of the text, for secrets that can be guessed: each guess costs this number of rounds.
    func stretched(salt: DigestText, rounds: Int) -> [UInt8] {
        KeyedHash(key: bytes).stretched(salt: salt.bytes, rounds: rounds)
    }
}

extension [UInt8] {
    /// Two digits for each byte.
    package var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// HMAC-SHA-256 under one key.
///
/// Source: [RFC 2104](https://www.rfc-editor.org/rfc/rfc2104).
struct KeyedHash {
    // The hashes of what precedes each message: they are the same for all messages, and PBKDF2 has thousands.
    private var inner = SHA256()
    private var outer = SHA256()

    init(key: [UInt8]) {
        let short = key.count > 64 ? SHA256.hash(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        inner.add(block.map { $0 ^ 0x36 })
        outer.add(block.map { $0 ^ 0x5C })
    }

    func hash(_ message: [UInt8]) -> [UInt8] { outer.finished(with: inner.finished(with: message)) }

    /// PBKDF2, the first 32 bytes.
    ///
    /// Source: [RFC 8018](https://www.rfc-editor.org/rfc/rfc8018), 5.2.
    func stretched(salt: [UInt8], rounds: Int) -> [UInt8] {
        var last = hash(salt + [0, 0, 0, 1])
        var result = last
        for _ in 1..<max(1, rounds) {
            last = hash(last)
            for place in result.indices { result[place] ^= last[place] }
        }
        return result
    }
}
