import NIOCore
import OpenCombine

// The way of a row:
//
//     received ──► queued ──► ready(work) ──► running(work) ──► done(outcome) ──► published
//                (its lane     ▲    ▲             │
//                 is taken)    │    └── at once ──┤ the answer says what comes next
//                              └── waiting ◄──────┘
//
// `work` is the write, or a look at what the server has: an upsert begins with one, and a write whose outcome nobody knows is
// settled by one. What comes next after which answer is in BatchStateMachine+Policies.swift (what went wrong) and
// BatchStateMachine+Settling.swift (what a look has found).
//
// With a journal a write goes from ready(work) over noting(work), while its attempt is on its way to the disk, and
// noted(work), when it is there, to running(work). As many as there are calls are noted ahead, so that no call waits
// for the disk.

/// What decides how the rows of a batch are written: events in, steps out, no publisher, lock, clock or dice. The shell around
/// it is ``BatchSubscription``, which knows rows, errors and calls by the row's index.
///
/// Rows are asked for as far as results are: at any time at most `concurrency` plus what is demanded (`window` at most) have
/// been received and not published. As many calls as the present ``limit`` allows run at once: it begins at `concurrency`, is
/// halved when the host is full or too slow, and grows by one for every `limit` calls that it serves. Rows of one lane follow
/// each other; all others overtake as they like. A row that waits for a lock to go holds its lane and no place among the calls.
struct BatchStateMachine {
    struct Settings: Equatable {
        /// The most calls at once.
        var concurrency = 1
        /// How many rows may be under way beyond them, however much is demanded.
        var window = 256
        var order = DataAPI.BatchOptions.Order.completion
        /// With so many rows that did not succeed no further one is begun; `nil` for never.
        var failureLimit: Int?
        /// How long a row is tried again from its first trouble on.
        var patience = TimeAmount.seconds(30)
        /// How long the host may be at work on a write whose answer was lost: what is not there then has not been
        /// carried out.
        var settlingTime = TimeAmount.seconds(30)
        /// Whether edits without a modId whose answer was lost are sent again.
        var repeatsUnguardedEdits = false
        /// Whether there is a journal.
        var isJournalled = false
        /// When all must be over; `nil` for any time. What would have to go on after that is given up.
        var deadline: NIODeadline?
    }

    private(set) var settings: Settings
    /// How many calls may run at the moment.
    private(set) var limit: Int

    var rows: [Int: Row] = [:]
    /// Those rows in the order in which they came.
    private var sequence = CircularBuffer<Int>()
    /// Rows that have begun and go on as soon as there is room.
    private var ready = CircularBuffer<Int>()
    /// Rows that have not begun, but may.
    private var fresh = CircularBuffer<Int>()
    /// Rows with an outcome, in the order in which they got it; unused when they are published in that of the input.
    private var done = CircularBuffer<Int>()
    /// Writes that are to be noted before they go on; unused without a journal.
    private var unnoted = CircularBuffer<Int>()
    /// Writes whose attempt is on the disk.
    private var noted = CircularBuffer<Int>()
    /// How many are on their way there.
    private var notingCount = 0
    /// What else the journal is to be told.
    private var notes = CircularBuffer<(index: Int, note: Note)>()
    /// For each lane in use who waits for it.
    private var lanes: [Lane: CircularBuffer<Int>] = [:]
    private(set) var runningCount = 0
    private var receivedCount = 0
    /// Of the first three rows, how many failed since a field is not on the layout.
    private var missingFieldCount = 0
    private var unsuccessfulCount = 0

    private var hasUpstreamEnded = false
    private var demand = Subscribers.Demand.none
    /// Rows that were asked for and have not come.
    private(set) var askedCount = 0

    private(set) var mode = Mode.open
    /// What put an end to it all, until the shell has been told.
    private var stopper: Stopper?
    /// The alarm as it is set.
    private var alarm: NIODeadline?
    /// Counts the halvings: calls that began before the last one do not cause another.
    private var epoch = 0
    /// Calls that were served since the limit last changed.
    private var credit = 0

    init(settings: Settings) {
        self.settings = settings
        limit = max(1, settings.concurrency)
    }
}

// MARK: - Words

extension BatchStateMachine {
    /// What a row is about.
    struct Task: Equatable {
        enum Kind: Equatable {
            /// - Parameter hasKey: whether the record can be looked up by a key of its own.
            case create(hasKey: Bool)
            /// - Parameter base: the modId that the edit was made of, if it was given.
            case edit(base: Int?)
            case delete
            case upsert
            /// It cannot even be sent.
            case unusable
        }

        var kind: Kind
        var lane: Lane?
        /// What an earlier run has noted, and left without an outcome: it may have been carried out.
        var attempt: OpenAttempt?

        /// Whether it would undo what others have written into its record meanwhile.
        var overwrites: Bool {
            switch kind {
            case .edit(let base): base == nil
            case .delete, .upsert: true
            case .create, .unusable: false
            }
        }
    }

    /// An attempt whose outcome is not known.
    struct OpenAttempt: Equatable {
        /// Of an upsert: what it was over; `nil` for a new record.
        var over: WrittenVersion?
        /// When it can no longer be at work.
        var isOverAt: NIODeadline
        /// Why nobody can find out what became of it, where that is known beforehand.
        var doubt: WriteVerdict.Doubt?
    }

    /// What may not happen at the same time.
    enum Lane: Hashable {
        case record(Int)
        case key(String)
    }

    /// A call.
    enum Work: Equatable {
        /// - Parameter found: for an upsert the record to edit; `nil` makes a new one.
        case write(over: WrittenVersion?)
        /// Sees what the server has: by its key, or by its id.
        case lookUp
    }

    /// What a look has seen.
    struct Finding: Equatable {
        /// What it says of a write whose answer was lost.
        var verdict: WriteVerdict
        /// The record that it speaks of, or that an upsert is to edit.
        var record: WrittenVersion?
        /// Whether several records have the key of an upsert.
        var isAmbiguous = false
        /// Records that were found, and do not have exactly the key.
        var others = OtherMatches.none

        static let nothing = Finding(verdict: .notSeen)
    }

    /// How a call ended.
    enum Answer: Equatable {
        case created(recordId: Int, modId: Int?)
        case edited(recordId: Int?, modId: Int)
        case deleted
        case found(Finding)
        case trouble(BatchTrouble)
    }

    /// What became of a row.
    enum Outcome: Equatable {
        case created(recordId: Int, modId: Int?)
        case edited(recordId: Int?, modId: Int)
        case deleted(wasThere: Bool?)
        case failed(Failure)
        case unknown(WriteVerdict.Doubt?)
        case skipped
        /// What the journal says.
        case known
    }

    /// What a failure is told by.
    enum Failure: Equatable {
        /// What the server, or the way to it, said last.
        case lastError
        /// Several records have the key.
        case ambiguousKey
        /// The server says that there is one, and it has the key in another spelling.
        case keySpelledOtherwise
        /// A record that was found by the key has it in another form.
        case keyInOtherForm
        /// What the server said last passes, and there was no patience left.
        case outOfPatience
        /// Its answers were lost, and it is certain that it has not been carried out.
        case neverArrived
    }

    /// What the journal is told of a row.
    enum Note: Equatable {
        /// It is about to be written; it goes on when ``noted(_:)`` says that this is on the disk.
        case attempt(over: WrittenVersion?)
        /// Its attempt was not carried out, and will not be.
        case withdrawn
        case outcome(Outcome)
    }

    /// Who stops a batch.
    enum Stopper: Equatable {
        /// A row, with whose error it ends.
        case row(Int)
        case journal
    }

    /// One thing for the shell to do.
    enum Step: Equatable {
        case start(Int, Work)
        /// More rows.
        case ask(Int)
        case publish(Int, Outcome)
        case note(Int, Note)
        /// What all will end with; rows that still come are skipped.
        case stop(by: Stopper)
        /// Instead of the one that was set before; `nil` calls it off.
        case setAlarm(NIODeadline?)
        /// The last step.
        case end(End)
        case rest
    }

    enum End: Equatable {
        case finished
        /// With what the publisher of the rows failed with.
        case upstreamFailed
        /// With the error of the row that stopped it.
        case stopped
    }

    enum Mode: Equatable {
        /// → drained, closing, stopped
        case open
        /// There are no more rows; all that came go on to their end. → closing, stopped, over
        case drained(End)
        /// Too many rows have failed: what has begun goes on to its end, the rest is skipped. → stopped, over
        case closing
        /// Nothing can succeed any more: what runs is waited for, nothing is begun. → over
        case stopped
        case over
    }

    struct Row: Equatable {
        let task: Task
        /// How many came before it.
        let ordinal: Int
        fileprivate(set) var phase: Phase
        /// Whether a write of it may have been carried out without anybody knowing.
        var mayBeExecuted: Bool
        /// When that write can no longer be at work.
        var isOverAt: NIODeadline?
        /// How many answers to its writes were lost.
        var lostAnswers = 0
        /// What the journal says of it that has no outcome yet.
        fileprivate var openNote: Note?
        /// Of an upsert: what the write whose outcome is unknown was over; `nil` for a new record.
        var writtenOver: WrittenVersion?
        /// The server says that there is such a record already.
        var isRefusedAsDouble = false
        /// Whether a look has failed, and none has succeeded since.
        var lookHasFailed = false
        /// Whether the last call failed of something that passes by itself.
        fileprivate var meetsWhatPasses = false
        /// How many looks in a row have found nothing.
        var misses = 0
        fileprivate var hasBegun = false
        fileprivate var troubleSince: NIODeadline?
        fileprivate var backOff = BackOff(minimum: .milliseconds(200), maximum: .seconds(5))
        /// The machine's when its call began.
        fileprivate var epoch = 0

        /// Whether a write of it may have been carried out before the one that was answered last.
        var hasLostAnswers: Bool { lostAnswers > 0 || task.attempt != nil }

        fileprivate init(_ task: Task, ordinal: Int, phase: Phase) {
            self.task = task
            self.ordinal = ordinal
            self.phase = phase
            mayBeExecuted = task.attempt != nil
            isOverAt = task.attempt?.isOverAt
            writtenOver = task.attempt?.over
            openNote = task.attempt.map { .attempt(over: $0.over) }
        }

        /// What it begins with; `nil` when there is nothing that can be done.
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
        /// Another row has its lane.
        case queued
        case ready(Work)
        /// The journal is being told of it.
        case noting(Work)
        case noted(Work)
        case running(Work)
        case waiting(Work, until: NIODeadline)
        case done(Outcome)
    }

    /// What an answer leads to.
    enum Move: Equatable {
        case finish(Outcome)
        /// With the next call at once.
        case goOn(Work)
        /// When what may be on its way has had time to arrive.
        case lookAgain
        /// After a pause that grows, as long as there is patience.
        case retry(Work)
        /// As it is, it remains.
        case giveUp
    }
}

// MARK: - Events

extension BatchStateMachine {
    mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
    }

    /// - Parameter index: greater than those before.
    mutating func received(_ index: Int, _ task: Task) {
        guard mode != .over else { return }
        askedCount = max(0, askedCount - 1)
        var row = Row(task, ordinal: receivedCount, phase: .queued)
        receivedCount += 1
        sequence.append(index)
        guard let work = row.firstWork, !isSkipping else {
            rows[index] = row
            // One that cannot be sent fails; so does one that nobody can settle, which stays unknown.
            return finish(index, isSkipping ? row.outcomeUnbegun : row.outcomeAsItIs)
        }
        if let lane = task.lane {
            if lanes[lane] != nil {
                lanes[lane]?.append(index)
                rows[index] = row
                return
            }
            lanes[lane] = CircularBuffer()
        }
        row.phase = .ready(work)
        rows[index] = row
        fresh.append(index)
    }

    /// A row came of which the journal says what became of it.
    mutating func receivedKnown(_ index: Int) {
        guard mode != .over else { return }
        askedCount = max(0, askedCount - 1)
        sequence.append(index)
        rows[index] = Row(Task(kind: .unusable), ordinal: .max, phase: .queued)
        finish(index, .known)
    }

    /// There are no more rows, or none that are waited for.
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

    /// - Parameter jitter: drawn from `0...1`.
    mutating func answered(_ index: Int, _ answer: Answer, jitter: Double, now: NIODeadline) {
        guard let row = rows[index], case .running(let work) = row.phase else { return }
        runningCount -= 1
        if case .trouble(let trouble) = answer {
            rows[index]?.meetsWhatPasses = trouble.mayPass
            if trouble.asksForLess { slowDown(after: row) }
            if trouble == .fieldMissing, row.ordinal < 3 { missingFieldCount += 1 }
            let move = rows[index]?.move(after: trouble, of: work) ?? .giveUp
            if case .outcomeUnknown = trouble, case .write = work {
                rows[index]?.isOverAt = now + settings.settlingTime
            }
            carryOut(move, index, jitter: jitter, now: now)
            if trouble == .hopeless || missingFieldCount == 3, mode != .stopped { stop(by: .row(index)) }
        } else {
            rows[index]?.meetsWhatPasses = false
            speedUp()
            let move = rows[index]?.move(after: answer, repeatsUnguarded: settings.repeatsUnguardedEdits) ?? .giveUp
            carryOut(move, index, jitter: jitter, now: now)
        }
    }

    /// The alarm has rung.
    mutating func wakeUp(now: NIODeadline) {
        alarm = nil
        for index in sequence {
            guard case .waiting(let work, let until) = rows[index]?.phase, until <= now else { continue }
            goOn(index, with: work)
        }
    }
}

extension BatchStateMachine {
    /// Rows whose attempt is noted, and that nothing has been sent of.
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

// MARK: - Steps

extension BatchStateMachine {
    /// What to do next. It is asked again and again until it says ``Step/rest``.
    mutating func next() -> Step {
        guard mode != .over else { return .rest }
        if let stopper {
            self.stopper = nil
            return .stop(by: stopper)
        }
        if let note = notes.popFirst() { return .note(note.index, note.note) }
        if let step = noteStep() ?? startStep() ?? askStep() ?? publishStep() { return step }
        let earliest = rows.values.compactMap(\.waitsUntil).min()
        if earliest != alarm {
            alarm = earliest
            return .setAlarm(earliest)
        }
        guard rows.isEmpty, notingCount == 0, let end else { return .rest }
        mode = .over
        return .end(end)
    }

    /// The next attempt to note: of rows that have begun first. As many as there are calls wait ahead of them.
    private mutating func noteStep() -> Step? {
        guard settings.isJournalled, noted.count + notingCount < limit else { return nil }
        var next = unnoted.popFirst()
        if next == nil, let first = fresh.first, rows[first]?.isToBeNoted == true { next = fresh.popFirst() }
        guard let index = next, case .ready(.write(let over)) = rows[index]?.phase else { return nil }
        let note = Note.attempt(over: over)
        rows[index]?.phase = .noting(.write(over: over))
        rows[index]?.openNote = note
        notingCount += 1
        return .note(index, note)
    }

    private mutating func startStep() -> Step? {
        guard runningCount < limit, let index = ready.popFirst() ?? noted.popFirst() ?? nextFresh(),
            let work = rows[index]?.workAtHand
        else { return nil }
        runningCount += 1
        rows[index]?.phase = .running(work)
        rows[index]?.hasBegun = true
        rows[index]?.epoch = epoch
        return .start(index, work)
    }

    private mutating func nextFresh() -> Int? {
        guard let first = fresh.first, !settings.isJournalled || rows[first]?.isToBeNoted == false else { return nil }
        return fresh.popFirst()
    }

    private mutating func askStep() -> Step? {
        guard !hasUpstreamEnded, demand > .none else { return nil }
        let ahead = min(settings.window, demand.max ?? settings.window)
        let wanted = max(1, settings.concurrency) + ahead - rows.count - askedCount
        guard wanted > 0 else { return nil }
        askedCount += wanted
        return .ask(wanted)
    }

    private mutating func publishStep() -> Step? {
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
        // Rows that still come are told as skipped.
        case .closing, .stopped: hasUpstreamEnded ? .stopped : nil
        }
    }
}

// MARK: - Going on

extension BatchStateMachine {
    /// Whether rows that have not begun are not to begin.
    var isSkipping: Bool { mode == .closing || mode == .stopped }

    private mutating func carryOut(_ move: Move, _ index: Int, jitter: Double, now: NIODeadline) {
        switch move {
        case .finish(let outcome):
            finish(index, outcome)
        case .giveUp:
            finish(index, rows[index]?.outcomeAsItIs ?? .unknown(nil))
        case .goOn, .lookAgain, .retry:
            if mode == .stopped {
                finish(index, rows[index]?.outcomeOfStop ?? .unknown(nil))
            } else {
                goOn(move, index, jitter: jitter, now: now)
            }
        }
    }

    private mutating func goOn(_ move: Move, _ index: Int, jitter: Double, now: NIODeadline) {
        switch move {
        case .goOn(let work):
            withdrawIfRefused(index)
            goOn(index, with: work)
        case .lookAgain:
            let isOverAt = max(now, rows[index]?.isOverAt ?? now)
            if let deadline = settings.deadline, deadline <= isOverAt { return finish(index, .unknown(.outOfTime)) }
            rows[index]?.phase = .waiting(.lookUp, until: isOverAt)
        case .retry(let work):
            withdrawIfRefused(index)
            guard var row = rows[index] else { return }
            let since = row.troubleSince ?? now
            let patienceEnds = min(since + settings.patience, settings.deadline ?? .distantFuture)
            row.troubleSince = since
            // Once more at the very end, so that one who waited for as long as he could has not waited in vain.
            row.phase = .waiting(work, until: min(now + row.backOff.next(jitter: jitter), patienceEnds))
            rows[index] = row
            if now >= patienceEnds { finish(index, row.outcomeWithoutPatience) }
        case .finish, .giveUp:
            break
        }
    }

    private mutating func goOn(_ index: Int, with work: Work) {
        rows[index]?.phase = .ready(work)
        if settings.isJournalled, rows[index]?.isToBeNoted == true {
            unnoted.append(index)
        } else {
            ready.append(index)
        }
    }

    /// What the server has refused for the moment need not be looked for by a later run.
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
        if row.phase != .queued, let lane = row.task.lane { leave(lane) }
        guard outcome.isUnsuccessful else { return }
        unsuccessfulCount += 1
        if let failureLimit = settings.failureLimit, unsuccessfulCount >= failureLimit, !isSkipping {
            mode = .closing
            stopper = .row(index)
            skipUnbegun()
        }
    }

    /// The next row of a lane may begin.
    private mutating func leave(_ lane: Lane) {
        guard let next = lanes[lane]?.popFirst() else {
            lanes[lane] = nil
            return
        }
        guard let work = rows[next]?.firstWork else { return }
        rows[next]?.phase = .ready(work)
        fresh.append(next)
    }

    /// Nothing can succeed any more.
    private mutating func stop(by stopper: Stopper) {
        // A batch that ends because too many rows have failed ends with the error of the one that was too many.
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
        lanes = lanes.mapValues { _ in CircularBuffer() }
        for index in sequence {
            guard let row = rows[index], !row.hasBegun else { continue }
            if case .done = row.phase { continue }
            finish(index, row.outcomeUnbegun)
        }
    }

    private mutating func slowDown(after row: Row) {
        guard row.epoch == epoch else { return }
        epoch += 1
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
    /// What can be said of it when nothing more is done for it.
    fileprivate var outcomeAsItIs: BatchStateMachine.Outcome {
        mayBeExecuted ? outcomeInDoubt : .failed(.lastError)
    }

    private var outcomeInDoubt: BatchStateMachine.Outcome {
        .unknown(lookHasFailed ? .unreadable : task.attempt?.doubt)
    }

    /// What can be said of it when all has been stopped, and it would have gone on. What stood in its way in passing is
    /// worth telling; otherwise it just was not its turn any more.
    fileprivate var outcomeOfStop: BatchStateMachine.Outcome {
        if mayBeExecuted { return outcomeInDoubt }
        return meetsWhatPasses ? .failed(.lastError) : .skipped
    }

    /// What can be said of it when it would have been tried again: nothing that another run could not better.
    fileprivate var outcomeWithoutPatience: BatchStateMachine.Outcome {
        if mayBeExecuted { return outcomeInDoubt }
        return .failed(meetsWhatPasses ? .lastError : .outOfPatience)
    }

    /// The same, when it has not begun.
    fileprivate var outcomeUnbegun: BatchStateMachine.Outcome {
        mayBeExecuted ? .unknown(task.attempt?.doubt) : .skipped
    }

    /// Whether the journal is to be told before it goes on.
    fileprivate var isToBeNoted: Bool {
        guard case .ready(.write(let over)) = phase else { return false }
        return openNote != BatchStateMachine.Note.attempt(over: over)
    }

    /// What is to be done with it when it is its turn.
    fileprivate var workAtHand: BatchStateMachine.Work? {
        switch phase {
        case .ready(let work), .noted(let work): work
        case .queued, .noting, .running, .waiting, .done: nil
        }
    }

    /// What the journal is told of how it ended. A row that stays unknown stays open there, and one that could not even
    /// be sent is none of it.
    fileprivate func note(of outcome: BatchStateMachine.Outcome) -> BatchStateMachine.Note? {
        guard task.kind != .unusable else { return nil }
        switch outcome {
        case .skipped, .failed(.outOfPatience): return openNote == nil ? nil : .withdrawn
        case .created, .edited, .deleted, .failed: return .outcome(outcome)
        case .unknown, .known: return nil
        }
    }

    fileprivate var waitsUntil: NIODeadline? {
        if case .waiting(_, let until) = phase { until } else { nil }
    }
}

extension BatchStateMachine.Outcome {
    /// Whether it counts towards the limit of failures.
    fileprivate var isUnsuccessful: Bool {
        switch self {
        case .failed, .unknown: true
        case .created, .edited, .deleted, .skipped, .known: false
        }
    }
}
