internal import OpenCombine

/// A type-erased subscriber at the end of a response's path. So all code before it is compiled once, not specialized
/// for each kind of subscriber, which would be most of the cost of a small request.
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
