internal import NIOCore
internal import NIOHTTP1
public import OpenCombine

/// Publishes the parts of one response as they arrive: one ``HTTPResponsePart/head(_:)``, then body chunks, then
/// finishes.
///
/// Made by ``HTTPClient/parts(_:)``, which says everything about it.
public struct ResponsePublisher: Publisher {
    /// A part.
    public typealias Output = HTTPResponsePart
    /// Why there are no more parts.
    public typealias Failure = HTTPClientError

    let client: HTTPClient
    let request: HTTPRequest

    /// Attaches the subscriber. Nothing is sent before it asks.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == HTTPResponsePart, Downstream.Failure == HTTPClientError {
        let subscription = DeliverySubscription(
            client: client,
            request: request,
            bodyLimit: nil,
            reducer: PartsReducer(),
            downstream: subscriber
        )
        subscriber.receive(subscription: subscription)
    }
}

/// Each part as it is.
private struct PartsReducer: ResponseReducer {
    /// An empty struct has the address of its neighbour, and the thread sanitizer takes changing the one for changing the other.
    private let place = true

    /// About a megabyte of chunks may wait for a slow subscriber with unlimited demand.
    static var maximumBuffered: Int? { 16 }

    func take(_ head: HTTPResponseHead, bodyLength: ResponseParser.BodyLength) -> HTTPResponsePart? { .head(head) }
    func take(_ chunk: ByteBuffer) -> HTTPResponsePart? { .body(chunk) }
    func finish(_ figures: ExchangeFigures) -> HTTPResponsePart? { nil }
}
