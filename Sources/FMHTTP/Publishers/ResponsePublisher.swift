internal import NIOCore
internal import NIOHTTP1
public import OpenCombine

/// Publishes the parts of one response as they arrive: one ``HTTPResponsePart/head(_:)``, then body chunks, then
/// finishes.
///
/// Made by ``HTTPClient/parts(_:)``, which says everything about it.
public struct ResponsePublisher: Publisher {
    public typealias Output = HTTPResponsePart
    public typealias Failure = HTTPClientError

    let client: HTTPClient
    let request: HTTPRequest

    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == HTTPResponsePart, Downstream.Failure == HTTPClientError {
        let subscription = PartsSubscription(client: client, request: request, downstream: subscriber)
        subscriber.receive(subscription: subscription)
    }
}

private final class PartsSubscription<Downstream: Subscriber>: DeliverySubscription<Downstream>, ResponseSink,
    @unchecked Sendable
where Downstream.Input == HTTPResponsePart, Downstream.Failure == HTTPClientError {
    // Sendable because it adds nothing that varies.

    /// Chunks that may wait for a slow subscriber with unlimited demand: about a megabyte.
    private static var maximumBuffered: Int { 16 }

    init(client: HTTPClient, request: HTTPRequest, downstream: Downstream) {
        let maximumBuffered = Self.maximumBuffered
        super.init(
            client: client,
            request: request,
            bodyLimit: nil,
            maximumBuffered: maximumBuffered,
            downstream: downstream
        )
    }

    func received(_ head: HTTPResponseHead, bodyLength: ResponseParser.BodyLength) { enqueue(.head(head)) }
    func received(_ body: ByteBuffer) { enqueue(.body(body)) }
    func readCompleted() { flush() }
    var wantsMore: Bool { hasRoom }
    func finished(_ figures: ExchangeFigures) { end(.finished) }
    func failed(_ error: HTTPClientError) { end(.failure(error)) }
}
