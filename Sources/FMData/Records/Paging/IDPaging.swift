/// Reads the ids and keys of all records first, then the records by their keys.
struct IDPaging: PagingStrategy {
    /// The number of records that one find asks for by key: each is a request within the find.
    static let chunk = 50

    private struct Entry: Hashable {
        let id: Int
        let key: PageKey
    }

    private(set) var total: Int?
    private(set) var withoutKey: Int?

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

    func question(size: Int) -> PageQuestion {
        if let scan { return scan.question(size: size) }
        let chunk = entries[position...].prefix(min(size, Self.chunk))
        return PageQuestion(selection: .having(chunk.map(\.key)), limit: chunk.count)
    }

    mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageVerdict {
        guard var scan else { return try read(answer, question) }
        let verdict = try scan.received(answer, to: question)
        self.scan = verdict.isLast ? nil : scan
        drift += verdict.drift
        for row in verdict.rows {
            if let key = answer.keys[row] {
                entries.append(Entry(id: answer.ids[row], key: key))
            } else {
                withoutKey = (withoutKey ?? 0) + 1
            }
        }
        guard verdict.isLast else { return PageVerdict() }
        total = entries.count
        withoutKey = withoutKey ?? 0
        guard entries.isEmpty else { return PageVerdict() }
        return PageVerdict(drift: drift, isLast: true)
    }

    private mutating func read(_ answer: PageAnswer, _ question: PageQuestion) throws(PagingFailure) -> PageVerdict {
        // An empty answer would mean that all records of the chunk were deleted, so ask once more.
        isConfirming = answer.ids.isEmpty && !isConfirming
        if isConfirming { return PageVerdict() }
        // More records match the keys than the answer holds, so the wanted ones may be among the others.
        guard answer.foundCount ?? 0 <= answer.ids.count else { throw .keyNotUnique }
        // A record should come once, but do not rely on the server for that.
        let rows = Dictionary(zip(answer.ids, answer.ids.indices)) { first, _ in first }
        var verdict = PageVerdict(drift: drift)
        var gone: [Int] = []
        for entry in entries[position...].prefix(question.limit) {
            if let row = rows[entry.id] { verdict.rows.append(row) } else { gone.append(entry.id) }
        }
        if !gone.isEmpty { verdict.drift.append(DataAPI.PageDrift(.gone, recordIds: gone)) }
        drift = []
        position += question.limit
        verdict.isLast = position >= entries.count
        return verdict
    }
}
