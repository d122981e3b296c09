import OpenCombine

/// A call of a database as one account: the account at the time of the first demand. The work is created then. When the
/// account's ``Tenure`` ends, the work is cancelled and the publisher fails.
struct TenuredPublisher<Output>: InterruptedPublisher {
    typealias Failure = FMRest.APIError

    /// The work, and the error that it fails with when its tenure ends.
    struct Work {
        let publisher: AnyPublisher<Output, FMRest.APIError>
        var watch: (any PublisherWatch)?
        var error: () -> FMRest.APIError = { .credentialsReplaced() }
    }

    let tenure: () -> Tenure
    /// The number of records in a value.
    var rowCount: (Output) -> Int = { _ in 0 }
    let makeWork: (Tenure) -> Work

    struct Memory {
        let rowCount: (Output) -> Int
        var place: (tenure: Tenure, number: Int)?
        var error: () -> FMRest.APIError = { .credentialsReplaced() }
        /// Set before values arrive.
        var watch: (any PublisherWatch)?
    }

    var memory: Memory { Memory(rowCount: rowCount) }

    func begin(_ subscription: ColdSubscription<Self>) {
        let tenure = tenure()
        let work = makeWork(tenure)
        // Set before the tenure knows the call.
        subscription.withLock { memory in (memory.error, memory.watch) = (work.error, work.watch) }
        // It may have been cancelled when there was no `watch` yet.
        guard subscription.isRunning else {
            work.watch?.cancelled()
            return
        }
        guard let number = tenure.enter(subscription) else {
            let error = work.error()
            work.watch?.ended(error)
            return subscription.finish(.failure(error))
        }
        subscription.withLock { memory in memory.place = (tenure, number) }
        // The call may have been cancelled or interrupted before it had a `place`.
        guard subscription.isRunning else { return leave(subscription) }
        work.publisher.subscribe(subscription)
    }

    static func passes(_ value: Output, _ subscription: ColdSubscription<Self>) {
        if let watch = subscription.memory.watch { watch.published(rows: subscription.memory.rowCount(value)) }
    }

    func upstreamEnded(_ completion: Subscribers.Completion<FMRest.APIError>, _ subscription: ColdSubscription<Self>) {
        leave(subscription)
        subscription.memory.watch?.ended(completion)
        subscription.finish(completion)
    }

    func cancelled(_ subscription: ColdSubscription<Self>) {
        leave(subscription)
        subscription.withLock { $0.watch }?.cancelled()
    }

    static func interruption(_ memory: Memory) -> Interruption {
        Interruption(error: memory.error, watch: memory.watch)
    }

    private func leave(_ subscription: ColdSubscription<Self>) {
        guard let place = subscription.withLock({ $0.place.take() }) else { return }
        place.tenure.leave(place.number)
    }
}

/// A publisher that fails when its tenure ends.
protocol InterruptedPublisher: RelayPublisher where Failure == FMRest.APIError {
    static func interruption(_ memory: Memory) -> Interruption
}

/// How the end of a tenure ends a call.
struct Interruption {
    /// Makes the failure.
    let error: () -> FMRest.APIError
    let watch: (any PublisherWatch)?
}

extension ColdSubscription: TenuredCall where Source: InterruptedPublisher {
    func tenureEnded() {
        let interruption = withLock { memory in Source.interruption(memory) }
        let error = interruption.error()
        interrupt(with: .failure(error)) { interruption.watch?.ended(error) }
    }
}

extension Publisher where Failure == FMRest.APIError {
    /// Delivers values to a call of the account that they were read as. A value that arrives after the tenure has
    /// ended, however long it was buffered, is dropped and the publisher fails.
    ///
    /// - Parameters:
    ///   - tenure: returns the tenure; called on the first demand.
    ///   - mayHaveWritten: whether the server may have carried out a write whose result is lost by this failure.
    func read(
        in tenure: @escaping () -> Tenure,
        mayHaveWritten: Bool = false
    ) -> TenuredValues<Self> {
        TenuredValues(upstream: self, tenure: tenure, mayHaveWritten: mayHaveWritten)
    }
}

/// See ``Publisher/read(in:mayHaveWritten:)``.
struct TenuredValues<Upstream: Publisher>: RelayPublisher where Upstream.Failure == FMRest.APIError {
    typealias Output = Upstream.Output
    typealias Failure = FMRest.APIError

    let upstream: Upstream
    let tenure: () -> Tenure
    let mayHaveWritten: Bool

    struct Memory {
        let mayHaveWritten: Bool
        /// Set before values arrive.
        var tenure: Tenure?
    }

    var memory: Memory { Memory(mayHaveWritten: mayHaveWritten) }

    func begin(_ subscription: ColdSubscription<Self>) {
        subscription.memory.tenure = tenure()
        upstream.subscribe(subscription)
    }

    static func refusal(_ subscription: ColdSubscription<Self>) -> FMRest.APIError? {
        guard subscription.memory.tenure?.isOver == true else { return nil }
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
