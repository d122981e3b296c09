/// The type of a layout's records, with its nested types.
struct RecordSource {
    private let layout: LayoutSnapshot
    private let type: String
    private let properties: [Property]
    private let portals: [PortalSource]

    init(_ layout: LayoutSnapshot, access: AccessLevel) {
        self.layout = layout
        type = SwiftIdentifier.source(layout.swift)
        let lists = Dictionary(
            layout.valueLists.map { (SchemaName($0.name), SwiftIdentifier.source($0.swift)) },
            uniquingKeysWith: { first, _ in first }
        )
        properties = layout.fields.map { Property($0, lists: lists) }
        portals = layout.portals.map { PortalSource($0, lists: lists) }
    }

    var needsFoundation: Bool {
        (properties + portals.flatMap(\.properties)).contains(where: \.type.needsFoundation)
    }

    func write(to text: inout SourceText) {
        text.comment("A record of the layout \(Literal(layout.layout)).")
        text.block("struct \(type): LayoutRecord, Hashable") { text in
            text.comment("The name of the layout in its file.")
            text.declaration("static let layout = \(Literal(layout.layout))")
            PropertiesSource(properties: properties).write(to: &text)
            ValidationSource(properties: properties).write(to: &text)
            if !portals.isEmpty { writePortals(to: &text) }
            for list in layout.valueLists { ValueListSource(list: list).write(to: &text) }
            for portal in portals { portal.write(to: &text) }
            if hasChanges { writeChanges(to: &text) }
            GlobalsSource(properties: properties, table: layout.table).write(to: &text)
        }
    }

    private func writePortals(to text: inout SourceText) {
        text.line()
        text.comment("The rows of the layout's portals.")
        text.block("struct Portals: Codable, Hashable, Sendable") { text in
            for portal in portals {
                text.comment("The rows of the portal \(portal.key).")
                text.declaration("var \(portal.name): [\(portal.rowType)]")
            }
            text.line()
            text.comment("Rows of your own making, for tests and doubles.")
            text.memberwise(portals.map { ($0.name, "[\($0.rowType)]", "[]") })
            text.line()
            text.comment("The portals by their names on the layout.")
            text.block("enum CodingKeys: String, CodingKey, CaseIterable") { text in
                for portal in portals { text.line("case \(portal.name) =", then: portal.key.description) }
            }
        }
    }

    // MARK: Changes

    private var writablePortals: [PortalSource] { portals.filter(\.isWritable) }

    private var hasChanges: Bool { !writablePortals.isEmpty || properties.contains(where: \.isWritable) }

    private func writeChanges(to text: inout SourceText) {
        text.line()
        text.comment(
            "What to write into a record: the fields that are set here, and no others.",
            "",
            "`nil` leaves a field unchanged, as does a repetition that is not named; `.some(nil)` empties it.",
            "Calculations, summaries, containers and globals take no value, so they are not here."
        )
        text.block("struct Changes: RecordChanges, Hashable") { text in
            text.comment("Whose fields these are.")
            text.declaration("typealias Record = \(type)")
            ChangesSource(properties: properties).write(to: &text)
            if !writablePortals.isEmpty { writeRows(to: &text) }
        }
    }

    private func writeRows(to text: inout SourceText) {
        text.line()
        text.comment("Rows to write with a record: one with a `recordId` is edited, one without is made.")
        text.block("struct Portals: Encodable, Hashable, Sendable") { text in
            for portal in writablePortals {
                text.comment("Rows of the portal \(portal.key).")
                text.declaration("var \(portal.name): [\(portal.rowType).Changes]?")
            }
            text.line()
            text.comment("Rows to write; `nil` leaves a portal as it is.")
            text.memberwise(writablePortals.map { ($0.name, "[\($0.rowType).Changes]?", "nil") })
            text.line()
            text.comment("Writes the portals that are set.")
            text.block("func encode(to encoder: any Encoder) throws") { text in
                // `Record` is used instead of the type's name, because a field may have the same name as the type.
                text.line("var container = encoder.container(keyedBy: Record.Portals.CodingKeys.self)")
                for portal in writablePortals {
                    text.call("try container.encodeIfPresent", ["self.\(portal.name)", "forKey: .\(portal.name)"])
                }
            }
        }
    }
}

/// The type of one portal's rows.
struct PortalSource {
    let key: Literal
    let name: String
    let rowType: String
    let properties: [Property]

    init(_ portal: LayoutSnapshot.Portal, lists: [SchemaName: String]) {
        key = Literal(portal.name)
        name = SwiftIdentifier.source(portal.swift)
        rowType = SwiftIdentifier.source(portal.swiftRow)
        let table = portal.fields.map(\.description).rowTable(ofPortal: portal.name)
        properties = portal.fields.map { Property($0, rowTable: table, lists: lists) }
    }

    var isWritable: Bool { properties.contains(where: \.isWritable) }

    func write(to text: inout SourceText) {
        text.line()
        text.comment("A row of the portal \(key).")
        text.block("struct \(rowType): DataAPIPortalRecord, Codable, Hashable, Sendable") { text in
            text.comment("FileMaker's id of the related record; `nil` in a row that is yet to be made.")
            text.declaration("let recordId: Int?")
            text.comment("The related record's modification id, where the host tells it.")
            text.declaration("let modId: Int?")
            PropertiesSource(properties: properties, isRow: true).write(to: &text)
            if isWritable { writeChanges(to: &text) }
        }
    }

    private func writeChanges(to text: inout SourceText) {
        text.line()
        text.comment(
            "What to write into a row: the fields that are set here, and no others. Without a `recordId` it is a new row."
        )
        text.block("struct Changes: Encodable, Hashable, Sendable") { text in
            ChangesSource(properties: properties, isRow: true).write(to: &text)
        }
    }
}
