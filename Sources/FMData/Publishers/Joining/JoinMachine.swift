import OpenCombine

/// Decides how the values of several publishers become those of one: events in, steps out; no subscribers, locks or
/// threads. The shell around it is ``JoinSubscription``.
protocol JoinMachine<Input, Output, Failure> {
    associatedtype Input
    associatedtype Output
    associatedtype Failure: Error

    mutating func requested(_ demand: Subscribers.Demand)
    mutating func received(_ value: Input, from inlet: Int)
    mutating func finished(_ completion: Subscribers.Completion<Failure>, from inlet: Int)

    /// Returns the next step. It is called again and again until it returns ``JoinStep/rest``.
    ///
    /// - Parameter mayDeliver: whether values may be delivered here. If not, a due value or completion is kept, and
    ///   ``JoinStep/deliverElsewhere`` is returned.
    mutating func next(mayDeliver: Bool) -> JoinStep<Output, Failure>
}

/// One step in joining several publishers.
enum JoinStep<Output, Failure: Error> {
    case value(Output)
    /// The last step. The publishers that still run have to be cancelled.
    case end(Subscribers.Completion<Failure>)
    case ask(inlet: Int, Subscribers.Demand)
    case deliverElsewhere
    case rest
}

extension JoinStep: Equatable where Output: Equatable, Failure: Equatable {}
