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
            reducer: .whole,
            receiver: WholeReceiver(subscriber)
        )
        subscriber.receive(subscription: subscription)
    }
}
