import FMData
import Foundation

/// The fields of a record and the rows of its portals, whatever the layout shows.
struct AnyFields: RecordFields {
    typealias CodingKeys = FieldData.CodingKeys
    typealias Portals = [String: [FieldData]]
    typealias Record = DataAPI.Record<AnyFields, Portals>

    let data: FieldData

    init(from decoder: any Decoder) throws { data = try FieldData(from: decoder) }

    func encode(to encoder: any Encoder) throws { try data.encode(to: encoder) }
}

/// How the records of a layout are printed: which fields, and how their values look.
struct RecordColumns: Sendable {
    private let fields: LayoutFields
    private let names: [(field: LayoutFields.Field, values: [String])]
    private let portals: [String]?

    /// - Parameters:
    ///   - selection: The fields by the names that the user gave; nil for all of the layout.
    ///   - portals: The names of the portals; nil for none.
    init(_ fields: LayoutFields, selection: [(field: LayoutFields.Field, name: String)]?, portals: [String]?) {
        self.fields = fields
        self.portals = portals
        names =
            selection.map { $0.map { ($0.field, $0.field.name == $0.name ? $0.field.valueNames : [$0.name]) } }
            ?? fields.fields.map { ($0, $0.valueNames) }
    }

    var columns: [OutputColumn] {
        [OutputColumn("recordId", isNumber: true), OutputColumn("modId", isNumber: true)]
            + names.flatMap { field, values in
                values.map { OutputColumn($0, isNumber: field.result == .number && field.valueList == nil) }
            }
    }

    /// The texts of the columns.
    func cells(of record: AnyFields.Record) -> [String] {
        var cells = [String(record.recordId), String(record.modId)]
        cells.reserveCapacity(cells.count + names.count)
        for (field, values) in names {
            for name in values { cells.append(shown(value(name, of: record.fieldData.data), field).text) }
        }
        return cells
    }

    /// The fields of a record as they are printed.
    func values(of record: AnyFields.Record) -> FieldData { FieldData(shownValues(of: record)) }

    private func shownValues(of record: AnyFields.Record) -> [(String, FieldValue)] {
        names.flatMap { field, values in
            values.map { name in (name, shown(value(name, of: record.fieldData.data), field)) }
        }
    }

    func row(of record: AnyFields.Record) -> OutputRow {
        let values = shownValues(of: record)
        var object: [OutputValue.Member] = [
            .init(name: "recordId", value: .int(record.recordId)), .init(name: "modId", value: .int(record.modId)),
            .init(name: "fieldData", value: .object(values.map { .init(name: $0, value: OutputValue($1)) })),
        ]
        let rows = portals.map { portals in
            portals.map { name in (name: name, rows: (record.portalData?[name] ?? []).map(portalRow)) }
        }
        if let rows {
            let members = rows.map { name, rows in
                OutputValue.Member(name: name, value: .list(rows.map(OutputValue.object)))
            }
            object.append(.init(name: "portalData", value: .object(members)))
        }
        return OutputRow(
            cells: [String(record.recordId), String(record.modId)] + values.map(\.1.text),
            object: .object(object),
            details: (rows ?? []).compactMap(Self.detail)
        )
    }

    /// A value by its name. Hosts name the first repetition with its number, or without it.
    private func value(_ name: String, of data: FieldData) -> FieldValue {
        data[name] ?? (name.hasSuffix("(1)") ? data[String(name.dropLast(3))] : nil) ?? .empty
    }

    /// The ids of a row come first, as they do in a record.
    private func portalRow(_ row: FieldData) -> [OutputValue.Member] {
        let ids = ["recordId", "modId"].compactMap { name in
            row[name]?.int.map { OutputValue.Member(name: name, value: .int($0)) }
        }
        let isId = Set(ids.map(\.name))
        return ids
            + row.filter { !isId.contains($0.name) }.map { name, value in
                .init(name: name, value: OutputValue(shown(value, fields.field(name))))
            }
    }

    private static func detail(_ portal: String, _ rows: [[OutputValue.Member]]) -> OutputRow.Detail? {
        guard let first = rows.first else { return nil }
        return OutputRow.Detail(
            name: portal,
            columns: first.map { OutputColumn($0.name.components(separatedBy: "::").last ?? $0.name) },
            rows: rows.map { row in row.map { $0.value.cell } }
        )
    }

    private func shown(_ value: FieldValue, _ field: LayoutFields.Field?) -> FieldValue {
        guard case .text(let text) = value, !text.isEmpty else { return value }
        if let container = ContainerText(text, isContainer: field?.result == .container) {
            return .text(container.description)
        }
        return .text(CivilText.shown(text, field?.result))
    }
}

/// The value of a container for people. Its URL has a key in it, with which everybody can fetch the content, so it is
/// never printed.
struct ContainerText: CustomStringConvertible {
    let description: String

    /// - Parameter isContainer: Whether the field is a container; the URL of one may stand in another field as well.
    init?(_ text: String, isContainer: Bool) {
        guard isContainer || text.hasPrefix("http") && text.contains("/Streaming"),
            case .url(let url) = DataAPI.ContainerReference(text)
        else {
            return nil
        }
        let name = url.prefix { $0 != "?" }.split(separator: "/").last ?? ""
        let suffix = name.firstMatch(of: #/\.([A-Za-z0-9]{1,8})$/#)?.1
        description = suffix.map { "[container .\($0)]" } ?? "[container]"
    }
}

extension OutputValue {
    /// The value as a cell of a table.
    fileprivate var cell: String {
        switch self {
        case .text(let text), .number(let text): text
        default: json
        }
    }
}
