public import NIOCore
public import NIOHTTP1

/// A piece of a response, in the order it arrives: one head, then any number of body chunks. The end of the response is
/// the publisher's `.finished`.
public enum HTTPResponsePart: Sendable, Equatable {
    /// Status and headers. Informational (1xx) heads are not published.
    case head(HTTPResponseHead)
    /// The next bytes of the body, decompressed; never empty.
    case body(ByteBuffer)
}

/// A whole response in memory.
public struct HTTPResponse: Sendable, Equatable {
    /// The status. Every status is a value; none is an error of the client.
    public var status: HTTPResponseStatus
    /// The headers as the server sent them.
    public var headers: HTTPHeaders
    /// The body, decompressed; empty when there is none.
    public var body: ByteBuffer
    /// The size of the body as it was sent, before decompression.
    public var wireBodyBytes: Int

    /// A response, for tests and doubles.
    public init(
        status: HTTPResponseStatus,
        headers: HTTPHeaders = [:],
        body: ByteBuffer = ByteBuffer(),
        wireBodyBytes: Int? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.wireBodyBytes = wireBodyBytes ?? body.readableBytes
    }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the size of the body. Headers (cookies, tokens) and field values are left out, also from `dump`.
    public var description: String { "\(status.code), \(body.readableBytes) bytes (\(wireBodyBytes) on the wire)" }

    /// Shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}
