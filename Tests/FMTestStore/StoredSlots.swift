@testable import FMDataFleet

/// The slots of one pool as the script of the store keeps them: `StoreScript.slots` in Swift, for the simulation.
/// `SlotScriptTwinTests` compares the two.
struct StoredSlots {
    struct Place: Equatable {
        var owner: String?
        var lease: String?
        /// In milliseconds of the store's clock, like the other times.
        var until = 0
        var grantedAt: Int?
        /// Sealed.
        var token: [UInt8]?
        var dies = 0
        var isOpening = false
        var recalledUntil: Int?
    }

    struct Waiter: Equatable {
        let score: Double
        var asksUntil: Int
        var lease: String
    }

    /// What it tells members through their channels.
    typealias Tell = (_ member: String, _ word: String) -> Void

    private(set) var places: [Int: Place] = [:]
    private(set) var strays = 0
    private(set) var line: [String: Waiter] = [:]
    private var run: String?
    private var shut = 0
    private var hasWorked = false
    private var cap: (count: Int, until: Int)?
    private var restsUntil = 0

    /// Runs an operation.
    ///
    /// - Parameter words: the arguments of the script.
    mutating func run(_ words: [[UInt8]], now: Int, tell: Tell) -> RESPValue {
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        let (operation, run, me, lease) = (texts[0], texts[1], texts[2], texts[3])
        let (slots, life) = (Int(texts[4]) ?? 1, Int(texts[5]) ?? 0)
        for slot in 1...slots where places[slot] == nil { places[slot] = Place() }
        if self.run != run {
            shut = now + (Int(self.run == nil ? texts[7] : texts[6]) ?? 0)
            self.run = run
        }
        switch operation {
        case "take": return take(me, lease, slots, life, alone: Int(texts[9]) ?? 0, now, tell)
        case "keep":
            let held = stride(from: 9, to: texts.count - 1, by: 2).map { (Int(texts[$0]) ?? 0, texts[$0 + 1]) }
            return keep(held, me, life, now)
        default:
            let slot = Int(texts[9]) ?? 0
            guard let place = places[slot], place.lease == lease else {
                let isKnown = places[slot].map { $0.lease != nil || $0.token != nil } ?? false
                return .integer(isKnown ? 0 : 2)
            }
            change(operation, slot, life, words.dropFirst(10).map { $0 }, now, tell)
            return .integer(1)
        }
    }

    private func isTaken(_ slot: Int, _ now: Int) -> Bool { places[slot].map { $0.until > now } ?? false }
    private func isWarm(_ slot: Int, _ now: Int) -> Bool {
        places[slot].map { $0.token != nil && $0.dies > now } ?? false
    }

    private func held(by member: String?, _ now: Int) -> Int {
        places.keys.count { isTaken($0, now) && places[$0]?.owner == member }
    }

    /// Those who still ask, in their order. The others leave.
    private mutating func waiting(_ now: Int) -> [String] {
        line = line.filter { $0.value.asksUntil > now }
        return line.sorted { ($0.value.score, $0.key) < ($1.value.score, $1.key) }.map(\.key)
    }

    private mutating func grant(_ slot: Int, _ member: String, _ lease: String, _ life: Int, _ now: Int) {
        places[slot]?.owner = member
        places[slot]?.lease = lease
        places[slot]?.until = now + life
        places[slot]?.grantedAt = now
    }

    private mutating func vacate(_ slot: Int, _ now: Int, _ tell: Tell) {
        let (token, dies) = (places[slot]?.token, places[slot]?.dies ?? 0)
        let grantedAt = places[slot]?.grantedAt
        places[slot] = Place(grantedAt: grantedAt, token: token, dies: dies)
        guard shut <= now, let first = waiting(now).first else { return }
        if isWarm(slot, now), let lease = line[first]?.lease {
            grant(slot, first, lease, 2000, now)
            line[first] = nil
        }
        tell(first, "g")
    }

    private mutating func take(
        _ me: String,
        _ lease: String,
        _ slots: Int,
        _ life: Int,
        alone: Int,
        _ now: Int,
        _ tell: Tell
    ) -> RESPValue {
        for slot in 1...slots where isTaken(slot, now) && places[slot]?.lease == lease {
            grant(slot, me, lease, life, now)
            if !isWarm(slot, now) { places[slot]?.isOpening = true }
            let token = isWarm(slot, now) ? places[slot]?.token ?? [] : []
            return .array([.integer(1), .integer(slot), .text(token), .integer(0), .integer(waiting(now).count)])
        }
        let mine = held(by: me, now)
        let score = line[me]?.score ?? Double(mine) * 17_592_186_044_416 + Double(now)
        line[me] = Waiter(score: score, asksUntil: now + 3000, lease: lease)
        func wait(_ milliseconds: Int, _ rank: Int, _ count: Int) -> RESPValue {
            .array([.integer(0), .integer(milliseconds), .integer(rank), .integer(0), .integer(count)])
        }
        if shut > now { return wait(min(shut - now, 1000), 0, 0) }
        let live = waiting(now)
        let rank = live.firstIndex(of: me) ?? 0
        let taken = (1...slots).filter { isTaken($0, now) }
        let hot = (1...slots).filter { !isTaken($0, now) && isWarm($0, now) }
        var free = hot + (1...slots).filter { !isTaken($0, now) && !isWarm($0, now) }
        let isOpening = taken.contains { slot in
            places[slot].map { $0.isOpening && ($0.grantedAt ?? 0) + alone > now } ?? false
        }
        if !hasWorked, isOpening { free = [] }
        var room = (cap.flatMap { $0.until > now ? $0.count : nil } ?? slots) - taken.count
        if restsUntil > now { room = min(room, hot.count) }
        if rank < min(free.count, room), let slot = free.first {
            let isStray = places[slot]?.isOpening == true
            if isStray { strays += 1 }
            places[slot]?.isOpening = false
            places[slot]?.recalledUntil = nil
            if !isWarm(slot, now) {
                places[slot]?.token = nil
                places[slot]?.isOpening = true
            }
            grant(slot, me, lease, life, now)
            line[me] = nil
            let token = places[slot]?.token ?? []
            return .array([
                .integer(1), .integer(slot), .text(token), .integer(isStray ? 1 : 0), .integer(live.count - 1),
            ])
        }
        let pause = mine == slots ? 2000 : 1000
        return wait(max(min(recall(for: me, mine, taken, now, tell), pause), 50), rank, live.count)
    }

    /// Recalls the slot of whoever holds most, then longest. Returns when the first lease ends.
    private mutating func recall(for me: String, _ mine: Int, _ taken: [Int], _ now: Int, _ tell: Tell) -> Int {
        var (soon, most, since) = (Int.max, mine, 0)
        var victim: Int?
        for slot in taken {
            guard let place = places[slot] else { continue }
            let (count, grantedAt) = (held(by: place.owner, now), place.grantedAt ?? 0)
            soon = min(soon, place.until - now)
            if place.owner != me, place.recalledUntil ?? 0 <= now,
                count > most || victim != nil && count == most && grantedAt < since
            {
                (victim, most, since) = (slot, count, grantedAt)
            }
        }
        if let victim, let owner = places[victim]?.owner {
            places[victim]?.recalledUntil = now + 1000
            tell(owner, "r\(victim)")
        }
        return soon
    }

    private mutating func keep(_ held: [(slot: Int, lease: String)], _ me: String, _ life: Int, _ now: Int) -> RESPValue
    {
        var news: [String] = []
        let isWanted = !waiting(now).isEmpty
        for (slot, lease) in held {
            guard let place = places[slot], place.lease == lease || place.lease == nil && place.token == nil else {
                news.append("lost \(slot)")
                continue
            }
            if !isWarm(slot, now), !place.isOpening { news.append("again \(slot)") }
            if isWanted, place.recalledUntil != nil { news.append("recall \(slot)") }
            places[slot]?.owner = me
            places[slot]?.lease = lease
            places[slot]?.until = now + life
            if place.grantedAt == nil { places[slot]?.grantedAt = now }
        }
        return .array(news.map { .text(Array($0.utf8)) })
    }

    private mutating func change(
        _ operation: String,
        _ slot: Int,
        _ life: Int,
        _ more: [[UInt8]],
        _ now: Int,
        _ tell: Tell
    ) {
        func number(_ index: Int) -> Int? { Int(String(decoding: more[index], as: UTF8.self)) }
        switch operation {
        case "put":
            let isFirst = !hasWorked
            places[slot]?.token = more[0]
            places[slot]?.dies = now + (number(1) ?? 0)
            places[slot]?.isOpening = false
            places[slot]?.until = now + life
            hasWorked = true
            if isFirst { for waiter in waiting(now) { tell(waiter, "g") } }
        case "drop":
            if places[slot]?.token == more[0] { places[slot]?.token = nil }
            places[slot]?.isOpening = true
            places[slot]?.until = now + life
        case "give":
            if places[slot]?.token != nil, let left = number(0) { places[slot]?.dies = now + left }
            vacate(slot, now, tell)
        default:
            let open = places.keys.count { other in
                isWarm(other, now) || other != slot && isTaken(other, now) && places[other]?.isOpening == true
            }
            cap = (max(1, open), now + (number(0) ?? 0))
            if open == 0 { restsUntil = now + (number(1) ?? 0) }
            vacate(slot, now, tell)
        }
    }
}
