import NIOCore

/// A cache of answers with room for a fixed number. When it is full, the least recently used answer is removed.
struct KeptAnswers<Key: Hashable, Answer> {
    private struct Entry {
        let answer: Answer
        /// When the answer was requested: it was true at that time or later.
        let asked: NIODeadline
        var lastUse: Int
    }

    let room: Int
    private var entries: [Key: Entry] = [:]
    private var uses = 0

    init(room: Int) { self.room = room }

    var count: Int { entries.count }

    /// The cached answer to a request, if it is not older than `age`.
    mutating func answer(to key: Key, within age: TimeAmount, _ now: NIODeadline) -> Answer? {
        guard let entry = entries[key], now - entry.asked < age else { return nil }
        uses += 1
        entries[key]?.lastUse = uses
        return entry.answer
    }

    /// Stores an answer in place of any earlier one. Returns the answer that was removed, to be released outside of a
    /// lock.
    mutating func keep(_ answer: Answer, to key: Key, asked: NIODeadline) -> Answer? {
        uses += 1
        let old = entries.updateValue(Entry(answer: answer, asked: asked, lastUse: uses), forKey: key)
        guard entries.count > room, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
            return old?.answer
        }
        return entries.removeValue(forKey: oldest.key)?.answer
    }

    /// Removes all answers. Returns them, to be released outside of a lock.
    mutating func forget() -> [Answer] {
        guard !entries.isEmpty else { return [] }
        defer { entries = [:] }
        return entries.values.map(\.answer)
    }
}
