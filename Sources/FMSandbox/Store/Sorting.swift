/// The sort key of a record. Empty values come first, then numbers, then dates and times, then text.
private enum SortKey: Sendable {
    case empty
    case number(FMNumber)
    case moment(Int)
    case text([UInt32])
    /// The position in a value list.
    case place(Int)

    static func compare(_ left: SortKey, _ right: SortKey) -> Int {
        switch (left, right) {
        case (.number(let one), .number(let other)): one == other ? 0 : (one < other ? -1 : 1)
        case (.moment(let one), .moment(let other)): one == other ? 0 : (one < other ? -1 : 1)
        case (.place(let one), .place(let other)): one == other ? 0 : (one < other ? -1 : 1)
        case (.text(let one), .text(let other)): TextFolding.compare(one, other)
        default: left.rank == right.rank ? 0 : (left.rank < right.rank ? -1 : 1)
        }
    }

    private var rank: Int {
        switch self {
        case .empty: 0
        case .number: 1
        case .moment: 2
        case .place: 3
        case .text: 4
        }
    }
}

extension Reader {
    /// The records in the given order; equal ones keep their order.
    func sorted(_ records: [Record], by order: [SortModel], table: Int, database: DatabaseModel) -> [Record] {
        guard !order.isEmpty else { return records }
        let lists = order.map { foldedValueList(of: $0, database) }
        let keyed = records.enumerated().map { position, record in
            (position: position, keys: zip(order, lists).map { key(for: record, $0, in: $1, table, database) })
        }
        return keyed.sorted { left, right in
            for (place, sort) in order.enumerated() {
                let result = SortKey.compare(left.keys[place], right.keys[place])
                guard result != 0 else { continue }
                if case .descending = sort.order { return result > 0 }
                return result < 0
            }
            return left.position < right.position
        }
        .map { records[$0.position] }
    }

    /// The values of the value list to sort by; nil if it sorts otherwise. A list of related values is empty here,
    /// because there is no record to which they would be related.
    private func foldedValueList(of sort: SortModel, _ database: DatabaseModel) -> [[UInt32]]? {
        guard case .valueList(let list) = sort.order else { return nil }
        return values(of: list, for: nil, database: database).map { TextFolding.fold($0.value) }
    }

    private func key(
        for record: Record,
        _ sort: SortModel,
        in list: [[UInt32]]?,
        _ table: Int,
        _ database: DatabaseModel
    ) -> SortKey {
        let value = values(of: sort.reference, from: record, table: table, database: database).first ?? .empty
        let text = value.text
        if let list {
            let folded = TextFolding.fold(text)
            return list.firstIndex(of: folded).map(SortKey.place) ?? .text(folded)
        }
        guard !text.isEmpty else { return .empty }
        switch model.tables[sort.reference.table].fields[sort.reference.field].type {
        case .number: return FMNumber(reading: text).map(SortKey.number) ?? .text(TextFolding.fold(text))
        case .date: return DateNotation.us.date(from: text).map { .moment($0.number) } ?? .text(TextFolding.fold(text))
        case .time: return CivilTime(text: text).map { .moment($0.microseconds) } ?? .text(TextFolding.fold(text))
        case .timestamp:
            return DateNotation.us.timestamp(from: text).map { .moment($0.microseconds) }
                ?? .text(TextFolding.fold(text))
        case .text, .container: return .text(TextFolding.fold(text))
        }
    }
}
