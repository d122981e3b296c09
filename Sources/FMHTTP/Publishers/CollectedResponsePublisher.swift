internal import NIOCore
internal import NIOHTTP1
public import OpenCombine

/// Publishes one whole ``HTTPResponse``, then finishes.
///
/// Made by ``HTTPClient/response(_:upTo:)``, which says everything about it.
public struct CollectedResponsePublisher: Publisher {
    /// The response.
    public typealias Output = HTTPResponse
    /// Why there is none.
    public typealias Failure = HTTPClientError

    let client: HTTPClient
    let request: HTTPRequest
    let maximumBytes: Int

    /// Attaches the subscriber. Nothing is sent before it asks.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == HTTPResponse, Downstream.Failure == HTTPClientError {
        let subscription = DeliverySubscription(
            client: client,
            request: request,
            bodyLimit: maximumBytes,
            reducer: CollectingReducer(),
            downstream: subscriber
        )
        subscriber.receive(subscription: subscription)
    }
}

/// Collects on the event loop, so that a response costs one delivery, however many chunks it has.
private struct CollectingReducer: ResponseReducer {
    static var maximumBuffered: Int? { nil }

    /// A server's word is not enough to set aside more than this before the bytes arrive.
    private static let maximumReservation = 4 * 1024 * 1024
    /// Smaller bodies mostly come as one chunk.
    private static let minimumReservation = 64 * 1024

    private var head: HTTPResponseHead?
    private var body = ByteBuffer()

    mutating func take(_ head: HTTPResponseHead, bodyLength: ResponseParser.BodyLength) -> HTTPResponse? {
        self.head = head
        if case .fixed(let length) = bodyLength, length > Self.minimumReservation {
            body.reserveCapacity(min(length, Self.maximumReservation))
        }
        return nil
    }

    mutating func take(_ chunk: ByteBuffer) -> HTTPResponse? {
        if body.capacity == 0 {
            // The only chunk, as a rule, and then it needs no copy.
            body = chunk
        } else {
            body.writeImmutableBuffer(chunk)
        }
        return nil
    }

    mutating func finish(_ figures: ExchangeFigures) -> HTTPResponse? {
        defer { body = ByteBuffer() }
        return head.map {
            HTTPResponse(status: $0.status, headers: $0.headers, body: body, wireBodyBytes: figures.wireBodyBytes)
        }
    }
}
