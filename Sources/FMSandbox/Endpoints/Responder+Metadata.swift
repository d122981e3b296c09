/// Source: Claris FileMaker Data API Guide, "Get metadata".
extension Responder {
    /// `GET layouts`: the layouts that the account may see.
    func layouts(_ context: Context) throws -> Answer {
        try context.call.refuseUnknownParameters()
        return Answer(["layouts": .array(layoutList(context.database.layoutItems, context))])
    }

    private func layoutList(_ items: [Solution.LayoutItem], _ context: Context) -> [JSONValue] {
        items.compactMap { item in
            switch item {
            case .layout(let layout):
                guard !context.privileges.hiddenLayouts.contains(layout.name) else { return nil }
                var entry: JSONObject = ["name": .string(layout.name)]
                if engine.version >= .v19 { entry.append("table", .string(layout.table)) }
                return .object(entry)
            case .folder(let name, let items):
                return [
                    "name": .string(name), "isFolder": true, "folderLayoutNames": .array(layoutList(items, context)),
                ]
            }
        }
    }

    /// `GET scripts`
    func scripts(_ context: Context) throws -> Answer {
        try context.call.refuseUnknownParameters()
        return Answer(["scripts": .array(Self.scriptList(context.database.scriptItems))])
    }

    private static func scriptList(_ items: [Solution.ScriptItem]) -> [JSONValue] {
        items.map { item in
            switch item {
            case .script(let script): ["name": .string(script.name), "isFolder": false]
            case .folder(let name, let items):
                ["name": .string(name), "isFolder": true, "folderScriptNames": .array(scriptList(items))]
            }
        }
    }

    /// `GET layouts/{layout}`
    func layoutMetadata(_ context: Context) throws -> Answer {
        try context.call.refuseUnknownParameters(query: ["recordId"])
        let layout = try context.layout()
        let reader = context.reader()
        var record: Record?
        if let text = context.call.query["recordId"] {
            guard let id = Int(text), let found = reader.world.tables[layout.table].record(id) else {
                throw FileMakerError(101)
            }
            record = found
        }
        var response: JSONObject = [
            "fieldMetaData": .array(fieldMetadata(of: layout, context)),
            "portalMetaData": .object(
                JSONObject(
                    members: layout.portals.map { portal in
                        let fields = portal.fields.map { metadata(of: $0, context) }
                        return JSONObject.Member(key: portal.key, value: .array(fields))
                    }
                )
            ),
        ]
        let lists = valueLists(on: layout, record, reader, context)
        if !lists.isEmpty { response.append("valueLists", .array(lists)) }
        return Answer(response)
    }

    /// The objects of a layout in their order. An object whose field was deleted has no name and is described as a text
    /// field; no recording shows what hosts answer for it.
    private func fieldMetadata(of layout: LayoutModel, _ context: Context) -> [JSONValue] {
        let nameless = FieldModel(index: 0, name: "", type: .text)
        var entries = layout.fields.map { metadata(of: $0, context) }
        for place in layout.deletedFields.reversed() {
            entries.insert(metadata(name: "", nameless, display: .editText, repetitions: 1...1), at: place)
        }
        return entries
    }

    private func metadata(of field: LayoutFieldModel, _ context: Context) -> JSONValue {
        metadata(
            name: field.name,
            context.model.tables[field.reference.table].fields[field.reference.field],
            display: field.display,
            valueList: field.valueList,
            repetitions: field.repetitions
        )
    }

    private func metadata(
        name: String,
        _ model: FieldModel,
        display: Solution.LayoutField.Display,
        valueList: String? = nil,
        repetitions: ClosedRange<Int>
    ) -> JSONValue {
        var entry: JSONObject = [
            "name": .string(name),
            "type": .string(model.metadataType),
            "displayType": .string(display.rawValue),
            "result": .string(model.metadataResult),
        ]
        if let list = valueList { entry.append("valueList", .string(list)) }
        entry.append("global", .bool(model.isGlobal))
        entry.append("autoEnter", .bool(model.autoEnter != nil))
        entry.append("fourDigitYear", false)
        entry.append("maxRepeat", .int(model.repetitions))
        entry.append("maxCharacters", .int(model.validation.maxCharacters ?? 0))
        entry.append("notEmpty", .bool(model.validation.notEmpty))
        entry.append("numeric", .bool(model.validation.numeric))
        entry.append("timeOfDay", false)
        entry.append("repetitionStart", .int(repetitions.lowerBound))
        entry.append("repetitionEnd", .int(repetitions.upperBound))
        return .object(entry)
    }

    /// The value lists that the layout uses, in the order of their first use.
    private func valueLists(
        on layout: LayoutModel,
        _ record: Record?,
        _ reader: Reader,
        _ context: Context
    ) -> [JSONValue] {
        var names: [String] = []
        for field in layout.fields + layout.portals.flatMap(\.fields) {
            if let name = field.valueList, !names.contains(name) { names.append(name) }
        }
        return names.compactMap { context.database.valueLists[$0] }.map { list in
            let values = reader.values(of: list, for: record, database: context.database)
            let isCustom = if case .custom = list.source { true } else { false }
            return [
                "name": .string(list.name),
                "type": .string(isCustom ? "customList" : "byField"),
                "values": .array(values.map { ["displayValue": .string($0.display), "value": .string($0.value)] }),
            ]
        }
    }

    /// `GET layouts/{layout}/metadata`: the format of FileMaker Server 17, which later servers still answer.
    func oldMetadata(_ context: Context) throws -> Answer {
        try context.call.refuseUnknownParameters()
        let layout = try context.layout()
        let entries = layout.fields.map { field -> JSONValue in
            let model = context.model.tables[field.reference.table].fields[field.reference.field]
            var entry: JSONObject = [
                "name": .string(field.name),
                "type": .string(model.metadataType),
                "result": .string(model.metadataResult),
                "global": .string(model.isGlobal ? "true" : "false"),
            ]
            if let list = field.valueList { entry.append("valueList", .string(list)) }
            entry.append("repetitions", .int(model.repetitions))
            return .object(entry)
        }
        var response: JSONObject = ["metaData": .array(entries)]
        let lists = valueLists(on: layout, nil, context.reader(), context)
        if !lists.isEmpty { response.append("valueLists", .array(lists)) }
        return Answer(response)
    }
}

extension FieldModel {
    fileprivate var metadataType: String {
        switch content {
        case .stored: "normal"
        case .calculation: "calculation"
        case .summary: "summary"
        }
    }

    fileprivate var metadataResult: String { type == .timestamp ? "timeStamp" : type.rawValue }
}
