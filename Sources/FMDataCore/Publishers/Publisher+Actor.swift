import FMHTTP
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
    /// The calls of this library do this already for the actor in whose code they are written, and those of nonisolated
    /// code for subscribers on the main actor; see <doc:WhereValuesArrive>.
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

// `receive(on: MainActor.shared)` combined with the next operator, so that their order cannot be wrong.

extension Publisher {
    /// Transforms each value with a closure of main-actor code, which is called on the main actor.
    ///
    ///     directory.names().subscribe(on: queue)                              // in the background
    ///         .map(on: MainActor.shared) { names in self.rows(of: names) }    // in main-actor code
    ///         .sink { rows in self.rows = rows }
    ///
    /// It is ``receive(on:)`` followed by `map`, which must stand in this order: a closure of main-actor code before
    /// the `receive` runs where the values come from, and Swift ends a program in which that is elsewhere. All
    /// operators that follow run on the main actor, too.
    ///
    /// Publishes one value for each value, and completes as the publisher does. Demand is passed on: at most 16 values
    /// are requested ahead of a slow subscriber. Cancelling cancels the publisher; after a cancel on the main actor
    /// itself, no value follows.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - transform: called once for each value.
    public func map<Result>(
        on actor: MainActor,
        _ transform: @escaping @MainActor (Output) -> Result
    ) -> AnyPublisher<Result, Failure> {
        receive(on: actor).map { value in onMainActor(transform, value) }.eraseToAnyPublisher()
    }

    /// Subscribes with closures of main-actor code, which are called on the main actor.
    ///
    ///     directory.names().subscribe(on: queue)                              // in the background
    ///         .sink(on: MainActor.shared) { completion in                     // in main-actor code
    ///             if case .failure(let error) = completion { self.message = "\(error.code)" }
    ///         } receiveValue: { names in
    ///             self.names = names
    ///         }
    ///         .store(in: &subscriptions)
    ///
    /// It is ``receive(on:)`` followed by `sink`. Asks for all values. The subscription ends when the returned object
    /// is cancelled or released; if that happens on the main actor, no value follows.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - receiveCompletion: called once at the end, unless the subscription was cancelled.
    ///   - receiveValue: called once for each value.
    /// - Returns: the subscription.
    public func sink(
        on actor: MainActor,
        receiveCompletion: @escaping @MainActor (Subscribers.Completion<Failure>) -> Void,
        receiveValue: @escaping @MainActor (Output) -> Void
    ) -> AnyCancellable {
        receive(on: actor)
            .sink(
                receiveCompletion: { completion in onMainActor(receiveCompletion, completion) },
                receiveValue: { value in onMainActor(receiveValue, value) }
            )
    }
}

extension Publisher where Failure == Never {
    /// Subscribes with a closure of main-actor code, which is called on the main actor; see
    /// ``sink(on:receiveCompletion:receiveValue:)``.
    public func sink(on actor: MainActor, receiveValue: @escaping @MainActor (Output) -> Void) -> AnyCancellable {
        sink(on: actor, receiveCompletion: { _ in }, receiveValue: receiveValue)
    }
}

/// Calls main-actor code from an operator behind `receive(on: MainActor.shared)`, whose type does not say where it
/// runs.
private func onMainActor<Input, Output>(_ body: @MainActor (Input) -> Output, _ input: Input) -> Output {
    let input = Crossing(input)
    return MainActor.assumeIsolated { Crossing(body(input.value)) }.value
}
