import NIOHTTP1

/// An answer as bytes on the wire, for faults that occur in the middle of it.
///
/// Source: RFC 9112, sections 4 (the head) and 7.1 (chunks).
struct RawAnswer {
    /// The head, with the content length of the body.
    var head: HTTPResponseHead
    var body: [UInt8]

    private static let lastChunk = Array("0\r\n\r\n".utf8)

    /// The whole answer. A chunked one has two chunks, so that a chunk ends in the middle.
    func bytes(_ framing: Sandbox.AnswerFraming) -> [UInt8] {
        switch framing {
        case .contentLength: return headBytes(head.headers) + body
        case .chunked:
            let middle = body.count / 2
            return chunkedHead + Self.chunk(body[..<middle]) + Self.chunk(body[middle...]) + Self.lastChunk
        }
    }

    /// A chunked answer in which the chunk after `count` bytes of the body has a wrong size.
    func bytes(_ mistake: Sandbox.ChunkSizeMistake, afterBodyBytes count: Int) -> [UInt8] {
        let start = min(count, body.count)
        let rest = body[start...]
        return chunkedHead + Self.chunk(body[..<start]) + Self.chunk(rest, size: mistake.size(of: rest.count))
            + Self.lastChunk
    }

    private static func chunk(_ bytes: ArraySlice<UInt8>, size: String? = nil) -> [UInt8] {
        // An empty chunk would end the body.
        if bytes.isEmpty, size == nil { return [] }
        return Array("\(size ?? String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    private var chunkedHead: [UInt8] {
        var headers = head.headers
        headers.remove(name: "Content-Length")
        headers.add(name: "Transfer-Encoding", value: "chunked")
        return headBytes(headers)
    }

    private func headBytes(_ headers: HTTPHeaders) -> [UInt8] {
        let lines = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return Array("HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n\(lines)\r\n".utf8)
    }
}

extension Sandbox {
    /// How an answer marks the end of its body.
    public enum AnswerFraming: String, Sendable, CaseIterable {
        /// With `Content-Length`.
        case contentLength
        /// With `Transfer-Encoding: chunked`, in two chunks.
        case chunked
    }

    /// An error in the size of a chunk.
    public enum ChunkSizeMistake: String, Sendable, CaseIterable {
        /// The size is missing.
        case missing
        /// The size is not a hexadecimal number.
        case notHexadecimal
        /// The size has a minus sign.
        case negative
        /// The size needs more than 64 bits.
        case overflow
        /// The size is one byte less than the data that follows.
        case tooSmall
        /// The size is more than the data that follows before the connection is closed.
        case tooLarge
    }
}

extension Sandbox.ChunkSizeMistake {
    /// The size line, without line break, of a chunk of `count` bytes.
    fileprivate func size(of count: Int) -> String {
        switch self {
        case .missing: ""
        case .notHexadecimal: "xyz"
        case .negative: "-\(String(count, radix: 16))"
        case .overflow: "1\(String(repeating: "0", count: 16))"
        // A size of 0 cannot be too small: send 1.
        case .tooSmall: String(count > 0 ? count - 1 : 1, radix: 16)
        case .tooLarge: String(count + 1000, radix: 16)
        }
    }
}
