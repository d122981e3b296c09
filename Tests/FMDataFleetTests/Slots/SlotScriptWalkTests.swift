import FMTestSupport
import NIOCore
import Testing

@testable import FMDataFleet

/// The script in a real store against a model of it: members take, put, drop, keep and give in any order, and strangers
/// interfere. A failure names its seed. No lease ends by itself.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct SlotScriptWalkTests {
    @Test(.thorough, arguments: 1...8 as ClosedRange<UInt64>)
    func everyRuleHoldsAfterEveryStep(seed: UInt64) async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            var walk = SlotWalk(seed: seed, client: client)
            for _ in 0..<1500 { try await walk.step() }
            try await walk.end()
            await client.shutdown()
        }
    }
}

private struct SlotWalk {
    private struct Member {
        let calls: SlotCalls
        /// The lease that it asks for.
        var waits: String?
        /// The leases of its slots.
        var holds: [Int: String] = [:]
    }

    private let seed: UInt64
    private let slots: Int
    private var random: SeededRandom
    private var members: [Member]
    private var tokens: [Int: [UInt8]] = [:]
    private var isProven = false
    /// How long tokens live: longer than any test.
    private let life = 3_600_000
    private var last = 0

    init(seed: UInt64, client: StoreClient) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        let slots = Int.random(in: 1...4, using: &random)
        members = (1...5).map { number in
            let settings = SlotCalls.Settings.ofTests(slots: slots)
            return Member(
                calls: SlotCalls(client: client, names: .init(digest: "d"), settings: settings, me: "m\(number)")
            )
        }
        self.slots = slots
        self.random = random
    }

    mutating func step() async throws {
        let index = Int.random(in: members.indices, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: try await take(index)
        case 4: try await put(index)
        case 5: try await drop(index)
        case 6: try await keep(index)
        case 7: try await interfere(index)
        default: try await give(index)
        }
    }

    /// Everybody gives everything back, and whoever waits gets a slot, in two rounds at most: it is offered, then
    /// taken.
    mutating func end() async throws {
        for _ in 0...2 * members.count {
            for index in members.indices {
                while !members[index].holds.isEmpty { try await give(index) }
                if members[index].waits != nil { try await take(index) }
            }
        }
        rule(members.allSatisfy { $0.waits == nil }, "everybody gets a slot")
    }

    private var held: [Int: String] { members.reduce(into: [:]) { $0.merge($1.holds) { first, _ in first } } }

    private mutating func take(_ index: Int) async throws {
        last += 1
        let lease = members[index].waits ?? "l\(last)"
        let before = held
        switch try await members[index].calls.take(lease) {
        case .wait(let milliseconds):
            members[index].waits = lease
            let most = members[index].holds.count == slots ? 2000 : 1000
            rule((1...most).contains(milliseconds), "it asks again soon: \(milliseconds)")
            let others = members.indices.filter { $0 != index && members[$0].waits != nil }.count
            let isOpening = !isProven && !before.isEmpty
            rule(before.count + others >= slots || isOpening, "nobody waits while a slot is free for everybody")
        case .slot(let slot, let sealed, let isStray, _):
            members[index].waits = nil
            rule(before[slot] == nil, "no slot is held twice: \(slot)")
            rule(sealed == tokens[slot] ?? [], "a slot comes with its own token: \(slot)")
            rule(isProven || before.isEmpty, "the first login is alone")
            rule(!isStray, "nobody died during a login")
            members[index].holds[slot] = lease
        }
        rule(held.count <= slots, "no more slots are held than there are")
    }

    private mutating func put(_ index: Int) async throws {
        guard let (slot, lease) = pick(index) else { return }
        last += 1
        let token = Array("token \(last)".utf8)
        rule(try await members[index].calls.put(token, slot: slot, lease: lease, life: life), "a holder puts")
        tokens[slot] = token
        isProven = true
    }

    private mutating func drop(_ index: Int) async throws {
        guard let (slot, lease) = pick(index) else { return }
        let other = Array("another".utf8)
        rule(try await members[index].calls.drop(other, slot: slot, lease: lease), "a holder drops")
        if Bool.random(using: &random), let token = tokens[slot] {
            rule(try await members[index].calls.drop(token, slot: slot, lease: lease), "a holder drops its own")
            tokens[slot] = nil
        }
    }

    private mutating func keep(_ index: Int) async throws {
        let holds = members[index].holds
        let news = try await members[index].calls.keep(holds)
        for line in news {
            switch line {
            case .lost: rule(false, "nothing is lost: \(line)")
            case .again(let slot): rule(tokens[slot] == nil, "only what has no token is asked for: \(slot)")
            case .recalled: rule(members.contains { $0.waits != nil }, "somebody waits: \(line)")
            }
        }
    }

    private mutating func give(_ index: Int) async throws {
        guard let (slot, lease) = pick(index) else { return }
        let life: Int? = Bool.random(using: &random) || tokens[slot] == nil ? nil : self.life
        rule(try await members[index].calls.give(slot: slot, lease: lease, life: life), "a holder gives")
        members[index].holds[slot] = nil
        let calls = members[index].calls
        rule(try await isRefused { try await calls.give(slot: slot, lease: lease, life: life) }, "only once")
    }

    /// A member acts on a slot whose lease it does not have, as one that slept.
    private mutating func interfere(_ index: Int) async throws {
        let slot = Int.random(in: 1...slots, using: &random)
        let calls = members[index].calls
        let token = tokens[slot] ?? []
        rule(try await isRefused { try await calls.put([9], slot: slot, lease: "old", life: life) }, "no stranger puts")
        rule(try await isRefused { try await calls.drop(token, slot: slot, lease: "old") }, "no stranger drops")
        rule(try await isRefused { try await calls.give(slot: slot, lease: "old", life: 1) }, "no stranger gives")
        rule(try await isRefused { try await calls.full(slot: slot, lease: "old") }, "for no stranger the host is full")
        let isKnown = held[slot] != nil || tokens[slot] != nil
        if isKnown { rule(try await calls.keep([slot: "old"]) == [.lost(slot)], "a stranger has lost it: \(slot)") }
    }

    /// Whether the slot is somebody else's, or the store knows nothing of it.
    private func isRefused(_ call: () async throws -> Bool) async throws -> Bool {
        do { return try await !call() } catch is SlotCalls.Forgotten { return true }
    }

    private mutating func pick(_ index: Int) -> (slot: Int, lease: String)? {
        let holds = members[index].holds.sorted { $0.key < $1.key }
        return holds.randomElement(using: &random).map { ($0.key, $0.value) }
    }

    private func rule(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { Issue.record("seed \(seed): \(what())") }
    }
}
