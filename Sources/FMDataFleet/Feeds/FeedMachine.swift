import FMData
import NIOCore

/// The part of one live query in its feed, as a pure state machine: who polls, what is read, and what it means.
///
///     resting → leading ⇄ following → resting
///
/// The leader polls, and adds what it has found to the feed. A follower polls once by itself, then adopts the entries
/// that come after; the leader's second poll after its own has certainly begun later, so from that one on the digest of
/// the leader's records is compared with its own.
///
/// While the store is away for long, everybody polls, as many times slower as there were members.
struct FeedMachine {
    typealias Event = DataAPI.LiveExchange.Event

    struct Settings: Sendable {
        /// How long a member counts on its lease, from before it asked for it: less than the store does.
        var lease = TimeAmount.seconds(8)
        var renewal = TimeAmount.seconds(3)
        /// How long the store may be away before members poll by themselves.
        var patience = TimeAmount.seconds(20)
        /// How often a store that is away is asked.
        var pause = TimeAmount.seconds(2)
        /// The most time after which a follower asks to lead when the leader's lease should be over.
        var delay = TimeAmount.seconds(1)
    }

    enum Role: Equatable {
        /// It is in no feed, or does not know its role.
        case resting
        /// So long as its own clock shows less than this.
        case leading(until: NIODeadline)
        case following
    }

    /// What a query's turn consists of, one step after the other.
    enum Step: Equatable {
        /// Ask to lead, and report the answer by ``led(_:asked:now:jitter:)``.
        case lead
        /// Read entries, and report them by ``read(_:now:)``.
        case read(epoch: String, after: Int)
        case poll(pace: Double)
        /// Adopt these entries. Polls from this number on have begun after the query's own; the one before it has at
        /// least ended after it, and those before that may be older.
        ///
        /// - conclusion: has the digest of the records after these entries; `nil` if it cannot be compared.
        case adopt([FeedCalls.Entry], comparableFrom: Int?, conclusion: FeedCalls.Read?)
    }

    /// What becomes of an accepted poll.
    enum Publication: Equatable {
        /// Add it to the feed under the next sequence, and report the answer by ``published(_:asked:now:)``.
        case publish(epoch: String, sequence: Int)
        /// Ask to lead, to learn how far the feed has come.
        case lead
    }

    enum Action: Equatable {
        case tell(Event)
        /// Ask to lead, and report the answer by ``led(_:asked:now:jitter:)``.
        case lead
        /// Renew the lease, and report the answer by ``held(_:asked:now:)``.
        case hold
        case resign
        /// Ask the leader for a poll.
        case hint
        /// The alarm is to ring at this instant; it replaces any earlier one.
        case setAlarm(NIODeadline)
        case cancelAlarm
    }

    private let settings: Settings
    private(set) var role = Role.resting
    /// Whether the query takes part: it has asked, and has not rested since.
    private var isActive = false
    private(set) var epoch: String?
    /// How far the feed has come, as far as is known.
    private var known = FeedCalls.Position()
    /// The sequence of the last entry that the query's records contain.
    private(set) var applied = 0
    /// The sequence before the query's own poll, which is under way.
    private var base: Int?
    /// The number of the first poll that has certainly begun after the query's own last poll; `nil` if that is not
    /// known yet.
    private var comparableFrom: Int?
    /// Whether its records were compared with those of such a poll.
    private var isCompared = false
    /// Whether the entries that it needs are gone.
    private var needsPoll = false
    /// Whether the present turn has to end with a poll.
    private var mustPoll = false
    private var members = 1
    private var awaySince: NIODeadline?
    /// Whether the query was told that the store has been away for long.
    private var isAlone = false
    private var alarm: NIODeadline?

    init(settings: Settings) {
        self.settings = settings
    }

    // MARK: Turns

    mutating func asked(mustPoll: Bool, now: NIODeadline) -> Step {
        isActive = true
        self.mustPoll = mustPoll
        switch role {
        case .leading(let until) where until > now: return step()
        case .following where !mustPoll && !needsPoll: return read()
        case .resting, .leading, .following: return .lead
        }
    }

    /// The store has answered the present turn: whether it leads is known.
    mutating func step() -> Step {
        if mustPoll || needsPoll { return poll() }
        if case .leading = role { return applied < known.sequence ? read() : poll() }
        return read()
    }

    private mutating func poll() -> Step {
        base = known.sequence
        return .poll(pace: 1)
    }

    private func read() -> Step { epoch.map { .read(epoch: $0, after: applied) } ?? .lead }

    /// Entries were read; `nil` if the feed has begun anew.
    mutating func read(_ read: FeedCalls.Read?) -> (step: Step, actions: [Action]) {
        guard let read else {
            forget()
            return (.lead, [])
        }
        known = read.position
        let isWhole = zip(read.entries, (applied + 1)...).allSatisfy { $0.sequence == $1 }
        guard isWhole, !read.entries.isEmpty || known.sequence == applied else {
            needsPoll = true
            return (poll(), [])
        }
        applied = read.entries.last?.sequence ?? applied
        var conclusion: FeedCalls.Read?
        if applied == known.sequence, let comparableFrom, known.polls >= comparableFrom {
            conclusion = read
            isCompared = true
        }
        // There is more to read, or it leads by now and has to poll.
        let goesOn = applied < known.sequence || role != .following
        return (
            .adopt(read.entries, comparableFrom: comparableFrom, conclusion: conclusion), goesOn ? [.tell(.news)] : []
        )
    }

    /// What was read cannot be used.
    mutating func isUnreadable() -> Step {
        needsPoll = true
        return poll()
    }

    /// The store has not answered the present turn.
    mutating func failed(now: NIODeadline) -> (step: Step, actions: [Action]) {
        let actions = away(now)
        if isAlone { return (.poll(pace: Double(members)), actions) }
        return (mustPoll || needsPoll ? .poll(pace: 1) : .adopt([], comparableFrom: nil, conclusion: nil), actions)
    }

    // MARK: Own polls

    mutating func polled(now: NIODeadline) -> Publication {
        needsPoll = false
        mustPoll = false
        comparableFrom = nil
        applied = base ?? applied
        base = nil
        if case .leading = role, let epoch { return .publish(epoch: epoch, sequence: known.sequence + 1) }
        return .lead
    }

    /// - Parameter position: `nil` when somebody else leads.
    mutating func published(
        _ position: FeedCalls.Position?,
        asked: NIODeadline,
        now: NIODeadline
    ) -> [Action] {
        guard let position else { return lose() }
        known = position
        applied = position.sequence
        role = .leading(until: asked + settings.lease)
        return settle(now + settings.renewal)
    }

    /// The store has not answered: it is not known whether the poll was added.
    mutating func unpublished(now: NIODeadline) -> [Action] {
        role = .resting
        return away(now)
    }

    // MARK: Leading

    /// - Parameters:
    ///   - asked: when the question was sent.
    ///   - jitter: a random number from 0 to 1.
    mutating func led(
        _ led: FeedCalls.Led,
        asked: NIODeadline,
        now: NIODeadline,
        jitter: Double
    ) -> [Action] {
        let wasAlone = isAlone
        awaySince = nil
        isAlone = false
        members = led.members
        known = led.position
        if epoch != led.epoch {
            forget()
            epoch = led.epoch
            applied = known.sequence
        }
        // A store that has lost its last second, as after a failover.
        if known.sequence < applied { needsPoll = true }
        if wasAlone { comparableFrom = nil }
        guard isActive else { return led.leads ? [.resign] : [] }
        if comparableFrom == nil {
            comparableFrom = known.polls + 2
            isCompared = false
        }
        guard led.leads else {
            role = .following
            let delay = Double(settings.delay.nanoseconds) * jitter
            return news() + settle(now + .milliseconds(Int64(led.left)) + .nanoseconds(Int64(delay)))
        }
        var actions: [Action] = []
        if case .leading = role {} else { actions = [.tell(.news)] }
        role = .leading(until: asked + settings.lease)
        return actions + settle(now + settings.renewal)
    }

    mutating func held(_ position: FeedCalls.Position?, asked: NIODeadline, now: NIODeadline) -> [Action] {
        guard case .leading = role else { return [] }
        guard position != nil else { return lose() }
        role = .leading(until: asked + settings.lease)
        return settle(now + settings.renewal)
    }

    /// Somebody else leads by now.
    private mutating func lose() -> [Action] {
        role = .resting
        comparableFrom = nil
        return isActive ? [.lead] : []
    }

    /// The query does not poll for now.
    mutating func rested() -> [Action] {
        isActive = false
        base = nil
        defer { role = .resting }
        var actions: [Action] = []
        if case .leading = role {
            comparableFrom = nil
            actions.append(.resign)
        }
        if alarm != nil { actions.append(.cancelAlarm) }
        alarm = nil
        return actions
    }

    // MARK: What happens meanwhile

    /// The program has reported that something may have changed.
    func hinted() -> [Action] { isActive && role == .following ? [.hint] : [] }

    /// A message on the feed's channel.
    mutating func message(_ text: String) -> [Action] {
        guard isActive else { return [] }
        switch text {
        case "v": return role == .following ? [.lead] : []
        case "w":
            if case .leading = role { return [.tell(.hint)] }
            return []
        default:
            let numbers = text.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 2, role == .following else { return [] }
            known = FeedCalls.Position(sequence: numbers[0], polls: numbers[1])
            return news()
        }
    }

    /// There is a connection again: the lease may be over, and messages may have been missed.
    func connected() -> [Action] {
        guard isActive else { return [] }
        switch role {
        case .leading: return [.hold]
        case .following: return [.lead]
        case .resting: return awaySince == nil ? [] : [.lead]
        }
    }

    mutating func wakeUp(now: NIODeadline) -> [Action] {
        alarm = nil
        guard isActive else { return [] }
        if case .leading(let until) = role, until > now { return [.hold] + settle(now + settings.renewal) }
        return [.lead] + settle(now + settings.pause)
    }

    /// The store has not answered a question outside of a turn.
    mutating func unanswered(now: NIODeadline) -> [Action] { away(now) }

    private mutating func away(_ now: NIODeadline) -> [Action] {
        guard isActive else { return [] }
        let since = awaySince ?? now
        awaySince = since
        if case .leading(let until) = role, until > now { return settle(now + settings.pause) }
        role = .resting
        guard !isAlone, now >= since + settings.patience else { return settle(now + settings.pause) }
        isAlone = true
        return [.tell(.news)] + settle(now + settings.pause)
    }

    private mutating func forget() {
        epoch = nil
        role = .resting
        needsPoll = true
        comparableFrom = nil
        isCompared = false
    }

    /// Whether there is something to read.
    private func news() -> [Action] {
        let isComparable = comparableFrom.map { known.polls >= $0 } ?? false
        return known.sequence > applied || needsPoll || isComparable && !isCompared ? [.tell(.news)] : []
    }

    private mutating func settle(_ due: NIODeadline) -> [Action] {
        alarm = due
        return [.setAlarm(due)]
    }
}
