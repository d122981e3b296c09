import NIOCore

/// A command as it is sent: an array of texts, in both versions of the protocol.
///
/// It is never printed, since its words may be passwords and tokens.
struct RESPCommand: Equatable, Sendable {
    private(set) var words: [[UInt8]]

    init(_ words: String...) {
        self.words = words.map { Array($0.utf8) }
    }

    mutating func append(_ word: String) {
        words.append(Array(word.utf8))
    }

    mutating func append(_ word: [UInt8]) {
        words.append(word)
    }

    func write(into buffer: inout ByteBuffer) {
        buffer.writeString("*\(words.count)\r\n")
        for word in words {
            buffer.writeString("$\(word.count)\r\n")
            buffer.writeBytes(word)
            buffer.writeString("\r\n")
        }
    }
}

extension RESPCommand: CustomStringConvertible, CustomReflectable {
    /// The command's name alone.
    var description: String { words.first.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    var customMirror: Mirror { Mirror(self, children: ["name": description]) }
}
