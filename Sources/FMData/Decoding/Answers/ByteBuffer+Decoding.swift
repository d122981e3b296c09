import NIOCore

// The readers work on raw memory; this is all that they have to do with NIO.

extension RecordResponseReader {
    /// Takes in more of the body. Nothing is read yet.
    mutating func feed(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { feed($0) }
    }
}

extension EnvelopeReader {
    /// Takes in the whole body, and decodes its messages.
    func messages(of body: ByteBuffer) throws(DecodingFailure) -> [Message] {
        try body.withUnsafeReadableBytes { bytes in
            Result { () throws(DecodingFailure) in try messages(of: bytes) }
        }.get()
    }
}
