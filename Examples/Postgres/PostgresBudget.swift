import FMData
import Foundation
import Synchronization

/// Processes that share the sessions of a FileMaker host through tables of Postgres; to be copied into a program. It
/// needs a client of Postgres as one closure, and an account that may read and write three tables:
///
///     let budget = PostgresBudget(PostgresBudget.Settings(slots: 4), sealer: TokenSealer(key: key)) { sql, values in
///         try await client.rows(sql, values)              // values by $1, $2, …; columns as texts
///     }
///     try await budget.prepare()                          // or SlotTable.schema as a migration
///     var config = DataAPI.Config()
///     config.sessions.budget = budget.budget
///
/// The closure must return or throw within seconds, also when the database does not answer, and its errors should not
/// repeat the values. Each statement commits by itself.
///
/// A process renews what it holds once a second, and hears then that somebody waits; whoever waits asks twice a second.
/// So a slot changes hands within about two seconds when nobody has waited before, and within half a second otherwise.
final class PostgresBudget: Sendable {
    typealias Request = DataAPI.SessionBudget.Request
    typealias Slot = DataAPI.SessionBudget.Slot
    typealias Event = DataAPI.SessionBudget.Event

    struct Settings: Sendable {
        /// The number of sessions of each login, the same in all processes.
        var slots: Int
        /// How long a slot stays held without a renewal, and how often it is renewed.
        var lease = Duration.seconds(10)
        var renewal = Duration.seconds(1)
        /// How long a member that waits pauses between two questions, half as long or half as long again by chance; and
        /// how long its place in the line outlives a question.
        var pause = Duration.milliseconds(500)
        var mark = Duration.seconds(3)
        /// How long the database may fail before a member without a session gives up.
        var patience = Duration.seconds(5)
        /// How long nothing is granted after the table was emptied, so that holders can say what they hold.
        var grace = Duration.seconds(3)

        init(slots: Int) {
            self.slots = max(1, slots)
        }
    }

    /// A slot that this process holds.
    private struct Hold {
        enum Stage { case used, giving, returned }

        let request: Request
        let claim: SlotTable.Claim
        var token: String?
        var sealed: String?
        var stage = Stage.used
        /// How long the token lives, if the slot was given back.
        var life: Duration?
    }

    private let table: SlotTable
    private let settings: Settings
    private let sealer: TokenSealer
    private let process = UUID().uuidString
    /// By their leases.
    private let holds = Mutex<[String: Hold]>([:])

    init(_ settings: Settings, sealer: TokenSealer, query: @escaping SlotTable.Query) {
        table = SlotTable(query: query, settings: settings)
        self.settings = settings
        self.sealer = sealer
    }

    /// Makes the tables, where they are missing.
    func prepare() async throws { _ = try await table.query(SlotTable.schema, []) }

    /// What databases take their sessions from.
    var budget: DataAPI.SessionBudget {
        DataAPI.SessionBudget(
            take: { [self] request in try await take(request) },
            put: { [self] token, slot, life in try await put(token, slot, life) },
            drop: { [self] token, slot in try await drop(token, slot) },
            give: { [self] slot, life in try await give(slot.lease, life) },
            full: { [self] slot in
                // A note that is lost costs others an attempt.
                try? await table.noteFull(claim(slot))
                try await give(slot.lease, nil)
            },
            refused: { [self] slot, code in
                // The note comes first: whoever gets the slot next looks for it.
                try? await table.noteRefusal(code?.rawValue ?? 0, claim(slot))
                try await give(slot.lease, nil)
            },
            // Its lease ends by itself. Then whoever takes it finds a login without an end, and counts it in `strays`.
            left: { [self] slot in end(slot.lease) }
        )
    }

    // MARK: Taking

    private func take(_ request: Request) async throws -> Slot {
        // Asked for with the same lease again, a slot whose answer was lost is the same.
        let claim = claim(request, lease: UUID().uuidString)
        let clock = ContinuousClock()
        var lastAnswer = clock.now
        do {
            while true {
                try Task.checkCancellation()
                do {
                    if let slot = try await ask(request, claim) { return slot }
                    lastAnswer = clock.now
                } catch let refusal as DataAPI.SessionBudget.CredentialsRefused {
                    throw refusal
                } catch {
                    if let slot = takeBack(request) { return slot }
                    if lastAnswer.duration(to: clock.now) >= settings.patience { throw error }
                }
                try await Task.sleep(for: settings.pause * Double.random(in: 0.5...1.5))
            }
        } catch {
            // Nobody waits for it: without it, the place in the line ends by itself.
            Task { [table] in try? await table.leave(claim) }
            throw error
        }
    }

    private func ask(_ request: Request, _ asking: SlotTable.Claim) async throws -> Slot? {
        let held = holds.withLock { holds in
            holds.values.count {
                $0.request.member == request.member && $0.request.key == request.key && $0.stage == .used
            }
        }
        guard let grant = try await table.take(asking, held: held) else {
            try await table.wait(asking, held: held)
            return nil
        }
        var claim = asking
        claim.slot = grant.slot
        let token = grant.sealed.flatMap { sealer.open($0, at: place(claim)) }
        if token == nil, let unreadable = grant.sealed, try await !table.drop(unreadable, claim) { return nil }
        hold(Hold(request: request, claim: claim, token: token, sealed: token == nil ? nil : grant.sealed))
        if token == nil, let code = grant.refusal {
            try? await give(claim.lease, nil)
            throw DataAPI.SessionBudget.CredentialsRefused(code: code == 0 ? nil : FileMakerErrorCode(rawValue: code))
        }
        return Slot(for: request, number: grant.slot, lease: claim.lease, token: token, waiting: grant.waiting)
    }

    /// While the database is away, whoever could not give a slot back goes on with it.
    private func takeBack(_ request: Request) -> Slot? {
        holds.withLock { holds in
            let returned = holds.first { _, hold in
                hold.stage == .returned && hold.token != nil
                    && hold.request.member == request.member && hold.request.key == request.key
            }
            guard let (lease, old) = returned else { return nil }
            holds[lease] = Hold(request: request, claim: old.claim, token: old.token, sealed: old.sealed)
            return Slot(for: request, number: old.claim.slot, lease: lease, token: old.token)
        }
    }

    // MARK: Held slots

    private func put(_ token: String, _ slot: Slot, _ life: Duration) async throws -> Bool {
        let sealed = try sealer.seal(token, for: place(claim(slot)))
        change(slot.lease) { hold in
            hold.token = token
            hold.sealed = sealed
        }
        let isHeld = try await table.put(sealed, claim(slot), life: life)
        if !isHeld { end(slot.lease) }
        return isHeld
    }

    private func drop(_ token: String, _ slot: Slot) async throws -> Bool {
        // Two sealings of a token differ, and the table compares texts.
        var sealed: String?
        change(slot.lease) { hold in
            guard hold.token == token else { return }
            sealed = hold.sealed
            hold.token = nil
            hold.sealed = nil
        }
        let isHeld = try await table.drop(sealed, claim(slot))
        if !isHeld { end(slot.lease) }
        return isHeld
    }

    /// A giving that was not answered was not done: the slot is held on to, and given again.
    private func give(_ lease: String, _ life: Duration?) async throws {
        let giving = change(lease) { hold in
            hold.stage = .giving
            hold.life = life
        }
        guard let giving else { return }
        do {
            try await table.give(giving.claim, sealed: giving.sealed, life: life)
            end(lease)
        } catch {
            change(lease) { $0.stage = .returned }
            throw error
        }
    }

    // MARK: Renewal

    private func hold(_ hold: Hold) {
        let lease = hold.claim.lease
        holds.withLock { $0[lease] = hold }
        Task { [weak self, renewal = settings.renewal] in
            repeat { try? await Task.sleep(for: renewal) } while await self?.renew(lease) == true
        }
    }

    /// Returns whether the slot is still held. While the database is away, its holder goes on with it.
    private func renew(_ lease: String) async -> Bool {
        guard let hold = holds.withLock({ $0[lease] }) else { return false }
        switch hold.stage {
        case .giving:
            return true
        case .returned:
            try? await give(lease, hold.life)
            return true
        case .used:
            guard let kept = try? await table.keep(hold.claim, hasToken: hold.token != nil) else { return true }
            for event in events(kept, lease) { hold.request.tell(event) }
            return true
        }
    }

    /// What the holder has to know, if it has not given the slot back meanwhile.
    private func events(_ kept: SlotTable.Kept, _ lease: String) -> [Event] {
        holds.withLock { holds in
            guard let hold = holds[lease], hold.stage == .used else { return [] }
            switch kept {
            case .lost:
                holds[lease] = nil
                return [.lost]
            case .held(let isRecalled, let isForgotten):
                return (isForgotten && hold.token != nil ? [.forgotten] : []) + (isRecalled ? [.recalled] : [])
            }
        }
    }

    private func end(_ lease: String) { holds.withLock { $0[lease] = nil } }

    /// Changes what is known of a slot that is held, and returns it.
    @discardableResult
    private func change(_ lease: String, _ change: (inout Hold) -> Void) -> Hold? {
        holds.withLock { holds in
            guard var hold = holds[lease] else { return nil }
            change(&hold)
            holds[lease] = hold
            return hold
        }
    }

    private func claim(_ slot: Slot) -> SlotTable.Claim {
        var claim = claim(slot.request, lease: slot.lease)
        claim.slot = slot.number
        return claim
    }

    private func claim(_ request: Request, lease: String) -> SlotTable.Claim {
        let member = String(UInt(bitPattern: ObjectIdentifier(request.member)), radix: 16)
        return SlotTable.Claim(login: request.key.description, member: "\(process) \(member)", lease: lease)
    }

    private func place(_ claim: SlotTable.Claim) -> String { "\(claim.login) \(claim.slot)" }
}
