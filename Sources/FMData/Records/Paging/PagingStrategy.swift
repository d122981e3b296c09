/// A way to read a found set that may change meanwhile: answers in, questions out, without publishers, records or time.
protocol PagingStrategy: Sendable {
    /// The number of records to come in all; `nil` while it is not known.
    var total: Int? { get }
    /// The number of records without a key; `nil` when it is not known.
    var withoutKey: Int? { get }

    /// The next question. It is asked again after a failure, perhaps with fewer rows.
    ///
    /// - Parameter size: the number of records a page should have.
    func question(size: Int) -> PageQuestion

    /// Takes in the answer to a question.
    mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageVerdict
}

/// The result of an answer.
struct PageVerdict: Hashable, Sendable {
    /// The positions of the rows to publish.
    var rows: [Int] = []
    var drift: [DataAPI.PageDrift] = []
    var isLast = false
}

/// Why paging cannot go on, although the server answers.
enum PagingFailure: Error, Hashable, Sendable {
    /// No known record is where it could be.
    case placeLost
    /// More records than fit on a page have the same key.
    case keyNotUnique
    /// A serial number is missing or is not whole.
    case serialNotWhole
    /// The record that a page ends with has no key, although a find by the key found it.
    case keyMissing
}

extension DataAPI.PageDrift {
    /// The drift of a page whose new rows do not follow each other behind the known rows: the rows that came again
    /// between them.
    static func repeated(in ids: [Int], new: [Int]) -> [DataAPI.PageDrift] {
        guard let first = new.first else { return [] }
        let new = Set(new)
        let again = ids.indices.filter { $0 > first && !new.contains($0) }.map { ids[$0] }
        return again.isEmpty ? [] : [DataAPI.PageDrift(.repeated, recordIds: again)]
    }

    /// The drift at the end for records that were counted at the beginning and did not come. Their ids are not known.
    static func missing(_ delivered: Int, of total: Int?) -> [DataAPI.PageDrift] {
        guard let total, delivered < total else { return [] }
        return [DataAPI.PageDrift(.gone, places: delivered - total)]
    }
}

extension PageQuestion {
    /// Whether nothing follows a page that begins with row `offset` of the found set.
    ///
    /// The server's count takes precedence over the number of rows: a server that sends fewer than requested is not at
    /// the end yet, unless it sends nothing new at all.
    func isEnd(_ answer: PageAnswer, offset: Int = 1, newRows: Int) -> Bool {
        let isShort = answer.ids.count < limit
        guard let found = answer.foundCount else { return isShort }
        return offset + answer.ids.count - 1 >= found || isShort && newRows == 0
    }
}
