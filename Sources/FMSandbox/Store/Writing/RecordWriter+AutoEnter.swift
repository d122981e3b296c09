import Foundation

extension RecordWriter {
    /// Enters what a new record holds by itself, unless the request gave the field a value.
    mutating func enterOnCreation(_ record: inout Record, _ table: TableModel, given: Set<Int>) {
        for field in table.fields where !given.contains(field.index) && field.isStored && !field.isGlobal {
            guard let autoEnter = field.autoEnter else { continue }
            record.values[field.slot] = .text(entry(autoEnter, field, record, table))
        }
    }

    /// Enters what a change leaves behind: the modification stamps.
    mutating func enterOnModification(_ record: inout Record, _ table: TableModel, given: Set<Int>) {
        for field in table.fields where !given.contains(field.index) && field.isStored && !field.isGlobal {
            switch field.autoEnter {
            case .modificationDate, .modificationTime, .modificationTimestamp, .modificationAccount:
                guard let autoEnter = field.autoEnter else { continue }
                record.values[field.slot] = .text(entry(autoEnter, field, record, table))
            case nil, .serial, .creationDate, .creationTime, .creationTimestamp, .creationAccount, .uuid:
                continue
            }
        }
    }

    private mutating func entry(
        _ autoEnter: Solution.AutoEnter,
        _ field: FieldModel,
        _ record: Record,
        _ table: TableModel
    ) -> String {
        switch autoEnter {
        case .serial:
            let number = world.tables[table.id].serials[field.index] ?? FMNumber(1)
            world.tables[table.id].serials[field.index] = number.successor
            return number.text
        case .creationDate, .modificationDate: return DateNotation.us.write(viewpoint.now.date)
        case .creationTime, .modificationTime: return viewpoint.now.time.text
        case .creationTimestamp, .modificationTimestamp: return DateNotation.us.write(viewpoint.now)
        case .creationAccount, .modificationAccount: return viewpoint.account
        case .uuid:
            let digits = Scrambler.hex(32, seed: "\(table.name)::\(field.name)", number: record.id, uppercase: true)
            let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
                String(digits.dropFirst(range.lowerBound).prefix(range.count))
            }
            return groups.joined(separator: "-")
        }
    }
}

extension FMNumber {
    /// One more.
    var successor: FMNumber { FMNumber(literal: Formula.text(Formula.decimal(text) + 1)) ?? self }
}
