import FMDataCore
import FMHTTP

extension DataAPIRequest where Response == DataAPI.EditRecordResponse {
    /// Writes the differences, with the modId of the version that they are based on.
    static func save(
        _ change: RecordDiff,
        to recordId: Int,
        of layout: DataAPI.Layout,
        modId: Int,
        script: DataAPI.ScriptQuery?
    ) -> Self {
        Self(
            method: .PATCH,
            path: .record(recordId, of: layout.name, in: layout.database.name),
            options: [WireOption](joining: [
                change.wireOptions,
                .shown("modId", String(modId)),
                .shown("dateformats", layout.dateFormats),
                .scripts(script),
            ]),
            body: .json,
            scripts: script?.names ?? ScriptNames()
        )
    }
}

extension DataAPIRequest where Response == DataAPI.CreateResponse {
    /// Creates a record with these fields.
    static func create(_ fields: FieldSet, in layout: DataAPI.Layout) -> Self {
        Self(
            method: .POST,
            path: .records(of: layout.name, in: layout.database.name),
            options: [WireOption](joining: [
                RecordDiff(fields: fields).wireOptions, .shown("dateformats", layout.dateFormats),
            ]),
            body: .json
        )
    }
}

extension RecordDiff {
    /// `fieldData`, with the rows to delete in it, and `portalData`.
    var wireOptions: [WireOption] {
        let deleted: [WireValue] = rows.compactMap { row in
            guard case .delete(let portal, let recordId) = row else { return nil }
            return .text("\(portal).\(recordId)")
        }
        var fields = self.fields.members
        if !deleted.isEmpty { fields.append(WireValue.Member(name: "deleteRelated", value: .array(deleted))) }
        var options = [
            WireOption(name: "fieldData", value: .object(fields), disclosure: .hidden, names: .fields)
        ]
        let portals: [WireValue.Member] = portalNames.compactMap { name in
            let rows = rows.filter { $0.portal == name }.compactMap(\.wireValue)
            return rows.isEmpty ? nil : WireValue.Member(name: name, value: .array(rows))
        }
        if !portals.isEmpty {
            options.append(
                WireOption(name: "portalData", value: .object(portals), disclosure: .hidden, names: .portalRows)
            )
        }
        return options
    }
}

extension RowChange {
    /// The row as an element of `portalData`; `nil` for a row that is deleted.
    fileprivate var wireValue: WireValue? {
        switch self {
        case .edit(_, let row):
            let ids = [("recordId", row.recordId), ("modId", row.modId)].compactMap { name, id in
                id.map { WireValue.Member(name: name, value: .text(String($0))) }
            }
            return .object(ids + row.fields.members)
        case .add(_, let fields):
            return .object(fields.members)
        case .delete:
            return nil
        }
    }
}
