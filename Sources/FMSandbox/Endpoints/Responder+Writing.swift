/// Source: Claris FileMaker Data API Guide, "Create a record", "Edit a record", "Duplicate a record",
/// "Delete a record".
extension Responder {
    private var writeParameters: Set<String> {
        var parameters = Call.scriptParameters.union(["fieldData", "portalData"])
        if engine.version >= .v22 { parameters.formUnion(["options", "dateformats"]) }
        return parameters
    }

    /// `POST layouts/{layout}/records`
    func createRecord(_ context: Context) async throws -> Answer {
        let call = context.call
        try call.refuseUnknownParameters(body: writeParameters)
        let layout = try context.layout()
        guard let fieldData = call.body["fieldData"] else { throw FileMakerError(958) }
        guard let fieldData = fieldData.object else { throw FileMakerError(1708) }
        let told = engine.traits.newPortalRecordInfoOnCreate
        return try await write(context, layout, tellsNewRows: told) { writer in
            try writer.create(on: layout, fieldData: fieldData, portalData: try Self.object("portalData", of: call))
        }
    }

    /// `PATCH layouts/{layout}/records/{recordId}`
    func editRecord(_ context: Context) async throws -> Answer {
        let call = context.call
        try call.refuseUnknownParameters(body: writeParameters.union(["modId"]))
        let layout = try context.layout()
        let recordId = try context.recordId()
        let modId = try call.bodyText("modId")
        let fieldData = try Self.object("fieldData", of: call)
        let portalData = try Self.object("portalData", of: call)
        return try await write(context, layout, isEdit: true, tellsNewRows: true) { writer in
            try writer.edit(recordId, modId: modId, on: layout, fieldData: fieldData, portalData: portalData)
        }
    }

    /// `POST layouts/{layout}/records/{recordId}`. Script parameters may also be in the query.
    func duplicateRecord(_ context: Context) async throws -> Answer {
        try context.call.refuseUnknownParameters(query: Call.scriptParameters, body: Call.scriptParameters)
        let layout = try context.layout()
        let recordId = try context.recordId()
        return try await write(context, layout) { try $0.duplicate(recordId, in: layout.table) }
    }

    /// `DELETE layouts/{layout}/records/{recordId}`
    func deleteRecord(_ context: Context) async throws -> Answer {
        try context.call.refuseUnknownParameters(query: Call.scriptParameters)
        let layout = try context.layout()
        let recordId = try context.recordId()
        var plan = try ScriptPlan(context)
        try await plan.runPrerequest(context, on: layout)
        try context.write { try $0.delete(recordId, in: layout.table) }
        engine.withState { $0.counters.executedWrites += 1 }
        var state = ScriptState(layout: layout, foundSet: context.foundSet(in: layout.table))
        try await plan.run(.presort, context, &state)
        try await plan.run(.after, context, &state)
        var writer = JSONWriter()
        writer.beginObject()
        plan.write(to: &writer)
        writer.endObject()
        return Answer(rendered: writer.bytes)
    }

    /// Creates, edits or duplicates a record: scripts run before and after the one commit.
    private func write(
        _ context: Context,
        _ layout: LayoutModel,
        isEdit: Bool = false,
        tellsNewRows: Bool = false,
        _ body: (inout RecordWriter) throws -> Record
    ) async throws -> Answer {
        let notation = try context.notation()
        let options = try options(of: context.call)
        var plan = try ScriptPlan(context)
        try await plan.runPrerequest(context, on: layout)
        let (record, newRows) = try context.write(notation: notation, options: options) { writer in
            (try body(&writer), writer.newRows)
        }
        engine.withState { $0.counters.executedWrites += 1 }
        var state = ScriptState(layout: layout, foundSet: [record.id])
        try await plan.run(.presort, context, &state)
        try await plan.run(.after, context, &state)
        var writer = JSONWriter()
        writer.beginObject()
        plan.write(to: &writer)
        if !isEdit {
            writer.key("recordId")
            writer.string(String(record.id))
        }
        writer.key("modId")
        writer.string(String(record.modId))
        if tellsNewRows { write(newRows, to: &writer) }
        writer.endObject()
        return Answer(rendered: writer.bytes)
    }

    /// Writes `newPortalRecordInfo`: one entry per field of each new row; before version 22, one for the last new row
    /// of each portal.
    private func write(_ rows: [RecordWriter.NewRow], to writer: inout JSONWriter) {
        guard !rows.isEmpty, engine.version >= .v18 else { return }
        var entries = rows.flatMap { Array(repeating: $0, count: max(1, $0.fieldCount)) }
        if engine.version < .v22 {
            entries = rows.enumerated().filter { place, row in
                !rows[(place + 1)...].contains { $0.tableName == row.tableName }
            }
            .map(\.element)
        }
        writer.key("newPortalRecordInfo")
        writer.beginArray()
        for row in entries {
            writer.value([
                "tableName": .string(row.tableName), "recordId": .string(String(row.recordId)), "modId": "0",
            ])
        }
        writer.endArray()
    }

    private static func object(_ key: String, of call: Call) throws -> JSONObject {
        guard let value = call.body[key] else { return JSONObject() }
        guard let object = value.object else { throw FileMakerError(1708) }
        return object
    }

    private func options(of call: Call) throws -> RecordWriter.Options {
        let object = try Self.object("options", of: call)
        func isScript(_ key: String) throws -> Bool {
            switch object[key] {
            case nil, .string("user"): false
            case .string("script"): true
            default: throw FileMakerError(1708)
            }
        }
        if let stranger = object.keys.first(where: { $0 != "entrymode" && $0 != "prohibitmode" }) {
            throw FileMakerError(960, message: "Unknown parameter(s): \(stranger)")
        }
        return RecordWriter.Options(
            skipsValidation: try isScript("entrymode"),
            skipsProhibition: try isScript("prohibitmode"),
            deletesSeveralRows: engine.version >= .v18
        )
    }

    /// `PATCH databases/{database}/globals`
    func setGlobals(_ context: Context) throws -> Answer {
        try context.call.refuseUnknownParameters(body: ["globalFields"])
        guard let fields = context.call.body["globalFields"] else { throw FileMakerError(958) }
        guard let fields = fields.object else { throw FileMakerError(1708) }
        try context.write { writer in
            for member in fields.members {
                let name = FieldName(member.key)
                guard let occurrence = name.occurrence,
                    let table = context.database.table(ofOccurrence: occurrence),
                    let field = context.model.tables[table].field(named: name.field), field.isGlobal
                else { throw FileMakerError(102) }
                let change = try writer.change(member.value, to: field, repetition: name.repetition, in: table)
                let key = Viewpoint.GlobalKey(table: table, slot: field.slot + change.repetition - 1)
                writer.viewpoint.globals[key] = change.value
            }
        }
        return Answer()
    }

    /// `GET layouts/{layout}/script/{script}`
    func runScript(_ context: Context) async throws -> Answer {
        try context.call.refuseUnknownParameters(query: ["script.param"])
        let layout = try context.layout()
        let script = try context.script(named: context.call.route.script)
        var state = ScriptState(layout: layout, foundSet: context.foundSet(in: layout.table))
        let parameter = context.call.query["script.param"] ?? ""
        let result = try await ScriptRunner.run(script, parameter: parameter, context, &state)
        var response = JSONObject()
        if let text = result.result { response.append("scriptResult", .string(text)) }
        response.append("scriptError", .string(String(result.error)))
        return Answer(response)
    }
}
