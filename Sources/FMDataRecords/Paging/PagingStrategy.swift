import FMDataCore

/// A way to read a found set that may change meanwhile: answers in, questions out, without publishers, records or time.
package protocol PagingStrategy: Sendable {
    /// The number of records to come in all; `nil` while it is not known.
    var total: Int? { get }
    /// The number of records without a key; `nil` when it is not known.
    var withoutKey: Int? { get }

    /// The next question. It is asked again after a failure, perhaps with fewer rows.
    ///
    /// - Parameter size: the number of records a page should have.
    func question(size: Int) -> PageQuestion

    /// Takes in the answer to a question.
    mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageOutcome
}

/// The result of an answer.
package struct PageOutcome: Hashable, Sendable {
    /// The positions of the rows to publish.
    var rows: [Int] = []
    var drift: [DataAPI.PageDrift] = []
    var isLast = false
}

/// Why paging cannot go on, although the server answers.
package enum PagingFailure: Error, Hashable, Sendable {
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

/// The ids and places of the last records that came: enough to recognise a page, in constant memory.
package struct KnownRecords: Sendable {
    private let capacity: Int
    private var places: [Int: Int] = [:]
    /// The ids in the order they came; when it is full, the oldest is at index `oldest`.
    private var order: [Int] = []
    private var oldest = 0
    /// Whether no record was forgotten so far.
    private(set) var isComplete = true

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    var count: Int { order.count }

    func contains(_ id: Int) -> Bool { places[id] != nil }

    /// The place at which the record was seen last.
    func place(of id: Int) -> Int? { places[id] }

    /// Adds the rows of a page. Returns the positions of the rows that are new.
    ///
    /// - Parameter place: the place of the first row, where places matter.
    mutating func takeNew(of rows: [Int], from place: Int = 1) -> [Int] {
        var new: [Int] = []
        for (position, id) in rows.enumerated() {
            if places.updateValue(place + position, forKey: id) == nil {
                new.append(position)
                remember(id)
            }
        }
        return new
    }

    private mutating func remember(_ id: Int) {
        guard order.count == capacity else { return order.append(id) }
        isComplete = false
        places[order[oldest]] = nil
        order[oldest] = id
        oldest = (oldest + 1) % capacity
    }
}
