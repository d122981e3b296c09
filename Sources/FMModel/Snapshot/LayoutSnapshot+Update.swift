/// The result of an update: the layouts, and notices for the user.
package struct SnapshotUpdate: Equatable, Sendable {
    package var layouts: [LayoutSnapshot]
    package var notices: [String]
}

extension LayoutSnapshot {
    /// Updates layouts with the current descriptions of a host.
    ///
    /// Existing identifiers are kept, whatever other names are new.
    ///
    /// - Parameters:
    ///   - known: All layouts of the snapshot; those without a description are not changed.
    ///   - prefixes: Prefixes that may be left out of a field's name.
    package static func updating(
        _ known: [LayoutSnapshot],
        with descriptions: [LayoutDescription],
        prefixes: [String] = []
    ) -> SnapshotUpdate {
        let described = Set(descriptions.map { SchemaName($0.name) })
        let others = known.filter { !described.contains(SchemaName($0.layout)) }
        let names = NameTable(
            others.map(\.layout) + descriptions.map(\.name),
            kept: known.map { ($0.layout, $0.swift) },
            style: .layouts
        )
        var update = SnapshotUpdate(layouts: others, notices: names.notices)
        update.notices += Twins.notices(of: others.map(\.layout) + descriptions.map(\.name), "layouts")
        for description in descriptions {
            let old = known.first { SchemaName($0.layout) == SchemaName(description.name) }
            var builder = SnapshotBuilder(type: names[description.name], old: old, prefixes: prefixes)
            update.layouts.append(builder.layout(description))
            update.notices += builder.notices.map { "\(description.name): \($0)" }
        }
        update.layouts.sort { SchemaName($0.layout) < SchemaName($1.layout) }
        return update
    }
}

/// Makes the snapshot of one layout from a host's description and the existing identifiers.
private struct SnapshotBuilder {
    let type: String
    let old: LayoutSnapshot?
    let prefixes: [String]
    var notices: [String] = []

    mutating func layout(_ description: LayoutDescription) -> LayoutSnapshot {
        let facts = usable(description.fields, in: "the layout")
        let portals = description.portals.filter { !$0.name.isEmpty }.sorted {
            SchemaName($0.name) < SchemaName($1.name)
        }
        let rows = portals.map { usable($0.fields, in: "portal \(Literal($0.name))", taken: NameStyle.rowIds) }
        notices += description.ambiguousPortals.map { name in
            "several portals are called \(Literal(name)), of which answers have one; object names tell them apart"
        }
        notices += Twins.notices(of: portals.map(\.name), "portals")

        // Existing types keep their names. Letters without case look the same in types and properties, so those names
        // are reserved.
        let types = (old?.valueLists ?? []).map(\.swift) + (old?.portals ?? []).map(\.swiftRow)
        let fields = named(facts, old: old?.fields, style: .fields(prefixes, reserved: Set(types)))
        let properties = Set(fields.map(\.swift))
        let lists = valueLists(description.valueLists, of: facts + rows.joined(), properties: properties)
        let portalNames = NameTable(
            portals.map(\.name),
            kept: (old?.portals ?? []).map { ($0.name, $0.swift) },
            style: .portals
        )
        let rowNames = NameTable(
            portals.map { "\($0.name) Row" },
            kept: (old?.portals ?? []).map { ("\($0.name) Row", $0.swiftRow) },
            style: .rows(properties.union(lists.map(\.swift)).union([type]))
        )
        notices += portalNames.notices + rowNames.notices
        return LayoutSnapshot(
            layout: description.name,
            swift: type,
            table: description.table.flatMap { $0.isEmpty ? nil : $0 },
            fields: fields,
            portals: zip(portals, rows).map { portal, row in
                LayoutSnapshot.Portal(
                    name: portal.name,
                    swift: portalNames[portal.name],
                    swiftRow: rowNames["\(portal.name) Row"],
                    fields: named(
                        row,
                        in: "portal \(Literal(portal.name)): ",
                        old: old?.portals.first { SchemaName($0.name) == SchemaName(portal.name) }?.fields,
                        style: .rowFields(prefixes, of: row.rowTable(ofPortal: portal.name))
                    )
                )
            },
            valueLists: lists
        )
    }

    /// The fields that have a value in answers, each once, because a layout may show a field in several places.
    ///
    /// - Parameter taken: Names that answers use for something else in that place.
    private mutating func usable(
        _ fields: [FieldDescription],
        in place: String,
        taken: Set<String> = []
    ) -> [FieldDescription] {
        var result: [FieldDescription] = []
        var positions: [SchemaName: Int] = [:]
        for field in fields {
            guard !field.name.isEmpty else {
                notices.append("\(place) shows a field without a name, which was deleted or is not for this account")
                continue
            }
            guard !taken.contains(field.name) else {
                notices.append("\(place) shows a field \(Literal(field.name)), by which an answer has the row's own id")
                continue
            }
            guard let position = positions[SchemaName(field.name)] else {
                positions[SchemaName(field.name)] = result.count
                result.append(field)
                continue
            }
            let shown = result[position].shown
            result[position].shown =
                min(shown.lowerBound, field.shown.lowerBound)...max(shown.upperBound, field.shown.upperBound)
            if result[position].valueList != field.valueList || result[position].display != field.display {
                notices.append("\(place) shows \(Literal(field.name)) in several ways, of which the first one counts")
            }
        }
        return result
    }

    /// - Parameter place: The place of the fields, for notices; empty for the layout itself.
    private mutating func named(
        _ fields: [FieldDescription],
        in place: String = "",
        old: [LayoutSnapshot.Field]?,
        style: NameStyle
    ) -> [LayoutSnapshot.Field] {
        let old = old ?? []
        let names = NameTable(
            fields.map(\.name),
            kept: old.map { ($0.description.name, $0.swift) },
            style: style
        )
        notices += (names.notices + Twins.notices(of: fields)).map { place + $0 }
        let known = Dictionary(old.map { (SchemaName($0.description.name), $0) }) { first, _ in first }
        return fields.map { field in
            let old = known[SchemaName(field.name)]
            return LayoutSnapshot.Field(
                description: field,
                swift: names[field.name],
                reading: old?.reading,
                isWritten: old?.isWritten ?? false
            )
        }
    }

    /// The value lists that fields choose from and whose values are fixed.
    private mutating func valueLists(
        _ lists: [LayoutDescription.ValueList],
        of fields: [FieldDescription],
        properties: Set<String>
    ) -> [LayoutSnapshot.ValueList] {
        let chosen = Set(
            fields.filter { $0.isChosen && $0.result == "text" }.compactMap(\.valueList).map(SchemaName.init)
        )
        var seen: Set<SchemaName> = []
        let lists = lists.filter {
            $0.isCustom && chosen.contains(SchemaName($0.name)) && seen.insert(SchemaName($0.name)).inserted
        }
        .sorted { SchemaName($0.name) < SchemaName($1.name) }
        let kept = old?.valueLists ?? []
        // Existing types of rows keep their names.
        let rows = (old?.portals ?? []).map(\.swiftRow)
        let names = NameTable(
            lists.map(\.name),
            kept: kept.map { ($0.name, $0.swift) },
            style: .lists(properties.union(rows).union([type]))
        )
        notices += names.notices
        return lists.map { list in
            let values = Self.values(of: list)
            let constants = NameTable(
                values,
                kept: (kept.first { SchemaName($0.name) == SchemaName(list.name) }?.values ?? [])
                    .map { ($0.value, $0.swift) },
                style: .values
            )
            let twins = Twins.notices(of: values, "values")
            notices += (constants.notices + twins).map { "value list \(Literal(list.name)): \($0)" }
            return LayoutSnapshot.ValueList(
                name: list.name,
                swift: names[list.name],
                values: values.map { LayoutSnapshot.Value(value: $0, swift: constants[$0]) }
            )
        }
    }

    /// The values, each once. A single hyphen is a separator in a menu and cannot be chosen.
    private static func values(of list: LayoutDescription.ValueList) -> [String] {
        var seen: Set<SchemaName> = []
        return list.values.filter { !$0.isEmpty && $0 != "-" && seen.insert(SchemaName($0)).inserted }
    }
}
