internal import NIOCore
internal import NIOHTTP1
public import OpenCombine

/// Publishes one whole ``HTTPResponse``, then finishes.
///
/// Made by ``HTTPClient/response(_:upTo:)``, which says everything about it.
public struct CollectedResponsePublisher: Publisher {
    public typealias Output = HTTPResponse
    public typealias Failure = HTTPClientError

    let client: HTTPClient
    let request: HTTPRequest
    let maximumBytes: Int

    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == HTTPResponse, Downstream.Failure == HTTPClientError {
        let subscription = CollectingSubscription(
            client: client,
            request: request,
            bodyLimit: maximumBytes,
            maximumBuffered: 1,
            downstream: subscriber
        )
        subscriber.receive(subscription: subscription)
    }
}

/// Collects on the event loop, so that a response costs one delivery, however many chunks it has.
private final class CollectingSubscription<Downstream: Subscriber>: DeliverySubscription<Downstream>, ResponseSink,
    @unchecked Sendable
where Downstream.Input == HTTPResponse, Downstream.Failure == HTTPClientError {
    // Sendable because `head` and `body` are used by the exchange only, whose calls come one after the other.

    /// A server's word is not enough to set aside more than this before the bytes arrive.
    private static var maximumReservation: Int { 4 * 1024 * 1024 }

    private var head: HTTPResponseHead?
    private var body = ByteBuffer()

    func received(_ head: HTTPResponseHead, bodyLength: ResponseParser.BodyLength) {
        self.head = head
        if case .fixed(let length) = bodyLength, length > 64 * 1024 {
            body.reserveCapacity(min(length, Self.maximumReservation))
        }
    }

    func received(_ chunk: ByteBuffer) {
        if body.capacity == 0 {
            // Most responses are one chunk, which needs no copy.
            body = chunk
        } else {
            body.writeImmutableBuffer(chunk)
        }
    }

    func readCompleted() {}

    var wantsMore: Bool { true }

    func finished(_ figures: ExchangeFigures) {
        guard let head else { preconditionFailure("a response that ends well has a head") }
        let response = HTTPResponse(
            status: head.status,
            headers: head.headers,
            body: body,
            wireBodyBytes: figures.wireBodyBytes
        )
        body = ByteBuffer()
        enqueue(response)
        end(.finished)
    }

    func failed(_ error: HTTPClientError) {
        body = ByteBuffer()
        end(.failure(error))
    }
}
