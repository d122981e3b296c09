public import NIOCore
public import NIOHTTP1

/// A part of a response, in the order of arrival: one head, then any number of body chunks. The end of the response is
/// the publisher's `.finished`.
public enum HTTPResponsePart: Sendable, Equatable {
    /// Status and headers. Informational (1xx) heads are not published.
    case head(HTTPResponseHead)
    /// The next bytes of the body, decompressed; never empty.
    case body(ByteBuffer)
}
