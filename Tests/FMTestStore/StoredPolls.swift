@testable import FMDataFleet

/// The shared polls of one live query as the script of the store keeps them: `StoreScript.feeds` in Swift, for the
/// simulation. `FeedScriptWalkTests` compares the two.
struct StoredPolls {
    struct Entry: Equatable {
        let sequence: Int
        /// The number of the poll that has found it.
        let poll: Int
        /// Sealed.
        let data: [UInt8]
    }

    /// Who leads, and under which lease.
    struct Leader: Equatable {
        let member: String
        let lease: String
        /// In milliseconds of the store's clock, like the other times.
        var until: Int
    }

    /// The fields of the hash.
    struct Feed: Equatable {
        var leader: Leader?
        var epoch: String?
        /// That of the last entry.
        var sequence = 0
        /// The number of the last poll.
        var polls = 0
        var digest: String?
        /// When the last poll began.
        var began: Int?
    }

    /// What it tells members through the channel of the feed.
    typealias Tell = (_ word: String) -> Void

    private(set) var feed = Feed()
    private(set) var entries: [Entry] = []
    /// The members, by the time until which they count.
    private(set) var members: [String: Int] = [:]
    /// When the hash and the stream end if nothing is written.
    private var ends = (feed: Int.max, entries: Int.max)

    private static let day = 86_400_000

    /// Runs an operation.
    ///
    /// - Parameter words: the arguments of the script.
    mutating func run(_ words: [[UInt8]], now: Int, tell: Tell) -> RESPValue {
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        let (operation, me, lease, life) = (texts[0], texts[1], texts[2], Int(texts[3]) ?? 0)
        func number(_ index: Int) -> Int { Int(texts[index]) ?? 0 }
        if ends.feed <= now { feed = Feed() }
        if ends.entries <= now { entries = [] }
        switch operation {
        case "lead": return lead(me, lease, life, epoch: texts[5], now)
        case "read": return read(epoch: texts[5], after: number(6), bytes: number(7), now)
        default: break
        }
        guard feed.leader?.lease == lease else { return .array([]) }
        if operation == "resign" {
            feed.leader = nil
            members[me] = nil
            tell("v")
            return position
        }
        guard operation == "hold" || feed.epoch == texts[5] else { return .array([]) }
        hold(me, lease, life, now)
        switch operation {
        case "append" where number(6) != feed.sequence:
            guard number(6) == feed.sequence + 1 else { return .array([]) }
            feed.sequence += 1
            notePoll(duration: number(7), digest: texts[8], now)
            entries.append(Entry(sequence: feed.sequence, poll: feed.polls, data: words[9]))
            // The store keeps up to a hundred more.
            if entries.count > 1000 { entries.removeFirst() }
            ends.entries = now + Self.day
        case "beat": notePoll(duration: number(6), digest: texts[7], now)
        default: break
        }
        if operation != "hold" { tell("\(feed.sequence) \(feed.polls)") }
        return position
    }

    private var position: RESPValue { .array([.integer(feed.sequence), .integer(feed.polls)]) }

    private mutating func hold(_ me: String, _ lease: String, _ life: Int, _ now: Int) {
        feed.leader = Leader(member: me, lease: lease, until: now + life)
        ends.feed = now + Self.day
    }

    private mutating func notePoll(duration: Int, digest: String, _ now: Int) {
        feed.polls += 1
        feed.digest = digest
        feed.began = now - duration
    }

    private mutating func lead(
        _ me: String,
        _ lease: String,
        _ life: Int,
        epoch: String,
        _ now: Int
    ) -> RESPValue {
        members[me] = now + 3 * life
        members = members.filter { $0.value > now }
        let left = (feed.leader?.until ?? 0) - now
        let leads = left <= 0 || feed.leader?.lease == lease
        if leads, feed.epoch == nil {
            feed.epoch = epoch
            entries = []
        }
        if leads { hold(me, lease, life, now) }
        return .array([
            .integer(leads ? 1 : 0), .integer(leads ? 0 : left), feed.epoch.map(RESPValue.init) ?? .null,
            .integer(feed.sequence), .integer(feed.polls), .integer(members.count),
        ])
    }

    private func read(epoch: String, after sequence: Int, bytes limit: Int, _ now: Int) -> RESPValue {
        guard feed.epoch == epoch else { return .array([]) }
        var answer: [RESPValue] = [
            .integer(feed.sequence), .integer(feed.polls), RESPValue(feed.digest ?? ""),
            .integer(feed.began.map { now - $0 } ?? 0),
        ]
        var size = 0
        for entry in entries.filter({ $0.sequence > sequence }).prefix(100) where size <= limit {
            size += entry.data.count
            answer += [.integer(entry.sequence), .integer(entry.poll), .text(entry.data)]
        }
        return .array(answer)
    }
}

extension RESPValue {
    fileprivate init(_ text: String) { self = .text(Array(text.utf8)) }
}
