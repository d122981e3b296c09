public import OpenCombine

extension Publisher {
    /// Hands values and the end over on an actor: what follows may touch the actor's state.
    ///
    ///     func show(_ names: AnyPublisher<String, FMRest.APIError>) -> AnyCancellable {       // in main-actor code
    ///         names
    ///             .receive(on: MainActor.shared)
    ///             .sink(receiveCompletion: { _ in }, receiveValue: { self.list.append($0) })
    ///     }
    ///
    /// Operators that stand before it run where the values come from. So it comes before the first closure that touches
    /// the actor's state: Swift ends a program in which a closure of main-actor code runs elsewhere. For the main actor
    /// ``map(on:_:)`` and ``sink(on:receiveCompletion:receiveValue:)`` say both in one word.
    ///
    /// The calls of this library do it by themselves for the actor in whose code they are written; see
    /// <doc:WhereValuesArrive>. Publishes what the publisher publishes, in order, one value after the other, in turns of the
    /// actor's. Demand passes through: at most 16 values are asked for ahead of a slow subscriber. Cancelling cancels the
    /// publisher; from the actor itself, no value follows it.
    ///
    /// The main actor's turns come on the main thread, which therefore has to be free: a program that blocks it, with a
    /// semaphore or by `readLine()`, waits for ever.
    public func receive(on actor: any Actor) -> AnyPublisher<Output, Failure> {
        handedOver(in: ActorTurn(actor: actor))
    }

    /// The values of a call, for whoever wrote it: on the actor in whose code it stands.
    ///
    /// - Parameter isolation: the `#isolation` of the caller; `nil` leaves the values where ``DataAPI/Config/delivery`` says.
    func handedOver(to isolation: (any Actor)?, by server: DataAPI.Server) -> AnyPublisher<Output, Failure> {
        guard let isolation else { return AnyPublisher(self) }
        return handedOver(in: ActorTurn(actor: isolation, watch: server.blockedActorWatch))
    }

    /// What a database's call brings, for whoever wrote it: as long as the database acts as the account that it was
    /// made as.
    ///
    /// - Parameter mayHaveWritten: whether the call changes anything.
    func handedOver(
        to isolation: (any Actor)?,
        by database: DataAPI.Database,
        mayHaveWritten: Bool = false
    ) -> AnyPublisher<Output, Failure> where Failure == FMRest.APIError {
        AnyPublisher(
            handedOver(to: isolation, by: database.server)
                .read(in: { database.tenure }, mayHaveWritten: mayHaveWritten)
        )
    }

    private func handedOver(in turn: ActorTurn) -> AnyPublisher<Output, Failure> {
        AnyPublisher(JoinPublisher(upstreams: [self], machine: MergeMachine(inletCount: 1), actor: turn))
    }
}
