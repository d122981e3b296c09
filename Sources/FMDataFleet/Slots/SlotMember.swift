import FMData
import NIOConcurrencyHelpers
import NIOCore

/// One database of a fleet: the shell around ``SlotMemberMachine``, and the loops in which a member waits, gives and
/// tries again.
final class SlotMember: Sendable {
    typealias Slot = DataAPI.SessionBudget.Slot
    typealias Request = DataAPI.SessionBudget.Request

    struct Settings: Sendable {
        var calls = SlotCalls.Settings()
        var renewal = TimeAmount.seconds(3)
        /// How long a member without a slot waits for a store that does not answer.
        var storePatience = TimeAmount.seconds(5)
    }

    private struct State {
        var machine: SlotMemberMachine
        /// What each lease's events are told to.
        var tells: [String: @Sendable (DataAPI.SessionBudget.Event) -> Void] = [:]
        var callOffAlarm: (@Sendable () -> Void)?
        /// The renewal under way.
        var keeping: Task<Void, Never>?
        /// How many calls of `take` are under way, and when the last one ended.
        var takes = 0
        var lastTake: NIODeadline
    }

    private let calls: SlotCalls
    private let settings: Settings
    private let sealer: Sealer
    private let surroundings: FleetSurroundings
    private let counters: FleetCounting
    private let bell = Doorbell()
    private let state: NIOLockedValueBox<State>

    /// The channel on which the member is told something.
    let channel: String

    private var time: SessionTime { surroundings.time }

    init(
        digest: String,
        name: String,
        client: StoreClient,
        settings: Settings,
        sealer: Sealer,
        surroundings: FleetSurroundings,
        counters: FleetCounting
    ) {
        let names = SlotCalls.Names(digest: digest)
        calls = SlotCalls(client: client, names: names, settings: settings.calls, me: name)
        self.settings = settings
        self.sealer = sealer
        self.surroundings = surroundings
        self.counters = counters
        channel = names.channelPrefix + name
        state = NIOLockedValueBox(
            State(machine: SlotMemberMachine(renewal: settings.renewal), lastTake: surroundings.time.now())
        )
    }

    // MARK: Taking

    /// Stands in line until there is a slot. One call at a time.
    func take(_ request: Request) async throws -> Slot {
        state.withLockedValue { $0.takes += 1 }
        defer {
            state.withLockedValue { state in
                state.takes -= 1
                state.lastTake = time.now()
            }
        }
        let lease = surroundings.name()
        var failingSince: NIODeadline?
        while true {
            try Task.checkCancellation()
            do {
                let taken = try await calls.take(lease)
                failingSince = nil
                switch taken {
                case .slot(let number, let sealed, let isStray, let waiting):
                    if isStray { counters.add { $0.strays += 1 } }
                    return try await hold(number, lease, sealed, waiting, request)
                case .wait(let milliseconds):
                    await wait(.milliseconds(Int64(milliseconds)))
                }
            } catch let error as StoreError {
                if error.code == .shutdown { throw error }
                counters.add { $0.storeFailures += 1 }
                let now = time.now()
                let since = failingSince ?? now
                failingSince = since
                if let slot = takeBack(request) { return slot }
                if now >= since + settings.storePatience, let slot = holdPrivately(lease, request) { return slot }
                await wait(.seconds(1))
            }
        }
    }

    /// The slot is held from here on; whatever fails now must not leave it so.
    private func hold(
        _ number: Int,
        _ lease: String,
        _ sealed: [UInt8],
        _ waiting: Int,
        _ request: Request
    ) async throws -> Slot {
        let token = sealed.isEmpty ? nil : sealer.token(sealed, place(number))
        act(lease, tell: request.tell) { machine, now in
            machine.granted(number, .init(lease: lease, sealed: token == nil ? nil : sealed), now: now)
        }
        counters.add { $0.slotsTaken += 1 }
        do {
            if !sealed.isEmpty, token == nil {
                counters.add { $0.unreadableTokens += 1 }
                _ = try await calls.drop(sealed, slot: number, lease: lease)
            }
            if token == nil, let code = try await calls.refusal() {
                throw DataAPI.SessionBudget.CredentialsRefused(
                    code: code == 0 ? nil : FileMakerErrorCode(rawValue: code)
                )
            }
        } catch {
            await give(number, lease, life: nil)
            throw error
        }
        return Slot(for: request, number: number, lease: lease, token: token, waiting: waiting)
    }

    /// One session for a member that has none, while the store is away.
    private func holdPrivately(_ lease: String, _ request: Request) -> Slot? {
        let isAlone = state.withLockedValue { $0.machine.held.isEmpty && $0.machine.privateLease == nil }
        guard isAlone else { return nil }
        act(lease, tell: request.tell) { machine, now in machine.grantedPrivately(lease, now: now) }
        counters.add { $0.sessionsWithoutStore += 1 }
        return Slot(for: request, number: 0, lease: lease, isPrivate: true)
    }

    /// While the store is away, whoever could not give a slot back goes on with it.
    private func takeBack(_ request: Request) -> Slot? {
        let returned = state.withLockedValue { state -> (slot: Int, held: SlotMemberMachine.Held)? in
            let returned = state.machine.takeBack()
            if let returned { state.tells[returned.held.lease] = request.tell }
            return returned
        }
        guard let returned else { return nil }
        let token = returned.held.sealed.flatMap { sealer.token($0, place(returned.slot)) }
        return Slot(for: request, number: returned.slot, lease: returned.held.lease, token: token)
    }

    /// Waits for a tenth less or more, so that members do not ask in step.
    private func wait(_ amount: TimeAmount) async {
        let part = 0.9 + 0.2 * surroundings.fraction()
        let end = time.now() + .nanoseconds(Int64(Double(amount.nanoseconds) * part))
        let callOff = time.schedule(end) { [bell] in bell.ring() }
        await bell.wait()
        callOff()
    }

    // MARK: Held slots

    func put(_ token: String, _ slot: Slot, _ life: Duration) async throws -> Bool {
        if slot.isPrivate { return true }
        let sealed = try sealer.seal(token, place(slot.number))
        state.withLockedValue { $0.machine.put(sealed, slot: slot.number, lease: slot.lease) }
        let isHeld = try await counted {
            try await calls.put(sealed, slot: slot.number, lease: slot.lease, life: life.milliseconds)
        }
        if !isHeld { end(slot.number, slot.lease) }
        return isHeld
    }

    func drop(_ slot: Slot) async throws -> Bool {
        if slot.isPrivate { return true }
        // Two sealings of a token differ, and the store compares bytes.
        let sealed = state.withLockedValue { $0.machine.held[slot.number]?.sealed } ?? []
        state.withLockedValue { $0.machine.dropped(slot: slot.number, lease: slot.lease) }
        let isHeld = try await counted { try await calls.drop(sealed, slot: slot.number, lease: slot.lease) }
        if !isHeld { end(slot.number, slot.lease) }
        return isHeld
    }

    func give(_ slot: Slot, _ life: Duration?) async {
        if slot.isPrivate { return end(slot.number, slot.lease) }
        await give(slot.number, slot.lease, life: life?.milliseconds)
    }

    func full(_ slot: Slot) async {
        if slot.isPrivate { return end(slot.number, slot.lease) }
        counters.add { $0.fullHosts += 1 }
        await giving(slot.number, slot.lease) { [calls] in
            try await calls.full(slot: slot.number, lease: slot.lease)
        }
    }

    func refused(_ slot: Slot, _ code: FileMakerErrorCode?) async throws {
        // The note comes first: whoever gets the slot next looks for it.
        defer { if slot.isPrivate { end(slot.number, slot.lease) } }
        try? await counted { try await calls.noteRefusal(code?.rawValue ?? 0) }
        if !slot.isPrivate { await give(slot.number, slot.lease, life: nil) }
    }

    /// Lets the lease of the slot end. Then the next member that takes it finds a login without an end, and counts the
    /// session that the host may have.
    func left(_ slot: Slot) { end(slot.number, slot.lease) }

    private func give(_ number: Int, _ lease: String, life: Int?) async {
        await giving(number, lease) { [calls] in try await calls.give(slot: number, lease: lease, life: life) }
    }

    /// A giving that was not answered was not done, nor one that a store without memory has answered: the slot is held
    /// on to.
    private func giving(_ number: Int, _ lease: String, _ give: @Sendable () async throws -> Bool) async {
        let keeping = state.withLockedValue { state in
            // Nobody is to be told of the slot any more.
            _ = state.tells.removeValue(forKey: lease)
            state.machine.giving(slot: number, lease: lease)
            return state.keeping
        }
        // A renewal that is sent after the giving would take the slot again.
        await keeping?.value
        let forgotten = state.withLockedValue { $0.machine.takeForgotten(slot: number, lease: lease) }
        do {
            if let forgotten { try await putAgain(forgotten, number, lease) }
            _ = try await counted { try await give() }
            end(number, lease)
        } catch {
            state.withLockedValue { $0.machine.returned(slot: number, lease: lease) }
        }
    }

    private func giveAgain(_ number: Int, _ lease: String, put sealed: [UInt8]?) async {
        await giving(number, lease) { [self] in
            if let sealed { try await putAgain(sealed, number, lease) }
            return try await calls.give(slot: number, lease: lease, life: nil)
        }
    }

    /// How long the token still lives is not known any more; one that is dead costs its next user a login.
    private func putAgain(_ sealed: [UInt8], _ number: Int, _ lease: String) async throws {
        _ = try await calls.put(sealed, slot: number, lease: lease, life: 600_000)
    }

    private func counted<Value>(_ call: () async throws -> Value) async throws -> Value {
        do {
            return try await call()
        } catch {
            counters.add { $0.storeFailures += 1 }
            throw error
        }
    }

    // MARK: Events

    /// A message on the member's channel.
    func received(_ text: String) {
        act { machine, _ in machine.message(text) }
    }

    /// There is a connection to the store again.
    func connected() {
        act { machine, _ in machine.connected() }
    }

    /// Whether it holds nothing, waits for nothing, and has not done so for a minute. Its database may have ended.
    var isUnused: Bool {
        let now = time.now()
        return state.withLockedValue { state in
            let isHolding = !state.machine.held.isEmpty || state.machine.privateLease != nil
            return !isHolding && state.takes == 0 && state.lastTake + .seconds(60) <= now
        }
    }

    private func end(_ number: Int, _ lease: String) {
        act { machine, now in machine.ended(slot: number, lease: lease, now: now) }
        state.withLockedValue { _ = $0.tells.removeValue(forKey: lease) }
    }

    private func act(
        _ lease: String? = nil,
        tell: (@Sendable (DataAPI.SessionBudget.Event) -> Void)? = nil,
        _ change: (inout SlotMemberMachine, NIODeadline) -> [SlotMemberMachine.Action]
    ) {
        let effects = state.withLockedValue { state -> [@Sendable () -> Void] in
            if let lease, let tell { state.tells[lease] = tell }
            return change(&state.machine, time.now()).compactMap { lockedEffect($0, &state) }
        }
        for effect in effects { effect() }
    }

    private func lockedEffect(_ action: SlotMemberMachine.Action, _ state: inout State) -> (@Sendable () -> Void)? {
        switch action {
        case .ring:
            return { [bell] in bell.ring() }
        case .tell(_, let lease, let event):
            if event == .recalled { counters.add { $0.recalls += 1 } }
            let tell = event == .lost ? state.tells.removeValue(forKey: lease) : state.tells[lease]
            if event == .lost { counters.add { $0.slotsLost += 1 } }
            guard let tell else { return nil }
            return { tell(event) }
        case .giveAgain(let slot, let lease, let sealed):
            return { [self] in _ = time.startTask { [self] in await giveAgain(slot, lease, put: sealed) } }
        case .keep(let leases):
            state.keeping = time.startTask { [weak self, calls] in
                let news = try? await calls.keep(leases)
                self?.act { machine, now in machine.kept(leases, news, now: now) }
            }
            return nil
        case .setAlarm(let instant):
            let before = state.callOffAlarm
            state.callOffAlarm = time.schedule(instant) { [weak self] in
                self?.act { machine, _ in machine.wakeUp() }
            }
            return before
        case .cancelAlarm:
            defer { state.callOffAlarm = nil }
            return state.callOffAlarm
        }
    }

    private func place(_ number: Int) -> String { "\(calls.names.pool) \(number)" }
}

extension Duration {
    /// Whole milliseconds, not less than zero.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        let whole = min(max(seconds, 0), 1 << 40)
        return Int(whole) * 1000 + Int(max(attoseconds, 0) / 1_000_000_000_000_000)
    }
}
