import NIOCore

/// Answers that are kept for those who ask for the same again: as many as there is room for. When it is full, the one that was asked
/// for least lately goes.
struct KeptAnswers<Key: Hashable, Answer> {
    private struct Entry {
        let answer: Answer
        /// When it was asked for: what it says was true at that time or later.
        let asked: NIODeadline
        var lastUse: Int
    }

    let room: Int
    private var entries: [Key: Entry] = [:]
    private var uses = 0

    init(room: Int) { self.room = room }

    var count: Int { entries.count }

    /// The answer to a question, if one is kept that is not older than that.
    mutating func answer(to key: Key, within age: TimeAmount, _ now: NIODeadline) -> Answer? {
        guard let entry = entries[key], now - entry.asked < age else { return nil }
        uses += 1
        entries[key]?.lastUse = uses
        return entry.answer
    }

    /// Keeps an answer in place of the one before. Returns what it takes the place of, to be let go outside of a lock.
    mutating func keep(_ answer: Answer, to key: Key, asked: NIODeadline) -> Answer? {
        uses += 1
        let old = entries.updateValue(Entry(answer: answer, asked: asked, lastUse: uses), forKey: key)
        guard entries.count > room, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
            return old?.answer
        }
        return entries.removeValue(forKey: oldest.key)?.answer
    }

    /// Forgets all. Returns it, to be let go outside of a lock.
    mutating func forget() -> [Answer] {
        guard !entries.isEmpty else { return [] }
        defer { entries = [:] }
        return entries.values.map(\.answer)
    }
}
