import NIOCore

// The readers work on raw memory; this is all that they have to do with NIO.

extension RecordResponseReader {
    /// Takes in more of the body. Nothing is read yet.
    mutating func feed(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { feed($0) }
    }
}

extension EnvelopeReader {
    /// ``decode(_:from:)-(_,UnsafeRawBufferPointer)`` for a body as it comes from the network.
    func decode<T: Decodable>(
        _ type: T.Type,
        from body: ByteBuffer
    ) throws(DecodingFailure) -> (messages: [Message], response: () throws(DecodingFailure) -> T) {
        try body.withUnsafeReadableBytes { bytes in
            Result { () throws(DecodingFailure) in try decode(type, from: bytes) }
        }.get()
    }
}
