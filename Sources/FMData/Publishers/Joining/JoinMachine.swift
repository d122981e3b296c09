import OpenCombine

/// Decides how the values of several publishers become those of one.
protocol JoinMachine<Input>: SubscriptionMachine where Work == Never {
    associatedtype Input

    mutating func received(_ value: Input, from inlet: Int)
    mutating func finished(_ completion: Subscribers.Completion<Failure>, from inlet: Int)
}
