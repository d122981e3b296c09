import FMData
import NIOCore

/// What a member holds, as a pure state machine: when it says so to the store, and what it tells those who use the
/// slots.
///
/// While the store is away nothing is lost: whoever has a session goes on with it.
struct SlotMemberMachine {
    typealias Event = DataAPI.SessionBudget.Event

    struct Held: Equatable {
        let lease: String
        /// The token as the store has it, or will have it.
        var sealed: [UInt8]?
        /// Whether it is being given back. A renewal that arrived after that would take the slot again.
        var isGiving = false
        /// Whether it was given back without an answer. So it was not given: it is held on to, and given again when the
        /// store answers, or used again while it does not.
        var isReturned = false
        /// Whether the store forgot its token while it was being given back, so that its user puts it no more.
        var isForgotten = false
        /// Whether its user was told that somebody waits for it.
        var isRecalled = false
    }

    enum Action: Equatable {
        /// Renew the leases; with none, only ask whether the store is there.
        case keep([Int: String])
        case tell(slot: Int, lease: String, Event)
        /// Give the slot back again, after putting the token if the store has lost it.
        case giveAgain(slot: Int, lease: String, put: [UInt8]?)
        /// Somebody who waits for a slot may get one now.
        case ring
        /// The alarm is to ring at this instant; it replaces any earlier one.
        case setAlarm(NIODeadline)
        case cancelAlarm
    }

    private let renewal: TimeAmount
    private(set) var held: [Int: Held] = [:]
    /// The lease of the session outside of the budget, while there is one.
    private(set) var privateLease: String?
    private var isKeeping = false
    private var alarm: NIODeadline?

    init(renewal: TimeAmount) {
        self.renewal = renewal
    }

    mutating func granted(_ slot: Int, _ held: Held, now: NIODeadline) -> [Action] {
        let earlier = self.held.updateValue(held, forKey: slot)
        guard let earlier, earlier.lease != held.lease else { return settle(now) }
        // The member stood still until its own lease had ended, so the slot was free to be taken, by itself as well.
        return [.tell(slot: slot, lease: earlier.lease, .lost)] + settle(now)
    }

    /// The store is away, and one session is opened without a slot.
    mutating func grantedPrivately(_ lease: String, now: NIODeadline) -> [Action] {
        privateLease = lease
        return settle(now)
    }

    mutating func put(_ sealed: [UInt8], slot: Int, lease: String) {
        if held[slot]?.lease == lease { held[slot]?.sealed = sealed }
    }

    mutating func dropped(slot: Int, lease: String) {
        if held[slot]?.lease == lease { held[slot]?.sealed = nil }
    }

    mutating func giving(slot: Int, lease: String) {
        if held[slot]?.lease == lease { held[slot]?.isGiving = true }
    }

    /// The token that the store has lost, if the slot is given back without it being put again.
    mutating func takeForgotten(slot: Int, lease: String) -> [UInt8]? {
        guard let entry = held[slot], entry.lease == lease, entry.isForgotten else { return nil }
        held[slot]?.isForgotten = false
        return entry.sealed
    }

    /// The giving was not answered.
    mutating func returned(slot: Int, lease: String) {
        guard held[slot]?.lease == lease else { return }
        held[slot]?.isGiving = false
        held[slot]?.isReturned = true
    }

    /// A slot with a token that could not be given back, for the member itself.
    mutating func takeBack() -> (slot: Int, held: Held)? {
        let returned = held.filter { $0.value.isReturned && $0.value.sealed != nil }.min { $0.key < $1.key }
        guard let returned else { return nil }
        held[returned.key]?.isReturned = false
        held[returned.key]?.isRecalled = false
        return (returned.key, returned.value)
    }

    /// The slot is not held any more, or need not be.
    mutating func ended(slot: Int, lease: String, now: NIODeadline) -> [Action] {
        if held[slot]?.lease == lease { held[slot] = nil }
        if privateLease == lease { privateLease = nil }
        return settle(now)
    }

    /// The store has answered to `keep`, or not.
    mutating func kept(_ asked: [Int: String], _ news: [SlotCalls.News]?, now: NIODeadline) -> [Action] {
        isKeeping = false
        guard let news else { return settle(now) }
        var actions: [Action] = []
        var forgotten: Set<Int> = []
        for line in news {
            switch line {
            case .lost(let slot):
                guard let lease = asked[slot], held[slot]?.lease == lease else { continue }
                held[slot] = nil
                actions.append(.tell(slot: slot, lease: lease, .lost))
            case .again(let slot):
                guard let lease = asked[slot], held[slot]?.lease == lease, held[slot]?.sealed != nil else { continue }
                forgotten.insert(slot)
                if held[slot]?.isGiving == true { held[slot]?.isForgotten = true }
                if held[slot]?.isReturned == false { actions.append(.tell(slot: slot, lease: lease, .forgotten)) }
            case .recalled(let slot):
                if let lease = asked[slot], held[slot]?.lease == lease { actions += recall(slot) }
            }
        }
        for (slot, entry) in held.sorted(by: { $0.key < $1.key }) where entry.isReturned && asked[slot] == entry.lease {
            held[slot]?.isReturned = false
            held[slot]?.isGiving = true
            let lost = forgotten.contains(slot) ? entry.sealed : nil
            actions.append(.giveAgain(slot: slot, lease: entry.lease, put: lost))
        }
        // The store is back, so the session without a slot has to go.
        if let privateLease { actions.append(.tell(slot: 0, lease: privateLease, .recalled)) }
        return actions + settle(now)
    }

    /// A message on the member's channel: `g`, or `r` and a slot.
    mutating func message(_ text: String) -> [Action] {
        if text == "g" { return [.ring] }
        guard text.first == "r", let slot = Int(text.dropFirst()) else { return [] }
        return recall(slot)
    }

    /// Its user is told once.
    private mutating func recall(_ slot: Int) -> [Action] {
        guard let entry = held[slot], !entry.isRecalled else { return [] }
        held[slot]?.isRecalled = true
        return [.tell(slot: slot, lease: entry.lease, .recalled)]
    }

    /// There is a connection again: after a restart of the store the holders have some seconds to say what they hold.
    mutating func connected() -> [Action] {
        keep()
    }

    mutating func wakeUp() -> [Action] {
        alarm = nil
        return keep()
    }

    private mutating func keep() -> [Action] {
        guard isHolding, !isKeeping else { return [] }
        isKeeping = true
        return [.keep(held.filter { !$0.value.isGiving }.mapValues(\.lease))]
    }

    private var isHolding: Bool { !held.isEmpty || privateLease != nil }

    private mutating func settle(_ now: NIODeadline) -> [Action] {
        if !isHolding {
            defer { alarm = nil }
            return alarm == nil ? [] : [.cancelAlarm]
        }
        guard alarm == nil, !isKeeping else { return [] }
        let due = now + renewal
        alarm = due
        return [.setAlarm(due)]
    }
}
