extension DataAPI {
    /// Why a change could not be joined with what is there by now: the ``FMRest/APIError/underlying`` error of an
    /// ``FMRest/APIError`` with code ``FMRest/APIError/Code/conflict``; see ``FMRest/APIError/saveConflict``.
    ///
    /// Nothing was written, unless the error's ``FMRest/APIError/outcomeIsUnknown`` says otherwise. Its description names fields
    /// and holds no value.
    public struct SaveConflict: Error, Hashable, Sendable {
        /// What stands against it.
        public let kind: Kind
        /// The record; `nil` when there are several.
        public let recordId: Int?
        /// The fields that somebody else changed since the record was read, with all three versions, but for those that were
        /// changed to the same value here: of the record, and of the rows that were changed here. Fields that nobody typed
        /// into, such as stamps and calculations, are among them when they moved. Empty when the modId kept changing and the
        /// fields that the record's type shows did not.
        public let fields: [FieldConflict]
        /// The rows of portals that one changed and the other deleted.
        public let rows: [RowConflict]

        /// The fields that both changed, each to another value: what cannot be joined.
        public var contested: [FieldConflict] { fields.filter(\.isContested) }

        init(_ kind: Kind, recordId: Int?, fields: [FieldConflict] = [], rows: [RowConflict] = []) {
            self.kind = kind
            self.recordId = recordId
            self.fields = fields
            self.rows = rows
        }
    }

    /// A field that somebody else has changed since it was read.
    public struct FieldConflict: Hashable, Sendable {
        /// The name on the wire: `City`, `Phones::Number`, `Marks(2)`.
        public let field: String
        /// The row of a portal that the field is in; `nil` for a field of the record itself.
        public let row: RelatedRecord?
        /// The value when the record was read.
        public let base: FieldValue
        /// The value that was to be written; the same as ``base`` when the field was left alone.
        public let mine: FieldValue
        /// The value that is there now.
        public let theirs: FieldValue
        /// Whether it was changed on this side, too.
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

    /// A row of a portal that was changed on one side and deleted on the other.
    public struct RowConflict: Hashable, Sendable {
        /// Who did what.
        public enum Kind: Hashable, Sendable {
            /// It was changed here and is gone there.
            case deletedByOther
            /// It was removed here and changed there.
            case changedByOther
        }

        /// The row.
        public let row: RelatedRecord
        /// Who did what.
        public let kind: Kind
    }
}

extension DataAPI.SaveConflict {
    /// What stands against a save. More may come: a `switch` over them needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// Somebody else has changed the record.
        public static let changedByOther = Kind("changedByOther")
        /// The record is gone.
        public static let deletedByOther = Kind("deletedByOther")
        /// Several records have the key of the one that was to be written.
        public static let severalRecords = Kind("severalRecords")
    }
}

// MARK: - Printing without values

extension DataAPI.SaveConflict: CustomStringConvertible, CustomReflectable {
    /// What stands against it, by the names of fields and portals.
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

    /// What a dump may show: no value.
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

    /// What a dump may show: no value.
    public var customMirror: Mirror {
        Mirror(self, children: ["field": field, "row": row as Any, "isContested": isContested])
    }
}

// MARK: - As an error

extension FMRest.APIError {
    /// What stands against a save, when this is such a failure.
    ///
    ///     if let conflict = error.saveConflict { show(conflict.contested) }
    public var saveConflict: DataAPI.SaveConflict? { underlying as? DataAPI.SaveConflict }

    /// - Parameter cause: what the server answered, whose code and request the error keeps.
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
        let named = conflict.contested.isEmpty ? conflict.fields : conflict.contested
        fields = named.map(\.field).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
        portals = Set(conflict.rows.map(\.row.portal)).sorted()
    }
}
