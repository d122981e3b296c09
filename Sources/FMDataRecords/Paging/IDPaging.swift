import FMDataCore

/// Reads the ids and keys of all records first, then the records by their keys.
package struct IDPaging: PagingStrategy {
    /// The number of records that one find asks for by key: each is a request within the find.
    package static let chunk = 50

    private struct Entry: Hashable {
        let id: Int
        let key: PageKey
    }

    package private(set) var total: Int?
    package private(set) var withoutKey: Int?

    /// Set while ids are read.
    private var scan: OffsetPaging?
    private var entries: [Entry] = []
    private var position = 0
    /// The drift that was noticed while ids were read.
    private var drift: [DataAPI.PageDrift] = []
    /// Whether the last answer was empty, so that the same question is asked once more.
    private var isConfirming = false

    init(known: KnownRecords = KnownRecords()) {
        scan = OffsetPaging(.keys, known: known)
    }

    package func question(size: Int) -> PageQuestion {
        if let scan { return scan.question(size: size) }
        let chunk = entries[position...].prefix(min(size, Self.chunk))
        return PageQuestion(selection: .having(chunk.map(\.key)), limit: chunk.count)
    }

    package mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageOutcome
    {
        guard var scan else { return try read(answer, question) }
        let outcome = try scan.received(answer, to: question)
        self.scan = outcome.isLast ? nil : scan
        drift += outcome.drift
        for row in outcome.rows {
            if let key = answer.keys[row] {
                entries.append(Entry(id: answer.ids[row], key: key))
            } else {
                withoutKey = (withoutKey ?? 0) + 1
            }
        }
        guard outcome.isLast else { return PageOutcome() }
        total = entries.count
        withoutKey = withoutKey ?? 0
        guard entries.isEmpty else { return PageOutcome() }
        return PageOutcome(drift: drift, isLast: true)
    }

    private mutating func read(_ answer: PageAnswer, _ question: PageQuestion) throws(PagingFailure) -> PageOutcome {
        // An empty answer would mean that all records of the chunk were deleted, so ask once more.
        isConfirming = answer.ids.isEmpty && !isConfirming
        if isConfirming { return PageOutcome() }
        // More records match the keys than the answer holds, so the wanted ones may be among the others.
        guard answer.foundCount ?? 0 <= answer.ids.count else { throw .keyNotUnique }
        // A record should come once, but do not rely on the server for that.
        let rows = Dictionary(zip(answer.ids, answer.ids.indices)) { first, _ in first }
        var outcome = PageOutcome(drift: drift)
        var gone: [Int] = []
        for entry in entries[position...].prefix(question.limit) {
            if let row = rows[entry.id] { outcome.rows.append(row) } else { gone.append(entry.id) }
        }
        if !gone.isEmpty { outcome.drift.append(DataAPI.PageDrift(.gone, recordIds: gone)) }
        drift = []
        position += question.limit
        outcome.isLast = position >= entries.count
        return outcome
    }
}
