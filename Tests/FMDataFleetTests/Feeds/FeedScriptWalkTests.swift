import FMData
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataFleet

/// The script in a real store against a model of it: members lead, append, resign and read in any order, and those
/// whose lease has ended try to go on. A failure names its seed. Leases end when the walk ends them.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct FeedScriptWalkTests {
    @Test(arguments: 1...UInt64(Effort.of(8, brief: 2))) func everyAnswerIsThatOfTheModel(seed: UInt64) async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            var walk = FeedWalk(seed: seed, client: client)
            for _ in 0..<1500 { try await walk.step() }
            await client.shutdown()
        }
    }

    @Test func aFeedThatIsLostBeginsAnewInAnotherEpoch() async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            let calls = FeedWalk.calls(1, client)
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
            let calls = FeedWalk.calls(1, client, readBytes: 3000)
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
}

private struct FeedWalk {
    private struct Model {
        var lease: String?
        var hasEnded = false
        var epoch: String?
        var position = FeedCalls.Position()
        var digest = ""
        var entries: [FeedCalls.Entry] = []
        var members: Set<Int> = []
    }

    private let seed: UInt64
    private let client: StoreClient
    private var random: SeededRandom
    private let members: [FeedCalls]
    private var model = Model()
    private var last = 0

    init(seed: UInt64, client: StoreClient) {
        self.seed = seed
        self.client = client
        random = SeededRandom(seed: seed)
        members = (0..<4).map { Self.calls($0, client) }
    }

    static func calls(_ number: Int, _ client: StoreClient, readBytes: Int = 1 << 20) -> FeedCalls {
        FeedCalls(
            client: client,
            names: .init(login: String(repeating: "a", count: 32), query: String(repeating: "b", count: 32)),
            settings: .init(lease: 3_600_000, readBytes: readBytes),
            me: "m\(number)",
            lease: "l\(number)"
        )
    }

    mutating func step() async throws {
        let index = Int.random(in: members.indices, using: &random)
        last += 1
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: try await lead(index)
        case 3..<6: try await append(index)
        case 6: try await beat(index)
        case 7: try await hold(index)
        case 8: try await resign(index)
        case 9: try await endLease()
        default: try await read(index)
        }
    }

    private func leads(_ index: Int) -> Bool { model.lease == members[index].lease }

    private mutating func lead(_ index: Int) async throws {
        let mayLead = model.lease == nil || model.hasEnded || leads(index)
        model.members.insert(index)
        if mayLead {
            (model.lease, model.hasEnded) = (members[index].lease, false)
            model.epoch = model.epoch ?? "e\(last)"
        }
        let led = try await members[index].lead(epoch: "e\(last)")
        rule(led.leads == mayLead, "one leads at a time")
        rule(led.epoch == model.epoch, "the epoch lasts")
        rule(led.position == model.position, "whoever asks knows how far the feed is")
        rule(led.members == model.members.count, "members are counted: \(led.members)")
        rule(led.leads || led.left > 3_000_000, "it says when to ask again: \(led.left)")
    }

    private mutating func append(_ index: Int) async throws {
        guard let epoch = model.epoch else { return }
        let isOther = Int.random(in: 0..<6, using: &random) == 0
        let sequence = model.position.sequence + Int.random(in: -1...2, using: &random)
        let data = Array("entry \(last)".utf8)
        let answer = try await members[index].append(
            epoch: isOther ? "other" : epoch,
            sequence: sequence,
            duration: 5,
            digest: "d\(last)",
            data
        )
        guard leads(index), !isOther else { return rule(answer == nil, "no stranger appends") }
        model.hasEnded = false
        if sequence == model.position.sequence + 1 {
            model.position = .init(sequence: sequence, polls: model.position.polls + 1)
            model.entries.append(.init(sequence: sequence, poll: model.position.polls, data: data))
            model.digest = "d\(last)"
        } else if sequence != model.position.sequence {
            return rule(answer == nil, "no entry is left out: \(sequence)")
        }
        rule(answer == model.position, "an entry is added once")
    }

    private mutating func beat(_ index: Int) async throws {
        guard let epoch = model.epoch else { return }
        let answer = try await members[index].beat(epoch: epoch, duration: 5, digest: "d\(last)")
        guard leads(index) else { return rule(answer == nil, "no stranger beats") }
        model.hasEnded = false
        model.position.polls += 1
        model.digest = "d\(last)"
        rule(answer == model.position, "a poll is counted")
    }

    private mutating func hold(_ index: Int) async throws {
        let answer = try await members[index].hold()
        rule(answer == (leads(index) ? model.position : nil), "whoever leads holds")
        if leads(index) { model.hasEnded = false }
    }

    private mutating func resign(_ index: Int) async throws {
        try await members[index].resign()
        guard leads(index) else { return }
        (model.lease, model.hasEnded) = (nil, false)
        model.members.remove(index)
    }

    private mutating func endLease() async throws {
        guard model.lease != nil else { return }
        let name = members[0].names.feed
        _ = try await client.send { _ in RESPCommand("HSET", name, "u", "0") }
        model.hasEnded = true
    }

    private mutating func read(_ index: Int) async throws {
        guard let epoch = model.epoch else { return }
        let after = Int.random(in: max(0, model.position.sequence - 20)...model.position.sequence, using: &random)
        let read = try await members[index].read(epoch: epoch, after: after)
        rule(read?.position == model.position, "whoever reads knows how far the feed is")
        rule(read?.digest == model.digest, "the digest is that of the last poll")
        rule(read?.entries == Array(model.entries.dropFirst(after)), "every entry is there")
        rule(try await members[index].read(epoch: "other", after: after) == nil, "nothing is read of another epoch")
    }

    private func rule(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { Issue.record("seed \(seed): \(what())") }
    }
}
