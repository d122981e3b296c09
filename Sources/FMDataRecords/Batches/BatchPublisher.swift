import FMDataCore
import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Writes rows, and publishes the result of each.
struct BatchPublisher<Upstream: Publisher>: Publisher {
    typealias Output = DataAPI.BatchRow
    typealias Failure = FMRest.APIError

    /// Returns the rows, which may depend on what earlier runs have noted.
    let upstream: (OpenJournal?) -> Upstream
    let settings: BatchStateMachine.Settings
    /// The journal that records what is sent, and its header.
    var journal: (DataAPI.WriteJournal, JournalHeader)?
    /// Whether rows are sent again that failed permanently in an earlier run.
    var retriesRefused = false
    var news = BatchNews()
    let time: SessionTime
    /// Returns a new random number from `0..<1`.
    let random: @Sendable () -> Double
    let makeOperation: BatchOperation.Maker<Upstream.Output>

    func receive<Downstream: Subscriber<DataAPI.BatchRow, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: BatchSubscription(self, downstream: subscriber))
    }
}

/// The shell around a ``BatchStateMachine``. It connects the publisher of the rows, the subscriber, the calls and the
/// alarm, any of which may call in while another is being served. A thread that finds another one at work only passes
/// its event to the machine.
final class BatchSubscription<Upstream: Publisher, Downstream: Subscriber>: Subscription, BatchCaller, DeferredWorker,
    @unchecked Sendable
where Downstream.Input == DataAPI.BatchRow, Downstream.Failure == FMRest.APIError {
    // @unchecked: `lock` guards every `var`; `worker` lets one thread at a time call the subscriber, and rows are
    // received one after the other.
    private let lock = NIOLock()
    private let time: SessionTime
    private let random: @Sendable () -> Double
    private let retriesRefused: Bool
    private let news: BatchNews
    private let makeOperation: BatchOperation.Maker<Upstream.Output>
    private var machine: BatchStateMachine
    /// `nil` after the first demand.
    private var source: ((OpenJournal?) -> Upstream)?
    /// `nil` when the batch is over.
    private var downstream: Downstream?
    private var upstream: (any Subscription)?
    private var isUpstreamWanted = true
    /// Rows requested before the publisher of the rows has sent its subscription.
    private var heldDemand = 0
    private var rows: [Int: HeldRow] = [:]
    private var nextIndex = 0
    /// `nil` once it is being opened.
    private var journal: (DataAPI.WriteJournal, JournalHeader)?
    private var isOpening = false
    private var writer: JournalWriter?
    /// What earlier runs have noted.
    private var earlier: EarlierRuns?
    /// Per record or key, the last row that an earlier run has written; computed when a row first needs it.
    private var lastRows: [BatchStateMachine.SerialKey: Int]?
    /// Per key of a create, the row that an earlier run has written or may have; computed when a row first needs it.
    private var rowsOfKeys: [String: Int]?
    /// When the host can no longer be working on anything that an earlier run has sent.
    private var isOverAt = NIODeadline.distantPast
    /// The keys of creates, with the indices of their rows.
    private var ownKeys: [String: Int] = [:]
    private var callOffAlarm: (@Sendable () -> Void)?
    /// The error that the batch ends with, if it fails.
    private var failure: FMRest.APIError?
    private var worker = SoleWorker()

    /// What belongs to a row of the machine with the same index.
    private struct HeldRow {
        let operation: BatchOperation?
        var call: SessionExchange<BatchOperation.CompletedCall>?
        var memory = BatchRowMemory()
        /// Whether an attempt is noted that has no outcome yet.
        var isNoted = false
    }

    init(_ source: BatchPublisher<Upstream>, downstream: Downstream) {
        self.source = source.upstream
        self.downstream = downstream
        var settings = source.settings
        settings.isJournalled = source.journal != nil
        machine = BatchStateMachine(settings: settings)
        time = source.time
        random = source.random
        journal = source.journal
        retriesRefused = source.retriesRefused
        news = source.news
        makeOperation = source.makeOperation
    }

    // MARK: From the subscriber

    func request(_ demand: Subscribers.Demand) {
        precondition(demand > .none, "A subscriber asks for at least one value")
        let journal: (DataAPI.WriteJournal, JournalHeader)? = lock.withLock {
            guard downstream != nil else { return nil }
            machine.requested(demand)
            guard let journal = self.journal else { return nil }
            self.journal = nil
            isOpening = true
            return journal
        }
        if let journal { return open(journal.0, journal.1) }
        begin()
        go()
    }

    /// Subscribes to the rows, unless that is done or the journal is still being read.
    private func begin() {
        let (source, journal): (((OpenJournal?) -> Upstream)?, OpenJournal?) = lock.withLock {
            guard downstream != nil, !isOpening else { return (nil, nil) }
            defer { self.source = nil }
            guard let writer, let earlier else { return (self.source, nil) }
            return (self.source, OpenJournal(writer: writer, earlier: earlier, isOverAt: isOverAt))
        }
        source?(journal).subscribe(Inlet(batch: self))
    }

    func cancel() { letGo(isCancelled: true).cancel() }

    // MARK: The journal

    private func open(_ journal: DataAPI.WriteJournal, _ header: JournalHeader) {
        let writer = JournalWriter(journal)
        lock.withLock { self.writer = writer }
        let batch: any BatchCaller = self
        let time = time
        // Continue on a thread that answers arrive on, not on the disk's.
        writer.open(header) { result in _ = time.schedule(time.now()) { batch.opened(result) } }
    }

    fileprivate func opened(_ result: Result<EarlierRuns, FMRest.APIError>) {
        switch result {
        case .success(let earlier):
            news.opened(earlier)
            let isOver = lock.withLock {
                worker.noteEvent()
                isOpening = false
                self.earlier = earlier
                isOverAt = time.now() + machine.settings.settlingTime
                return downstream == nil
            }
            if isOver {
                lock.withLock { writer }?.close()
                return
            }
            begin()
        case .failure(let error):
            lock.withLock {
                worker.noteEvent()
                isOpening = false
                writer = nil
                source = nil
                failure = error
                machine.journalFailed()
                machine.upstreamEnded(hasFailed: false)
            }
        }
        go()
    }

    fileprivate func noted(_ index: Int, _ result: Result<Void, FMRest.APIError>) {
        lock.withLock {
            worker.noteEvent()
            switch result {
            case .success: machine.noted(index)
            case .failure(let error):
                if failure == nil { failure = error }
                machine.journalFailed()
            }
        }
        go()
    }

    private func note(_ index: Int, _ note: BatchStateMachine.Note) {
        let (writer, row): (JournalWriter?, HeldRow?) = lock.withLock {
            defer { rows[index]?.isNoted = note.isAttempt }
            return (self.writer, rows[index])
        }
        guard let writer, let row, let operation = row.operation, let digest = operation.digest else { return }
        switch note {
        case .attempt(let over):
            let batch: any BatchCaller = self
            let time = time
            let field = operation.keyField.map { JournalEntry.NotedField.named($0) } ?? .none
            writer.note(.attempt(row: index, digest, key: operation.key, field: field, over: over)) { result in
                _ = time.schedule(time.now()) { batch.noted(index, result) }
            }
        case .withdrawn:
            writer.note(.withdrawn(row: index))
        case .outcome(let outcome):
            if let kept = JournalOutcome(DataAPI.WriteResult(outcome, of: row.memory)) {
                writer.note(.outcome(row: index, digest, kept))
            } else if row.isNoted {
                writer.note(.withdrawn(row: index))
            }
        }
    }

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
        let (index, known, context): (Int, JournalState.Row?, BatchOperation.Context) = lock.withLock {
            defer { nextIndex += 1 }
            let known = earlier?.state.rows[nextIndex]
            var context = BatchOperation.Context(row: nextIndex, salt: earlier?.state.header.salt)
            if case .open(let over) = known?.phase {
                context.attempt = BatchStateMachine.OpenAttempt(over: over, isOverAt: isOverAt)
                context.key = known?.key
                context.field = known?.field ?? .none
            }
            return (nextIndex, known, context)
        }
        // Outside the lock: this runs the encoding code of the caller's type.
        let operation = Result { try makeOperation(input, context) }
        lock.withLock {
            guard downstream != nil else { return }
            worker.noteEvent()
            lockedReceive(index, operation, known)
        }
        go()
    }

    private func lockedReceive(_ index: Int, _ made: Result<BatchOperation, any Error>, _ known: JournalState.Row?) {
        do {
            let operation = try made.get()
            if let known, !known.isOf(operation, retriesRefused: retriesRefused) {
                throw FMRest.APIError.inputHasChanged(isOpen: known.phase.isOpen)
            }
            if let key = operation.ownKey {
                if let other = ownKeys[key] { throw FMRest.APIError.keyComesTwice(in: other) }
                ownKeys[key] = index
                if let noted = lockedRow(ofKey: key, of: operation), noted != index {
                    throw FMRest.APIError.rowHasMoved(from: noted, to: index)
                }
            }
            var row = HeldRow(operation: operation)
            row.isNoted = known?.phase.isOpen == true
            if let known, case .done(let outcome) = known.phase, outcome.kind != .failed || !retriesRefused {
                row.memory.known = known
                rows[index] = row
                machine.receivedKnown(index)
            } else {
                var task = operation.task
                if task.attempt == nil, earlier?.mayMissRows == true, task.kind == .create(hasKey: true) {
                    task.attempt = BatchStateMachine.OpenAttempt(isOverAt: isOverAt, isNoted: false)
                }
                if let later = lockedLaterRow(than: index, of: task) {
                    guard task.attempt != nil else { throw FMRest.APIError.superseded(by: later) }
                    task.attempt?.doubt = .superseded
                }
                rows[index] = row
                machine.received(index, task)
            }
        } catch {
            let error = FMRest.APIError(wrapping: error, otherwise: .encoding)
            rows[index] = HeldRow(operation: nil, memory: BatchRowMemory(error: error))
            machine.received(index, BatchStateMachine.RowTask(kind: .unusable))
        }
    }

    /// A later row that an earlier run has written to the same record, if this row would overwrite it.
    private func lockedLaterRow(than index: Int, of task: BatchStateMachine.RowTask) -> Int? {
        guard task.overwrites, let serialKey = task.serialKey, let earlier else { return nil }
        let last = lastRows ?? earlier.state.lastRowsOfLanes()
        lastRows = last
        return last[serialKey].flatMap { $0 > index ? $0 : nil }
    }

    /// The row that an earlier run has written with this key, or may have.
    private func lockedRow(ofKey key: String, of operation: BatchOperation) -> Int? {
        guard let field = operation.keyField, let earlier else { return nil }
        let found = rowsOfKeys ?? earlier.state.rowsOfKeys(in: field)
        rowsOfKeys = found
        return found[key]
    }

    private func upstreamEnded(with error: (any Error)?) {
        lock.withLock {
            worker.noteEvent()
            upstream = nil
            isUpstreamWanted = false
            var error = error.map { FMRest.APIError(wrapping: $0, otherwise: .encoding) }
            let missing = earlier?.state.rows.keys.count { $0 >= nextIndex } ?? 0
            if error == nil, missing > 0 {
                error = FMRest.APIError(DataAPI.WriteJournalError(.inputIsShorter, detail: "\(missing) more"))
            }
            if failure == nil { failure = error }
            machine.upstreamEnded(hasFailed: error != nil)
        }
        go()
    }

    // MARK: From the server and the clock

    fileprivate func answered(_ index: Int, _ result: Result<BatchOperation.CompletedCall, FMRest.APIError>?) {
        let jitter = random()
        let now = time.now()
        lock.withLock {
            guard rows[index] != nil else { return }
            worker.noteEvent()
            rows[index]?.call = nil
            switch result ?? .failure(.noAnswer) {
            case .success(let answered):
                rows[index]?.memory.result = answered.result
                machine.answered(index, answered.answer, jitter: jitter, now: now)
            case .failure(let error):
                rows[index]?.memory.error = error
                if error.outcomeIsUnknown { rows[index]?.memory.unknownError = error }
                machine.answered(index, .trouble(BatchTrouble(error)), jitter: jitter, now: now)
            }
        }
        go()
    }

    fileprivate func wakeUp() {
        let now = time.now()
        lock.withLock {
            worker.noteEvent()
            callOffAlarm = nil
            machine.wakeUp(now: now)
        }
        go()
    }

    // MARK: Work

    private func go() {
        if lock.withLock({ worker.start() }) { goOn() }
    }

    func goOn() {
        while let action = nextAction() {
            if case .leave = action { return goOnInBackground() }
            // Write all collected journal entries in one go before any action that may take long.
            if case .note = action {} else { lock.withLock { writer }?.flush() }
            act(action)
        }
        lock.withLock { writer }?.flush()
    }

    /// Stops requesting rows.
    private func lockedGiveUpInput() {
        news.inputIsUnread()
        isUpstreamWanted = false
        machine.upstreamEnded(hasFailed: false)
    }

    private enum Action {
        case call(SessionExchange<BatchOperation.CompletedCall>, () -> BatchOperation.Call)
        case note(Int, BatchStateMachine.Note)
        case ask(any Subscription, Int, isRest: Bool)
        case publish(DataAPI.BatchRow, Downstream)
        case setAlarm(NIODeadline?)
        case end(Subscribers.Completion<FMRest.APIError>)
        /// Go on in the background.
        case leave
        case nothing
    }

    private func nextAction() -> Action? {
        lock.withLock {
            guard let downstream else {
                worker.stop()
                return nil
            }
            if worker.leaves() { return .leave }
            switch machine.next() {
            case .start(let index, let work):
                return lockedCall(index, work)
            case .note(let index, let note):
                return .note(index, note)
            case .ask(let count):
                if let upstream { return .ask(upstream, count, isRest: machine.isSkipping) }
                heldDemand += count
                // The batch is ending: rows that are not there yet are not awaited.
                if machine.isSkipping { lockedGiveUpInput() }
            case .publish(let index, let outcome):
                return .publish(lockedRow(index, outcome), downstream)
            case .stop(by: .row(let index)):
                failure = rows[index]?.memory.error
            case .stop(by: .journal):
                break
            case .setAlarm(let instant):
                return .setAlarm(instant)
            case .end(let end):
                return .end(end == .finished ? .finished : .failure(failure ?? .noAnswer))
            case .rest:
                worker.stop()
                return nil
            }
            return .nothing
        }
    }

    private func act(_ action: Action) {
        switch action {
        case .call(let exchange, let call):
            exchange.start(call())
        case .note(let index, let note):
            self.note(index, note)
        case .ask(let upstream, let count, let isRest):
            upstream.request(.max(count))
            if isRest { giveUpInputThatWaits() }
        case .publish(let row, let downstream):
            let more = downstream.receive(row)
            if more > .none { lock.withLock { machine.requested(more) } }
        case .setAlarm(let instant):
            setAlarm(instant)
        case .end(let completion):
            let remains = letGo(isCancelled: false)
            remains.cancel()
            guard let writer = remains.writer else {
                remains.downstream?.receive(completion: completion)
                return
            }
            let time = time
            // A subscriber that receives the completion may open the journal again.
            let tell = Crossing { remains.downstream?.receive(completion: completion) }
            writer.close { _ = time.schedule(time.now()) { tell.value() } }
        case .leave, .nothing:
            break
        }
    }

    /// When the batch is ending, rows that do not arrive as soon as they are requested are not awaited.
    private func giveUpInputThatWaits() {
        let upstream: (any Subscription)? = lock.withLock {
            guard machine.isSkipping, machine.askedCount > 0, let upstream = self.upstream else { return nil }
            lockedGiveUpInput()
            self.upstream = nil
            return upstream
        }
        upstream?.cancel()
    }

    private func lockedCall(_ index: Int, _ work: BatchStateMachine.Work) -> Action {
        guard let row = rows[index], let operation = row.operation else { return .nothing }
        let batch: any BatchCaller = self
        let exchange = SessionExchange<BatchOperation.CompletedCall> { result in batch.answered(index, result) }
        rows[index]?.call = exchange
        let isSettling = machine.rows[index]?.mayBeExecuted == true
        return .call(exchange) {
            switch work {
            case .write(let found): operation.write(found)
            case .lookUp: operation.lookUp(isSettling)
            }
        }
    }

    private func lockedRow(_ index: Int, _ outcome: BatchStateMachine.Outcome) -> DataAPI.BatchRow {
        guard let row = rows.removeValue(forKey: index) else { return DataAPI.BatchRow(index: index, result: .skipped) }
        return DataAPI.BatchRow(
            index: index,
            key: row.memory.known?.key ?? row.operation?.key,
            result: DataAPI.WriteResult(outcome, of: row.memory),
            isFromJournal: row.memory.known != nil
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

    /// What is released at the end; it is cancelled outside the lock.
    private struct ReleasedObjects {
        let downstream: Downstream?
        let upstream: (any Subscription)?
        let source: ((OpenJournal?) -> Upstream)?
        let rows: [Int: HeldRow]
        let callOffAlarm: (@Sendable () -> Void)?
        let writer: JournalWriter?
        /// For a cancelled run, the attempts that are noted and were not sent; else `nil`.
        let unsent: [Int]?

        func cancel() {
            if let unsent, let writer {
                for index in unsent { writer.note(.withdrawn(row: index)) }
                writer.close()
            }
            upstream?.cancel()
            callOffAlarm?()
            for row in rows.values { row.call?.cancel() }
        }
    }

    private func letGo(isCancelled: Bool) -> ReleasedObjects {
        lock.withLock {
            // A journal that is still being read is closed by `opened(_:)`.
            let openWriter = earlier == nil ? nil : writer
            defer {
                downstream = nil
                upstream = nil
                isUpstreamWanted = false
                source = nil
                rows = [:]
                callOffAlarm = nil
                if openWriter != nil { writer = nil }
                earlier = nil
                lastRows = nil
                rowsOfKeys = nil
                ownKeys = [:]
            }
            return ReleasedObjects(
                downstream: downstream,
                upstream: upstream,
                source: source,
                rows: rows,
                callOffAlarm: callOffAlarm,
                writer: openWriter,
                unsent: isCancelled ? machine.unsentAttempts : nil
            )
        }
    }
}

/// The interface of a batch, whatever its rows are, for calls, alarms and the journal. They keep the batch alive until
/// it is over.
private protocol BatchCaller: AnyObject, Sendable {
    /// A call has ended; `nil` without an answer.
    func answered(_ index: Int, _ result: Result<BatchOperation.CompletedCall, FMRest.APIError>?)
    /// The alarm went off.
    func wakeUp()
    /// The journal is open, or cannot be used.
    func opened(_ result: Result<EarlierRuns, FMRest.APIError>)
    /// The attempt of a row is on the disk, or could not be written.
    func noted(_ index: Int, _ result: Result<Void, FMRest.APIError>)
}

extension BatchStateMachine.Note {
    fileprivate var isAttempt: Bool { if case .attempt = self { true } else { false } }
}
