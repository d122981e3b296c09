import NIOConcurrencyHelpers

/// All records of all hosted files, as a value. A read copies it, which costs nothing until a write, and uses the copy
/// without a lock. A write changes a copy and replaces the whole, so that a failed one changes nothing.
struct World: Sendable {
    var tables: [TableState]
    /// The records that open transactions have changed, each with the number of its transaction. Others may not change
    /// them.
    var locks: [RecordPlace: Int] = [:]

    /// Releases the records of a transaction.
    mutating func release(_ transaction: Int) {
        locks = locks.filter { $0.value != transaction }
    }
}

/// A record, by the index of its table among those of all databases, and its id.
struct RecordPlace: Hashable, Sendable {
    var table: Int
    var recordId: Int
}

/// The records of one table.
struct TableState: Sendable {
    /// The records in the order of creation and of ids, because ids increase and are never used again.
    private(set) var records: [Record] = []
    private(set) var nextRecordId = 1
    /// The values of global fields, until a session sets its own.
    var globals: [FieldValue]
    /// The next serial number by field. A field without an entry starts with 1.
    var serials: [Int: FMNumber] = [:]
    /// The index of match keys. Every change replaces it; copies with the same records share it.
    private(set) var index = TableIndex()

    init(globalSlots: Int) {
        globals = Array(repeating: .empty, count: globalSlots)
    }

    /// The index of a record, found by binary search.
    func position(of recordId: Int) -> Int? {
        let place = firstPosition(from: recordId)
        return place < records.endIndex && records[place].id == recordId ? place : nil
    }

    /// The index of the first record with this id or a greater one.
    private func firstPosition(from recordId: Int) -> Int {
        var range = records.startIndex..<records.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = records[middle].id < recordId ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    func record(_ recordId: Int) -> Record? { position(of: recordId).map { records[$0] } }

    mutating func append(values: [FieldValue]) -> Record {
        let record = Record(id: nextRecordId, modId: 0, isLocked: false, values: values)
        nextRecordId += 1
        records.append(record)
        index = TableIndex()
        return record
    }

    mutating func load(_ records: [Record], nextRecordId: Int) {
        self.records = records
        self.nextRecordId = nextRecordId
        index = TableIndex()
    }

    mutating func replace(_ record: Record) {
        guard let position = position(of: record.id) else { return }
        records[position] = record
        index = TableIndex()
    }

    /// Inserts a record in the order of ids, or replaces the version of it that is there.
    mutating func put(_ record: Record) {
        let place = firstPosition(from: record.id)
        if place < records.endIndex, records[place].id == record.id {
            records[place] = record
        } else {
            records.insert(record, at: place)
        }
        index = TableIndex()
    }

    /// Continues the record ids and serial numbers of another state of the table.
    mutating func takeNumbers(from other: TableState) {
        nextRecordId = max(nextRecordId, other.nextRecordId)
        serials = other.serials
    }

    mutating func remove(_ recordId: Int) {
        guard let position = position(of: recordId) else { return }
        records.remove(at: position)
        index = TableIndex()
    }
}

struct Record: Sendable {
    let id: Int
    var modId: Int
    var isLocked: Bool
    var values: [FieldValue]
}

/// The records with a given value in a field, computed on first use. An index belongs to one state of a table and is
/// dropped with it, so it never needs an update.
final class TableIndex: Sendable {
    private let positions = NIOLockedValueBox<[Int: [MatchKey: [Int]]]>([:])

    /// The indexes of the records that have one of `keys` in the field, in ascending order.
    func positions(
        ofField field: Int,
        keys: [MatchKey],
        build: () -> [MatchKey: [Int]]
    ) -> [Int] {
        let known = positions.withLockedValue { $0[field] }
        let table = known ?? build()
        if known == nil { positions.withLockedValue { $0[field] = table } }
        if keys.count == 1 { return table[keys[0]] ?? [] }
        return Set(keys.flatMap { table[$0] ?? [] }).sorted()
    }
}

/// A value as relationships compare it: numbers by value, all else without case and accents.
enum MatchKey: Hashable, Sendable {
    case number(FMNumber)
    case text([UInt32])

    init?(_ text: String, type: Solution.FieldType) {
        guard !text.isEmpty else { return nil }
        if type == .number {
            guard let number = FMNumber(reading: text) else { return nil }
            self = .number(number)
        } else {
            self = .text(TextFolding.fold(text))
        }
    }
}
