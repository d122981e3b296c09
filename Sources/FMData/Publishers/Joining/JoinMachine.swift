import OpenCombine

/// What decides how the values of several publishers become those of one: events in, steps out, no subscriber, lock or
/// thread. The shell around it is ``JoinSubscription``.
protocol JoinMachine<Input, Output, Failure> {
    associatedtype Input
    associatedtype Output
    associatedtype Failure: Error

    mutating func requested(_ demand: Subscribers.Demand)
    mutating func received(_ value: Input, from inlet: Int)
    mutating func finished(_ completion: Subscribers.Completion<Failure>, from inlet: Int)

    /// What to do next. It is asked again and again until it says ``JoinStep/rest``.
    ///
    /// - Parameter mayDeliver: whether this is the place where values may be handed over. Where it is not, a value or an end
    ///   that is due stays, and ``JoinStep/deliverElsewhere`` says that it is there.
    mutating func next(mayDeliver: Bool) -> JoinStep<Output, Failure>
}

/// One thing to do for several publishers that are joined.
enum JoinStep<Output, Failure: Error> {
    case value(Output)
    /// The last step. The publishers that still run are to be cancelled.
    case end(Subscribers.Completion<Failure>)
    case ask(inlet: Int, Subscribers.Demand)
    case deliverElsewhere
    case rest
}

extension JoinStep: Equatable where Output: Equatable, Failure: Equatable {}
