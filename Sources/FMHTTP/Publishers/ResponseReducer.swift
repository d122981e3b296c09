internal import NIOCore
internal import NIOHTTP1

/// What is handed to a subscriber: the parts of a response, or all of it.
enum ResponseOutput: Sendable, Equatable {
    case part(HTTPResponsePart)
    case whole(HTTPResponse)
}

/// What a subscription makes of a response as it arrives: its parts one by one, or the whole at the end, collected on the
/// event loop, so that it costs one delivery however many chunks it has.
///
/// Belongs to one subscription and is used on the connection's event loop only.
struct ResponseReducer {
    /// About a megabyte of chunks may wait for a slow subscriber with unlimited demand.
    private static let maximumBufferedParts = 16
    /// A server's word is not enough to set aside more than this before the bytes arrive.
    private static let maximumReservation = 4 * 1024 * 1024
    /// Smaller bodies mostly come as one chunk.
    private static let minimumReservation = 64 * 1024

    let isCollecting: Bool
    private var head: HTTPResponseHead?
    private var body = ByteBuffer()

    static var parts: Self { Self(isCollecting: false) }
    static var whole: Self { Self(isCollecting: true) }

    private init(isCollecting: Bool) { self.isCollecting = isCollecting }

    /// How many outputs may wait for a slow subscriber before reading stops. A collected response never waits for its
    /// subscriber, who gets nothing before the end anyway.
    var maximumBuffered: Int { isCollecting ? .max : Self.maximumBufferedParts }

    mutating func take(_ head: HTTPResponseHead, bodyLength: ResponseParser.BodyLength) -> ResponseOutput? {
        guard isCollecting else { return .part(.head(head)) }
        self.head = head
        if case .fixed(let length) = bodyLength, length > Self.minimumReservation {
            body.reserveCapacity(min(length, Self.maximumReservation))
        }
        return nil
    }

    mutating func take(_ chunk: ByteBuffer) -> ResponseOutput? {
        guard isCollecting else { return .part(.body(chunk)) }
        if body.capacity == 0 {
            // The only chunk, as a rule, and then it needs no copy.
            body = chunk
        } else {
            body.writeImmutableBuffer(chunk)
        }
        return nil
    }

    mutating func finish(_ figures: ExchangeFigures) -> ResponseOutput? {
        guard isCollecting, let head else { return nil }
        defer { body = ByteBuffer() }
        return .whole(
            HTTPResponse(
                status: head.status,
                headers: head.headers,
                body: body,
                wireBodyBytes: figures.wireBodyBytes
            )
        )
    }
}
