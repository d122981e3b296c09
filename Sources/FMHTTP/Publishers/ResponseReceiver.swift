internal import OpenCombine

/// A subscriber without its type: what the way of a response ends in. Everything before it is compiled once, not for
/// each kind of subscriber, which is most of what a small request would cost.
protocol ResponseReceiver: AnyObject {
    func receive(_ output: ResponseOutput) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<HTTPClientError>)
}

/// A subscriber to ``ResponsePublisher``.
final class PartsReceiver<Downstream: Subscriber>: ResponseReceiver
where Downstream.Input == HTTPResponsePart, Downstream.Failure == HTTPClientError {
    private let downstream: Downstream

    init(_ downstream: Downstream) { self.downstream = downstream }

    func receive(_ output: ResponseOutput) -> Subscribers.Demand {
        switch output {
        case .part(let part): downstream.receive(part)
        case .whole: preconditionFailure("whoever asked for parts gets parts")
        }
    }

    func receive(completion: Subscribers.Completion<HTTPClientError>) {
        downstream.receive(completion: completion)
    }
}

/// A subscriber to ``CollectedResponsePublisher``.
final class WholeReceiver<Downstream: Subscriber>: ResponseReceiver
where Downstream.Input == HTTPResponse, Downstream.Failure == HTTPClientError {
    private let downstream: Downstream

    init(_ downstream: Downstream) { self.downstream = downstream }

    func receive(_ output: ResponseOutput) -> Subscribers.Demand {
        switch output {
        case .whole(let response): downstream.receive(response)
        case .part: preconditionFailure("whoever asked for the whole gets the whole")
        }
    }

    func receive(completion: Subscribers.Completion<HTTPClientError>) {
        downstream.receive(completion: completion)
    }
}
