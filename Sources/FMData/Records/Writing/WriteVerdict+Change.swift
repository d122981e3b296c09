// Whether the write of a save was carried out: the verdict of an edit, plus what its portal rows show. A write is one
// commit, so any part of it that is found proves the whole.

extension WriteVerdict {
    /// The verdict for the change of a record that was read before.
    static func ofChange(
        _ change: RecordChange,
        on base: RecordImage,
        found theirs: RecordImage
    ) -> WriteVerdict {
        let added = AddedRows(change, base, theirs)
        if added == .present { return .carriedOut }
        // On some servers, writing rows alone does not change the record's modId.
        if change.ownFieldNames.isEmpty { return ofRows(change, base, theirs, added) }
        let isSame = change.fields.isContained(in: theirs.fields) && added != .absent
        return ofEdit(base: base.modId, found: (theirs.modId, isSame))
    }

    private static func ofRows(
        _ change: RecordChange,
        _ base: RecordImage,
        _ theirs: RecordImage,
        _ added: AddedRows
    ) -> WriteVerdict {
        var isDone = change.fields.isContained(in: theirs.fields)
        // A third value is another client's: the write came before it, or was not carried out.
        var isUntouched = change.fields.names.allSatisfy { name in
            (theirs.fields[name] ?? .emptyField).isSame(as: base.fields[name])
        }
        for row in change.rows {
            switch row {
            case .add: break
            case .edit(let portal, let mine):
                guard let id = mine.recordId else { break }
                let (old, other) = (base[portal: portal]?[row: id], theirs[portal: portal]?[row: id])
                isDone = isDone && other.map { mine.fields.isContained(in: $0.fields) } == true
                isUntouched = isUntouched && old != nil && old == other
            case .delete(let portal, let id):
                let isThere = theirs[portal: portal]?[row: id] != nil
                isDone = isDone && !isThere && theirs[portal: portal]?.isWhole == true
                isUntouched = isUntouched && isThere
            }
        }
        if isUntouched, added != .unclear { return .notCarriedOut }
        return isDone && added == .none ? .carriedOut : .undecided(.changedSince)
    }
}

/// Whether the rows that a change adds exist.
private enum AddedRows: Equatable {
    /// The change adds no rows.
    case none
    case present
    case absent
    /// The rows may be among those that the answer does not show, or cannot be distinguished from others.
    case unclear

    init(_ change: RecordChange, _ base: RecordImage, _ theirs: RecordImage) {
        var new: [String: [RowImage]] = [:]
        var found = 0
        var wanted = 0
        var isUnclear = false
        for case .add(let portal, let fields) in change.rows {
            wanted += 1
            guard let image = theirs[portal: portal], let old = base[portal: portal], !fields.filled.isEmpty else {
                isUnclear = true
                continue
            }
            let before = Set(old.rows.compactMap(\.recordId))
            var rows = new[portal] ?? image.rows.filter { $0.recordId.map { !before.contains($0) } ?? false }
            if let place = rows.firstIndex(where: { fields.isContained(in: $0.fields) }) {
                rows.remove(at: place)
                found += 1
            } else if !image.isWhole {
                isUnclear = true
            }
            // A row that was not read before may still be an old one.
            if !old.isWhole { isUnclear = true }
            new[portal] = rows
        }
        self = wanted == 0 ? .none : isUnclear ? .unclear : found == wanted ? .present : .absent
    }
}
