import FMData
import NIOCore

/// Keeps the wanted webhooks registered on the server, and deletes its own other ones.
///
/// A round reads the list, and then deletes and adds what is needed, one call after the other:
///
///     looking ─┬─ all fits ────────────────→ resting ─→ looking …
///              ├─ something is missing ────→ pausing ─→ looking again ─→ working ─→ resting …
///              └─ too many, or they differ → working ─→ resting …
///
/// It is careful because of the servers' behaviour. The first list after idleness may be empty although there are
/// webhooks, so a webhook is added only if it is missing from two lists, ten seconds apart; at the start there are
/// always two. Ids are reused, so none is remembered, and each webhook is read by itself right before it is deleted:
/// only one with the mark of this registrar in its URL is deleted. There is no update: a webhook that differs is
/// deleted and added. A call that fails ends the round; the next one begins with a list, so the effect of a call with
/// an unknown outcome is seen before anything is repeated.
struct RegistrarStateMachine {
    struct Settings {
        var wanted: [WantedWebhook]
        /// The mark in the paths of its own webhooks' URLs.
        var mark: String
        /// The time between two lists that must agree.
        var confirmation = TimeAmount.seconds(10)
        /// The time between two rounds.
        var interval = TimeAmount.minutes(5)
        /// The pause after the first failure; it doubles after each further one, up to the interval.
        var firstPause = TimeAmount.seconds(5)
        /// The time limit for deleting the webhooks at the end.
        var stopTimeout = TimeAmount.seconds(30)
        /// A webhook counts as stuck when one of its deliveries has failed more often than this.
        var tolerableAttempts = 3
    }

    enum Call: Hashable {
        case list
        case get(Int)
        case add(WebhookDefinition)
        case delete(Int)
    }

    enum Action: Equatable {
        /// Make the call and report its result by ``answered(_:now:)``.
        case call(Call)
        /// Call ``rang(_:now:)`` then. A timer that was replaced has no effect.
        case setTimer(Int, at: NIODeadline)
        case report(WebhookHealth)
        /// The registrar has ended: cancel the call in progress.
        case finish
    }

    private enum State: Equatable {
        case idle
        /// Waiting for a list.
        case looking(isSecond: Bool)
        /// Waiting for the second list.
        case pausing
        /// The steps that are left; the first is in progress.
        case working([RoundStep])
        /// Waiting for the next round.
        case resting
        case ended
    }

    private enum RoundStep: Equatable {
        /// Read the webhook, to check that it still has our mark.
        case check(Int)
        case delete(Int)
        case add(WantedWebhook)
    }

    /// An attempt to correct a webhook that differs from the wanted one.
    private struct Repair: Equatable {
        var difference: WantedWebhook.Difference
        var form: WebhookDefinition.Form
    }

    private let settings: Settings
    private var state = State.idle
    /// Whether a first round was completed.
    private var hasStarted = false
    private var isEnding = false
    /// Whether the current steps delete the webhooks at the end.
    private var isRemoving = false
    /// Whether a webhook was added or deleted since the last list.
    private var hasChanged = false
    private var form = WebhookDefinition.Form.current
    /// The repairs of the last round, by URL: if a server stores a webhook differently from what was asked, it must not
    /// be asked again and again.
    private var repairs: [String: Repair] = [:]
    private var failures = 0
    /// The number of its own webhooks on the server, as far as it knows.
    private var hookCount = 0
    private var health = WebhookHealth(state: .starting)
    private var timer = 0
    private var endTimer: Int?

    init(_ settings: Settings) {
        self.settings = settings
    }

    // MARK: Events

    mutating func start(now: NIODeadline) -> [Action] {
        guard state == .idle else { return [] }
        return look(isSecond: false)
    }

    /// Deletes the webhooks and ends.
    mutating func stop(now: NIODeadline) -> [Action] {
        guard !isEnding else { return [] }
        isEnding = true
        switch state {
        case .idle: return end()
        case .ended: return []
        case .resting, .pausing: return beginEnd(now: now) + look(isSecond: false)
        // The call in progress may change which webhooks there are to delete, so wait for it.
        case .looking, .working: return beginEnd(now: now)
        }
    }

    mutating func rang(_ id: Int, now: NIODeadline) -> [Action] {
        if id == endTimer, state != .ended { return end() }
        guard id == timer else { return [] }
        switch state {
        case .resting: return look(isSecond: false)
        case .pausing: return look(isSecond: true)
        case .idle, .looking, .working, .ended: return []
        }
    }

    mutating func answered(_ answer: WebhookAnswer, now: NIODeadline) -> [Action] {
        switch (state, answer) {
        case (.idle, _), (.pausing, _), (.resting, _), (.ended, _): []
        case (.looking(let isSecond), .hooks(let hooks)): listed(hooks, isSecond: isSecond, now: now)
        case (.working(let steps), _): worked(steps, answer, now: now)
        case (.looking, .refused(_, let reason)): refused(reason, now: now)
        case (.looking, .failed(let reason)): failed(reason, now: now)
        case (.looking, .hook), (.looking, .done): failed("The server answered something else.", now: now)
        }
    }

    // MARK: Reading the list

    private mutating func look(isSecond: Bool) -> [Action] {
        state = .looking(isSecond: isSecond)
        hasChanged = false
        return [.call(.list)]
    }

    private mutating func listed(_ hooks: [RegisteredWebhook], isSecond: Bool, now: NIODeadline) -> [Action] {
        let own = hooks.filter(isOwn)
        let plan = plan(own)
        let isShort = isEnding ? own.count < hookCount : !hasStarted || plan.isLacking
        if isShort, !isSecond {
            state = .pausing
            return [setTimer(at: now + settings.confirmation)]
        }
        hookCount = own.count
        guard !isEnding else {
            isRemoving = true
            return proceed(own.map { .check($0.id) }, now: now)
        }
        health.warnings = warnings(own) + plan.warnings
        repairs = plan.repairs
        if plan.knowsOlderFormAlone { form = .older }
        return proceed(plan.surplus.map { .check($0) } + plan.missing.map { .add($0) }, now: now)
    }

    private func isOwn(_ hook: RegisteredWebhook) -> Bool {
        hook.url.lowercased().split(separator: "/").contains { settings.mark.lowercased() == $0 }
    }

    private struct Plan {
        /// The ids of webhooks to delete; valid only now.
        var surplus: [Int] = []
        var missing: [WantedWebhook] = []
        /// Whether a missing webhook has no counterpart at its URL at all.
        var isLacking = false
        var repairs: [String: Repair] = [:]
        var warnings: [WebhookHealth.Warning] = []
        /// Whether the server accepted the newer keys but ignored them.
        var knowsOlderFormAlone = false
    }

    private func plan(_ own: [RegisteredWebhook]) -> Plan {
        var plan = Plan()
        var kept: Set<Int> = []
        for wanted in settings.wanted {
            let candidates = own.filter { $0.url == wanted.url && !kept.contains($0.id) }
            if let fitting = candidates.first(where: { wanted.difference(from: $0) == nil }) {
                kept.insert(fitting.id)
            } else if let hook = candidates.first, let difference = wanted.difference(from: hook) {
                let isIgnorant = difference == .secret && repairs[wanted.url]?.difference == .secret && form == .current
                let repair = Repair(difference: difference, form: isIgnorant ? .older : form)
                plan.repairs[wanted.url] = repair
                if repairs[wanted.url] == repair {
                    kept.insert(hook.id)
                    plan.warnings.append(.init(table: wanted.table, kind: .differs(difference.rawValue)))
                } else {
                    plan.knowsOlderFormAlone = plan.knowsOlderFormAlone || isIgnorant
                    plan.missing.append(wanted)
                }
            } else {
                plan.missing.append(wanted)
                plan.isLacking = true
            }
        }
        plan.surplus = own.map(\.id).filter { !kept.contains($0) }
        return plan
    }

    private func warnings(_ own: [RegisteredWebhook]) -> [WebhookHealth.Warning] {
        own.compactMap { hook in
            let worst = hook.pending.max { $0.attempts < $1.attempts }
            guard let worst, worst.attempts > settings.tolerableAttempts else { return nil }
            let kind = WebhookHealth.Warning.Kind.stuck(
                attempts: worst.attempts,
                errorCode: worst.errorCode,
                message: worst.errorMessage
            )
            return .init(table: hook.table, kind: kind)
        }
    }

    // MARK: Working

    /// Continues with the first of the steps, or ends the round.
    private mutating func proceed(_ steps: [RoundStep], now: NIODeadline) -> [Action] {
        guard let step = steps.first else { return isRemoving ? end() : rest(now: now) }
        state = .working(steps)
        switch step {
        case .check(let id): return [.call(.get(id))]
        case .delete(let id): return [.call(.delete(id))]
        case .add(let wanted): return [.call(.add(wanted.definition(form)))]
        }
    }

    private mutating func worked(_ steps: [RoundStep], _ answer: WebhookAnswer, now: NIODeadline) -> [Action] {
        guard let step = steps.first else { return [] }
        var rest = Array(steps.dropFirst())
        switch (step, answer) {
        case (.check(let id), .hook(let hook?)) where isOwn(hook) && hook.id == id: rest.insert(.delete(id), at: 0)
        case (.check, .hook):
            // The webhook was deleted, and the id may belong to another program's webhook by now.
            hookCount -= 1
        case (.delete, .done):
            hookCount -= 1
            hasChanged = true
        case (.add, .done):
            hookCount += 1
            hasChanged = true
        case (.add, .refused(let status, _)) where form == .current && ![401, 403, 404, 429].contains(status):
            form = .older
            rest = steps
        case (_, .refused(_, let reason)): return refused(reason, now: now)
        case (_, .failed(let reason)):
            // The call may have been carried out all the same.
            if case .add = step { hookCount += 1 }
            return failed(reason, now: now)
        case (_, .hooks), (_, .hook), (_, .done): return failed("The server answered something else.", now: now)
        }
        // If the registrar is ending, the rest of the round is dropped.
        return isEnding && !isRemoving ? look(isSecond: false) : proceed(rest, now: now)
    }

    // MARK: Resting

    private mutating func rest(now: NIODeadline) -> [Action] {
        hasStarted = true
        failures = 0
        state = .resting
        health.state = .registered
        // Changes are checked soon: a server may have stored a webhook differently from what was asked.
        return [.report(health), setTimer(at: now + (hasChanged ? settings.confirmation : settings.interval))]
    }

    /// The server has rejected a call, and would do so again. Wait for the whole interval: repeated wrong passwords
    /// lock an account.
    private mutating func refused(_ reason: String, now: NIODeadline) -> [Action] {
        guard !isEnding else { return end() }
        state = .resting
        health.state = .failing(reason)
        return [.report(health), setTimer(at: now + settings.interval)]
    }

    private mutating func failed(_ reason: String, now: NIODeadline) -> [Action] {
        state = .resting
        var pause = settings.firstPause
        for _ in 0..<min(failures, 16) where pause < settings.interval { pause = pause * 2 }
        failures += 1
        health.state = .failing(reason)
        return [.report(health), setTimer(at: now + min(pause, settings.interval))]
    }

    private mutating func setTimer(at instant: NIODeadline) -> Action {
        timer += 1
        return .setTimer(timer, at: instant)
    }

    // MARK: Ending

    private mutating func beginEnd(now: NIODeadline) -> [Action] {
        // Timers of rounds have numbers from 1 on.
        endTimer = 0
        return [.setTimer(0, at: now + settings.stopTimeout)]
    }

    private mutating func end() -> [Action] {
        state = .ended
        health = WebhookHealth(state: .stopped(hooksLeft: hookCount))
        return [.report(health), .finish]
    }
}
