import Foundation

extension RecordWriter {
    /// Enters the automatic values of a new record, except in fields to which the request gave a value.
    mutating func enterOnCreation(_ record: inout Record, _ table: TableModel, given: Set<Int>) {
        for field in table.fields where !given.contains(field.index) && field.isStored && !field.isGlobal {
            guard let autoEnter = field.autoEnter, field.autoEnterFormula == nil,
                field.isSerial || !options.waitsForCommit
            else { continue }
            record.values[field.slot] = .text(entry(autoEnter, field, record, table))
        }
    }

    /// Enters the results of auto-enter formulas, in the order of the fields.
    ///
    /// - Parameters:
    ///   - given: The fields to which the request gave a value; only a formula that names its own field changes them.
    ///   - changed: The fields of the change; nil for a new record, in which all formulas are evaluated.
    func enterCalculations(_ record: inout Record, _ table: TableModel, given: Set<Int>, changed: Set<String>? = nil) {
        guard !options.waitsForCommit else { return }
        for field in table.fields where field.isStored && !field.isGlobal {
            guard let formula = field.autoEnterFormula, case .calculation(_, let replaces) = field.autoEnter,
                !given.contains(field.index) || replaces && formula.fieldNames.contains(field.name)
            else { continue }
            if let changed {
                let isCurrent = changed.isDisjoint(with: formula.fieldNames)
                guard !isCurrent, replaces || record.values[field.slot].isEmpty else { continue }
            }
            let value = formula.evaluate(in: RecordContext(reader: reader, record: record, table: table.id))
            record.values[field.slot] = value.isEmpty ? .empty : .text(value)
        }
    }

    /// Enters the values of the last change: date, time and account.
    mutating func enterOnModification(_ record: inout Record, _ table: TableModel, given: Set<Int>) {
        guard !options.waitsForCommit else { return }
        for field in table.fields where !given.contains(field.index) && field.isStored && !field.isGlobal {
            switch field.autoEnter {
            case .modificationDate, .modificationTime, .modificationTimestamp, .modificationAccount:
                guard let autoEnter = field.autoEnter else { continue }
                record.values[field.slot] = .text(entry(autoEnter, field, record, table))
            case nil, .serial, .creationDate, .creationTime, .creationTimestamp, .creationAccount, .uuid, .constant,
                .calculation:
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
        case .constant(let text): return text
        case .calculation: preconditionFailure("formulas are worked out apart")
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
    /// The number plus one.
    var successor: FMNumber { FMNumber(literal: Formula.text(Formula.decimal(text) + 1)) ?? self }
}
