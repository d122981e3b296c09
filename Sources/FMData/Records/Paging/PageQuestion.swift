/// What to ask the server for next.
struct PageQuestion: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        /// Records from a place on.
        case records(offset: Int)
        /// Ids and keys from a place on.
        case keys(offset: Int)
        /// How many there are, with and without a key.
        case count
        /// The key of the first or the last record by key, and how many have one.
        case least, greatest
        /// Records by key, ascending, within these bounds.
        case sorted(from: PageKey?, through: PageKey?)
        /// Records that have a key, by it, ascending, from a place on.
        case byKey(offset: Int)
        /// Records whose serial number is one of these.
        case window(ClosedRange<Int>)
        /// The records that have these keys.
        case having([PageKey])
    }

    let part: Part
    /// The most rows.
    let limit: Int

    /// Whether the time that the answer takes says what a page of records takes.
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

/// What came back, without the records.
struct PageAnswer: Hashable, Sendable {
    var ids: [Int] = []
    /// Of all rows for ``PageQuestion/Part/keys(offset:)``, of the last one where records are sorted; `nil` for an empty field.
    var keys: [PageKey?] = []
    /// The rows before offset and limit; `nil` when the server does not say.
    var foundCount: Int?
    /// The records of the table; `nil` when the server does not say, or has only said that it finds none.
    var tableCount: Int?
}
