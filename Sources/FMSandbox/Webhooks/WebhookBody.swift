import Foundation

/// The body of a delivery: the OData query for the rows of an operation, with the table's state at the time of sending.
///
/// Source: recorded deliveries of FileMaker Server 22.0.4.
enum WebhookBody {
    static func bytes(of job: WebhookBoard.Job, in engine: Engine) -> [UInt8] {
        let database = engine.model.databases[job.hook.database]
        guard let id = job.hook.table else { return [] }
        if job.operation.isGarbage {
            return Array("{\"value\":[\n\t{\"Share\":.5,\"Total\":?,\"Note\":\"a\u{1}b\"}\n]}".utf8)
        }
        let (table, world) = (engine.model.tables[id], engine.world)
        let columns = columns(of: job.hook, table)
        let root = "fmi/odata/v4/\(PercentCoding.encode(database.name))"
        let occurrence = PercentCoding.encode(job.hook.occurrence)
        let rows: [JSONValue]
        if job.operation.kind == .delete {
            rows = rowsOfDeleted(job.operation.rowIDs, engine)
        } else {
            let reader = Reader(model: engine.model, world: world, viewpoint: Viewpoint(now: engine.now))
            rows = job.operation.rowIDs.compactMap { world.tables[id].record($0) }
                .map { row(of: $0, columns, "\(root)/\(occurrence)", table, reader) }
        }
        let fields = job.hook.select.isEmpty ? "" : "(\(columns.map { "\"\($0)\"" }.joined(separator: ",")))"
        return tabbed([
            "@odata.context": .string("\(root)/$metadata#\(occurrence)\(fields)"),
            "value": .array(rows),
        ])
    }

    /// The rows of deleted records, which have at most an id.
    private static func rowsOfDeleted(_ ids: [Int], _ engine: Engine) -> [JSONValue] {
        guard case .webhooks(let traits) = engine.configuration.odata else { return [] }
        switch traits.deleteBody {
        case .rowidOnly: return ids.map { ["ROWID": .int($0)] }
        case .emptyValue: return []
        }
    }

    /// The names of the fields in alphabetical order, with the special columns if they are requested.
    private static func columns(of hook: WebhookBoard.Hook, _ table: TableModel) -> [String] {
        if !hook.select.isEmpty {
            return hook.select.split(separator: ",").map { String($0).trimmed.replacingOccurrences(of: "\"", with: "") }
                .sorted()
        }
        let fields = table.fields.filter { $0.type != .container && !$0.isGlobal && !$0.isSummary }.map(\.name)
        let wantsSpecial = hook.queryHeaders.contains { name, value in
            name.lowercased() == "prefer" && value.lowercased().contains("fmodata.include-specialcolumns")
        }
        return (fields + (wantsSpecial ? ["ROWID", "ROWMODID"] : [])).sorted()
    }

    private static func row(
        of record: Record,
        _ columns: [String],
        _ path: String,
        _ table: TableModel,
        _ reader: Reader
    ) -> JSONValue {
        let key = table.fields.first(where: \.isSerial).map { value(of: $0, in: record, table, reader) }
        let link = "\(path)(\(key.flatMap(\.scalarText) ?? "ROWID=\(record.id)"))"
        var row: JSONObject = ["@odata.id": .string(link), "@odata.editLink": .string(link)]
        for name in columns {
            switch name {
            case "ROWID": row.append(name, .int(record.id))
            case "ROWMODID": row.append(name, .int(record.modId))
            default:
                let field = table.field(named: name)
                row.append(name, field.map { value(of: $0, in: record, table, reader) } ?? .null)
            }
        }
        return .object(row)
    }

    /// A number if the field is a number field and the text is a number, null if it is empty, else a text.
    private static func value(
        of field: FieldModel,
        in record: Record,
        _ table: TableModel,
        _ reader: Reader
    ) -> JSONValue {
        let text = reader.value(of: field, in: record, table: table.id).text
        guard !text.isEmpty else { return .null }
        if field.type == .number, case .number(let digits)? = try? JSONParser.parse(Array(text.utf8)) {
            return .number(digits)
        }
        return .string(text)
    }

    // MARK: Writing

    /// JSON indented by tabs, as recorded.
    static func tabbed(_ value: JSONValue) -> [UInt8] { Array(text(value, indent: "").utf8) }

    private static func text(_ value: JSONValue, indent: String) -> String {
        let deeper = indent + "\t"
        switch value {
        case .object(let object) where !object.isEmpty:
            let members = object.members.map { member in
                deeper + String(decoding: JSONWriter.write(.string(member.key)), as: UTF8.self) + " : "
                    + text(member.value, indent: deeper)
            }
            return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { deeper + text($0, indent: deeper) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(indent)]"
        default: return String(decoding: JSONWriter.write(value), as: UTF8.self)
        }
    }
}
