internal import NIOCore
internal import NIOHTTP1

#if Compression
internal import CFMZlib

/// Decompresses a body: takes compressed bytes, returns chunks. A pure value around the state of zlib, without channel
/// or lock; the result does not depend on how the bytes are split.
///
///     append(bytes) → next() … chunk*, nil → append(bytes) … → finish()
///
/// The first byte determines the format: bodies called "deflate" come with and without zlib's header ([RFC 9110
/// §8.4.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.2)). The members of a gzip file together are one body
/// ([RFC 1952 §2.2](https://www.rfc-editor.org/rfc/rfc1952#section-2.2)). Any other byte after the end is a problem,
/// even a zero: HTTP defines the body's end, so there is no padding. A body without bytes is an empty one: some servers
/// announce gzip with every answer, also with an empty one.
struct Inflater: ~Copyable {
    private enum State {
        /// No byte has arrived → `inside`.
        case empty
        /// → `ended`, or `betweenMembers` if it is gzip.
        case inside(Format)
        /// A member has ended → `inside` with the next one.
        case betweenMembers
        case ended
        /// After a problem nothing more is read.
        case failed
    }

    private enum Format {
        case gzip, zlib, raw

        /// zlib's parameter for the format: a window of 2¹⁵ bytes, the largest, and the kind of header around it.
        var windowBits: Int32 {
            switch self {
            case .gzip: 15 + 16
            case .zlib: 15
            case .raw: -15
            }
        }
    }

    private static let firstByteOfGzip: UInt8 = 0x1F
    private static let maximumChunkBytes = 32 << 10

    private let maySkipHeader: Bool
    private let maximumRatio: Int
    private var state = State.empty
    private var input = ByteBuffer()
    /// zlib filled the last chunk and may hold more output, of input that is no longer in `input`.
    private var wasFilled = false
    private var receivedBytes = 0
    private var inflatedBytes = 0
    /// Allocated, because zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameters:
    ///   - maySkipHeader: Whether the format may be raw deflate, which has no checksum to detect damage.
    ///   - maximumRatio: The largest size of the body, as a multiple of the compressed bytes that have arrived. At
    ///     least 1.
    init(maySkipHeader: Bool, maximumRatio: Int) {
        self.maySkipHeader = maySkipHeader
        self.maximumRatio = maximumRatio
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    mutating func append(_ bytes: ByteBuffer) {
        receivedBytes += bytes.readableBytes
        if input.readableBytes == 0 {
            input = bytes
        } else {
            input.discardReadBytes()
            input.writeImmutableBuffer(bytes)
        }
    }

    /// The next chunk that the bytes so far allow, never empty; `nil` when more are needed.
    mutating func next() throws(Problem) -> ByteBuffer? {
        do {
            return try advance()
        } catch {
            state = .failed
            throw error
        }
    }

    /// Called when the body has ended and `next` has returned `nil`. Throws if the compressed data is incomplete.
    mutating func finish() throws(Problem) {
        switch state {
        case .empty, .betweenMembers, .ended, .failed: break
        case .inside: throw .truncated
        }
    }

    private mutating func advance() throws(Problem) -> ByteBuffer? {
        while true {
            let byte: UInt8? = input.getInteger(at: input.readerIndex)
            switch (state, byte) {
            case (.empty, let byte?):
                let format = format(beginningWith: byte)
                try begin(format)
                state = .inside(format)
            case (.inside(let format), _) where byte != nil || wasFilled:
                if let chunk = try nextChunk(of: format) { return chunk }
            case (.betweenMembers, Self.firstByteOfGzip):
                inflateReset(stream)
                state = .inside(.gzip)
            case (.betweenMembers, _?), (.ended, _?):
                throw .trailingBytes
            case (.failed, _), (_, nil), (.inside, _):
                return nil
            }
        }
    }

    /// Raw deflate begins with neither of the other formats' bytes: 0x1F would be a kind of block that does not exist,
    /// and the 8 of zlib's header has a bit set that a stored block leaves zero.
    private func format(beginningWith byte: UInt8) -> Format {
        if byte == Self.firstByteOfGzip { return .gzip }
        return maySkipHeader && byte & 0x0F != 8 ? .raw : .zlib
    }

    private func begin(_ format: Format) throws(Problem) {
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, format.windowBits, ZLIB_VERSION, size) == Z_OK else { throw .outOfMemory }
    }

    private mutating func nextChunk(of format: Format) throws(Problem) -> ByteBuffer? {
        var chunk = ByteBuffer()
        // JSON grows to four times its size and more. Output that does not fit into the chunk goes into the next one.
        chunk.reserveCapacity(min(Self.maximumChunkBytes, max(512, 4 * input.readableBytes)))
        let code = stream.inflate(&input, into: &chunk)
        wasFilled = stream.pointee.avail_out == 0
        switch code {
        case Z_OK: break
        // zlib had no more output.
        case Z_BUF_ERROR where input.readableBytes == 0: break
        case Z_STREAM_END:
            wasFilled = false
            state = format == .gzip ? .betweenMembers : .ended
        case Z_MEM_ERROR: throw .outOfMemory
        default: throw .damaged(String(cString: stream.pointee.msg ?? zError(code)))
        }
        guard chunk.readableBytes > 0 else { return nil }
        inflatedBytes += chunk.readableBytes
        // The same as `inflatedBytes > receivedBytes * maximumRatio`, which could overflow.
        if (inflatedBytes - 1) / maximumRatio >= receivedBytes { throw .tooLarge(maximumRatio: maximumRatio) }
        return chunk
    }
}

extension UnsafeMutablePointer<z_stream> {
    /// Inflates as far as the input and the space in the chunk allow.
    fileprivate func inflate(_ input: inout ByteBuffer, into chunk: inout ByteBuffer) -> Int32 {
        var code = Z_OK
        input.readWithUnsafeReadableBytes { source in
            pointee.next_in = source.baseAddress?.assumingMemoryBound(to: Bytef.self)
            pointee.avail_in = uInt(source.count)
            chunk.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { target in
                pointee.next_out = target.baseAddress?.assumingMemoryBound(to: Bytef.self)
                pointee.avail_out = uInt(target.count)
                code = CFMZlib.inflate(self, Z_NO_FLUSH)
                return target.count - Int(pointee.avail_out)
            }
            return source.count - Int(pointee.avail_in)
        }
        return code
    }
}

extension Inflater {
    static var isAvailable: Bool { true }

    /// `nil` for a response whose body is not decompressed.
    init?(for head: HTTPResponseHead, maximumRatio: Int) {
        guard head.headers.contains(name: "content-encoding") else { return nil }
        switch head.headers[canonicalForm: "content-encoding"].map({ $0.lowercased() }) {
        case ["gzip"], ["x-gzip"]: self.init(maySkipHeader: false, maximumRatio: maximumRatio)
        case ["deflate"]: self.init(maySkipHeader: true, maximumRatio: maximumRatio)
        default: return nil
        }
    }
}
#else
/// Stands in for the inflater in a build without the trait, where bodies are not decompressed.
enum Inflater {
    static var isAvailable: Bool { false }

    init?(for head: HTTPResponseHead, maximumRatio: Int) { return nil }

    mutating func append(_ bytes: ByteBuffer) {}
    mutating func next() throws(Problem) -> ByteBuffer? { nil }
    mutating func finish() throws(Problem) {}
}
#endif

extension Inflater {
    enum Problem: Error, Equatable {
        /// The data is no gzip or deflate, or was damaged on the way. The text is zlib's and contains nothing of the
        /// body.
        case damaged(String)
        case tooLarge(maximumRatio: Int)
        case truncated
        case trailingBytes
        case outOfMemory
    }
}

extension Inflater.Problem: CustomStringConvertible {
    var description: String {
        switch self {
        case .damaged(let text): text
        case .tooLarge(let maximumRatio): "it grows to more than \(maximumRatio) times its size"
        case .truncated: "it ends too early"
        case .trailingBytes: "bytes follow its end"
        case .outOfMemory: "no memory is left"
        }
    }
}
