public import OpenCombine

/// Publishes the parts of one response as they arrive: one ``HTTPResponsePart/head(_:)``, then body chunks, then
/// finishes.
///
/// Made by ``HTTPClient/parts(_:)``, which documents its behaviour.
public struct ResponsePublisher: Publisher {
    /// A part of the response.
    public typealias Output = HTTPResponsePart
    /// The reason why the response is incomplete.
    public typealias Failure = HTTPClientError

    let client: HTTPClient
    let request: HTTPRequest

    /// Attaches the subscriber. Nothing is sent before its first demand.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == HTTPResponsePart, Downstream.Failure == HTTPClientError {
        let receiver = Receiver(subscriber)
        subscriber.receive(
            subscription: DeliverySubscription(client: client, request: request, receiver: receiver)
        )
    }
}
