import FMDataCore
import NIOCore

/// Decides how a change is saved: events in, one action out at a time.
///
/// 1. The differences from the base are sent, with the base's modId. When nothing differs nothing is sent. 2. 306:
/// another client has changed the record. It is read, and the three versions are merged according to the policy; what
/// is left to send is sent with the new modId, in at most three rounds. A change that is made by a closure is made anew
/// on the record that was read. 3. A temporary state, such as a locked record (301): the same write or read is repeated
/// after pauses that double, for 30 seconds at most, or as the layout's own policy says. 4. 101: the record or one of
/// its portal rows was deleted; reading the record shows which. 5. No answer: the record is read. The write is sent
/// again only when it was certainly not carried out, and when the server would notice a late arrival of the first
/// attempt. Where the record holds what was to be written, nobody knows whose write that was; an upsert is done. With
/// scripts it is never sent again, because it is unknown how far they ran. 6. After rows, a script
/// or a merge the record is read again, because the answer does not hold its new values.
struct SaveStateMachine {
    enum Action: Equatable {
        /// Read the record, for ``found(_:)``.
        case read
        /// Make the change anew on the record that was read last, for ``began(base:change:)``.
        case edit
        case send(RecordDiff, modId: Int)
        case wait(TimeAmount)
        case publish(Success)
        case fail(Failure)
    }

    struct Success: Equatable {
        let outcome: Outcome
        let values: Values
        /// The record's modId, where the values do not hold it.
        var modId: Int?
        /// What was written.
        var sent = RecordDiff()

        enum Outcome: Equatable {
            case nothingDiffered, written, alreadyThere, gaveUp
        }

        /// The source of the values of the published record.
        enum Values: Equatable {
            /// The base.
            case base
            /// The wanted record.
            case wanted
            /// The record that was read last.
            case read
            /// The wanted record, unconfirmed: the record could not be read again.
            case unconfirmed
        }
    }

    enum Failure: Equatable {
        /// Fails with the error of the last write.
        case asSent
        /// Fails with the error of the last read.
        case asRead
        /// Fails with a conflict, which keeps the error of the last write.
        case conflict(DataAPI.SaveConflict)
        /// Fails with the error of the write whose answer was lost.
        case unknown(WriteOutcome.Doubt?)
    }

    /// Why a write failed.
    enum WriteFailure: Equatable {
        case modIdMismatch, passing, recordMissing, unknownOutcome, other
    }

    struct Settings {
        /// `nil` when the given id is not a number.
        var recordId: Int?
        var policy = DataAPI.ConflictPolicy.fail
        /// Whether the change is made by a closure, which can make it anew.
        var isMadeAnew = false
        /// Whether the record is to have these values, whoever writes them.
        var isUpsert = false
        /// Whether the record is read again after every write.
        var refreshes = false
        var runsScripts = false
        /// How long one save retries during temporary states.
        var retryTimeout = TimeAmount.seconds(30)
    }

    /// How often one save merges, or makes its change anew.
    static let maximumRounds = 3

    private enum State {
        case idle
        /// The record is read so that the closure can change it.
        case readingBase
        case sending
        /// The next action sends the same again.
        case waitingToSend
        case waitingToRead
        case waitingToReadBase
        /// The record is read after a refused write.
        case comparing
        case refreshing(Success)
        case over
    }

    private let settings: Settings
    private var state = State.idle
    private var base = RecordImage(modId: 0)
    private var change = RecordDiff()
    /// Why the write before the current read was refused.
    private var writeFailure = WriteFailure.other
    private var rounds = 0
    private var unknownOutcomes = 0
    /// Whether the record has other changes than the wanted ones.
    private var hasMerged = false
    private var conflict: DataAPI.SaveConflict
    private var retryEnd: NIODeadline?
    private var passingPause = BackOff(minimum: .milliseconds(200), maximum: .seconds(5))
    private var roundPause = BackOff(minimum: .milliseconds(100), maximum: .seconds(1))
    /// The conflicts that the policy has settled.
    private(set) var settled: [DataAPI.FieldConflict] = []

    init(_ settings: Settings) {
        self.settings = settings
        conflict = DataAPI.SaveConflict(.changedByOther, recordId: settings.recordId)
    }

    // MARK: Start

    /// Starts a save whose change is made on the record that is read.
    mutating func began() -> Action {
        state = .readingBase
        return .read
    }

    /// Starts saving this change. Called again after each ``Action/edit``.
    mutating func began(base: RecordImage, change: RecordDiff) -> Action {
        self.base = base
        self.change = change
        if change.isEmpty { return publish(Success(outcome: .nothingDiffered, values: .base)) }
        return send()
    }

    private mutating func send() -> Action {
        state = .sending
        return .send(change, modId: base.modId)
    }

    // MARK: Answers to a write

    mutating func sent(modId: Int) -> Action {
        let success = Success(outcome: .written, values: .wanted, modId: modId, sent: change)
        guard settings.refreshes || settings.runsScripts || hasMerged || !change.rows.isEmpty else {
            return publish(success)
        }
        state = .refreshing(success)
        return .read
    }

    /// - Parameters:
    ///   - jitter: a random number from `0..<1`.
    ///   - deadline: when the whole call has to be over; `nil` for no limit.
    mutating func refused(
        _ writeFailure: WriteFailure,
        jitter: Double,
        now: NIODeadline,
        deadline: NIODeadline? = nil
    ) -> Action {
        self.writeFailure = writeFailure
        switch writeFailure {
        case .passing:
            guard let pause = pause(jitter: jitter, now: now, deadline: deadline) else {
                // An attempt without an answer may still be under way.
                return fail(unknownOutcomes > 0 ? .unknown(nil) : .asSent)
            }
            state = .waitingToSend
            return .wait(pause)
        case .modIdMismatch, .recordMissing:
            guard rounds < Self.maximumRounds else {
                return fail(writeFailure == .recordMissing ? .asSent : .conflict(conflict))
            }
            rounds += 1
            return rounds == 1 ? compare() : compare(after: roundPause.next(jitter: jitter))
        case .unknownOutcome:
            guard !settings.runsScripts, unknownOutcomes < Self.maximumRounds else { return fail(.asSent) }
            unknownOutcomes += 1
            return compare()
        case .other:
            return fail(.asSent)
        }
    }

    /// The pause before the next retry; `nil` after the retry timeout.
    private mutating func pause(jitter: Double, now: NIODeadline, deadline: NIODeadline?) -> TimeAmount? {
        let end = retryEnd ?? now + settings.retryTimeout
        retryEnd = end
        let pause = passingPause.next(jitter: jitter)
        return now + pause <= min(end, deadline ?? end) ? pause : nil
    }

    private mutating func compare() -> Action {
        state = .comparing
        return .read
    }

    private mutating func compare(after pause: TimeAmount) -> Action {
        state = .waitingToRead
        return .wait(pause)
    }

    mutating func waited() -> Action {
        switch state {
        case .waitingToSend: return send()
        case .waitingToReadBase: return began()
        default: return compare()
        }
    }

    // MARK: Results of a read

    /// The read failed because of a temporary state, or its answer could not be read: it is repeated until the retry
    /// timeout.
    ///
    /// - Parameters:
    ///   - jitter: a random number from `0..<1`.
    ///   - deadline: when the whole call has to be over; `nil` for no limit.
    mutating func readFailedInPassing(jitter: Double, now: NIODeadline, deadline: NIODeadline? = nil) -> Action {
        let next: State
        switch state {
        case .comparing: next = .waitingToRead
        case .readingBase: next = .waitingToReadBase
        default: return readFailed(isMissing: false)
        }
        guard let pause = pause(jitter: jitter, now: now, deadline: deadline) else {
            return readFailed(isMissing: false)
        }
        state = next
        return .wait(pause)
    }

    mutating func readFailed(isMissing: Bool) -> Action {
        switch state {
        case .refreshing(let success):
            return publish(
                Success(outcome: success.outcome, values: .unconfirmed, modId: success.modId, sent: success.sent)
            )
        case .comparing where isMissing:
            return fail(.conflict(DataAPI.SaveConflict(.deletedByOther, recordId: settings.recordId)))
        case .comparing where unknownOutcomes > 0:
            // The unknown outcome of the write matters more.
            return fail(.unknown(.unreadable))
        default:
            return fail(.asRead)
        }
    }

    mutating func found(_ theirs: RecordImage) -> Action {
        switch state {
        case .readingBase:
            return .edit
        case .refreshing(let success):
            return publish(Success(outcome: success.outcome, values: .read, modId: success.modId, sent: success.sent))
        default:
            break
        }
        if unknownOutcomes > 0, let action = foundAfterUnknownOutcome(theirs) { return action }
        let merge = ThreeWayMerge(base: base, change: change, theirs: theirs)
        conflict = conflict(in: merge)
        // 101, although record and rows are there unchanged: something else is missing, so report the server's error.
        if writeFailure == .recordMissing, merge.isUndisturbed, merge.change == change { return fail(.asSent) }
        return settings.isMadeAnew ? .edit : goOn(after: merge)
    }

    /// Returns what follows from an attempt that may have been carried out; `nil` when the record does not show it.
    private mutating func foundAfterUnknownOutcome(_ theirs: RecordImage) -> Action? {
        switch outcome(theirs) {
        case .carriedOut:
            return publish(Success(outcome: .written, values: .read, modId: theirs.modId, sent: change))
        case .notCarriedOut:
            // A later attempt was refused, so the three versions are merged instead.
            guard writeFailure == .unknownOutcome else { return nil }
            return change.isGuarded || !change.addsRows ? send() : fail(.asSent)
        case .undecided(.equalWrite):
            return fail(.unknown(.equalWrite))
        case .undecided, .notSeen:
            // Changing a number twice, or adding a row twice, is worse than failing with a conflict.
            guard settings.isMadeAnew || change.addsRows else { return nil }
            return fail(.conflict(conflict(in: ThreeWayMerge(base: base, change: change, theirs: theirs))))
        }
    }

    private func outcome(_ theirs: RecordImage) -> WriteOutcome {
        guard settings.isUpsert else { return .ofChange(change, on: base, found: theirs) }
        func version(_ image: RecordImage) -> WrittenVersion {
            WrittenVersion(recordId: settings.recordId ?? 0, modId: image.modId)
        }
        return .ofUpsert(over: version(base), found: (version(theirs), change.fields.isContained(in: theirs.fields)))
    }

    private mutating func goOn(after merge: ThreeWayMerge) -> Action {
        if !merge.isUndisturbed {
            let hasWishes = !merge.change.isEmpty || !merge.contested.isEmpty || !merge.rows.isEmpty
            switch settings.policy {
            case .fail where hasWishes:
                return fail(.conflict(conflict))
            case .theirs where hasWishes:
                settled += merge.contested.map(\.conflict)
                return publish(Success(outcome: .gaveUp, values: .read))
            default:
                hasMerged = true
            }
        }
        guard let rest = merge.settled(by: settings.policy) else { return fail(.conflict(conflict)) }
        settled += merge.contested.map(\.conflict)
        if rest.isEmpty { return publish(Success(outcome: settled.isEmpty ? .alreadyThere : .gaveUp, values: .read)) }
        base = merge.base
        change = rest
        return send()
    }

    private func conflict(in merge: ThreeWayMerge) -> DataAPI.SaveConflict {
        DataAPI.SaveConflict(
            .changedByOther,
            recordId: settings.recordId,
            fields: merge.fields.map(\.conflict),
            rows: merge.rows
        )
    }

    // MARK: The end

    private mutating func publish(_ success: Success) -> Action {
        state = .over
        return .publish(success)
    }

    private mutating func fail(_ failure: Failure) -> Action {
        state = .over
        return .fail(failure)
    }
}
