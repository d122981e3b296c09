import NIOHTTP1

/// An answer as its bytes on the wire, for faults that strike in the middle of them.
///
/// Source: RFC 9112, sections 4 (the head) and 7.1 (chunks).
struct RawAnswer {
    /// With the content length of the body.
    var head: HTTPResponseHead
    var body: [UInt8]

    private static let lastChunk = Array("0\r\n\r\n".utf8)

    /// The whole answer. A chunked one has two chunks, so that there is an end of one in the middle.
    func bytes(_ framing: Sandbox.AnswerFraming) -> [UInt8] {
        switch framing {
        case .contentLength: return headBytes(head.headers) + body
        case .chunked:
            let middle = body.count / 2
            return chunkedHead + Self.chunk(body[..<middle]) + Self.chunk(body[middle...]) + Self.lastChunk
        }
    }

    /// A chunked answer whose size is wrong from a byte of the body on.
    func bytes(_ mistake: Sandbox.ChunkSizeMistake, afterBodyBytes count: Int) -> [UInt8] {
        let start = min(count, body.count)
        let rest = body[start...]
        return chunkedHead + Self.chunk(body[..<start]) + Self.chunk(rest, size: mistake.size(of: rest.count))
            + Self.lastChunk
    }

    private static func chunk(_ bytes: ArraySlice<UInt8>, size: String? = nil) -> [UInt8] {
        // A chunk without bytes is the last one.
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
    /// How an answer says where its body ends.
    public enum AnswerFraming: String, Sendable, CaseIterable {
        /// With `Content-Length`.
        case contentLength
        /// With `Transfer-Encoding: chunked`, in two chunks.
        case chunked
    }

    /// What is wrong with the size of a chunk.
    public enum ChunkSizeMistake: String, Sendable, CaseIterable {
        /// There is none.
        case missing
        /// It is no hexadecimal number.
        case notHexadecimal
        /// It has a minus sign.
        case negative
        /// It needs more than 64 bits.
        case overflow
        /// It is one byte less than what comes.
        case tooSmall
        /// It promises more than what comes before the connection is closed.
        case tooLarge
    }
}

extension Sandbox.ChunkSizeMistake {
    /// The line before a chunk of so many bytes.
    fileprivate func size(of count: Int) -> String {
        switch self {
        case .missing: ""
        case .notHexadecimal: "xyz"
        case .negative: "-\(String(count, radix: 16))"
        case .overflow: "1\(String(repeating: "0", count: 16))"
        // Of no bytes there is no fewer.
        case .tooSmall: String(count > 0 ? count - 1 : 1, radix: 16)
        case .tooLarge: String(count + 1000, radix: 16)
        }
    }
}
