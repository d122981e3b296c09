import FMData
import NIOConcurrencyHelpers
import NIOCore

/// One live query of a process in its feed: the shell around ``FeedMachine``. Its questions to the store are asked one
/// after the other.
final class FeedMember: Sendable {
    typealias Exchange = DataAPI.LiveExchange

    struct Settings: Sendable {
        var calls = FeedCalls.Settings()
        var machine = FeedMachine.Settings()
    }

    private struct State {
        var machine: FeedMachine
        var callOffAlarm: (@Sendable () -> Void)?
        var last: Task<Void, Never>?
    }

    private let calls: FeedCalls
    private let sealer: Sealer
    private let surroundings: FleetSurroundings
    private let counters: FleetCounting
    private let tell: @Sendable (Exchange.Event) -> Void
    private let state: NIOLockedValueBox<State>

    private var time: SessionTime { surroundings.time }

    var names: FeedCalls.Names { calls.names }
    /// The channel on which the members of the feed are told something.
    var channel: String { calls.names.channel }

    init(
        _ request: Exchange.Request,
        client: StoreClient,
        settings: Settings,
        sealer: Sealer,
        surroundings: FleetSurroundings,
        counters: FleetCounting
    ) {
        calls = FeedCalls(
            client: client,
            names: FeedCalls.Names(login: request.login, query: request.query),
            settings: settings.calls,
            me: surroundings.name(),
            lease: surroundings.name()
        )
        self.sealer = sealer
        self.surroundings = surroundings
        self.counters = counters
        tell = request.tell
        state = NIOLockedValueBox(State(machine: FeedMachine(settings: settings.machine)))
    }

    // MARK: Turns

    func turn(mustPoll: Bool) async -> Exchange.Turn {
        await inOrder { [self] in
            var step = act { machine, now in (machine.asked(mustPoll: mustPoll, now: now), []) }
            while true {
                switch step {
                case .lead: step = await lead() ? act { machine, _ in (machine.step(), []) } : failed()
                case .read(let epoch, let sequence): step = await read(epoch, after: sequence)
                case .poll(let pace): return .poll(pace: pace)
                case .adopt(let entries, let comparableFrom, let conclusion):
                    guard let changes = opened(entries, comparableFrom) else {
                        counters.add { $0.unreadableChanges += 1 }
                        step = act { machine, _ in (machine.isUnreadable(), []) }
                        continue
                    }
                    counters.add { $0.adoptedPolls += changes.count }
                    return .adopt(
                        Exchange.Findings(
                            changes: changes,
                            digest: conclusion?.digest,
                            age: .milliseconds(conclusion?.age ?? 0)
                        )
                    )
                }
            }
        }
    }

    private func read(_ epoch: String, after sequence: Int) async -> FeedMachine.Step {
        do {
            let read = try await calls.read(epoch: epoch, after: sequence)
            return act { machine, _ in machine.read(read) }
        } catch {
            return failed()
        }
    }

    private func failed() -> FeedMachine.Step {
        counters.add { $0.storeFailures += 1 }
        return act { machine, now in machine.failed(now: now) }
    }

    /// `nil` if one of the entries cannot be opened.
    private func opened(_ entries: [FeedCalls.Entry], _ comparableFrom: Int?) -> [Exchange.Changes]? {
        guard let epoch = state.withLockedValue({ $0.machine.epoch }) else { return entries.isEmpty ? [] : nil }
        var changes: [Exchange.Changes] = []
        for entry in entries {
            guard let bytes = sealer.open(entry.data, place(epoch, entry.sequence)) else { return nil }
            changes.append(Exchange.Changes(bytes: bytes, mayBeOlder: entry.poll + 1 < comparableFrom ?? .max))
        }
        return changes
    }

    // MARK: Own polls

    func polled(_ poll: Exchange.Report) async {
        await inOrder { [self] in
            switch act({ machine, now in (machine.polled(now: now), []) }) {
            case .lead: await leadOrWait()
            case .publish(let epoch, let sequence): await publish(poll, epoch, sequence)
            }
        }
    }

    private func publish(_ poll: Exchange.Report, _ epoch: String, _ sequence: Int) async {
        let asked = time.now()
        let duration = poll.duration.milliseconds
        do {
            let position: FeedCalls.Position?
            if let changes = poll.changes {
                let sealed = try sealer.seal(changes, place(epoch, sequence))
                position = try await calls.append(
                    epoch: epoch,
                    sequence: sequence,
                    duration: duration,
                    digest: poll.digest,
                    sealed
                )
            } else {
                position = try await calls.beat(epoch: epoch, duration: duration, digest: poll.digest)
            }
            counters.add { counters in
                if position == nil { counters.latePolls += 1 } else { counters.polls += 1 }
            }
            act { machine, now in machine.published(position, asked: asked, now: now) }
        } catch {
            counters.add { $0.storeFailures += 1 }
            act { machine, now in machine.unpublished(now: now) }
        }
    }

    /// The query does not poll for now.
    func rested() {
        later { [self] in act { machine, _ in machine.rested() } }
    }

    /// Returns when nobody has to wait for this member any more.
    func end() async {
        rested()
        await inOrder {}
        await inOrder {}
    }

    func hinted() {
        later { [self] in act { machine, _ in machine.hinted() } }
    }

    // MARK: The store

    /// A message on the feed's channel.
    func received(_ text: String) {
        later { [self] in act { machine, _ in machine.message(text) } }
    }

    /// There is a connection to the store again.
    func connected() {
        later { [self] in act { machine, _ in machine.connected() } }
    }

    /// Asks to lead. Returns whether the store has answered.
    private func lead() async -> Bool {
        let asked = time.now()
        guard let led = try? await calls.lead(epoch: surroundings.name()) else { return false }
        act { machine, now in
            let before = machine.role
            let actions = machine.led(led, asked: asked, now: now, jitter: surroundings.fraction())
            if case .leading = before {} else if case .leading = machine.role { counters.add { $0.leads += 1 } }
            return actions
        }
        return true
    }

    private func leadOrWait() async {
        if await lead() { return }
        counters.add { $0.storeFailures += 1 }
        act { machine, now in machine.unanswered(now: now) }
    }

    private func hold() async {
        let asked = time.now()
        do {
            let position = try await calls.hold()
            act { machine, now in machine.held(position, asked: asked, now: now) }
        } catch {
            counters.add { $0.storeFailures += 1 }
            act { machine, now in machine.unanswered(now: now) }
        }
    }

    private func place(_ epoch: String, _ sequence: Int) -> String { "\(calls.names.feed) \(epoch) \(sequence)" }

    // MARK: Actions

    /// Does one thing after the other, in the order of the calls.
    private func inOrder<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            later { continuation.resume(returning: await work()) }
        }
    }

    private func later(_ work: @escaping @Sendable () async -> Void) {
        state.withLockedValue { state in
            state.last = time.startTask { [before = state.last] in
                await before?.value
                await work()
            }
        }
    }

    private func act(_ change: (inout FeedMachine, NIODeadline) -> [FeedMachine.Action]) {
        act { machine, now in ((), change(&machine, now)) }
    }

    private func act<Result>(
        _ change: (inout FeedMachine, NIODeadline) -> (Result, [FeedMachine.Action])
    ) -> Result {
        let (result, effects) = state.withLockedValue { state in
            let (result, actions) = change(&state.machine, time.now())
            return (result, actions.compactMap { lockedEffect($0, &state) })
        }
        for effect in effects { effect() }
        return result
    }

    private func lockedEffect(_ action: FeedMachine.Action, _ state: inout State) -> (@Sendable () -> Void)? {
        switch action {
        case .tell(let event): return { [tell] in tell(event) }
        case .lead: return { [weak self] in self?.later { [weak self] in await self?.leadOrWait() } }
        case .hold: return { [weak self] in self?.later { [weak self] in await self?.hold() } }
        // Whoever follows finds out by itself, when the lease is over.
        case .resign: return { [self] in later { [calls] in try? await calls.resign() } }
        // A hint that is lost is one that came too late: the leader polls by itself.
        case .hint: return { [self] in later { [calls] in try? await calls.hint() } }
        case .setAlarm(let instant):
            let before = state.callOffAlarm
            state.callOffAlarm = time.schedule(instant) { [weak self] in
                self?.act { machine, now in machine.wakeUp(now: now) }
            }
            return before
        case .cancelAlarm:
            defer { state.callOffAlarm = nil }
            return state.callOffAlarm
        }
    }
}
