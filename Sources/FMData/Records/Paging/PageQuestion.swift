/// The next request of a paging strategy.
struct PageQuestion: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        /// Records, beginning at a place.
        case records(offset: Int)
        /// Ids and keys, beginning at a place.
        case keys(offset: Int)
        /// The number of records, with and without a key.
        case count
        /// The key of the first or the last record by key, and the number of records that have one.
        case least, greatest
        /// Records within these bounds of the key, by key, ascending.
        case sorted(from: PageKey?, through: PageKey?)
        /// Records that have a key, by key, ascending, beginning at a place.
        case byKey(offset: Int)
        /// Records whose serial number is in this range.
        case window(ClosedRange<Int>)
        /// The records that have these keys.
        case having([PageKey])
    }

    let part: Part
    /// The most rows to read.
    let limit: Int

    /// Whether the answer's time tells how long a page of records takes.
    var isPage: Bool {
        switch part {
        case .records, .keys, .sorted, .byKey, .window: true
        case .count, .least, .greatest, .having: false
        }
    }
}

/// The value of a key field that is not empty.
enum PageKey: Hashable, Sendable {
    case number(FMNumber)
    case text(String)

    /// `nil` for an empty field.
    init?(_ value: FieldValue) {
        switch value {
        case .number(let number): self = .number(number)
        case .text(let text): self.init(text: text)
        }
    }

    init?(text: String) {
        guard !text.isEmpty else { return nil }
        self = .text(text)
    }

    var number: FMNumber? {
        switch self {
        case .number(let number): number
        case .text(let text): FMNumber(text)
        }
    }
}

/// An answer to a ``PageQuestion``, without the records.
struct PageAnswer: Hashable, Sendable {
    var ids: [Int] = []
    /// The keys of all rows for ``PageQuestion/Part/keys(offset:)``, of the last row where records are sorted; `nil`
    /// for an empty field.
    var keys: [PageKey?] = []
    /// The number of records found, before offset and limit apply; `nil` when the server does not report it.
    var foundCount: Int?
    /// The number of records of the table; `nil` when the server does not report it or has only said that it finds
    /// none.
    var tableCount: Int?
}
