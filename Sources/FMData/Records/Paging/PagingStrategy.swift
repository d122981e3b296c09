/// One way to go through a found set that may change meanwhile: answers in, questions out; no publisher, no records, no time.
protocol PagingStrategy: Sendable {
    /// Records to come in all; `nil` while that is not known.
    var total: Int? { get }
    /// Records that have no key; `nil` when that is not known.
    var withoutKey: Int? { get }

    /// What to ask now. Asked again after a failure, perhaps for less.
    ///
    /// - Parameter size: the records that a page should have.
    func question(size: Int) -> PageQuestion

    /// Takes an answer to the question in.
    mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageVerdict
}

/// What an answer comes to.
struct PageVerdict: Hashable, Sendable {
    /// The positions of the rows to publish.
    var rows: [Int] = []
    var drift: [DataAPI.PageDrift] = []
    var isLast = false
}

/// Why paging cannot go on, although the server answers.
enum PagingFailure: Error, Hashable, Sendable {
    /// No record that is known is where it could be.
    case placeLost
    /// More records than a page takes have the same key.
    case keyNotUnique
    /// A serial number is none, or is not whole.
    case serialNotWhole
    /// The record that a page ends with has no key, though it was found by one.
    case keyMissing
}

extension DataAPI.PageDrift {
    /// For a page whose new rows do not come one after the other behind those that are known: what came again between them.
    static func repeated(in ids: [Int], new: [Int]) -> [DataAPI.PageDrift] {
        guard let first = new.first else { return [] }
        let new = Set(new)
        let again = ids.indices.filter { $0 > first && !new.contains($0) }.map { ids[$0] }
        return again.isEmpty ? [] : [DataAPI.PageDrift(.repeated, recordIds: again)]
    }

    /// At the end, for records that were counted at the beginning and did not come. Nobody knows which.
    static func missing(_ delivered: Int, of total: Int?) -> [DataAPI.PageDrift] {
        guard let total, delivered < total else { return [] }
        return [DataAPI.PageDrift(.gone, places: delivered - total)]
    }
}

extension PageQuestion {
    /// Whether nothing comes behind a page that begins with row `offset` of what was found.
    ///
    /// The server's count goes before the number of rows: one that sends fewer than it was asked for is not at its end yet,
    /// unless it sends nothing new at all.
    func isEnd(_ answer: PageAnswer, offset: Int = 1, newRows: Int) -> Bool {
        let isShort = answer.ids.count < limit
        guard let found = answer.foundCount else { return isShort }
        return offset + answer.ids.count - 1 >= found || isShort && newRows == 0
    }
}
