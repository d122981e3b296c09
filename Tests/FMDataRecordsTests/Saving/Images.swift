import FMData

@testable import FMDataCore
@testable import FMDataRecords

// Short ways to write versions of records.

extension WireValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .literal(String(value)) }
}

extension FieldSet: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, WireValue)...) {
        self.init(elements.map { WireValue.Member(name: $0, value: $1) })
    }
}

extension RecordImage {
    init(_ fields: FieldSet, _ rows: [RowImage]) { self.init(1, fields, rows) }

    /// A record with one portal, `L`; without rows it has none.
    init(_ modId: Int, _ fields: FieldSet, _ rows: [RowImage]? = nil, isWhole: Bool = true) {
        self.init(
            modId: modId,
            fields: fields,
            portals: rows.map { [PortalImage(name: "L", rows: $0, isWhole: isWhole)] } ?? []
        )
    }
}

extension RowImage {
    init(_ recordId: Int?, modId: Int? = 0, _ fields: FieldSet) {
        self.init(recordId: recordId, modId: recordId == nil ? nil : modId, fields: fields)
    }
}

extension RowChange {
    static func edit(_ recordId: Int, modId: Int? = 0, _ fields: FieldSet) -> RowChange {
        .edit(portal: "L", RowImage(recordId: recordId, modId: modId, fields: fields))
    }

    static func add(_ fields: FieldSet) -> RowChange { .add(portal: "L", fields) }
    static func delete(_ recordId: Int) -> RowChange { .delete(portal: "L", recordId: recordId) }
}
