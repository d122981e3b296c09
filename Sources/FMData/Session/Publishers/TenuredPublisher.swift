import NIOConcurrencyHelpers
import OpenCombine

/// Something that a database does as one account: that of the moment when it is first asked for. It is made then, and
/// fails when the account's ``Tenure`` ends, with what is under way cancelled.
struct TenuredPublisher<Output>: Publisher {
    typealias Failure = FMRest.APIError

    /// What is done, and what it fails with when it is cut off.
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
        // @unchecked: as the superclass; `error` is set before the tenure knows of the call.
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
            // It may have been cancelled before it had a place to leave, or cut off.
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

extension DataAPI.Database {
    /// Several calls of which all are made as one account, that of the beginning. They end together when that is
    /// replaced.
    ///
    /// - Parameter make: gets the account's tenure, to which its calls are to be bound
    ///   (``DataAPI/Calling/bound(to:)``).
    func asOneAccount<Output>(
        _ make: @escaping (Tenure) -> AnyPublisher<Output, FMRest.APIError>
    ) -> AnyPublisher<Output, FMRest.APIError> {
        TenuredPublisher(tenure: { self.tenure }) { tenure in TenuredPublisher.Work(publisher: make(tenure)) }
            .eraseToAnyPublisher()
    }
}

extension DataAPI.Calling {
    /// The same, whose calls are made in this tenure or not at all. They are steps of one thing, and see what the host has.
    func bound(to tenure: Tenure) -> Self {
        callOptions { options in
            options.tenure = tenure
            options.cacheTime = nil
        }
    }
}

extension Publisher where Failure == FMRest.APIError {
    /// What was read as one account, for whoever asked for it as that. What comes when its tenure is over is dropped,
    /// wherever it has waited until then, and is a failure.
    ///
    /// - Parameters:
    ///   - tenure: asked for on the first demand.
    ///   - mayHaveWritten: whether something may have been carried out of which nobody is told then.
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
        // @unchecked: as the superclass; `tenure` is set before there are values.
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
    /// - Parameter outcomeIsUnknown: whether the server may have carried out something of which nothing was heard.
    static func credentialsReplaced(outcomeIsUnknown: Bool = false) -> FMRest.APIError {
        FMRest.APIError(
            .credentialsReplaced,
            reason: "The credentials of the database were replaced, and the call was made as the account before.",
            hint: outcomeIsUnknown
                ? "The server may have carried it out: look before it is made again."
                : "What that account has read is handed over no more. Ask again, if the new one is to see it.",
            outcomeIsUnknown: outcomeIsUnknown
        )
    }
}
