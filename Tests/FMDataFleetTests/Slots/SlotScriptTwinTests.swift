import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMDataFleet
@testable import FMTestStore

/// The simulation runs the script of the slots in Swift, so the two must be the same: after each of many random calls
/// the answer, what members were told, and everything that is kept are compared. A failure names its seed.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct SlotScriptTwinTests {
    @Test(.thorough, arguments: 1...40 as ClosedRange<UInt64>)
    func theScriptAndItsTwinDoTheSame(seed: UInt64) async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            var calls = RandomCalls(seed: seed)
            var twin = StoredSlots()
            for number in 1...1000 {
                let call = calls.next(twin)
                if call.storeIsEmpty { twin = StoredSlots() }
                let script = try await Outcome(of: call, in: client)
                let swift = Outcome(of: call, in: &twin)
                guard script == swift else {
                    expectNoDifference(script, swift, "seed \(seed), call \(number): \(call.texts)")
                    break
                }
            }
            await client.shutdown()
        }
    }
}

private struct RandomCalls {
    struct Call {
        let texts: [String]
        /// The time of the store, in milliseconds.
        let now: Int
        /// A store that has forgotten everything is a pool with another name.
        let pool: Int
        let storeIsEmpty: Bool

        var words: [[UInt8]] { texts.map { Array($0.utf8) } }
    }

    private let slots: Int
    private let graceOfNewPool: Int
    private var random: SeededRandom
    private var now = 1_000_000
    private var run = 1
    private var pool = 1
    private var last = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        slots = Int.random(in: 1...4, using: &random)
        graceOfNewPool = Bool.random(using: &random) ? 0 : 5000
    }

    mutating func next(_ twin: StoredSlots) -> Call {
        now += pick([0, 0, 1, 50, 500, 3000, 11_000])
        if isOnce(in: 100) { now -= 30_000 }
        let storeIsEmpty = isOnce(in: 300)
        if storeIsEmpty { pool += 1 }
        if storeIsEmpty || isOnce(in: 200) { run += 1 }
        let slot = Int.random(in: 1...slots, using: &random)
        let place = twin.places[slot]
        var me = "m\(Int.random(in: 1...5, using: &random))"
        var lease = name("l")
        var more: [String] = []
        let operation = pick(["take", "take", "take", "take", "keep", "put", "put", "drop", "give", "give", "full"])
        switch operation {
        case "take":
            lease = pick([lease, twin.line[me]?.lease ?? lease, place?.lease ?? lease])
            more = [pick(["0", "3000", "10000"])]
        case "keep":
            lease = ""
            for slot in 1...slots where Bool.random(using: &random) {
                more += ["\(slot)", isOnce(in: 4) ? name("l") : twin.places[slot]?.lease ?? name("l")]
            }
        default:
            if !isOnce(in: 6), let place, let owner = place.owner { (me, lease) = (owner, place.lease ?? lease) }
            more = ["\(slot)"] + rest(of: operation, place)
        }
        let words = [operation, "run\(run)", me, lease, "\(slots)", "10000", "8000", "\(graceOfNewPool)", "channel:"]
        return Call(texts: words + more, now: now, pool: pool, storeIsEmpty: storeIsEmpty)
    }

    private mutating func rest(of operation: String, _ place: StoredSlots.Place?) -> [String] {
        switch operation {
        case "put": [name("t"), "\(pick([0, 1000, 60_000, 900_000]))"]
        case "drop": [isOnce(in: 3) ? name("t") : place?.token.map { String(decoding: $0, as: UTF8.self) } ?? ""]
        case "give": [pick(["", "0", "2000", "900000"])]
        default: ["\(pick([1000, 60_000]))", "\(pick([1000, 10_000]))"]
        }
    }

    private mutating func name(_ kind: String) -> String {
        last += 1
        return "\(kind)\(last)"
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }

    private mutating func isOnce(in times: Int) -> Bool { Int.random(in: 0..<times, using: &random) == 0 }
}

/// What a call answers, tells and leaves behind.
private struct Outcome: Equatable {
    let answer: RESPValue
    let told: [String]
    var places: [Int: StoredSlots.Place] = [:]
    var line: [String: StoredSlots.Waiter] = [:]
    var strays = 0

    init(of call: RandomCalls.Call, in twin: inout StoredSlots) {
        var told: [String] = []
        answer = twin.run(call.words, now: call.now) { member, word in told.append("\(member) \(word)") }
        self.told = told
        for (slot, var place) in twin.places {
            // How long a token would have lived says nothing without a token.
            if place.token == nil { place.dies = 0 }
            places[slot] = place
        }
        line = twin.line
        strays = twin.strays
    }

    init(of call: RandomCalls.Call, in client: StoreClient) async throws {
        let keys = ["pool \(call.pool)", "line \(call.pool)", "\(call.now)"]
        let script = StoreScript(text: Self.script, hash: "")
        let parts = try await client.send { _ in script.command("EVAL", script.text, keys, call.words) }.elements ?? []
        try #require(parts.count == 4)
        answer = parts[0]
        told = parts[1].elements?.compactMap(\.string) ?? []
        func number(_ field: String) -> Int? { parts[2][field]?.string.flatMap { Int($0) } }
        for slot in 1...(number("k") ?? 1) {
            let token = parts[2]["t\(slot)"]?.bytes
            places[slot] = StoredSlots.Place(
                owner: parts[2]["o\(slot)"]?.string,
                lease: parts[2]["l\(slot)"]?.string,
                until: number("u\(slot)") ?? 0,
                grantedAt: number("g\(slot)"),
                token: token,
                dies: token == nil ? 0 : number("x\(slot)") ?? 0,
                isOpening: number("b\(slot)") != nil,
                recalledUntil: number("c\(slot)")
            )
        }
        let waiting = parts[3].elements?.compactMap(\.string) ?? []
        for index in stride(from: 0, to: waiting.count - 1, by: 2) {
            let member = waiting[index]
            line[member] = StoredSlots.Waiter(
                score: Double(waiting[index + 1]) ?? .nan,
                asksUntil: number("a:\(member)") ?? 0,
                lease: parts[2]["n:\(member)"]?.string ?? ""
            )
        }
        strays = number("strays") ?? 0
    }

    /// The script with a clock that the test moves and with messages that it returns, and what is kept after it.
    private static let script = """
        local told = {}
        local function run()
        \(StoreScript.slots.text
            .replacing("redis.call('TIME')", with: "{0, KEYS[3] * 1000}")
            .replacing("redis.call('PUBLISH', ARGV[9] .. who, word)", with: "told[#told + 1] = who .. ' ' .. word"))
        end
        local answer = run()
        return {answer, told, redis.call('HGETALL', KEYS[1]), redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')}
        """
}
