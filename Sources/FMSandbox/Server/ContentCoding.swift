import NIOCore

#if Compression
import CFMZlib
#endif

/// The content codings for a body, in the order in which web servers prefer them.
enum ContentCoding: String, CaseIterable {
    case gzip, deflate

    /// The coding for a client that accepts these: "gzip", "deflate;q=0.5", "*" ([RFC 9110
    /// §12.5.3](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3)).
    static func chosen(from accepted: [Substring]) -> ContentCoding? {
        var weights: [String: Double] = [:]
        for element in accepted {
            let parts = element.lowercased().split(separator: ";").map { String($0).trimmed }
            guard let name = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            weights[name == "x-gzip" ? "gzip" : name] = weight
        }
        return allCases.first { (weights[$0.rawValue] ?? weights["*"] ?? 0) > 0 }
    }

    /// The compressed bytes; nil if that is impossible: without the trait `Compression`, or without memory.
    ///
    /// - Parameter isWhole: Whether the bytes end the body. If not, a reader can decompress all of them but finds no
    ///   end.
    func compressed(_ bytes: ArraySlice<UInt8>, isWhole: Bool = true) -> ByteBuffer? {
        #if Compression
        // zlib keeps the stream's address, so all calls are in one closure.
        var stream = z_stream()
        return withUnsafeMutablePointer(to: &stream) { stream in
            // A window of 2¹⁵ bytes, with the header of zlib or (plus 16) of gzip; memory and level are the usual ones.
            let (windowBits, size): (Int32, Int) = (self == .gzip ? 15 + 16 : 15, MemoryLayout<z_stream>.size)
            let code = deflateInit2_(
                stream,
                Z_DEFAULT_COMPRESSION,
                Z_DEFLATED,
                windowBits,
                8,
                Z_DEFAULT_STRATEGY,
                ZLIB_VERSION,
                Int32(size)
            )
            guard code == Z_OK else { return nil }
            defer { deflateEnd(stream) }
            return stream.deflate(bytes, isWhole: isWhole)
        }
        #else
        return nil
        #endif
    }
}

#if Compression
extension UnsafeMutablePointer<z_stream> {
    /// Compresses all bytes with one call.
    fileprivate func deflate(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> ByteBuffer? {
        guard let count = uInt(exactly: bytes.count) else { return nil }
        // `deflateBound` is for a whole body; the marker at the end of a flushed part has at most six bytes.
        let maximumCount = Int(deflateBound(self, uLong(count))) + 6
        var compressed = ByteBuffer()
        var isDone = false
        compressed.writeWithUnsafeMutableBytes(minimumWritableBytes: maximumCount) { target in
            pointee.next_out = target.baseAddress?.assumingMemoryBound(to: Bytef.self)
            pointee.avail_out = uInt(clamping: target.count)
            let room = pointee.avail_out
            bytes.withUnsafeBytes { source in
                pointee.next_in = source.baseAddress?.assumingMemoryBound(to: Bytef.self)
                pointee.avail_in = count
                let code = CFMZlib.deflate(self, isWhole ? Z_FINISH : Z_SYNC_FLUSH)
                isDone = code == (isWhole ? Z_STREAM_END : Z_OK) && pointee.avail_in == 0
            }
            return Int(room - pointee.avail_out)
        }
        return isDone ? compressed : nil
    }
}
#endif
