import FMDataCore

/// The difference between two versions of a record: only the fields that differ.
struct RecordDiff: Equatable, Sendable {
    /// The record's own fields, and fields of related records that its layout shows.
    var fields = FieldSet()
    var rows: [RowChange] = []

    var isEmpty: Bool { fields.isEmpty && rows.isEmpty }
}

/// The change of one portal row.
enum RowChange: Equatable, Sendable {
    /// These fields of the row change, if it still has that modId.
    case edit(portal: String, RowImage)
    /// A row is added.
    case add(portal: String, FieldSet)
    /// A row is deleted. FileMaker deletes it whatever its version is.
    case delete(portal: String, recordId: Int)

    var portal: String {
        switch self {
        case .edit(let portal, _), .add(let portal, _), .delete(let portal, _): portal
        }
    }
}

extension RecordDiff {
    /// - Parameters:
    ///   - base: the record as it was read.
    ///   - mine: the record as it is wanted. A portal that is not in it stays as it is.
    ///   - keepsAbsent: see ``FieldSet/changes(from:keepsAbsent:)``.
    /// - Throws: ``FMRest/APIError/Code/invalidRequest`` for rows that cannot be matched.
    init(from base: RecordImage, to mine: RecordImage, keepsAbsent: Bool = false) throws(FMRest.APIError) {
        fields = mine.fields.changes(from: base.fields, keepsAbsent: keepsAbsent)
        for portal in mine.portals {
            rows += try Self.rows(
                from: base[portal: portal.name] ?? PortalImage(name: portal.name),
                to: portal,
                keepsAbsent: keepsAbsent
            )
        }
    }

    private static func rows(
        from base: PortalImage,
        to mine: PortalImage,
        keepsAbsent: Bool
    ) throws(FMRest.APIError) -> [RowChange] {
        // Rows without ids can be read, but a changed one cannot be matched.
        if base.rows == mine.rows { return [] }
        guard base.rows.allSatisfy({ $0.recordId != nil }) else { throw .rowsWithoutIds(in: mine.name) }
        var changes: [RowChange] = []
        var seen: Set<Int> = []
        for row in mine.rows {
            guard let id = row.recordId else {
                changes.append(.add(portal: mine.name, row.fields.filled.isEmpty ? row.fields : row.fields.filled))
                continue
            }
            guard seen.insert(id).inserted else { throw .rowTwice(in: mine.name) }
            guard let old = base[row: id] else { throw .strangeRow(in: mine.name) }
            let fields = row.fields.changes(from: old.fields, keepsAbsent: keepsAbsent)
            if fields.isEmpty { continue }
            changes.append(.edit(portal: mine.name, RowImage(recordId: id, modId: old.modId, fields: fields)))
        }
        let removed = base.rows.compactMap(\.recordId).filter { !seen.contains($0) }
        return removed.map { .delete(portal: mine.name, recordId: $0) } + changes
    }
}

extension FMRest.APIError {
    fileprivate static func rowsWithoutIds(in portal: String) -> FMRest.APIError {
        ofRows("The rows of portal \"\(portal)\" have no recordId, so that a changed one cannot be told.", portal)
    }

    fileprivate static func rowTwice(in portal: String) -> FMRest.APIError {
        ofRows("Two rows of portal \"\(portal)\" have the same recordId.", portal)
    }

    fileprivate static func strangeRow(in portal: String) -> FMRest.APIError {
        ofRows("A row of portal \"\(portal)\" has the recordId of none that was read with its record.", portal)
    }

    private static func ofRows(_ reason: String, _ portal: String) -> FMRest.APIError {
        var error = FMRest.APIError(
            .invalidRequest,
            reason: reason,
            hint: "Declare recordId and modId in the row's type, as optionals: a new row has neither."
        )
        error.portals = [portal]
        return error
    }
}

extension RecordDiff {
    /// The names of the record's own fields that change.
    var ownFieldNames: [String] { fields.names.filter { !$0.contains("::") } }

    /// The names of all fields that change, each once.
    var fieldNames: [String] {
        var names = fields.names
        for row in rows {
            switch row {
            case .edit(_, let row): names += row.fields.names.filter { !names.contains($0) }
            case .add(_, let fields): names += fields.names.filter { !names.contains($0) }
            case .delete: break
            }
        }
        return names
    }

    /// The names of the portals whose rows change, each once.
    var portalNames: [String] {
        rows.map(\.portal).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
    }

    var addsRows: Bool {
        rows.contains { if case .add = $0 { true } else { false } }
    }

    /// Whether the server refuses the change if it is sent again after it was carried out, because the record or a row
    /// then has another modId. Writing only related fields or rows does not change the record's own modId.
    var isGuarded: Bool {
        !ownFieldNames.isEmpty
            || rows.contains { if case .edit(_, let row) = $0 { row.modId != nil } else { false } }
    }
}
