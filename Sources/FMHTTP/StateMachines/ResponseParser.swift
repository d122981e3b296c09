internal import NIOCore
internal import NIOHTTP1

/// Parses one response: takes bytes, returns events. A pure value, without channel or lock; the result does not depend
/// on how the bytes are split.
///
/// It is strict where leniency could let two parsers see two different messages: bare line feeds, folded headers, both
/// kinds of length, signs and blanks in numbers are rejected ([RFC 9112](https://www.rfc-editor.org/rfc/rfc9112)).
///
///     begin(method) → append(bytes) → next() … head, body*, end   → isComplete; begin again
struct ResponseParser {
    struct Limits: Sendable, Equatable {
        var maximumHeadBytes: Int
        var maximumHeaderCount: Int
    }

    enum Event: Equatable {
        /// A 1xx head: the final response follows.
        case informational(HTTPResponseStatus)
        case head(HTTPResponseHead, Persistence, bodyLength: BodyLength)
        /// Never empty.
        case body(ByteBuffer)
        case end
    }

    enum Problem: Error, Equatable {
        case headTooLarge
        case tooManyHeaders
        case malformed(StaticText)
        /// A TLS record instead of a response: the port is one for HTTPS.
        case tls
        /// The connection ended before the response did.
        case truncated
    }

    /// What the head says about the connection after this response.
    struct Persistence: Equatable {
        var keepsAlive: Bool
        /// `Keep-Alive: timeout=…`, in seconds.
        var timeout: Int?
    }

    enum BodyLength: Equatable {
        case none
        case fixed(Int)
        case chunked
        case untilClose
    }

    private enum State: Equatable {
        /// Between messages → `head` by `begin`.
        case idle
        /// → a body state, or `idle` when there is no body, or again `head` after a 1xx.
        case head
        /// → `idle` when nothing remains.
        case fixed(remaining: Int)
        /// → `chunkData`, or `trailers` after the chunk of size 0.
        case chunkSize
        /// → `chunkEnd`.
        case chunkData(remaining: Int)
        /// → `chunkSize`.
        case chunkEnd
        /// → `idle`.
        case trailers(count: Int, bytes: Int)
        /// → `idle` by `finish`.
        case untilClose
        /// After a problem nothing more is read.
        case failed
    }

    private let limits: Limits
    private var state = State.idle
    private var buffer = ByteBuffer()
    private var method = HTTPMethod.GET
    /// Where the search for the end of the head continues, so that a head that arrives byte by byte is scanned only
    /// once.
    private var scanned = 0
    private var informationalCount = 0

    private static let maximumInformationalCount = 32
    private static let maximumChunkLineBytes = 4096

    init(limits: Limits) { self.limits = limits }

    /// Whether a response has ended and none is expected.
    var isIdle: Bool { state == .idle }

    /// Whether there are bytes that belong to no response: garbage, or an answer without a request.
    var hasLeftover: Bool { state == .idle && buffer.readableBytes > 0 }

    /// Whether any byte of the expected response has arrived.
    var hasBegun: Bool { state != .head || buffer.readableBytes > 0 || informationalCount > 0 }

    mutating func begin(method: HTTPMethod) {
        precondition(state == .idle, "one response at a time")
        self.method = method
        state = .head
        scanned = 0
        informationalCount = 0
    }

    mutating func append(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            // Otherwise consumed bytes would stay in memory as long as every piece ends within a line.
            buffer.discardReadBytes()
            buffer.writeImmutableBuffer(bytes)
        }
    }

    /// The next event that the bytes so far allow; `nil` when more are needed.
    mutating func next() throws(Problem) -> Event? {
        do {
            return try advance()
        } catch {
            state = .failed
            throw error
        }
    }

    /// The peer has closed the connection. Returns the end of a response that ends by that; throws if a response is
    /// incomplete.
    mutating func finish() throws(Problem) -> Event? {
        switch state {
        case .idle, .failed:
            return nil
        case .untilClose:
            state = .idle
            return .end
        case .head, .fixed, .chunkSize, .chunkData, .chunkEnd, .trailers:
            state = .failed
            throw .truncated
        }
    }

    /// The bytes after a CONNECT response: the first bytes of the tunnel.
    mutating func takeLeftover() -> ByteBuffer {
        defer { buffer = ByteBuffer() }
        return buffer
    }

    private mutating func advance() throws(Problem) -> Event? {
        while true {
            switch state {
            case .idle, .failed:
                return nil
            case .head:
                return try readHead()
            case .fixed(remaining: 0):
                state = .idle
                return .end
            case .fixed(let remaining):
                guard let bytes = readBytes(upTo: remaining) else { return nil }
                state = .fixed(remaining: remaining - bytes.readableBytes)
                return .body(bytes)
            case .untilClose:
                return readBytes(upTo: .max).map { .body($0) }
            case .chunkSize:
                guard let size = try readChunkSize() else { return nil }
                state = size == 0 ? .trailers(count: 0, bytes: 0) : .chunkData(remaining: size)
            case .chunkData(let remaining):
                guard let bytes = readBytes(upTo: remaining) else { return nil }
                let left = remaining - bytes.readableBytes
                state = left == 0 ? .chunkEnd : .chunkData(remaining: left)
                return .body(bytes)
            case .chunkEnd:
                guard let end: UInt16 = buffer.getInteger(at: buffer.readerIndex) else {
                    // One wrong byte is enough; waiting for the second could take for ever.
                    if let byte: UInt8 = buffer.getInteger(at: buffer.readerIndex), byte != .carriageReturn {
                        throw .malformed("a chunk is longer than its size")
                    }
                    return nil
                }
                guard end == 0x0D0A else { throw .malformed("a chunk is longer than its size") }
                buffer.moveReaderIndex(forwardBy: 2)
                state = .chunkSize
            case .trailers(let count, let bytes):
                let rest = limits.maximumHeadBytes - bytes
                guard let line = try readLine(maximum: rest, tooLong: .headTooLarge) else { return nil }
                if line.readableBytes == 0 {
                    state = .idle
                    return .end
                }
                // This client needs no trailers; they are parsed by the same rules and dropped.
                try line.withUnsafeReadableBytes { bytes throws(Problem) in
                    var reader = HeadReader(bytes)
                    _ = try reader.field()
                }
                guard count < limits.maximumHeaderCount else { throw .tooManyHeaders }
                state = .trailers(count: count + 1, bytes: bytes + line.readableBytes + 2)
            }
        }
    }

    private mutating func readBytes(upTo count: Int) -> ByteBuffer? {
        let available = min(count, buffer.readableBytes)
        return available == 0 ? nil : buffer.readSlice(length: available)
    }

    private mutating func readChunkSize() throws(Problem) -> Int? {
        guard
            let line = try readLine(
                maximum: Self.maximumChunkLineBytes,
                tooLong: .malformed("a chunk size line is too long")
            )
        else { return nil }
        var size = 0
        var digits = 0
        var rest = line.readableBytesView[...]
        while let byte = rest.first, let digit = byte.hexDigit {
            guard digits < 15 else { throw .malformed("a chunk size is too large") }
            size = size << 4 | digit
            digits += 1
            rest = rest.dropFirst()
        }
        guard digits > 0 else { throw .malformed("a chunk size is not a number") }
        // Extensions (RFC 9112 §7.1.1) are ignored; blanks before the semicolon are old practice.
        rest = rest.drop { $0 == .space || $0 == .tab }
        guard rest.isEmpty || rest.first == UInt8(ascii: ";") else { throw .malformed("a chunk size is not a number") }
        return size
    }

    /// A line without its CRLF.
    private mutating func readLine(maximum: Int, tooLong: Problem) throws(Problem) -> ByteBuffer? {
        let view = buffer.readableBytesView
        guard let lineFeed = view.firstIndex(of: .lineFeed) else {
            if view.count > maximum { throw tooLong }
            return nil
        }
        let length = lineFeed - view.startIndex
        guard length <= maximum else { throw tooLong }
        guard length > 0, view[lineFeed - 1] == .carriageReturn else { throw .malformed("a line ends without CR LF") }
        guard let line = buffer.readSlice(length: length - 1) else {
            preconditionFailure("the line was found within the readable bytes")
        }
        buffer.moveReaderIndex(forwardBy: 2)
        return line
    }

    // MARK: Head

    private mutating func readHead() throws(Problem) -> Event? {
        try checkBeginning()
        guard let length = endOfHead() else {
            if buffer.readableBytes > limits.maximumHeadBytes { throw .headTooLarge }
            return nil
        }
        guard length <= limits.maximumHeadBytes else { throw .headTooLarge }
        let maximumCount = limits.maximumHeaderCount
        let head = try buffer.withUnsafeReadableBytes { bytes throws(Problem) in
            // Without the blank line: every remaining line ends with CR LF.
            var reader = HeadReader(UnsafeRawBufferPointer(rebasing: bytes[..<(length - 2)]))
            return try reader.head(maximumHeaderCount: maximumCount)
        }
        buffer.moveReaderIndex(forwardBy: length)
        scanned = 0

        let code = head.status.code
        if (100..<200).contains(code) {
            if code == 101 { throw .malformed("the server switched protocols unasked") }
            informationalCount += 1
            guard informationalCount <= Self.maximumInformationalCount else {
                throw .malformed("too many 1xx responses")
            }
            return .informational(head.status)
        }
        let framing = FramingHeaders(head.headers)
        let bodyLength = try bodyLength(of: head, framing)
        switch bodyLength {
        case .none: state = .fixed(remaining: 0)
        case .fixed(let length): state = .fixed(remaining: length)
        case .chunked: state = .chunkSize
        case .untilClose: state = .untilClose
        }
        return .head(head, framing.persistence(version: head.version, bodyLength), bodyLength: bodyLength)
    }

    /// The length of the head including its blank line, once that has arrived.
    private mutating func endOfHead() -> Int? {
        let start = max(0, scanned - 3)
        let found = buffer.withUnsafeReadableBytes { bytes -> Int? in
            var index = start
            while index + 3 < bytes.count {
                // The last byte of the window determines the step: most bytes are neither CR nor LF.
                switch bytes[index + 3] {
                case .lineFeed:
                    if bytes[index] == .carriageReturn, bytes[index + 1] == .lineFeed,
                        bytes[index + 2] == .carriageReturn
                    {
                        return index + 4
                    }
                    index += 2
                case .carriageReturn:
                    index += 1
                default:
                    index += 4
                }
            }
            return nil
        }
        scanned = buffer.readableBytes
        return found
    }

    /// Rejects what is not HTTP (a TLS alert, an SSH banner) by its first bytes, instead of at the size limit.
    private func checkBeginning() throws(Problem) {
        let start = buffer.readableBytesView.prefix(7)
        if zip(start, "HTTP/1.".utf8).allSatisfy({ $0 == $1 }) { return }
        if start.first == 21 || start.first == 22 {
            // An alert or a handshake, if a record's version follows, whose first byte is always 3 (RFC 8446 §5.1).
            guard let version = start.dropFirst().first else { return }
            if version == 3 { throw .tls }
        }
        throw .malformed("the response does not begin with HTTP/1.")
    }

    private func bodyLength(
        of head: HTTPResponseHead,
        _ framing: FramingHeaders
    ) throws(Problem) -> BodyLength {
        // The headers of these responses describe another one, so they are ignored (RFC 9110 §8.6, §9.3.6).
        if method == .HEAD || head.status == .noContent || head.status == .notModified { return .none }
        if method == .CONNECT, (200..<300).contains(head.status.code) { return .none }
        return try framing.bodyLength(version: head.version)
    }
}

extension ResponseParser {
    /// A text that is known at compile time, so it cannot contain anything that a server sent.
    struct StaticText: ExpressibleByStringLiteral, Equatable, CustomStringConvertible {
        let description: String
        init(stringLiteral value: StaticString) { description = "\(value)" }
    }
}
