import Foundation

/// Writes records as a layout shows them, with the keys in the order of a real server.
///
/// Source: Claris FileMaker Data API Guide, "Get a range of records"; recorded responses of versions 17 to 22.
struct RecordRenderer {
    private struct Column {
        var key: [UInt8]
        var field: FieldModel
        var reference: FieldReference
        var repetition: Int
        var isHidden: Bool
    }

    private struct PortalColumns {
        var item: PortalSelection.Item
        var key: [UInt8]
        var columns: [Column]
        var info: PortalInfo
    }

    /// The names that `portalDataInfo` repeats in every record.
    private struct PortalInfo {
        var objectName: String?
        var database: String
        var table: String
    }

    private let reader: Reader
    private let database: DatabaseModel
    private let layout: LayoutModel
    private let notation: DateNotation
    private let columns: [Column]
    private let portals: [PortalColumns]
    /// With `v1`, a layout in table view shows only the first related row.
    private let showsFirstRowOnly: Bool
    private let showsPortalInfo: Bool
    private let summaries: [Int: String]
    /// Makes the URL of a container value and registers it.
    private let containerURL: (ContainerContent, _ table: Int, _ recordId: Int, _ slot: Int) -> String

    init(
        _ context: Context,
        reader: Reader,
        layout: LayoutModel,
        selection: PortalSelection,
        notation: DateNotation,
        foundSet: [Record],
        containerURL: @escaping (ContainerContent, _ table: Int, _ recordId: Int, _ slot: Int) -> String
    ) {
        self.reader = reader
        self.layout = layout
        self.notation = notation
        self.containerURL = containerURL
        let database = context.database
        self.database = database
        func columns(_ fields: [LayoutFieldModel], named: Sandbox.PortalFieldNames = .qualified) -> [Column] {
            fields.flatMap { field in
                let name = named == .plain ? FieldName(field.name).field : field.name
                let model = reader.model.tables[field.reference.table].fields[field.reference.field]
                return field.repetitions.map { repetition in
                    Column(
                        key: JSONWriter.renderedKey(
                            field.repetitions.count == 1 ? name : "\(name)(\(repetition))"
                        ),
                        field: model,
                        reference: field.reference,
                        repetition: repetition,
                        isHidden: context.isHidden(model, in: field.reference.table)
                    )
                }
            }
        }
        self.columns = columns(layout.fields)
        portals = selection.items.map { item in
            let occurrence = database.occurrences[item.portal.occurrence]
            return PortalColumns(
                item: item,
                key: JSONWriter.renderedKey(item.portal.key),
                columns: columns(item.portal.fields, named: context.engine.traits.portalFieldNames),
                info: PortalInfo(
                    objectName: item.portal.objectName,
                    database: occurrence.database,
                    table: occurrence.name
                )
            )
        }
        showsFirstRowOnly = context.call.route.version == .v1 && layout.view == .table
        showsPortalInfo = context.engine.version >= .v18
        summaries = Self.summaries(on: layout, reader, foundSet)
    }

    /// The values of the summary fields. They depend on the found set only, so they are computed once for all records.
    private static func summaries(on layout: LayoutModel, _ reader: Reader, _ foundSet: [Record]) -> [Int: String] {
        var summaries: [Int: String] = [:]
        for field in layout.fields where field.reference.path.isEmpty {
            let index = field.reference.field
            guard case .summary(let function, let source) = reader.model.tables[layout.table].fields[index].content
            else { continue }
            summaries[index] = reader.summary(function, of: source, over: foundSet, table: layout.table)
        }
        return summaries
    }

    func write(_ record: Record, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("fieldData")
        writer.beginObject()
        for column in columns { write(column, of: record, table: layout.table, to: &writer) }
        if !layout.deletedFields.isEmpty {
            writer.key("")
            writer.string("")
        }
        writer.endObject()
        writer.key("portalData")
        writer.beginObject()
        var rows: [(found: Int, returned: Int)] = []
        for portal in portals { rows.append(write(portal, of: record, to: &writer)) }
        writer.endObject()
        writer.key("recordId")
        writer.string(String(record.id))
        writer.key("modId")
        writer.string(String(record.modId))
        if showsPortalInfo { writePortalInfo(rows, to: &writer) }
        writer.endObject()
    }

    private func write(
        _ portal: PortalColumns,
        of record: Record,
        to writer: inout JSONWriter
    ) -> (found: Int, returned: Int) {
        let model = portal.item.portal
        let related = reader.rows(of: model, for: record, layout: layout, database: database)
        let shown = showsFirstRowOnly ? related.prefix(1) : related[...]
        let page = shown.dropFirst(portal.item.offset - 1).prefix(portal.item.limit)
        writer.key(rendered: portal.key)
        writer.beginArray()
        for row in page {
            writer.beginObject()
            writer.key("recordId")
            writer.string(String(row.id))
            for column in portal.columns { write(column, of: row, table: model.table, to: &writer) }
            writer.key("modId")
            writer.string(String(row.modId))
            writer.endObject()
        }
        writer.endArray()
        return (related.count, page.count)
    }

    private func writePortalInfo(_ rows: [(found: Int, returned: Int)], to writer: inout JSONWriter) {
        writer.key("portalDataInfo")
        writer.beginArray()
        for (portal, count) in zip(portals, rows) {
            writer.beginObject()
            if let name = portal.info.objectName {
                writer.key("portalObjectName")
                writer.string(name)
            }
            writer.key("database")
            writer.string(portal.info.database)
            writer.key("table")
            writer.string(portal.info.table)
            writer.key("foundCount")
            writer.number(count.found)
            writer.key("returnedCount")
            writer.number(count.returned)
            writer.endObject()
        }
        writer.endArray()
    }

    private func write(_ column: Column, of record: Record, table: Int, to writer: inout JSONWriter) {
        writer.key(rendered: column.key)
        if column.isHidden || !reader.isVisible(record, table: table) {
            writer.string(Reader.noAccess)
            return
        }
        if column.reference.path.isEmpty {
            if let summary = summaries[column.field.index], table == layout.table, !column.field.isStored {
                write(.text(summary), column, record, to: &writer)
            } else {
                let value = reader.value(of: column.field, repetition: column.repetition, in: record, table: table)
                write(value, column, record, to: &writer)
            }
            return
        }
        let related = reader.related(to: record, table: table, along: column.reference.path, in: database).first
        guard let related else {
            writer.string("")
            return
        }
        let table = column.reference.table
        let value = reader.value(of: column.field, repetition: column.repetition, in: related, table: table)
        write(value, column, related, to: &writer)
    }

    private func write(_ value: FieldValue, _ column: Column, _ record: Record, to writer: inout JSONWriter) {
        switch value {
        case .container(let content):
            let slot = column.field.slot + column.repetition - 1
            writer.string(containerURL(content, column.reference.table, record.id, slot))
        case .text(let text):
            switch column.field.type {
            case .number:
                if let digits = Self.digits(text) { writer.number(digits) } else { writer.string(text) }
            case .date where notation != .us:
                writer.string(DateNotation.us.date(from: text).map(notation.write) ?? text)
            case .timestamp where notation != .us:
                writer.string(DateNotation.us.timestamp(from: text).map(notation.write) ?? text)
            case .text, .date, .time, .timestamp, .container:
                writer.string(text)
            }
        }
    }

    /// The JSON number for the text of a number field; nil if it is sent as text (`25abc`, or empty).
    private static func digits(_ text: String) -> String? {
        let bytes = text.utf8
        // Most numbers are plain integers and need no parsing.
        if (1...18).contains(bytes.count), bytes.first != UInt8(ascii: "0") || bytes.count == 1,
            bytes.allSatisfy({ (0x30...0x39).contains($0) })
        {
            return text
        }
        return FMNumber(literal: text)?.text
    }
}

extension Reader {
    /// The rows that a portal can show for a record: filtered, sorted, and limited to the portal's first and last row.
    /// A record that the account may not see has no rows.
    func rows(of portal: PortalModel, for record: Record, layout: LayoutModel, database: DatabaseModel) -> [Record] {
        guard isVisible(record, table: layout.table) else { return [] }
        var rows = related(to: record, table: layout.table, along: portal.path, in: database)
        if let filter = portal.filter {
            rows = rows.filter { filter.isTrue(in: RecordContext(reader: self, record: $0, table: portal.table)) }
        }
        rows = sorted(rows, by: portal.sort, table: portal.table, database: database)
        guard portal.firstRow > 1 || portal.rowCount != nil else { return rows }
        return Array(rows.dropFirst(portal.firstRow - 1).prefix(portal.rowCount ?? Int.max))
    }
}
