internal import OpenCombine

/// A subscriber without its type: what the way of a response ends in. Everything before it is compiled once, not for
/// each kind of subscriber, which is most of what a small request would cost.
protocol ResponseReceiver: AnyObject {
    func receive(_ part: HTTPResponsePart) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<HTTPClientError>)
}

/// A subscriber to ``ResponsePublisher``.
final class Receiver<Downstream: Subscriber>: ResponseReceiver
where Downstream.Input == HTTPResponsePart, Downstream.Failure == HTTPClientError {
    private let downstream: Downstream

    init(_ downstream: Downstream) { self.downstream = downstream }

    func receive(_ part: HTTPResponsePart) -> Subscribers.Demand { downstream.receive(part) }

    func receive(completion: Subscribers.Completion<HTTPClientError>) {
        downstream.receive(completion: completion)
    }
}
