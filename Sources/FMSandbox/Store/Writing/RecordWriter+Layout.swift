extension RecordWriter {
    /// The `fieldData` of a request, grouped by target.
    private struct FieldData {
        var own: [Change] = []
        var related: [(name: FieldName, field: LayoutFieldModel, value: JSONValue)] = []
        var deletions: [String] = []
    }

    /// Creates a record through a layout: own fields, fields of related records, portal rows.
    mutating func create(on layout: LayoutModel, fieldData: JSONObject, portalData: JSONObject) throws -> Record {
        let data = try sorted(fieldData, on: layout)
        guard data.deletions.isEmpty else { throw FileMakerError(102) }
        let record = try create(in: layout.table, data.own)
        try writeRelated(data, of: record.id, on: layout)
        try writePortals(portalData, of: record.id, on: layout)
        return world.tables[layout.table].record(record.id) ?? record
    }

    /// Edits a record through a layout, and returns it.
    mutating func edit(
        _ recordId: Int,
        modId: String?,
        on layout: LayoutModel,
        fieldData: JSONObject,
        portalData: JSONObject
    ) throws -> Record {
        guard let record = world.tables[layout.table].record(recordId) else { throw FileMakerError(101) }
        if let modId, modId != String(record.modId) { throw FileMakerError(306) }
        let data = try sorted(fieldData, on: layout)
        try change(recordId, in: layout.table, data.own)
        try writeRelated(data, of: recordId, on: layout)
        for entry in data.deletions { try deleteRow(entry, of: recordId, on: layout) }
        try writePortals(portalData, of: recordId, on: layout)
        return world.tables[layout.table].record(recordId) ?? record
    }

    private func sorted(_ fieldData: JSONObject, on layout: LayoutModel) throws -> FieldData {
        var data = FieldData()
        for member in fieldData.members {
            if member.key == "deleteRelated" {
                data.deletions += try deletions(member.value)
                continue
            }
            let name = FieldName(member.key)
            let isOwn = name.occurrence.map { database.occurrenceIndexes[$0] == layout.occurrence } ?? true
            guard let field = layout.field(named: isOwn ? name.field : name.qualified) ?? portalField(name, on: layout)
            else { throw FileMakerError(102) }
            if isOwn {
                let model = self.model.tables[layout.table].fields[field.reference.field]
                data.own.append(try change(member.value, to: model, repetition: name.repetition, in: layout.table))
            } else {
                data.related.append((name, field, member.value))
            }
        }
        return data
    }

    /// The field of a portal row. Only the older notation `Occurrence::Field.17` may name a field that is in a portal
    /// only.
    private func portalField(_ name: FieldName, on layout: LayoutModel) -> LayoutFieldModel? {
        guard name.recordId != nil else { return nil }
        for portal in layout.portals {
            guard var field = portal.field(named: name.qualified) else { continue }
            field.reference.path = portal.path + field.reference.path
            return field
        }
        return nil
    }

    /// The rows to delete: one row, or since version 18 a list of rows.
    private func deletions(_ value: JSONValue) throws -> [String] {
        if let text = value.string { return [text] }
        guard options.deletesSeveralRows, let elements = value.array else { throw FileMakerError(1708) }
        return try elements.map { element in
            guard let text = element.string else { throw FileMakerError(1708) }
            return text
        }
    }

    // MARK: Related fields

    /// Writes `Occurrence::Field` to the first related record or to the record that is named. If there is none, a value
    /// creates a record if the relationship allows it, and an empty text does nothing.
    private mutating func writeRelated(_ data: FieldData, of recordId: Int, on layout: LayoutModel) throws {
        /// The new records requested by `.0`. The fields of one request with the same path share a record.
        var new: [(path: [Hop], changes: [Change])] = []
        for (name, field, value) in data.related {
            guard let record = world.tables[layout.table].record(recordId) else { throw FileMakerError(101) }
            let reference = field.reference
            let model = self.model.tables[reference.table].fields[reference.field]
            let change = try change(value, to: model, repetition: name.repetition, in: reference.table)
            let related = reader.related(to: record, table: layout.table, along: reference.path, in: database)
            switch name.recordId {
            case nil:
                if let first = related.first {
                    try self.change(first.id, in: reference.table, [change])
                } else if !change.value.isEmpty {
                    _ = try createRelated(along: reference.path, from: recordId, in: layout.table, [change])
                }
            case 0:
                if let place = new.firstIndex(where: { $0.path == reference.path }) {
                    new[place].changes.append(change)
                } else {
                    new.append((reference.path, [change]))
                }
            case let id?:
                guard related.contains(where: { $0.id == id }) else { throw FileMakerError(101) }
                try self.change(id, in: reference.table, [change])
            }
        }
        for (path, changes) in new { _ = try createRelated(along: path, from: recordId, in: layout.table, changes) }
    }

    /// Creates a record at the end of a path of one relationship, with match fields from the record at its start.
    private mutating func createRelated(
        along path: [Hop],
        from recordId: Int,
        in table: Int,
        _ changes: [Change]
    ) throws -> Record {
        guard path.count == 1, let hop = path.first, let record = world.tables[table].record(recordId) else {
            throw FileMakerError(101)
        }
        let relationship = database.relationships[hop.relationship]
        let far = relationship.far(hop)
        guard far.allowsCreation, let targetTable = database.occurrences[far.occurrence].table else {
            throw FileMakerError(101)
        }
        var all = changes
        for match in relationship.matches where match.comparison == .equal {
            let near = model.tables[table].fields[hop.isForward ? match.left : match.right]
            let far = model.tables[targetTable].fields[hop.isForward ? match.right : match.left]
            guard far.isStored, !changes.contains(where: { $0.field.index == far.index }) else { continue }
            let value = reader.value(of: near, in: record, table: table)
            all.append(Change(field: far, repetition: 1, value: value))
        }
        return try create(in: targetTable, all)
    }

    // MARK: Portals

    private mutating func writePortals(_ portalData: JSONObject, of recordId: Int, on layout: LayoutModel) throws {
        for member in portalData.members {
            guard layout.portal(named: member.key) != nil else { throw FileMakerError(102) }
            guard let rows = member.value.array else { throw FileMakerError(1708) }
            for row in rows {
                guard let row = row.object else { throw FileMakerError(1708) }
                let names = row.keys.filter { $0 != "recordId" && $0 != "modId" }.map { FieldName($0).qualified }
                guard let portal = layout.portal(named: member.key, showing: names) else { throw FileMakerError(102) }
                try write(row, to: portal, of: recordId, on: layout)
            }
        }
    }

    private mutating func write(
        _ row: JSONObject,
        to portal: PortalModel,
        of recordId: Int,
        on layout: LayoutModel
    ) throws {
        guard let record = world.tables[layout.table].record(recordId) else { throw FileMakerError(101) }
        var own: [Change] = []
        var further: [(LayoutFieldModel, Change)] = []
        for member in row.members where member.key != "recordId" && member.key != "modId" {
            let name = FieldName(member.key)
            guard let field = portal.field(named: name.qualified) else { throw FileMakerError(102) }
            let model = self.model.tables[field.reference.table].fields[field.reference.field]
            let change = try change(member.value, to: model, repetition: name.repetition, in: field.reference.table)
            if field.reference.path.isEmpty { own.append(change) } else { further.append((field, change)) }
        }
        let rowId: Int
        if let id = row["recordId"] {
            guard let text = id.scalarText else { throw FileMakerError(1708) }
            let rows = reader.related(to: record, table: layout.table, along: portal.path, in: database)
            guard let existing = rows.first(where: { String($0.id) == text }) else { throw FileMakerError(101) }
            if let modId = row["modId"], modId.scalarText != String(existing.modId) { throw FileMakerError(306) }
            try change(existing.id, in: portal.table, own)
            rowId = existing.id
        } else {
            let new = try createRelated(along: portal.path, from: recordId, in: layout.table, own)
            let name = database.occurrences[portal.occurrence].name
            note(NewRow(tableName: name, recordId: new.id, fieldCount: own.count + further.count))
            rowId = new.id
        }
        for (field, change) in further { try write(change, to: field, ofRow: rowId, in: portal) }
    }

    /// Writes to a field of an occurrence that is related to the portal's own.
    private mutating func write(
        _ change: Change,
        to field: LayoutFieldModel,
        ofRow rowId: Int,
        in portal: PortalModel
    ) throws {
        guard let row = world.tables[portal.table].record(rowId) else { throw FileMakerError(101) }
        let path = field.reference.path
        if let first = reader.related(to: row, table: portal.table, along: path, in: database).first {
            try self.change(first.id, in: field.reference.table, [change])
        } else if !change.value.isEmpty {
            _ = try createRelated(along: path, from: rowId, in: portal.table, [change])
        }
    }

    /// Deletes the portal row that an entry such as `Portal.3` names.
    private mutating func deleteRow(_ entry: String, of recordId: Int, on layout: LayoutModel) throws {
        guard let dot = entry.lastIndex(of: "."), let rowId = Int(entry[entry.index(after: dot)...]) else {
            throw FileMakerError(1708)
        }
        guard let portal = layout.portal(named: String(entry[..<dot])) else { throw FileMakerError(102) }
        guard let record = world.tables[layout.table].record(recordId) else { throw FileMakerError(101) }
        let rows = reader.related(to: record, table: layout.table, along: portal.path, in: database)
        guard rows.contains(where: { $0.id == rowId }) else { throw FileMakerError(101) }
        guard portal.allowsDeletion else { throw FileMakerError(200) }
        try delete(rowId, in: portal.table)
    }
}
