import Foundation

extension RecordWriter {
    /// Enters what a new record holds by itself, unless the request gave the field a value.
    mutating func enterOnCreation(_ record: inout Record, _ table: TableModel, given: Set<Int>) {
        for field in table.fields where !given.contains(field.index) && field.isStored && !field.isGlobal {
            guard let autoEnter = field.autoEnter, field.autoEnterFormula == nil,
                field.isSerial || !options.waitsForCommit
            else { continue }
            record.values[field.slot] = .text(entry(autoEnter, field, record, table))
        }
    }

    /// Enters what the formulas of fields give, in the order of the fields; a request's own values come first.
    ///
    /// - Parameters:
    ///   - given: The fields to which the request gave a value, which are left alone.
    ///   - changed: The fields of the change; nil for a new record, whose formulas are all worked out.
    func enterCalculations(_ record: inout Record, _ table: TableModel, given: Set<Int>, changed: Set<String>? = nil) {
        guard !options.waitsForCommit else { return }
        for field in table.fields where !given.contains(field.index) && field.isStored && !field.isGlobal {
            guard let formula = field.autoEnterFormula, case .calculation(_, let replaces) = field.autoEnter else {
                continue
            }
            if let changed {
                let isCurrent = changed.isDisjoint(with: formula.fieldNames)
                guard !isCurrent, replaces || record.values[field.slot].isEmpty else { continue }
            }
            let value = formula.evaluate(in: RecordContext(reader: reader, record: record, table: table.id))
            record.values[field.slot] = value.isEmpty ? .empty : .text(value)
        }
    }

    /// Enters what a change leaves behind: the modification stamps.
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
    /// One more.
    var successor: FMNumber { FMNumber(literal: Formula.text(Formula.decimal(text) + 1)) ?? self }
}
