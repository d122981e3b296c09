import FMDataCore
import NIOCore
import OpenCombine

// The states of a row:
//
//     received ──► queued ──► ready(work) ──► running(work) ──► done(outcome) ──► published
//             (its serial key   ▲    ▲             │
//               is in use)      │    └── at once ──┤ the answer decides what comes next
//                               └── waiting ◄──────┘
//
// `work` is the write or a lookup of what the server has. An upsert begins with a lookup, and a lookup settles a write
// whose outcome is unknown. BatchStateMachine+Policies.swift says what follows an error,
// BatchStateMachine+Settling.swift what follows a lookup.
//
// With a journal, a write goes from ready(work) through noting(work), while its attempt is being written to the disk,
// and noted(work), when it is there, to running(work). As many attempts are noted ahead as there may be calls, so that
// no call waits for the disk.

/// Decides how the rows of a batch are written: events in, actions out, without publisher, lock, clock or randomness.
/// ``BatchSubscription`` is the shell around it, and holds rows, errors and calls by the row's index.
///
/// Rows are requested as results are demanded: at any time at most `concurrency` plus the demand (`window` at most)
/// have been received and not published. As many calls run at once as the current ``limit`` allows. It starts at
/// `concurrency`, is halved when the host is full or too slow, and grows by one for every `limit` calls that are
/// served. Rows of one serial key run one after the other; all others may overtake each other. A row that waits for a
/// retry keeps its serial key but occupies no call.
struct BatchStateMachine {
    struct Settings: Equatable {
        /// The maximum number of calls at once.
        var concurrency = 1
        /// How many rows may be in progress beyond `concurrency`, even if the demand is higher.
        var window = 256
        var order = DataAPI.BatchOptions.Order.completion
        /// When this many rows have not succeeded, no further row begins; `nil` for no limit.
        var failureLimit: Int?
        /// How long a row is retried, counted from its first error.
        var retryTimeout = TimeAmount.seconds(30)
        /// How long the host may be working on a write whose answer was lost: what is not there after that has not been
        /// carried out.
        var settlingTime = TimeAmount.seconds(30)
        /// Whether edits without a modId whose answer was lost are sent again.
        var repeatsUnguardedEdits = false
        /// Whether there is a journal.
        var isJournalled = false
        /// When everything has to be over; `nil` for no limit. Work that would have to go on after it is given up.
        var deadline: NIODeadline?
    }

    private(set) var settings: Settings
    /// How many calls may run now.
    private(set) var limit: Int

    var rows: [Int: Row] = [:]
    /// The indices of `rows` in the order in which they were received.
    private var sequence = CircularBuffer<Int>()
    /// Rows that have begun and go on as soon as a call is free.
    private var ready = CircularBuffer<Int>()
    /// Rows that may begin and have not.
    private var fresh = CircularBuffer<Int>()
    /// Rows with an outcome, in the order in which they got it; unused when results are published in the order of the
    /// input.
    private var done = CircularBuffer<Int>()
    /// Writes to be noted before they go on; unused without a journal.
    private var unnoted = CircularBuffer<Int>()
    /// Writes whose attempt is on the disk.
    private var noted = CircularBuffer<Int>()
    /// How many attempts are on their way to the disk.
    private var notingCount = 0
    /// Further entries for the journal.
    private var notes = CircularBuffer<(index: Int, note: Note)>()
    /// For each serial key in use, the rows that wait for it.
    private var serialKeys: [SerialKey: CircularBuffer<Int>] = [:]
    private(set) var runningCount = 0
    private var receivedCount = 0
    /// How many of the first three rows failed because a field is not on the layout.
    private var missingFieldCount = 0
    private var unsuccessfulCount = 0

    private var hasUpstreamEnded = false
    private var demand = Subscribers.Demand.none
    /// Rows that were requested and have not been received.
    private(set) var askedCount = 0

    private(set) var mode = Mode.open
    /// What stopped the batch, until the shell has been given the action.
    private var stopper: StopCause?
    /// The time for which the alarm is set.
    private var alarm: NIODeadline?
    /// Counts the halvings of `limit`: a call that began before the last one does not cause another.
    private var halvingCount = 0
    /// Calls served since `limit` last changed.
    private var credit = 0

    init(settings: Settings) {
        self.settings = settings
        limit = max(1, settings.concurrency)
    }
}

// MARK: - Types

extension BatchStateMachine {
    /// What a row is to do.
    struct RowTask: Equatable {
        enum Kind: Equatable {
            /// - Parameter hasKey: whether the record can be looked up by a key of its own.
            case create(hasKey: Bool)
            /// - Parameter base: the modId that the edit is based on, if there is one.
            case edit(base: Int?)
            case delete
            case upsert
            /// The row cannot be sent.
            case unusable
        }

        var kind: Kind
        var serialKey: SerialKey?
        /// An attempt that an earlier run has noted without an outcome: it may have been carried out.
        var attempt: OpenAttempt?

        /// Whether nothing can be looked up by which its write could be told from no write.
        var leavesNoTrace: Bool { kind == .create(hasKey: false) || kind == .edit(base: nil) }

        /// Whether the write would overwrite what other clients have written to its record meanwhile.
        var overwrites: Bool {
            switch kind {
            case .edit(let base): base == nil
            case .delete, .upsert: true
            case .create, .unusable: false
            }
        }
    }

    /// An attempt whose outcome is unknown.
    struct OpenAttempt: Equatable {
        /// For an upsert, the version it was written over; `nil` for a new record.
        var over: WrittenVersion?
        /// When the host can no longer be working on it.
        var isOverAt: NIODeadline
        /// Why its outcome cannot be determined, if that is known beforehand.
        var doubt: WriteOutcome.Doubt?
        /// Whether the journal has it; `false` for a row that an earlier run may have sent, because the journal may
        /// have lost lines.
        var isNoted = true
    }

    /// A serial key: writes with the same one do not run at the same time.
    enum SerialKey: Hashable {
        case record(Int)
        case key(String)
    }

    /// The work of one call.
    enum Work: Equatable {
        /// - Parameter over: for an upsert, the record to edit; `nil` creates one.
        case write(over: WrittenVersion?)
        /// Reads what the server has, by key or by id.
        case lookUp
    }

    /// The result of a lookup.
    struct LookupResult: Equatable {
        /// What it says about a write whose answer was lost.
        var outcome: WriteOutcome
        /// The record in question, or the one that an upsert is to edit.
        var record: WrittenVersion?
        /// Whether several records have the key of an upsert.
        var isAmbiguous = false
        /// Records that were found and do not have exactly the key.
        var others = OtherMatches.none

        static let nothing = LookupResult(outcome: .notSeen)
    }

    /// The result of a call.
    enum CallResult: Equatable {
        case created(recordId: Int, modId: Int?)
        case edited(recordId: Int?, modId: Int)
        case deleted
        case found(LookupResult)
        case trouble(BatchTrouble)
    }

    /// The outcome of a row.
    enum Outcome: Equatable {
        case created(recordId: Int, modId: Int?)
        case edited(recordId: Int?, modId: Int)
        case deleted(wasThere: Bool?)
        case failed(Failure)
        case unknown(WriteOutcome.Doubt?)
        case skipped
        /// The outcome is in the journal.
        case known
    }

    /// Which error a failed row gets.
    enum Failure: Equatable {
        /// The last error of the server or the connection.
        case lastError
        /// Several records have the key.
        case ambiguousKey
        /// A record that was found by the key has it in another spelling.
        case keySpelledOtherwise
        /// A record that was found by the key has it in another form.
        case keyInOtherForm
        /// The retry timeout ended before a retry whose last answer was no temporary error, such as 101 or 306 of an
        /// upsert. The last error is reported; another run may succeed.
        case retryTimedOut
        /// The answers were lost, and it is certain that the write has not been carried out.
        case neverArrived
    }

    /// A journal entry of a row.
    enum Note: Equatable {
        /// The row is about to be written; it goes on when ``noted(_:)`` says that the entry is on the disk.
        case attempt(over: WrittenVersion?)
        /// The attempt was not carried out, and will not be.
        case withdrawn
        case outcome(Outcome)
    }

    /// What stopped a batch.
    enum StopCause: Equatable {
        /// The row whose error the batch fails with.
        case row(Int)
        case journal
    }

    /// The next thing for the shell to do.
    enum Action: Equatable {
        case start(Int, Work)
        /// Request this many more rows.
        case ask(Int)
        case publish(Int, Outcome)
        case note(Int, Note)
        /// Keep the error that the batch will end with; rows still received are skipped.
        case stop(by: StopCause)
        /// Replace the alarm that was set before; `nil` cancels it.
        case setAlarm(NIODeadline?)
        /// End the batch: the last action.
        case end(End)
        case rest
    }

    enum End: Equatable {
        case finished
        /// The batch fails with the error of the publisher of its rows.
        case upstreamFailed
        /// The batch fails with the error that stopped it: of a row or of the journal.
        case stopped
    }

    enum Mode: Equatable {
        /// Rows are received. → drained, closing, stopped
        case open
        /// There are no more rows; those received run to their end. → closing, stopped, over
        case drained(End)
        /// Too many rows have failed: those that have begun run to their end, the rest is skipped. → stopped, over
        case closing
        /// No row can succeed any more: running calls are awaited, nothing begins. → over
        case stopped
        case over
    }

    struct Row: Equatable {
        let task: RowTask
        /// How many rows were received before this one.
        let ordinal: Int
        fileprivate(set) var phase: Phase
        /// Whether a write of the row may have been carried out without an answer.
        var mayBeExecuted: Bool
        /// When the host can no longer be working on that write.
        var isOverAt: NIODeadline?
        /// How many answers to the row's writes were lost.
        var lostAnswers = 0
        /// When the first of them was.
        fileprivate var lostSince: NIODeadline?
        /// The row's journal entry that has no outcome yet.
        fileprivate var openNote: Note?
        /// For an upsert, the version that the write of unknown outcome was over; `nil` for a new record.
        var writtenOver: WrittenVersion?
        /// The server refused the write because such a record already exists (504).
        var isRefusedAsDouble = false
        /// Whether a lookup has failed, and none has succeeded since.
        var lookupHasFailed = false
        /// Whether the last call failed with a temporary error.
        fileprivate var meetsWhatPasses = false
        /// How many lookups in succession have found nothing.
        var misses = 0
        fileprivate var hasBegun = false
        fileprivate var troubleSince: NIODeadline?
        fileprivate var backOff = BackOff(minimum: .milliseconds(200), maximum: .seconds(5))
        /// The machine's `halvingCount` when the row's call began.
        fileprivate var halvingCount = 0

        /// Whether a write may have been carried out before the last one that was answered.
        var hasLostAnswers: Bool { lostAnswers > 0 || task.attempt != nil }

        fileprivate init(_ task: RowTask, ordinal: Int, phase: Phase) {
            self.task = task
            self.ordinal = ordinal
            self.phase = phase
            mayBeExecuted = task.attempt != nil
            isOverAt = task.attempt?.isOverAt
            writtenOver = task.attempt?.over
            openNote = task.attempt.flatMap { $0.isNoted ? .attempt(over: $0.over) : nil }
        }

        /// Whether the only write that may have been carried out is one of which the journal has no line.
        var isInDoubtByLossOnly: Bool { lostAnswers == 0 && task.attempt?.isNoted == false }

        /// The first call of the row; `nil` when nothing can be done.
        fileprivate var firstWork: Work? {
            if task.attempt?.doubt != nil { return nil }
            return switch task.kind {
            case .upsert: .lookUp
            case .create(let hasKey): mayBeExecuted ? (hasKey ? .lookUp : nil) : .write(over: nil)
            case .edit: mayBeExecuted ? .lookUp : .write(over: nil)
            case .delete: .write(over: nil)
            case .unusable: nil
            }
        }
    }

    enum Phase: Equatable {
        /// Another row uses its serial key.
        case queued
        case ready(Work)
        /// The attempt is being written to the journal.
        case noting(Work)
        case noted(Work)
        case running(Work)
        case waiting(Work, until: NIODeadline)
        case done(Outcome)
    }

    /// What follows an answer.
    enum NextStep: Equatable {
        case finish(Outcome)
        /// Makes the next call at once.
        case goOn(Work)
        /// Looks the row up again once the host can no longer be working on the write.
        case lookUpAgain
        /// Sends a write again whose answer was lost, and which has not arrived.
        case sendAgain
        /// Makes the call after a growing pause, until the retry timeout.
        case retry(Work)
        /// Ends the row with what is known.
        case giveUp
    }
}

// MARK: - Events

extension BatchStateMachine {
    mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
    }

    /// - Parameter index: greater than all before.
    mutating func received(_ index: Int, _ task: RowTask) {
        guard mode != .over else { return }
        askedCount = max(0, askedCount - 1)
        var row = Row(task, ordinal: receivedCount, phase: .queued)
        receivedCount += 1
        sequence.append(index)
        guard let work = row.firstWork, !isSkipping else {
            rows[index] = row
            // A row that cannot be sent fails. A row that cannot be settled stays unknown.
            return finish(index, isSkipping ? row.outcomeUnbegun : row.outcomeAsItIs)
        }
        if let serialKey = task.serialKey {
            if serialKeys[serialKey] != nil {
                serialKeys[serialKey]?.append(index)
                rows[index] = row
                return
            }
            serialKeys[serialKey] = CircularBuffer()
        }
        row.phase = .ready(work)
        rows[index] = row
        fresh.append(index)
    }

    /// Receives a row whose outcome is in the journal.
    mutating func receivedKnown(_ index: Int) {
        guard mode != .over else { return }
        askedCount = max(0, askedCount - 1)
        sequence.append(index)
        rows[index] = Row(RowTask(kind: .unusable), ordinal: .max, phase: .queued)
        finish(index, .known)
    }

    /// There are no more rows, or the remaining ones are not awaited.
    mutating func upstreamEnded(hasFailed: Bool) {
        hasUpstreamEnded = true
        if mode == .open { mode = .drained(hasFailed ? .upstreamFailed : .finished) }
    }

    /// The attempt of a row is on the disk.
    mutating func noted(_ index: Int) {
        notingCount = max(0, notingCount - 1)
        guard case .noting(let work) = rows[index]?.phase else { return }
        rows[index]?.phase = .noted(work)
        noted.append(index)
    }

    /// The journal cannot be written any more: nothing is sent without it.
    mutating func journalFailed() {
        guard settings.isJournalled else { return }
        settings.isJournalled = false
        notes.removeAll()
        notingCount = 0
        if mode != .stopped { stop(by: .journal) }
    }

    /// - Parameter jitter: a random number from `0...1`.
    mutating func answered(_ index: Int, _ answer: CallResult, jitter: Double, now: NIODeadline) {
        guard let row = rows[index], case .running(let work) = row.phase else { return }
        runningCount -= 1
        if case .trouble(let trouble) = answer {
            rows[index]?.meetsWhatPasses = trouble.mayPass
            if trouble.asksForLess { slowDown(after: row) }
            if trouble == .fieldMissing, row.ordinal < 3 { missingFieldCount += 1 }
            let nextStep = rows[index]?.nextStep(after: trouble, of: work) ?? .giveUp
            if case .outcomeUnknown = trouble, case .write = work {
                rows[index]?.isOverAt = now + settings.settlingTime
                rows[index]?.lostSince = row.lostSince ?? now
            }
            carryOut(nextStep, index, jitter: jitter, now: now)
            if trouble == .hopeless || missingFieldCount == 3, mode != .stopped { stop(by: .row(index)) }
        } else {
            rows[index]?.meetsWhatPasses = false
            speedUp()
            let nextStep =
                rows[index]?.nextStep(after: answer, repeatsUnguarded: settings.repeatsUnguardedEdits) ?? .giveUp
            carryOut(nextStep, index, jitter: jitter, now: now)
        }
    }

    /// The alarm went off.
    mutating func wakeUp(now: NIODeadline) {
        alarm = nil
        for index in sequence {
            guard case .waiting(let work, let until) = rows[index]?.phase, until <= now else { continue }
            goOn(index, with: work)
        }
    }
}

extension BatchStateMachine {
    /// Rows whose attempt is noted, or being noted, and was not sent.
    var unsentAttempts: [Int] {
        sequence.filter { index in
            guard let row = rows[index], !row.mayBeExecuted else { return false }
            switch row.phase {
            case .noting, .noted: return true
            case .queued, .ready, .running, .waiting, .done: return false
            }
        }
    }
}

// MARK: - Actions

extension BatchStateMachine {
    /// Returns the next action. It is called until it returns ``Action/rest``.
    mutating func next() -> Action {
        guard mode != .over else { return .rest }
        if let stopper {
            self.stopper = nil
            return .stop(by: stopper)
        }
        if let note = notes.popFirst() { return .note(note.index, note.note) }
        if let action = noteAction() ?? startAction() ?? askAction() ?? publishAction() { return action }
        let earliest = rows.values.compactMap(\.waitsUntil).min()
        if earliest != alarm {
            alarm = earliest
            return .setAlarm(earliest)
        }
        guard rows.isEmpty, notingCount == 0, let end else { return .rest }
        mode = .over
        return .end(end)
    }

    /// Takes the next attempt to note, of rows that have begun first. At most `limit` attempts are noted ahead of their
    /// calls, but only one of a row that stays unknown if the program is killed: it is noted when as many calls run,
    /// or are about to, as may run.
    private mutating func noteAction() -> Action? {
        guard settings.isJournalled, let index = unnoted.first ?? fresh.first, let row = rows[index],
            case .ready(.write(let over)) = row.phase, row.isToBeNoted,
            noted.count + notingCount < (row.task.leavesNoTrace ? limit + 1 - runningCount : limit),
            // Of one call at a time, one attempt: the journal may answer two in another order.
            limit > 1 || notingCount == 0
        else { return nil }
        if unnoted.popFirst() == nil { fresh.removeFirst() }
        let note = Note.attempt(over: over)
        rows[index]?.phase = .noting(.write(over: over))
        rows[index]?.openNote = note
        notingCount += 1
        return .note(index, note)
    }

    private mutating func startAction() -> Action? {
        guard runningCount < limit, let index = ready.popFirst() ?? noted.popFirst() ?? nextFresh(),
            let work = rows[index]?.workAtHand
        else { return nil }
        runningCount += 1
        rows[index]?.phase = .running(work)
        rows[index]?.hasBegun = true
        rows[index]?.halvingCount = halvingCount
        return .start(index, work)
    }

    private mutating func nextFresh() -> Int? {
        guard let first = fresh.first, !settings.isJournalled || rows[first]?.isToBeNoted == false else { return nil }
        return fresh.popFirst()
    }

    private mutating func askAction() -> Action? {
        guard !hasUpstreamEnded, demand > .none else { return nil }
        let ahead = min(settings.window, demand.max ?? settings.window)
        let wanted = max(1, settings.concurrency) + ahead - rows.count - askedCount
        guard wanted > 0 else { return nil }
        askedCount += wanted
        return .ask(wanted)
    }

    private mutating func publishAction() -> Action? {
        guard demand > .none else { return nil }
        let index: Int
        switch settings.order {
        case .completion:
            guard let first = done.popFirst() else { return nil }
            index = first
            if let place = sequence.firstIndex(of: index) { sequence.remove(at: place) }
        case .input:
            guard let first = sequence.first, case .done = rows[first]?.phase else { return nil }
            index = sequence.removeFirst()
        }
        guard case .done(let outcome) = rows.removeValue(forKey: index)?.phase else { return nil }
        demand -= 1
        return .publish(index, outcome)
    }

    private var end: End? {
        switch mode {
        case .open, .over: nil
        case .drained(let end): end
        // Rows still received are published as skipped.
        case .closing, .stopped: hasUpstreamEnded ? .stopped : nil
        }
    }
}

// MARK: - Progress of rows

extension BatchStateMachine {
    /// Whether rows that have not begun are skipped.
    var isSkipping: Bool { mode == .closing || mode == .stopped }

    private mutating func carryOut(_ nextStep: NextStep, _ index: Int, jitter: Double, now: NIODeadline) {
        switch nextStep {
        case .finish(let outcome):
            finish(index, outcome)
        case .giveUp:
            finish(index, rows[index]?.outcomeAsItIs ?? .unknown(nil))
        case .goOn, .lookUpAgain, .sendAgain, .retry:
            if mode == .stopped {
                finish(index, rows[index]?.outcomeOfStop ?? .unknown(nil))
            } else {
                goOn(nextStep, index, jitter: jitter, now: now)
            }
        }
    }

    private mutating func goOn(_ nextStep: NextStep, _ index: Int, jitter: Double, now: NIODeadline) {
        switch nextStep {
        case .goOn(let work):
            withdrawIfRefused(index)
            goOn(index, with: work)
        case .lookUpAgain:
            let isOverAt = max(now, rows[index]?.isOverAt ?? now)
            if let deadline = settings.deadline, deadline <= isOverAt { return finish(index, .unknown(.outOfTime)) }
            rows[index]?.phase = .waiting(.lookUp, until: isOverAt)
        case .sendAgain:
            sendAgain(index, jitter: jitter, now: now)
        case .retry(let work):
            withdrawIfRefused(index)
            guard var row = rows[index] else { return }
            let since = row.troubleSince ?? now
            let retryEnd = min(since + settings.retryTimeout, settings.deadline ?? .distantFuture)
            row.troubleSince = since
            // The last retry is at the very end of the retry timeout, so that the row uses all of it.
            row.phase = .waiting(work, until: min(now + row.backOff.next(jitter: jitter), retryEnd))
            rows[index] = row
            if now >= retryEnd { finish(index, row.outcomeWithoutPatience) }
        case .finish, .giveUp:
            break
        }
    }

    /// Sends a write again whose answers were lost, and which has not arrived: until the retry timeout, and three times
    /// in any case, since the settling time alone can be as long as that.
    private mutating func sendAgain(_ index: Int, jitter: Double, now: NIODeadline) {
        withdrawIfRefused(index)
        guard var row = rows[index] else { return }
        guard row.lostAnswers >= 3 else { return goOn(index, with: .write(over: nil)) }
        let end = min((row.lostSince ?? now) + settings.retryTimeout, settings.deadline ?? .distantFuture)
        guard now < end else { return finish(index, .failed(.neverArrived)) }
        row.phase = .waiting(.write(over: nil), until: min(now + row.backOff.next(jitter: jitter), end))
        rows[index] = row
    }

    private mutating func goOn(_ index: Int, with work: Work) {
        rows[index]?.phase = .ready(work)
        if settings.isJournalled, rows[index]?.isToBeNoted == true {
            unnoted.append(index)
        } else {
            ready.append(index)
        }
    }

    /// A write that the server has refused temporarily need not be looked up by a later run.
    private mutating func withdrawIfRefused(_ index: Int) {
        guard let row = rows[index], row.openNote != nil, !row.mayBeExecuted else { return }
        rows[index]?.openNote = nil
        if settings.isJournalled { notes.append((index, .withdrawn)) }
    }

    private mutating func finish(_ index: Int, _ outcome: Outcome) {
        guard let row = rows[index] else { return }
        rows[index]?.phase = .done(outcome)
        if settings.isJournalled, let note = row.note(of: outcome) { notes.append((index, note)) }
        if settings.order == .completion { done.append(index) }
        if row.phase != .queued, let serialKey = row.task.serialKey { leave(serialKey) }
        guard outcome.isUnsuccessful else { return }
        unsuccessfulCount += 1
        if let failureLimit = settings.failureLimit, unsuccessfulCount >= failureLimit, !isSkipping {
            mode = .closing
            stopper = .row(index)
            skipUnbegun()
        }
    }

    /// Lets the next row of a serial key begin.
    private mutating func leave(_ serialKey: SerialKey) {
        guard let next = serialKeys[serialKey]?.popFirst() else {
            serialKeys[serialKey] = nil
            return
        }
        guard let work = rows[next]?.firstWork else { return }
        rows[next]?.phase = .ready(work)
        fresh.append(next)
    }

    /// Ends everything: no row can succeed any more.
    private mutating func stop(by stopper: StopCause) {
        // When closing, the batch fails with the error of the row that reached the failure limit.
        if mode != .closing { self.stopper = stopper }
        mode = .stopped
        skipUnbegun()
        for index in sequence {
            switch rows[index]?.phase {
            case .ready, .noting, .noted, .waiting: finish(index, rows[index]?.outcomeOfStop ?? .unknown(nil))
            case .queued, .running, .done, nil: break
            }
        }
        ready.removeAll()
        unnoted.removeAll()
        noted.removeAll()
    }

    private mutating func skipUnbegun() {
        fresh.removeAll()
        noted = CircularBuffer(noted.filter { rows[$0]?.hasBegun == true })
        serialKeys = serialKeys.mapValues { _ in CircularBuffer() }
        for index in sequence {
            guard let row = rows[index], !row.hasBegun else { continue }
            if case .done = row.phase { continue }
            finish(index, row.outcomeUnbegun)
        }
    }

    private mutating func slowDown(after row: Row) {
        guard row.halvingCount == halvingCount else { return }
        halvingCount += 1
        credit = 0
        limit = max(1, limit / 2)
    }

    private mutating func speedUp() {
        credit += 1
        guard credit >= limit, limit < settings.concurrency else { return }
        credit = 0
        limit += 1
    }
}

extension BatchStateMachine.Row {
    /// The outcome if nothing more is done for the row.
    fileprivate var outcomeAsItIs: BatchStateMachine.Outcome {
        mayBeExecuted ? outcomeInDoubt : .failed(.lastError)
    }

    private var outcomeInDoubt: BatchStateMachine.Outcome {
        .unknown(lookupHasFailed ? .unreadable : task.attempt?.doubt)
    }

    /// The outcome when everything is stopped and the row would have gone on: a temporary error is reported, otherwise
    /// the row is skipped.
    fileprivate var outcomeOfStop: BatchStateMachine.Outcome {
        if mayBeExecuted, !isInDoubtByLossOnly { return outcomeInDoubt }
        return meetsWhatPasses ? .failed(.lastError) : .skipped
    }

    /// The outcome when the row would have been retried: a failure that another run may turn into success.
    fileprivate var outcomeWithoutPatience: BatchStateMachine.Outcome {
        if mayBeExecuted { return outcomeInDoubt }
        return .failed(meetsWhatPasses ? .lastError : .retryTimedOut)
    }

    /// The outcome of a row that has not begun when everything ends.
    fileprivate var outcomeUnbegun: BatchStateMachine.Outcome {
        mayBeExecuted && !isInDoubtByLossOnly ? .unknown(task.attempt?.doubt) : .skipped
    }

    /// Whether the attempt has to be noted before the row goes on.
    fileprivate var isToBeNoted: Bool {
        guard case .ready(.write(let over)) = phase else { return false }
        return openNote != BatchStateMachine.Note.attempt(over: over)
    }

    /// The call that the row is ready to make.
    fileprivate var workAtHand: BatchStateMachine.Work? {
        switch phase {
        case .ready(let work), .noted(let work): work
        case .queued, .noting, .running, .waiting, .done: nil
        }
    }

    /// The journal entry of the row's outcome. A row whose outcome is unknown stays open in the journal, and a row that
    /// could not be sent has no entry.
    fileprivate func note(of outcome: BatchStateMachine.Outcome) -> BatchStateMachine.Note? {
        guard task.kind != .unusable else { return nil }
        switch outcome {
        case .skipped, .failed(.retryTimedOut): return openNote == nil ? nil : .withdrawn
        case .created, .edited, .deleted, .failed: return .outcome(outcome)
        case .unknown, .known: return nil
        }
    }

    fileprivate var waitsUntil: NIODeadline? {
        if case .waiting(_, let until) = phase { until } else { nil }
    }
}

extension BatchStateMachine.Outcome {
    /// Whether the outcome counts towards the failure limit.
    fileprivate var isUnsuccessful: Bool {
        switch self {
        case .failed, .unknown: true
        case .created, .edited, .deleted, .skipped, .known: false
        }
    }
}
