import NIOConcurrencyHelpers
import OpenCombine

/// A call of a database as one account: the account at the time of the first demand. The work is created then. When the
/// account's ``Tenure`` ends, the work is cancelled and the publisher fails.
struct TenuredPublisher<Output>: Publisher {
    typealias Failure = FMRest.APIError

    /// The work, and the error that it fails with when its tenure ends.
    struct Work {
        let publisher: AnyPublisher<Output, FMRest.APIError>
        var error: () -> FMRest.APIError = { .credentialsReplaced() }
    }

    let tenure: () -> Tenure
    let makeWork: (Tenure) -> Work

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: RelaySubscription<TenuredPublisher>, Subscriber, TenuredCall, @unchecked Sendable {
        // @unchecked: as the superclass; `error` is set before the tenure knows the call.
        typealias Input = Output
        typealias Failure = FMRest.APIError

        private var place: (tenure: Tenure, number: Int)?
        private var error: () -> FMRest.APIError = { .credentialsReplaced() }

        override func begin(_ source: TenuredPublisher) {
            let tenure = source.tenure()
            let work = source.makeWork(tenure)
            error = work.error
            guard let number = tenure.enter(self) else { return finish(.failure(error())) }
            lock.withLock { place = (tenure, number) }
            // The call may have been cancelled or interrupted before it had a `place`.
            guard isRunning else { return leave() }
            work.publisher.subscribe(self)
        }

        override func cancelled() { leave() }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            leave()
            finish(completion)
        }

        func tenureEnded() { interrupt(with: .failure(error())) }

        private func leave() {
            guard let place = lock.withLock({ self.place.take() }) else { return }
            place.tenure.leave(place.number)
        }
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
struct TenuredValues<Upstream: Publisher>: Publisher where Upstream.Failure == FMRest.APIError {
    typealias Output = Upstream.Output
    typealias Failure = FMRest.APIError

    let upstream: Upstream
    let tenure: () -> Tenure
    let mayHaveWritten: Bool

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: RelaySubscription<TenuredValues>, Subscriber, @unchecked Sendable {
        // @unchecked: as the superclass; `tenure` is set before values arrive.
        typealias Input = Output
        typealias Failure = FMRest.APIError

        private let mayHaveWritten: Bool
        private var tenure: Tenure?

        override init(_ source: TenuredValues, downstream: Downstream) {
            mayHaveWritten = source.mayHaveWritten
            super.init(source, downstream: downstream)
        }

        override func begin(_ source: TenuredValues) {
            tenure = source.tenure()
            source.upstream.subscribe(self)
        }

        override func receive(_ input: Output) -> Subscribers.Demand {
            guard tenure?.isOver == true else { return super.receive(input) }
            let error = FMRest.APIError.credentialsReplaced(outcomeIsUnknown: mayHaveWritten)
            end(cancelling: true)?.receive(completion: .failure(error))
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) { finish(completion) }
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
