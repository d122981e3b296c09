package import OpenCombine

/// A call of a database as one account: the account at the time of the first demand. The work is created then. When the
/// account's ``AccountPeriod`` ends, the work is cancelled and the publisher fails.
package struct AccountPeriodPublisher<Output>: InterruptedPublisher {
    package typealias Failure = FMRest.APIError

    /// The work, and the error that it fails with when its account period ends.
    struct Work {
        let publisher: AnyPublisher<Output, FMRest.APIError>
        var watch: (any PublisherWatch)?
        var error: () -> FMRest.APIError = { .credentialsReplaced() }
    }

    let accountPeriod: () -> AccountPeriod
    /// The number of records in a value.
    var rowCount: (Output) -> Int = { _ in 0 }
    let makeWork: (AccountPeriod) -> Work

    package struct Memory {
        let rowCount: (Output) -> Int
        var place: (accountPeriod: AccountPeriod, number: Int)?
        var error: () -> FMRest.APIError = { .credentialsReplaced() }
        /// Set before values arrive.
        var watch: (any PublisherWatch)?
    }

    package var memory: Memory { Memory(rowCount: rowCount) }

    package func begin(_ subscription: ColdSubscription<Self>) {
        let accountPeriod = accountPeriod()
        let work = makeWork(accountPeriod)
        // Set before the account period knows the call.
        subscription.withLock { memory in (memory.error, memory.watch) = (work.error, work.watch) }
        // It may have been cancelled when there was no `watch` yet.
        guard subscription.isRunning else {
            work.watch?.cancelled()
            return
        }
        guard let number = accountPeriod.enter(subscription) else {
            let error = work.error()
            work.watch?.ended(error)
            return subscription.finish(.failure(error))
        }
        subscription.withLock { memory in memory.place = (accountPeriod, number) }
        // The call may have been cancelled or interrupted before it had a `place`.
        guard subscription.isRunning else { return leave(subscription) }
        work.publisher.subscribe(subscription)
    }

    package static func passes(_ value: Output, _ subscription: ColdSubscription<Self>) {
        if let watch = subscription.memory.watch { watch.published(rows: subscription.memory.rowCount(value)) }
    }

    package func upstreamEnded(
        _ completion: Subscribers.Completion<FMRest.APIError>,
        _ subscription: ColdSubscription<Self>
    ) {
        leave(subscription)
        subscription.memory.watch?.ended(completion)
        subscription.finish(completion)
    }

    package func cancelled(_ subscription: ColdSubscription<Self>) {
        leave(subscription)
        subscription.withLock { $0.watch }?.cancelled()
    }

    static func interruption(_ memory: Memory) -> Interruption {
        Interruption(error: memory.error, watch: memory.watch)
    }

    private func leave(_ subscription: ColdSubscription<Self>) {
        guard let place = subscription.withLock({ $0.place.take() }) else { return }
        place.accountPeriod.leave(place.number)
    }
}

/// A publisher that fails when its account period ends.
protocol InterruptedPublisher: RelayPublisher where Failure == FMRest.APIError {
    static func interruption(_ memory: Memory) -> Interruption
}

/// How the end of an account period ends a call.
struct Interruption {
    /// Makes the failure.
    let error: () -> FMRest.APIError
    let watch: (any PublisherWatch)?
}

extension ColdSubscription: AccountPeriodCall where Source: InterruptedPublisher {
    func accountPeriodEnded() {
        let interruption = withLock { memory in Source.interruption(memory) }
        let error = interruption.error()
        interrupt(with: .failure(error)) { interruption.watch?.ended(error) }
    }
}

extension Publisher where Failure == FMRest.APIError {
    /// Delivers values to a call of the account that they were read as. A value that arrives after the account period
    /// has ended, however long it was buffered, is dropped and the publisher fails.
    ///
    /// - Parameters:
    ///   - accountPeriod: returns the account period; called on the first demand.
    ///   - mayHaveWritten: whether the server may have carried out a write whose result is lost by this failure.
    package func read(
        in accountPeriod: @escaping () -> AccountPeriod,
        mayHaveWritten: Bool = false
    ) -> AccountPeriodValues<Self> {
        AccountPeriodValues(upstream: self, accountPeriod: accountPeriod, mayHaveWritten: mayHaveWritten)
    }
}

/// See ``Publisher/read(in:mayHaveWritten:)``.
package struct AccountPeriodValues<Upstream: Publisher>: RelayPublisher where Upstream.Failure == FMRest.APIError {
    package typealias Output = Upstream.Output
    package typealias Failure = FMRest.APIError

    let upstream: Upstream
    let accountPeriod: () -> AccountPeriod
    let mayHaveWritten: Bool

    package struct Memory {
        let mayHaveWritten: Bool
        /// Set before values arrive.
        var accountPeriod: AccountPeriod?
    }

    package var memory: Memory { Memory(mayHaveWritten: mayHaveWritten) }

    package func begin(_ subscription: ColdSubscription<Self>) {
        subscription.memory.accountPeriod = accountPeriod()
        upstream.subscribe(subscription)
    }

    package static func refusal(_ subscription: ColdSubscription<Self>) -> FMRest.APIError? {
        guard subscription.memory.accountPeriod?.isOver == true else { return nil }
        return .credentialsReplaced(outcomeIsUnknown: subscription.memory.mayHaveWritten)
    }
}

extension FMRest.APIError {
    /// - Parameter outcomeIsUnknown: whether the server may have carried out a request whose answer is lost.
    static func credentialsReplaced(outcomeIsUnknown: Bool = false) -> FMRest.APIError {
        FMRest.APIError(
            .credentialsReplaced,
            reason: "The credentials of the database were replaced, and the call was made as the account before.",
            hint: outcomeIsUnknown
                ? "The server may have carried it out: check before you repeat it."
                : "What the previous account has read is no longer delivered. Repeat the call as the new account.",
            outcomeIsUnknown: outcomeIsUnknown
        )
    }
}
