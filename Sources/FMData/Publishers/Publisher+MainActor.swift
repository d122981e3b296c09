import FMHTTP
public import OpenCombine

// `receive(on: MainActor.shared)` and what follows it in one word, so that nobody writes them in the wrong order.

extension Publisher {
    /// Publishes what main-actor code makes of each value, on the main actor.
    ///
    ///     directory.names()                                                   // made in nonisolated code
    ///         .map(on: MainActor.shared) { names in self.rows(of: names) }    // in main-actor code
    ///         .sink { rows in self.rows = rows }
    ///
    /// It is ``receive(on:)`` and then `map`, which are right in this order alone: a closure of main-actor code that
    /// stands before the hand-over runs on a background thread, and Swift ends the program there. All operators that
    /// follow run on the main actor, too.
    ///
    /// Publishes one value for each value, and ends as the publisher does. Nothing is asked for before demand, which
    /// passes through: at most 16 values are asked for ahead of a slow subscriber. Cancelling cancels the publisher;
    /// from the main actor itself, no value follows it.
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
    ///     directory.names()                                                   // made in nonisolated code
    ///         .sink(on: MainActor.shared) { completion in                     // in main-actor code
    ///             if case .failure(let error) = completion { self.message = "\(error.code)" }
    ///         } receiveValue: { names in
    ///             self.names = names
    ///         }
    ///         .store(in: &subscriptions)
    ///
    /// It is ``receive(on:)`` and then `sink`. Asks for all values. The subscription ends when what is returned is
    /// cancelled or goes; where the main actor does that, no value follows it.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - receiveCompletion: called once at the end, unless the subscription was cancelled.
    ///   - receiveValue: called once for each value.
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

/// Calls main-actor code from an operator behind a hand-over to the main actor, whose type does not say where it runs.
private func onMainActor<Input, Output>(_ body: @MainActor (Input) -> Output, _ input: Input) -> Output {
    let input = Crossing(input)
    return MainActor.assumeIsolated { Crossing(body(input.value)) }.value
}
