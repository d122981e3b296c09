/// An answer of the store, or a part of one.
///
/// RESP2 and RESP3 are one type: what RESP2 calls a null bulk text or a null array is ``null``, and a verbatim text is
/// a text without its format.
///
/// Source: the Redis serialization protocol specification.
enum RESPValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case double(Double)
    /// An integer of any size, as digits.
    case big(String)
    /// The answer of a command that has no other: `OK`.
    case simple(String)
    /// Any bytes.
    case text([UInt8])
    case error(RESPError)
    case array([RESPValue])
    /// Keys and values in turn.
    case map([RESPValue])
    /// Sent without being asked for: a message of a channel.
    case push([RESPValue])
}

extension RESPValue {
    /// The bytes of a text.
    var bytes: [UInt8]? {
        switch self {
        case .text(let bytes): bytes
        case .simple(let text): Array(text.utf8)
        default: nil
        }
    }

    /// A text in UTF-8.
    var string: String? {
        bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }

    var integer: Int? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The elements of an array, or of a map.
    var elements: [RESPValue]? {
        switch self {
        case .array(let elements), .map(let elements): elements
        default: nil
        }
    }

    /// The value of a map under this key.
    subscript(key: String) -> RESPValue? {
        guard let elements else { return nil }
        for index in stride(from: 0, to: elements.count - 1, by: 2) where elements[index].string == key {
            return elements[index + 1]
        }
        return nil
    }
}

/// An error that the store answered.
///
/// Only its first word is kept: the text may repeat what was sent, passwords included.
struct RESPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first word, in upper case: `ERR`, `NOSCRIPT`, `WRONGPASS`.
    let word: String
    /// Whether the store does not know the command, as one without `HELLO` answers.
    let isUnknownCommand: Bool

    /// - Parameter line: the error as it was sent.
    init(_ line: some Collection<UInt8>) {
        let text = String(decoding: line.prefix(200), as: UTF8.self)
        let word = text.prefix { $0 != " " }
        // A word of another form is none.
        let isWord = (1...40).contains(word.utf8.count) && word.utf8.allSatisfy { (0x41...0x5a).contains($0) }
        self.word = isWord ? String(word) : "ERR"
        isUnknownCommand = text.hasPrefix("ERR unknown command") || text.hasPrefix("ERR Unknown command")
    }

    var description: String { word }
}
