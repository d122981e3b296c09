import FMDataCore

/// Merges a change with a record that has changed meanwhile: the wanted values (mine), the current ones (theirs) and
/// the base of both, field by field.
///
/// A field that only the other side changed keeps the other side's value, and so do the time stamps and calculations
/// that changed with it. A field that both sides changed to the same value is done. What remains is contested: fields
/// that both sides changed to different values, and rows that one side changed and the other deleted.
struct ThreeWayMerge: Equatable {
    /// The part of the change that can be sent in any case, against their version.
    private(set) var change = RecordDiff()
    /// Their version, plus rows of mine that their answer does not show.
    private(set) var base: RecordImage
    /// The fields that they changed to another value than I want: of the record, and of the rows that I changed.
    private(set) var fields: [Difference] = []
    private(set) var rows: [DataAPI.RowConflict] = []

    /// A field with different versions.
    struct Difference: Equatable {
        let field: String
        /// `nil` for a field of the record itself.
        let row: DataAPI.RelatedRecord?
        let base: WireValue
        let mine: WireValue
        let theirs: WireValue
        /// Whether I changed the field, too.
        let isContested: Bool

        var conflict: DataAPI.FieldConflict {
            DataAPI.FieldConflict(
                field: field,
                row: row,
                base: base.fieldValue,
                mine: mine.fieldValue,
                theirs: theirs.fieldValue,
                isContested: isContested
            )
        }
    }

    init(base: RecordImage, change: RecordDiff, theirs: RecordImage) {
        self.base = theirs
        let own = compare(base.fields, change.fields, theirs.fields, in: nil)
        self.change.fields = own
        noteTheirs(base.fields, besides: change.fields, theirs.fields, in: nil)
        for row in change.rows { merge(row, base: base, theirs: theirs) }
    }

    /// Whether they have changed nothing relevant to me: then the modId changed without a change of values, as an
    /// import does it.
    var isUndisturbed: Bool { fields.isEmpty && rows.isEmpty }

    var contested: [Difference] { fields.filter(\.isContested) }

    // MARK: Fields

    /// Returns what is left to write, and collects what is contested.
    private mutating func compare(
        _ base: FieldSet,
        _ mine: FieldSet,
        _ theirs: FieldSet,
        in row: DataAPI.RelatedRecord?
    ) -> FieldSet {
        var rest = FieldSet()
        for member in mine.members {
            let (old, other) = (base[member.name] ?? .emptyField, theirs[member.name] ?? .emptyField)
            if member.value.isSame(as: other) { continue }
            if other.isSame(as: old) {
                rest[member.name] = member.value
                continue
            }
            fields.append(
                Difference(
                    field: member.name,
                    row: row,
                    base: old,
                    mine: member.value,
                    theirs: other,
                    isContested: true
                )
            )
        }
        return rest
    }

    /// Collects what they changed of the fields that I did not change.
    private mutating func noteTheirs(
        _ base: FieldSet,
        besides mine: FieldSet,
        _ theirs: FieldSet,
        in row: DataAPI.RelatedRecord?
    ) {
        for name in theirs.names + base.names.filter({ theirs[$0] == nil }) where mine[name] == nil {
            let (old, new) = (base[name] ?? .emptyField, theirs[name] ?? .emptyField)
            // The URL of a container is new in each read.
            if new.isSame(as: old) || old.isContainerURL && new.isContainerURL { continue }
            fields.append(Difference(field: name, row: row, base: old, mine: old, theirs: new, isContested: false))
        }
    }

    // MARK: Rows

    private mutating func merge(_ row: RowChange, base: RecordImage, theirs: RecordImage) {
        switch row {
        case .add:
            // Rows that both sides have added all stay.
            change.rows.append(row)
        case .edit(let portal, let mine):
            guard let id = mine.recordId, let old = base[portal: portal]?[row: id] else {
                change.rows.append(row)
                return
            }
            let place = DataAPI.RelatedRecord(portal: portal, recordId: id)
            guard let other = theirs[portal: portal]?[row: id] else {
                if theirs.isUnknown(portal) {
                    keep(row, old, in: portal)
                } else {
                    rows.append(DataAPI.RowConflict(row: place, kind: .deletedByOther))
                }
                return
            }
            let rest = compare(old.fields, mine.fields, other.fields, in: place)
            noteTheirs(old.fields, besides: mine.fields, other.fields, in: place)
            if !rest.isEmpty {
                change.rows.append(.edit(portal: portal, RowImage(recordId: id, modId: other.modId, fields: rest)))
            }
        case .delete(let portal, let id):
            guard let old = base[portal: portal]?[row: id] else {
                change.rows.append(row)
                return
            }
            guard let other = theirs[portal: portal]?[row: id] else {
                if theirs.isUnknown(portal) { keep(row, old, in: portal) }
                return
            }
            if other.fields.isContained(in: old.fields), old.fields.isContained(in: other.fields) {
                change.rows.append(row)
            } else {
                let place = DataAPI.RelatedRecord(portal: portal, recordId: id)
                rows.append(DataAPI.RowConflict(row: place, kind: .changedByOther))
            }
        }
    }

    /// Keeps a change of a row that was not read again: it is sent with the row's old modId, which the server compares.
    private mutating func keep(_ change: RowChange, _ row: RowImage, in portal: String) {
        self.change.rows.append(change)
        if let place = base.portals.firstIndex(where: { ExactName($0.name) == ExactName(portal) }) {
            base.portals[place].rows.append(row)
        } else {
            base.portals.append(PortalImage(name: portal, rows: [row], isWhole: false))
        }
    }
}

extension RecordImage {
    fileprivate func isUnknown(_ portal: String) -> Bool { self[portal: portal]?.isWhole != true }
}

extension WireValue {
    fileprivate var isContainerURL: Bool {
        guard let text, case .url = DataAPI.ContainerReference(text) else { return false }
        return text.contains("/Streaming")
    }
}

// MARK: - Settling

extension ThreeWayMerge {
    /// What is left to send when a policy settles the conflicts; `nil` when it does not settle all of them.
    func settled(by policy: DataAPI.ConflictPolicy) -> RecordDiff? {
        var change = change
        for difference in contested {
            let value: WireValue
            switch policy.resolution(of: difference.conflict) {
            case .mine: value = difference.mine
            case .theirs: continue
            case .value(let other): value = WireValue(other)
            case .unsettled: return nil
            }
            if !value.isSame(as: difference.theirs) { change.write(value, to: difference, on: base) }
        }
        for conflict in rows {
            switch (policy, conflict.kind) {
            case (.mine, .changedByOther):
                change.rows.append(.delete(portal: conflict.row.portal, recordId: conflict.row.recordId))
            case (.theirs, _): continue
            default: return nil
            }
        }
        return change
    }
}

extension DataAPI.ConflictPolicy {
    fileprivate func resolution(of conflict: DataAPI.FieldConflict) -> DataAPI.ConflictResolution {
        switch self {
        case .fail, .merge: .unsettled
        case .mine: .mine
        case .theirs: .theirs
        case .resolve(let resolve): resolve(conflict)
        }
    }
}

extension RecordDiff {
    fileprivate mutating func write(
        _ value: WireValue,
        to difference: ThreeWayMerge.Difference,
        on base: RecordImage
    ) {
        guard let row = difference.row else {
            fields[difference.field] = value
            return
        }
        var image = RowImage(recordId: row.recordId, modId: base[portal: row.portal]?[row: row.recordId]?.modId)
        let place = rows.firstIndex { change in
            guard case .edit(row.portal, let image) = change else { return false }
            return image.recordId == row.recordId
        }
        if let place, case .edit(_, let other) = rows[place] { image = other }
        image.fields[difference.field] = value
        let change = RowChange.edit(portal: row.portal, image)
        if let place { rows[place] = change } else { rows.append(change) }
    }
}
