import Foundation

/// Sorts the records of several calls by FileMaker's rules, as far as they are known here: empty values come first,
/// numbers are sorted by size, dates and times by age, text without regard to case and accents. With a value list,
/// values that are not in it come last. Records that are equal in all fields keep the order of their creation, which is
/// that of their ids.
///
/// Source: FileMaker Pro help, "Sorting records"; Claris Data API guide, "Perform a find request".
struct FindSort {
    /// A value of a sort field, reduced to what determines the order.
    enum Key: Hashable, Sendable {
        case empty
        case number(FMNumber)
        /// A day number, and nanoseconds of the day.
        case moment(day: Int, time: Int)
        /// The position in a value list.
        case place(Int)
        case text(String)
    }

    private struct Field {
        var name: String
        var type: DataAPI.Layout.LayoutMetaData.FieldMetaData.CalcResult
        var isDescending: Bool
        var list: [String: Int]?
    }

    private var fields: [Field] = []

    /// - Parameter metaData: The metadata of the layout whose fields the answer has.
    /// - Throws: `invalidRequest` for a field or a value list that is not on the layout.
    init(
        _ sort: [DataAPI.SortQuery],
        _ metaData: DataAPI.Layout.LayoutMetaData?
    ) throws(FMRest.APIError) {
        for order in sort {
            guard let field = metaData?.fieldMetaData.first(where: { $0.name == order.fieldName }) else {
                throw Self.refusal("The field \(order.fieldName)")
            }
            var list: [String: Int]?
            if order.sortOrder != .ascend, order.sortOrder != .descend {
                guard let values = metaData?.valueLists?.first(where: { $0.name == order.sortOrder.rawValue })?.values
                else {
                    throw Self.refusal("The value list \(order.sortOrder.rawValue)")
                }
                let folded = values.enumerated().map { (Self.folded($1.value), $0) }
                list = Dictionary(folded, uniquingKeysWith: { first, _ in first })
            }
            let isDescending = order.sortOrder == .descend
            fields.append(Field(name: field.name, type: field.result, isDescending: isDescending, list: list))
        }
    }

    /// The keys of a record; of a repeating field, the first repetition counts.
    ///
    /// - Parameter format: The format of the record's dates.
    func keys(of record: FieldData, format: ValueFormat) throws(FMRest.APIError) -> [Key] {
        var keys: [Key] = []
        for field in fields {
            guard let value = record[field.name] ?? record["\(field.name)(1)"] else {
                throw Self.refusal("The field \(field.name)")
            }
            keys.append(key(value, of: field, format))
        }
        return keys
    }

    func areInOrder(_ left: (keys: [Key], recordId: Int), _ right: (keys: [Key], recordId: Int)) -> Bool {
        for (index, field) in fields.enumerated() {
            let order = left.keys[index].compared(to: right.keys[index])
            if order != 0 { return field.isDescending ? order > 0 : order < 0 }
        }
        return left.recordId < right.recordId
    }

    private func key(_ value: FieldValue, of field: Field, _ format: ValueFormat) -> Key {
        let text = Key.text(Self.folded(value.text))
        if let list = field.list { return list[Self.folded(value.text)].map(Key.place) ?? text }
        if value.isEmpty { return .empty }
        return switch field.type {
        case .number: value.number.map(Key.number) ?? text
        case .date: value.date(format).map { .moment(day: $0.dayNumber, time: 0) } ?? text
        case .time: value.time(format).map { .moment(day: 0, time: $0.totalNanoseconds) } ?? text
        case .timeStamp:
            value.timestamp(format).map { .moment(day: $0.date.dayNumber, time: $0.time.totalNanoseconds) } ?? text
        default: text
        }
    }

    private static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }

    private static func refusal(_ what: String) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: "The records of several calls cannot be sorted: \(what) is not on the layout.",
            hint: "A find that takes several calls is sorted here, by what the layout shows."
        )
    }
}

extension FindSort.Key {
    fileprivate func compared(to other: Self) -> Int {
        func order<Value: Comparable>(_ one: Value, _ another: Value) -> Int {
            one < another ? -1 : another < one ? 1 : 0
        }
        return switch (self, other) {
        case (.number(let one), .number(let another)): order(one, another)
        case (.moment(let day, let time), .moment(let otherDay, let otherTime)):
            day == otherDay ? order(time, otherTime) : order(day, otherDay)
        case (.place(let one), .place(let another)): order(one, another)
        case (.text(let one), .text(let another)): order(one, another)
        default: order(rank, other.rank)
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
