public import FMDataCore
public import Foundation

extension DataAPI {
    /// Why a change could not be merged with the current record: the ``FMRest/APIError/underlying`` error of an
    /// ``FMRest/APIError`` with code ``FMRest/APIError/Code/conflict``; see ``FMRest/APIError/saveConflict``.
    ///
    /// Nothing was written, unless the error's ``FMRest/APIError/outcomeIsUnknown`` says otherwise. Its description
    /// names fields and holds no value.
    public struct SaveConflict: Error, Hashable, Sendable {
        /// The kind of conflict.
        public let kind: Kind
        /// The id of the record; `nil` when there are several.
        public let recordId: Int?
        /// The fields that another client changed since the record was read, with all three versions: of the record,
        /// and of the rows that were changed here. Fields that were changed to the same value on both sides are left
        /// out. Fields that FileMaker sets, such as time stamps and calculations, are included if they changed. Empty
        /// when the modId kept changing and the fields of the record's type did not.
        public let fields: [FieldConflict]
        /// The portal rows that one side changed and the other deleted.
        public let rows: [RowConflict]

        /// The fields that both sides changed to different values, which cannot be merged.
        public var contested: [FieldConflict] { fields.filter(\.isContested) }

        init(_ kind: Kind, recordId: Int?, fields: [FieldConflict] = [], rows: [RowConflict] = []) {
            self.kind = kind
            self.recordId = recordId
            self.fields = fields
            self.rows = rows
        }
    }

    /// A field that another client has changed since it was read.
    public struct FieldConflict: Hashable, Sendable {
        /// The name on the wire: `City`, `Phones::Number`, `Marks(2)`.
        public let field: String
        /// The portal row that the field is in; `nil` for a field of the record itself.
        public let row: RelatedRecord?
        /// The value when the record was read.
        public let base: FieldValue
        /// The value that was to be written; the same as ``base`` when the field was not changed.
        public let mine: FieldValue
        /// The current value.
        public let theirs: FieldValue
        /// Whether the field was changed on this side, too.
        public let isContested: Bool

        init(
            field: String,
            row: RelatedRecord?,
            base: FieldValue,
            mine: FieldValue,
            theirs: FieldValue,
            isContested: Bool
        ) {
            self.field = field
            self.row = row
            self.base = base
            self.mine = mine
            self.theirs = theirs
            self.isContested = isContested
        }
    }

    /// A portal row that was changed on one side and deleted on the other.
    public struct RowConflict: Hashable, Sendable {
        /// Which side did what.
        public enum Kind: Hashable, Sendable {
            /// The row was changed here and deleted by another client.
            case deletedByOther
            /// The row was removed here and changed by another client.
            case changedByOther
        }

        /// The row.
        public let row: RelatedRecord
        /// Which side did what.
        public let kind: Kind
    }
}

extension DataAPI.SaveConflict {
    /// The kinds of conflicts. More may be added: a `switch` over them needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// Another client has changed the record.
        public static let changedByOther = Kind("changedByOther")
        /// The record was deleted.
        public static let deletedByOther = Kind("deletedByOther")
        /// Several records have the key of the record to be written.
        public static let severalRecords = Kind("severalRecords")
    }
}

// MARK: - Printing without values

extension DataAPI.SaveConflict: CustomStringConvertible, CustomReflectable {
    /// The conflict, with the names of fields and portals.
    public var description: String {
        switch kind {
        case .deletedByOther: return "The record was deleted since it was read."
        case .severalRecords: return "Several records have that key."
        default: break
        }
        let named = contested.isEmpty ? fields : contested
        let names = named.map { "\"\($0.field)\"" } + rows.map { "a row of \"\($0.row.portal)\"" }
        let list = names.reduce(into: [String]()) { list, name in if !list.contains(name) { list.append(name) } }
        return "Somebody else has changed the record since it was read"
            + (list.isEmpty ? "." : ": " + list.joined(separator: ", ") + ".")
    }

    /// Children for a dump, without any value.
    public var customMirror: Mirror {
        Mirror(self, children: ["kind": kind, "recordId": recordId as Any, "fields": fields, "rows": rows])
    }
}

extension DataAPI.FieldConflict: CustomStringConvertible, CustomReflectable {
    /// The name of the field, and its row if it is in one.
    public var description: String {
        "\"\(field)\"" + (row.map { " of row \($0.recordId) of \"\($0.portal)\"" } ?? "")
            + (isContested ? ", changed by both" : "")
    }

    /// Children for a dump, without any value.
    public var customMirror: Mirror {
        Mirror(self, children: ["field": field, "row": row as Any, "isContested": isContested])
    }
}

// MARK: - As an error

extension FMRest.APIError {
    /// The conflict, if the error is a failed save.
    ///
    ///     if let conflict = error.saveConflict { show(conflict.contested) }
    public var saveConflict: DataAPI.SaveConflict? { underlying as? DataAPI.SaveConflict }

    /// - Parameter cause: the server's answer, whose code and request the error keeps.
    init(_ conflict: DataAPI.SaveConflict, after cause: FMRest.APIError? = nil) {
        self.init(
            .conflict,
            reason: "\(conflict)",
            fileMakerCode: cause?.fileMakerCode,
            messages: cause?.messages ?? [],
            httpStatus: cause?.httpStatus,
            contentType: cause?.contentType,
            request: cause?.request,
            outcomeIsUnknown: cause?.outcomeIsUnknown ?? false,
            underlying: conflict
        )
        fields = conflict.contested.map(\.field).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
        portals = Set(conflict.rows.map(\.row.portal)).sorted()
    }
}

extension DataAPI.SaveConflict: LocalizedError {
    /// The conflict, by the names of fields and portals.
    public var errorDescription: String? { description }
}

extension DataAPI {
    /// What to do when another client has changed a record between its read and its save (FileMaker code 306).
    ///
    /// ```swift
    /// var draft = try await people.record(id: 3).firstValue().draft()
    /// draft.notes = "mine"
    /// try await people.edit(3, setting: ["Notes": "Theirs"]).firstValue()  // somebody else
    ///
    /// let resolving = people.save(draft, onConflict: .resolve { conflict in
    ///     conflict.field == "Notes" ? .value("\(conflict.theirs) and \(conflict.mine)") : .theirs
    /// })
    /// print(try await resolving.firstValue().record.fieldData.notes ?? "")        // Theirs and mine
    /// ```
    ///
    /// With every policy, a record whose modId changed although none of its fields did is saved: an import and a commit
    /// without a change count as modifications. A field that both sides changed to the same value is not a conflict.
    public enum ConflictPolicy: Sendable {
        /// The save fails, with the fields and all their versions in ``FMRest/APIError/saveConflict``.
        case fail
        /// What was changed here overwrites the other client's changes; other fields keep their current values. A
        /// portal row that the other client deleted cannot be written to: the save fails.
        case mine
        /// All changes made here are dropped, and the current record is published.
        case theirs
        /// What was changed here is written where the other client changed nothing, and the other client's changes
        /// stay. The save fails when both sides changed a field to different values, or when one side changed a portal
        /// row that the other deleted.
        case merge
        /// The same as ``merge``, and the closure decides about each field that both sides changed. It is called on any
        /// thread, perhaps more than once for a field, if the record keeps changing. Portal rows that one side changed
        /// and the other deleted make the save fail.
        case resolve(@Sendable (FieldConflict) -> ConflictResolution)
    }

    /// The decision about a field that both sides changed.
    public enum ConflictResolution: Hashable, Sendable {
        /// The value that was set here.
        case mine
        /// The current value.
        case theirs
        /// Another value, as it is sent.
        case value(FieldValue)
        /// No decision is possible: the save fails.
        case unsettled
    }
}
