#if Compression
import CFMZlib
public import NIOCore

/// zlib, called once for a whole body: compresses what tests send, and inflates what they received.
public enum CompressedFormat: Int32, CaseIterable, Sendable {
    // The raw values are zlib's window bits.
    case raw = -15
    case zlib = 15
    case gzip = 31

    /// Returns a whole body in this format.
    public func compressed(_ bytes: ByteBuffer) -> ByteBuffer {
        withStream { stream in
            deflateInit2_(
                stream,
                Z_BEST_COMPRESSION,
                Z_DEFLATED,
                rawValue,
                8,
                Z_DEFAULT_STRATEGY,
                ZLIB_VERSION,
                Self.streamSize
            )
            defer { deflateEnd(stream) }
            let count = Int(deflateBound(stream, uLong(bytes.readableBytes)))
            return stream.run(bytes, maximumCount: count) { deflate($0, Z_FINISH) }.bytes
        }
    }

    /// Inflates at most so many bytes. Returns them, and whether they are the whole body.
    public func inflated(_ bytes: ByteBuffer, maximumCount: Int = 1 << 20) -> (bytes: ByteBuffer, isWhole: Bool) {
        withStream { stream in
            inflateInit2_(stream, rawValue, ZLIB_VERSION, Self.streamSize)
            defer { inflateEnd(stream) }
            let (inflated, code) = stream.run(bytes, maximumCount: maximumCount) { inflate($0, Z_SYNC_FLUSH) }
            return (inflated, code == Z_STREAM_END && stream.pointee.avail_in == 0)
        }
    }

    private static var streamSize: Int32 { Int32(MemoryLayout<z_stream>.size) }

    private func withStream<Result>(_ body: (UnsafeMutablePointer<z_stream>) -> Result) -> Result {
        var stream = z_stream()
        return withUnsafeMutablePointer(to: &stream, body)
    }
}

extension UnsafeMutablePointer<z_stream> {
    fileprivate func run(
        _ bytes: ByteBuffer,
        maximumCount: Int,
        _ step: (UnsafeMutablePointer<z_stream>) -> Int32
    ) -> (bytes: ByteBuffer, code: Int32) {
        var result = ByteBuffer()
        var code = Z_OK
        result.writeWithUnsafeMutableBytes(minimumWritableBytes: maximumCount) { target in
            pointee.next_out = target.baseAddress?.assumingMemoryBound(to: Bytef.self)
            pointee.avail_out = uInt(target.count)
            bytes.withUnsafeReadableBytes { source in
                pointee.next_in = source.baseAddress?.assumingMemoryBound(to: Bytef.self)
                pointee.avail_in = uInt(source.count)
                code = step(self)
            }
            return target.count - Int(pointee.avail_out)
        }
        return (result, code)
    }
}
#endif
