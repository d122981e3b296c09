import NIOCore

// The readers work on raw memory. These two methods are their only connection to NIO.

extension RecordResponseReader {
    /// Appends more of the body without reading it.
    mutating func feed(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { feed($0) }
    }
}

extension EnvelopeReader {
    /// Takes the whole body and decodes its messages.
    func messages(of body: ByteBuffer) throws(DecodingFailure) -> [Message] {
        try body.withUnsafeReadableBytes { bytes in
            Result { () throws(DecodingFailure) in try messages(of: bytes) }
        }.get()
    }
}
