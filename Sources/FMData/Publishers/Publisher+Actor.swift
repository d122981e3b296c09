public import OpenCombine

extension Publisher {
    /// Delivers values and the completion on an actor, so that the operators that follow may use the actor's state.
    ///
    ///     func show(_ names: AnyPublisher<String, FMRest.APIError>) -> AnyCancellable {       // in main-actor code
    ///         names
    ///             .receive(on: MainActor.shared)
    ///             .sink(receiveCompletion: { _ in }, receiveValue: { self.list.append($0) })
    ///     }
    ///
    /// Operators before it run where the values come from. So put it before the first closure that uses the actor's
    /// state: Swift ends a program in which a closure of main-actor code runs elsewhere. For the main actor,
    /// ``map(on:_:)`` and ``sink(on:receiveCompletion:receiveValue:)`` combine both steps.
    ///
    /// The calls of this library do this already for the actor in whose code they are written; see
    /// <doc:WhereValuesArrive>.
    ///
    /// Publishes the values of the publisher in order, one at a time, in turns of the actor. Demand is passed on: at
    /// most 16 values are requested ahead of a slow subscriber. Cancelling cancels the publisher; after a cancel on the
    /// actor itself, no value follows.
    ///
    /// The main actor runs on the main thread, which must therefore be free: a program that blocks it, with a semaphore
    /// or by `readLine()`, waits forever.
    ///
    /// - Parameter actor: the actor to deliver on.
    /// - Returns: a publisher of the same values, with the same completion.
    public func receive(on actor: any Actor) -> AnyPublisher<Output, Failure> {
        delivered(in: ActorTurn(actor: actor))
    }

    /// The same, in turns of the actor that are watched.
    func delivered(in turn: ActorTurn) -> AnyPublisher<Output, Failure> {
        AnyPublisher(ThroughMachine(upstream: self, machine: HandoverMachine(), actor: turn))
    }
}
