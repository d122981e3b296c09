import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Writes rows, and publishes what became of each.
struct BatchPublisher<Upstream: Publisher>: Publisher {
    typealias Output = DataAPI.BatchRow
    typealias Failure = FMRest.APIError

    let upstream: Upstream
    let settings: BatchStateMachine.Settings
    let resumption: BatchResumption?
    let time: SessionTime
    /// A number from `0..<1`, drawn anew with each call.
    let random: @Sendable () -> Double
    let makeOperation: BatchOperation.Maker<Upstream.Output>

    func receive<Downstream: Subscriber<DataAPI.BatchRow, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: BatchSubscription(self, downstream: subscriber))
    }
}

/// The shell around a ``BatchStateMachine``: the publisher of the rows on one side, the subscriber on the other, calls and an alarm
/// clock behind it, any of which may call in while another is being served. Whoever finds somebody at work only leaves a note in
/// the machine.
final class BatchSubscription<Upstream: Publisher, Downstream: Subscriber>: Subscription, BatchCaller,
    @unchecked Sendable
where Downstream.Input == DataAPI.BatchRow, Downstream.Failure == FMRest.APIError {
    // @unchecked: `lock` guards every `var`; the subscriber is called by the one who works, so one call at a time, and rows come
    // one after the other.
    private let lock = NIOLock()
    private let time: SessionTime
    private let random: @Sendable () -> Double
    private let resumption: BatchResumption?
    private let makeOperation: BatchOperation.Maker<Upstream.Output>
    private var machine: BatchStateMachine
    /// Until the first demand.
    private var source: Upstream?
    /// `nil` when all is over.
    private var downstream: Downstream?
    private var upstream: (any Subscription)?
    private var isUpstreamWanted = true
    /// Asked of the publisher of the rows before it has sent its subscription.
    private var heldDemand = 0
    private var rows: [Int: HeldRow] = [:]
    private var nextIndex = 0
    /// How many rows have come that an earlier run has not heard of.
    private var unheardOf = 0
    private var callOffAlarm: (@Sendable () -> Void)?
    /// What the batch fails with, if it comes to that.
    private var failure: FMRest.APIError?
    private var isWorking = false

    /// What the machine knows by its index.
    private struct HeldRow {
        let operation: BatchOperation?
        var call: SessionExchange<BatchStateMachine.Answer>?
        var error: FMRest.APIError?
        /// Of the write whose outcome is not known.
        var unknownError: FMRest.APIError?
    }

    init(_ source: BatchPublisher<Upstream>, downstream: Downstream) {
        self.source = source.upstream
        self.downstream = downstream
        machine = BatchStateMachine(settings: source.settings)
        time = source.time
        random = source.random
        resumption = source.resumption
        makeOperation = source.makeOperation
    }

    // MARK: From downstream

    func request(_ demand: Subscribers.Demand) {
        precondition(demand > .none, "A subscriber asks for at least one value")
        let source: Upstream? = lock.withLock {
            guard downstream != nil else { return nil }
            machine.requested(demand)
            defer { self.source = nil }
            return self.source
        }
        source?.subscribe(Inlet(batch: self))
        go()
    }

    func cancel() { letGo().cancel() }

    // MARK: From the publisher of the rows

    private struct Inlet: Subscriber {
        typealias Input = Upstream.Output
        typealias Failure = Upstream.Failure

        let batch: BatchSubscription
        let combineIdentifier = CombineIdentifier()

        func receive(subscription: any Subscription) { batch.receive(subscription: subscription) }

        func receive(_ input: Input) -> Subscribers.Demand {
            batch.receive(input)
            return .none
        }

        func receive(completion: Subscribers.Completion<Failure>) {
            switch completion {
            case .finished: batch.upstreamEnded(with: nil)
            case .failure(let error): batch.upstreamEnded(with: error)
            }
        }
    }

    private func receive(subscription: any Subscription) {
        let demand: Int? = lock.withLock {
            guard isUpstreamWanted, upstream == nil else { return nil }
            upstream = subscription
            defer { heldDemand = 0 }
            return heldDemand
        }
        guard let demand else { return subscription.cancel() }
        if demand > 0 { subscription.request(.max(demand)) }
    }

    private func receive(_ input: Upstream.Output) {
        let (index, unheardOf) = lock.withLock {
            defer { nextIndex += 1 }
            return (nextIndex, self.unheardOf)
        }
        // Out of the lock: it runs what the caller's type does to be encoded.
        let earlier = resumption?.earlier(index, unheardOf: unheardOf) ?? .nothing
        let operation = earlier == .done ? nil : Result { try makeOperation(input, earlier) }
        lock.withLock {
            guard downstream != nil else { return }
            switch operation {
            case nil:
                machine.passedOver()
            case .success(let operation):
                rows[index] = HeldRow(operation: operation)
                machine.received(index, operation.task)
            case .failure(let error):
                rows[index] = HeldRow(operation: nil, error: FMRest.APIError(wrapping: error, otherwise: .encoding))
                machine.received(index, BatchStateMachine.Task(kind: .unusable))
            }
            if earlier == .perhapsSent { self.unheardOf += 1 }
        }
        go()
    }

    private func upstreamEnded(with error: (any Error)?) {
        lock.withLock {
            upstream = nil
            isUpstreamWanted = false
            if let error { failure = FMRest.APIError(wrapping: error, otherwise: .encoding) }
            machine.upstreamEnded(hasFailed: error != nil)
        }
        go()
    }

    // MARK: From the server and from the clock

    fileprivate func answered(_ index: Int, _ result: Result<BatchStateMachine.Answer, FMRest.APIError>?) {
        let jitter = random()
        let now = time.now()
        lock.withLock {
            guard rows[index] != nil else { return }
            rows[index]?.call = nil
            switch result ?? .failure(.noAnswer) {
            case .success(let answer):
                machine.answered(index, answer, jitter: jitter, now: now)
            case .failure(let error):
                rows[index]?.error = error
                if error.outcomeIsUnknown { rows[index]?.unknownError = error }
                machine.answered(index, .trouble(BatchTrouble(error)), jitter: jitter, now: now)
            }
        }
        go()
    }

    fileprivate func wakeUp() {
        let now = time.now()
        lock.withLock {
            callOffAlarm = nil
            machine.wakeUp(now: now)
        }
        go()
    }

    // MARK: Work

    private func go() {
        let isFree = lock.withLock {
            defer { isWorking = true }
            return !isWorking
        }
        guard isFree else { return }
        while let action = nextAction() { act(action) }
    }

    private enum Action {
        case call(SessionExchange<BatchStateMachine.Answer>, () -> BatchOperation.Call)
        case ask(any Subscription, Int)
        case publish(DataAPI.BatchRow, Downstream)
        case cancel(any Subscription)
        case setAlarm(NIODeadline?)
        case end(Subscribers.Completion<FMRest.APIError>)
        case nothing
    }

    private func nextAction() -> Action? {
        lock.withLock {
            guard let downstream else {
                isWorking = false
                return nil
            }
            switch machine.next() {
            case .start(let index, let work):
                return lockedCall(index, work)
            case .ask(let count):
                if let upstream { return .ask(upstream, count) }
                heldDemand += count
            case .publish(let index, let outcome):
                return .publish(lockedRow(index, outcome), downstream)
            case .stop(let index):
                failure = rows[index]?.error
                isUpstreamWanted = false
                defer { upstream = nil }
                if let upstream { return .cancel(upstream) }
            case .setAlarm(let instant):
                return .setAlarm(instant)
            case .end(let end):
                return .end(end == .finished ? .finished : .failure(failure ?? .noAnswer))
            case .rest:
                isWorking = false
                return nil
            }
            return .nothing
        }
    }

    private func act(_ action: Action) {
        switch action {
        case .call(let exchange, let call):
            exchange.start(call())
        case .ask(let upstream, let count):
            upstream.request(.max(count))
        case .publish(let row, let downstream):
            let more = downstream.receive(row)
            if more > .none { lock.withLock { machine.requested(more) } }
        case .cancel(let upstream):
            upstream.cancel()
        case .setAlarm(let instant):
            setAlarm(instant)
        case .end(let completion):
            let remains = letGo()
            remains.cancel()
            remains.downstream?.receive(completion: completion)
        case .nothing:
            break
        }
    }

    private func lockedCall(_ index: Int, _ work: BatchStateMachine.Work) -> Action {
        guard let row = rows[index], let operation = row.operation else { return .nothing }
        let batch: any BatchCaller = self
        let exchange = SessionExchange<BatchStateMachine.Answer> { result in batch.answered(index, result) }
        rows[index]?.call = exchange
        let isSettling = row.unknownError != nil
        return .call(exchange) {
            switch work {
            case .write(let found): operation.write(found)
            case .lookUp: operation.lookUp(isSettling)
            }
        }
    }

    private func lockedRow(_ index: Int, _ outcome: BatchStateMachine.Outcome) -> DataAPI.BatchRow {
        let row = rows.removeValue(forKey: index)
        return DataAPI.BatchRow(
            index: index,
            key: row?.operation?.key,
            outcome: .init(outcome, last: row?.error, unknown: row?.unknownError)
        )
    }

    private func setAlarm(_ instant: NIODeadline?) {
        let batch: any BatchCaller = self
        let callOff = instant.map { instant in time.schedule(instant) { batch.wakeUp() } }
        let old = lock.withLock {
            guard downstream != nil else { return callOff }
            defer { callOffAlarm = callOff }
            return callOffAlarm
        }
        old?()
    }

    // MARK: The end

    /// What is let go with the end, to be called off outside of the lock.
    private struct Remains {
        let downstream: Downstream?
        let upstream: (any Subscription)?
        let source: Upstream?
        let rows: [Int: HeldRow]
        let callOffAlarm: (@Sendable () -> Void)?

        func cancel() {
            upstream?.cancel()
            callOffAlarm?()
            for row in rows.values { row.call?.cancel() }
        }
    }

    private func letGo() -> Remains {
        lock.withLock {
            defer {
                downstream = nil
                upstream = nil
                isUpstreamWanted = false
                source = nil
                rows = [:]
                callOffAlarm = nil
            }
            return Remains(
                downstream: downstream,
                upstream: upstream,
                source: source,
                rows: rows,
                callOffAlarm: callOffAlarm
            )
        }
    }
}

/// What calls and alarms report to: a batch, whatever its rows are. They keep it alive until it is over.
private protocol BatchCaller: AnyObject, Sendable {
    /// A call has ended; `nil` when it did so without an answer.
    func answered(_ index: Int, _ result: Result<BatchStateMachine.Answer, FMRest.APIError>?)
    /// The alarm has rung.
    func wakeUp()
}

extension DataAPI.BatchRow.Outcome {
    /// - Parameters:
    ///   - last: the error that was met last.
    ///   - unknown: that of the write whose outcome is not known.
    fileprivate init(
        _ outcome: BatchStateMachine.Outcome,
        last: FMRest.APIError?,
        unknown: FMRest.APIError?
    ) {
        self =
            switch outcome {
            case .created(let recordId, let modId): .created(recordId: recordId, modId: modId)
            case .edited(let recordId, let modId): .edited(recordId: recordId, modId: modId)
            case .deleted(let wasThere): .deleted(wasThere: wasThere)
            case .failed(let failure): .failed(FMRest.APIError(failure, last: last))
            case .unknown: .unknown(unknown ?? .unknownSinceEarlierRun(last))
            case .skipped: .skipped
            }
    }
}

extension FMRest.APIError {
    fileprivate init(_ failure: BatchStateMachine.Failure, last: FMRest.APIError?) {
        switch failure {
        case .lastError:
            self = last ?? .noAnswer
        case .conflict:
            self.init(
                .fileMaker,
                reason: "The answer to an edit was lost, and the record has been changed since by somebody else.",
                hint: "Read the record and decide. The edit may have been carried out before that change.",
                fileMakerCode: .modIdMismatch,
                request: last?.request,
                underlying: last
            )
        case .recordMissing:
            self.init(
                .fileMaker,
                reason: "The answer to an edit was lost, and the record is gone.",
                fileMakerCode: .recordMissing,
                request: last?.request,
                underlying: last
            )
        case .ambiguousKey:
            self.init(
                .invalidRequest,
                reason: "Several records have the row's key, so that none of them can be taken for it.",
                hint: "A field that records are looked up by has to be unique.",
                request: last?.request,
                underlying: last
            )
        }
    }

    fileprivate static let noAnswer = FMRest.APIError(.noValue, reason: "A call ended without an answer.")

    fileprivate static func unknownSinceEarlierRun(_ last: FMRest.APIError?) -> FMRest.APIError {
        FMRest.APIError(
            .noValue,
            reason: "An earlier run may have sent the row, and it cannot be found out whether it was carried out.",
            outcomeIsUnknown: true,
            underlying: last
        )
    }
}
