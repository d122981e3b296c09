import CustomDump
import FMData
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataFleet
@testable import FMTestStore

/// The script in a real store against its model in Swift, which the simulation runs: members lead, append, resign and
/// read in any order, and those whose lease has ended try to go on. After each call the answer, what members were told,
/// and everything that is kept are compared. A failure names its seed.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct FeedScriptWalkTests {
    @Test(.thorough, arguments: 1...8 as ClosedRange<UInt64>)
    func everyAnswerIsThatOfTheModel(seed: UInt64) async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            var walk = FeedWalk(seed: seed)
            var model = StoredPolls()
            for number in 1...1500 {
                let call = walk.next(model)
                if call.storeIsEmpty { model = StoredPolls() }
                let script = try await Outcome(of: call, in: client)
                let swift = Outcome(of: call, in: &model)
                guard script == swift else {
                    expectNoDifference(script, swift, "seed \(seed), call \(number): \(call.texts)")
                    break
                }
            }
            await client.shutdown()
        }
    }

    @Test func aFeedThatIsLostBeginsAnewInAnotherEpoch() async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            let calls = calls(client)
            _ = try await calls.lead(epoch: "a")
            _ = try await calls.append(epoch: "a", sequence: 1, duration: 0, digest: "d", [1])
            // As an eviction does, which leaves the stream.
            _ = try await client.send { _ in RESPCommand("DEL", calls.names.feed) }
            let led = try await calls.lead(epoch: "b")
            #expect(led.leads && led.epoch == "b" && led.position == .init())
            #expect(try await calls.read(epoch: "a", after: 1) == nil)
            #expect(try await calls.append(epoch: "a", sequence: 1, duration: 0, digest: "d", [2]) == nil)
            #expect(try await calls.append(epoch: "b", sequence: 1, duration: 0, digest: "d", [3])?.sequence == 1)
            #expect(try await calls.read(epoch: "b", after: 0)?.entries.map(\.data) == [[3]])
            await client.shutdown()
        }
    }

    @Test func aFeedKeepsAboutItsLastThousandEntriesAndIsReadInParts() async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            let calls = calls(client, readBytes: 3000)
            _ = try await calls.lead(epoch: "a")
            let data = [UInt8](repeating: 7, count: 1000)
            for number in 1...1200 {
                _ = try await calls.append(epoch: "a", sequence: number, duration: 0, digest: "d", data)
            }
            let first = try await calls.read(epoch: "a", after: 0)?.entries.first?.sequence ?? 0
            #expect((100...201).contains(first))
            let part = try await calls.read(epoch: "a", after: 1100)
            #expect(part?.entries.map(\.sequence) == [1101, 1102, 1103, 1104])
            #expect(part?.position.sequence == 1200)
            await client.shutdown()
        }
    }

    @Test func theBucketHoldsWhatItMayAndFillsInTime() async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            // So few that none comes during the test.
            let bucket = PollBucket(client: client, limit: .init(perMinute: 1, burst: 3))
            for _ in 1...3 { try await bucket.turn("https://host:443") }
            // However long the test takes, no time passes for the bucket.
            let keys = try await client.send { _ in RESPCommand("KEYS", "fm:*:polls") }.elements ?? []
            let key = try #require(keys.first?.string)
            _ = try await client.send { _ in RESPCommand("HSET", key, "t", "9999999999999") }
            let asked = Task { try await bucket.turn("https://host:443") }
            // Another host has a bucket of its own.
            try await bucket.turn("https://other:443")
            asked.cancel()
            await #expect(throws: CancellationError.self) { try await asked.value }
            await client.shutdown()
        }
    }

    private func calls(_ client: StoreClient, readBytes: Int = 1 << 20) -> FeedCalls {
        FeedCalls(
            client: client,
            names: .init(login: String(repeating: "a", count: 32), query: String(repeating: "b", count: 32)),
            settings: .init(lease: 3_600_000, readBytes: readBytes),
            me: "m1",
            lease: "l1"
        )
    }
}

private struct FeedWalk {
    struct Call {
        let texts: [String]
        /// The time of the store, in milliseconds.
        let now: Int
        /// A store that has forgotten everything is a feed with another name.
        let feed: Int
        let storeIsEmpty: Bool

        var words: [[UInt8]] { texts.map { Array($0.utf8) } }
    }

    private var random: SeededRandom
    private var now = 1_000_000
    private var feed = 1
    private var last = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    mutating func next(_ model: StoredPolls) -> Call {
        now += pick([0, 0, 1, 50, 500, 3000, 11_000])
        if isOnce(in: 100) { now -= 30_000 }
        let storeIsEmpty = isOnce(in: 400)
        if storeIsEmpty { feed += 1 }
        last += 1
        let operation = pick([
            "lead", "lead", "lead", "append", "append", "append", "append", "beat", "hold", "resign", "read", "read",
        ])
        let number = Int.random(in: 1...4, using: &random)
        var (me, lease) = ("m\(number)", "l\(number)")
        if operation != "lead", !isOnce(in: 4), let leader = model.feed.leader {
            (me, lease) = (leader.member, leader.lease)
        }
        let words = [operation, me, lease, "10000", "channel"]
        return Call(texts: words + rest(of: operation, model), now: now, feed: feed, storeIsEmpty: storeIsEmpty)
    }

    private mutating func rest(of operation: String, _ model: StoredPolls) -> [String] {
        let epoch = isOnce(in: 6) ? "other" : model.feed.epoch ?? "e\(last)"
        let (sequence, duration) = (model.feed.sequence, "\(pick([0, 5, 3000]))")
        switch operation {
        case "lead": return ["e\(last)"]
        case "read": return [epoch, "\(Int.random(in: 0...sequence, using: &random))", "\(pick([0, 100, 1 << 20]))"]
        case "append":
            let next = sequence + Int.random(in: -1...2, using: &random)
            return [epoch, "\(next)", duration, "d\(last)", "entry \(last)"]
        case "beat": return [epoch, duration, "d\(last)"]
        default: return []
        }
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
    var feed = StoredPolls.Feed()
    var members: [String: Int] = [:]

    init(of call: FeedWalk.Call, in model: inout StoredPolls) {
        var told: [String] = []
        answer = model.run(call.words, now: call.now) { told.append($0) }
        self.told = told
        feed = model.feed
        members = model.members
    }

    init(of call: FeedWalk.Call, in client: StoreClient) async throws {
        let keys = ["feed \(call.feed)", "stream \(call.feed)", "members \(call.feed)", "\(call.now)"]
        let script = StoreScript(text: Self.script, hash: "")
        let parts = try await client.send { _ in script.command("EVAL", script.text, keys, call.words) }.elements ?? []
        try #require(parts.count == 4)
        answer = parts[0]
        told = parts[1].elements?.compactMap(\.string) ?? []
        func text(_ field: String) -> String? { parts[2][field]?.string }
        func number(_ field: String) -> Int? { text(field).flatMap { Int($0) } }
        if let member = text("o"), let lease = text("l"), let until = number("u") {
            feed.leader = StoredPolls.Leader(member: member, lease: lease, until: until)
        }
        feed.epoch = text("e")
        feed.sequence = number("s") ?? 0
        feed.polls = number("n") ?? 0
        feed.digest = text("d")
        feed.began = number("a")
        let names = parts[3].elements?.compactMap(\.string) ?? []
        for index in stride(from: 0, to: names.count - 1, by: 2) { members[names[index]] = Int(names[index + 1]) }
    }

    /// The script with a clock that the test moves and with messages that it returns, and what is kept after it.
    private static let script = """
        local told = {}
        local function run()
        \(StoreScript.feeds.text
            .replacing("redis.call('TIME')", with: "{0, KEYS[4] * 1000}")
            .replacing("redis.call('PUBLISH', ARGV[5], ", with: "table.insert(told, "))
        end
        local answer = run()
        return {answer, told, redis.call('HGETALL', KEYS[1]), redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')}
        """
}
