/// Source: Claris FileMaker Data API Guide, "Get a single record", "Get a range of records", "Perform a find request".
extension Responder {
    /// `GET layouts/{layout}/records`
    func getRecords(_ context: Context) async throws -> Answer {
        let call = context.call
        try call.refuseUnknownParameters(
            query: readParameters.union(["_offset", "_limit", "_sort"]),
            queryPrefixes: ["_offset.", "_limit."]
        )
        let layout = try context.layout()
        let page = Page(
            offset: try call.queryCount("_offset"),
            limit: try call.queryCount("_limit"),
            pastEnd: .recordMissing
        )
        var read = try Read(context, layout, portals: call.queryJSON("portal"), page: page)
        let sort = try context.sort(call.queryJSON("_sort"), on: layout)
        return try await read.perform(sort: sort) { reader in reader.world.tables[layout.table].records }
    }

    /// `GET layouts/{layout}/records/{recordId}`
    func getRecord(_ context: Context) async throws -> Answer {
        let call = context.call
        try call.refuseUnknownParameters(query: readParameters, queryPrefixes: ["_offset.", "_limit."])
        let layout = try context.layout()
        var read = try Read(context, layout, portals: call.queryJSON("portal"), page: Page())
        let recordId = try context.recordId()
        return try await read.perform(sort: [], keepsFoundSet: false) { reader in
            guard let record = reader.world.tables[layout.table].record(recordId) else { throw FileMakerError(101) }
            guard reader.isVisible(record, table: layout.table) else { throw FileMakerError(200) }
            return [record]
        }
    }

    private var readParameters: Set<String> {
        var parameters = Call.scriptParameters.union(["portal", "layout.response"])
        if engine.version >= .v19 { parameters.insert("dateformats") }
        return parameters
    }

    /// `POST layouts/{layout}/_find`
    func find(_ context: Context) async throws -> Answer {
        let call = context.call
        try call.refuseUnknownParameters(
            // In the URL of a find, real hosts accept underscored names; in its body they refuse them.
            queryPrefixes: ["_offset.", "_limit."],
            body: readParameters.union(["query", "sort", "offset", "limit"]),
            bodyPrefixes: ["offset.", "limit."]
        )
        let layout = try context.layout()
        let page = Page(
            offset: try Call.count(call.body["offset"]),
            limit: try Call.count(call.body["limit"]),
            pastEnd: engine.traits.findPastEnd
        )
        var read = try Read(context, layout, portals: call.body["portal"], page: page)
        let requests = try findRequests(call.body["query"], on: layout, context)
        let sort = try context.sort(call.body["sort"], on: layout)
        return try await read.perform(sort: sort) { reader in
            let found = reader.find(requests, table: layout.table, database: context.database)
            guard !found.isEmpty else { throw FileMakerError(401) }
            return found
        }
    }

    /// `query`: an array of requests, each an object of criteria.
    private func findRequests(_ value: JSONValue?, on layout: LayoutModel, _ context: Context) throws -> [FindRequest] {
        guard let value else { throw FileMakerError(958) }
        guard let elements = value.array else { throw FileMakerError(1708) }
        guard !elements.isEmpty else { throw FileMakerError(958) }
        let dates = try context.notation().isISO ? engine.traits.isoCriterionDates : .us
        let today = engine.now.date
        let requests = try elements.map { element -> FindRequest in
            guard let object = element.object else { throw FileMakerError(1708) }
            var request = FindRequest(conditions: [], isOmit: false)
            for member in object.members {
                if member.key == "omit" {
                    request.isOmit = try Self.isOmit(member.value)
                    continue
                }
                guard let text = member.value.scalarText else { throw FileMakerError(1708) }
                let condition = try condition(member.key, text, layout, context, today, dates)
                if let condition { request.conditions.append(condition) }
            }
            return request
        }
        // A request without criteria is ignored; a find that has only such requests is error 400.
        let asking = requests.filter { !$0.conditions.isEmpty }
        guard !asking.isEmpty else { throw FileMakerError(400) }
        return asking
    }

    private static func isOmit(_ value: JSONValue) throws -> Bool {
        switch value {
        case .bool(let omit): return omit
        case .string("true"): return true
        case .string("false"): return false
        case .null, .number, .string, .array, .object: throw FileMakerError(1708)
        }
    }

    private func condition(
        _ key: String,
        _ text: String,
        _ layout: LayoutModel,
        _ context: Context,
        _ today: CivilDate,
        _ dates: Sandbox.CriterionDates
    ) throws -> FindRequest.Condition? {
        let name = FieldName(key)
        let found = layout.field(named: context.ownName(name, on: layout)) ?? layout.portalField(named: name.qualified)
        guard let field = found else { throw FileMakerError(102) }
        let model = context.model.tables[field.reference.table].fields[field.reference.field]
        guard !model.isGlobal, !model.isSummary else { throw FileMakerError(408) }
        guard !context.isHidden(model, in: field.reference.table) else { throw FileMakerError(202) }
        // Without a repetition number, the find covers all repetitions that the layout shows.
        var repetitions = field.repetitions
        if let repetition = name.repetition {
            guard (1...model.repetitions).contains(repetition) else { throw FileMakerError(111) }
            repetitions = repetition...repetition
        }
        guard !text.trimmed.isEmpty else { return nil }
        let criterion = try Criterion(text, type: model.type, today: today, dates: dates)
        return FindRequest.Condition(reference: field.reference, repetitions: repetitions, criterion: criterion)
    }
}

extension LayoutModel {
    /// The field of a portal, as seen from the layout: finds may name it too.
    fileprivate func portalField(named name: String) -> LayoutFieldModel? {
        for portal in portals {
            guard var field = portal.field(named: name) else { continue }
            field.reference.path = portal.path + field.reference.path
            return field
        }
        return nil
    }
}
