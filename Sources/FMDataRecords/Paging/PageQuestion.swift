package import FMDataCore

/// The next request of a paging strategy.
package struct PageQuestion: Hashable, Sendable {
    package enum Selection: Hashable, Sendable {
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

    package let selection: Selection
    /// The most rows to read.
    package let limit: Int

    /// Whether the answer's time tells how long a page of records takes.
    var isPage: Bool {
        switch selection {
        case .records, .keys, .sorted, .byKey, .window: true
        case .count, .least, .greatest, .having: false
        }
    }
}

/// The value of a key field that is not empty.
package enum PageKey: Hashable, Sendable {
    case number(FMNumber)
    case text(String)

    /// `nil` for an empty field.
    package init?(_ value: FieldValue) {
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
package struct PageAnswer: Hashable, Sendable {
    var ids: [Int] = []
    /// The keys of all rows for ``PageQuestion/Part/keys(offset:)``, of the last row where records are sorted; `nil`
    /// for an empty field.
    var keys: [PageKey?] = []
    /// The number of records found, before offset and limit apply; `nil` when the server does not report it.
    package var foundCount: Int?
    /// The number of records of the table; `nil` when the server does not report it or has only said that it finds
    /// none.
    package var tableCount: Int?
}

extension PageKey {
    /// The text of a find criterion for the key.
    package var criterion: String {
        switch self {
        case .number(let number): number.findText ?? number.literal
        case .text(let text): text
        }
    }
}

extension DataAPI.FindField {
    /// A find for values within these bounds, both included. Without bounds, it finds every value that is not empty.
    func lies(_ from: PageKey?, _ through: PageKey?) -> DataAPI.Find {
        switch (from, through) {
        case (nil, nil): isNotEmpty
        case (let from?, nil): isAtLeast(from)
        case (nil, let through?): isAtMost(through)
        case (let from?, let through?): isAtLeast(from) && isAtMost(through)
        }
    }

    private func isAtLeast(_ key: PageKey) -> DataAPI.Find {
        switch key {
        case .number(let number): self >= number
        case .text(let text): self >= text
        }
    }

    private func isAtMost(_ key: PageKey) -> DataAPI.Find {
        switch key {
        case .number(let number): self <= number
        case .text(let text): self <= text
        }
    }
}

extension DataAPI.Layout {
    /// The value of a field of a record, read by encoding the record: the record's type knows the field's name and
    /// format.
    func key(_ name: String, of fields: some Encodable) throws -> PageKey? {
        let server = database.server
        var options = server.encoding
        // Nothing is sent. Fields without a value must be in the output, and fields that may not be written do no harm.
        options.nilValues = .empty
        options.dates = .timestamps
        let encoder = FMEncoder(options: options, recordEncoder: server.config.encoder)
        let wireName = if case .custom(let convert) = options.keys { convert(name) } else { name }
        let value = try encoder.wireValue(of: fields, .fields).members.first { $0.name == wireName }?.value
        switch value {
        case .literal(let literal)?: return FMNumber(literal).map(PageKey.number)
        case .text(let text)?: return PageKey(text: text)
        case .array?, .object?, nil:
            throw FMRest.APIError(
                .invalidRequest,
                reason: "\(type(of: fields)) has no field \"\(name)\", by which its pages are to be read.",
                hint: "Add the key to the type, or page by another field."
            )
        }
    }
}
