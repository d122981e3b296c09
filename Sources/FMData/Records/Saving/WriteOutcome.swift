/// What became of a write whose answer did not come, as far as reading the record tells. A write is one commit, so a part of it
/// that is there proves the whole.
enum WriteOutcome: Equatable {
    case executed
    case notExecuted
    /// Somebody else has changed the record, too, or the answer shows too little.
    case unclear

    init(of change: RecordChange, on base: RecordImage, found theirs: RecordImage) {
        let added = AddedRows(change, base, theirs)
        if added == .present {
            self = .executed
        } else if change.ownFieldNames.isEmpty {
            // Rows alone leave the record's modId as it is, on some servers.
            self = Self.ofRows(change, base, theirs, added)
        } else if theirs.modId == base.modId {
            self = .notExecuted
        } else if theirs.modId == base.modId &+ 1, change.fields.isContained(in: theirs.fields),
            added != .absent
        {
            self = .executed
        } else {
            self = .unclear
        }
    }

    private static func ofRows(
        _ change: RecordChange,
        _ base: RecordImage,
        _ theirs: RecordImage,
        _ added: AddedRows
    ) -> WriteOutcome {
        var isDone = change.fields.isContained(in: theirs.fields)
        var isUntouched = change.fields.isEmpty || !isDone
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
        if isUntouched, added != .unclear { return .notExecuted }
        return isDone && added == .none ? .executed : .unclear
    }
}

/// Whether the rows that a change adds are there.
private enum AddedRows: Equatable {
    /// It adds none.
    case none
    case present
    case absent
    /// They may be among the rows that the answer does not show, or cannot be told from others.
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
            // A row that was not seen before may be an old one.
            if !old.isWhole { isUnclear = true }
            new[portal] = rows
        }
        self = wanted == 0 ? .none : isUnclear ? .unclear : found == wanted ? .present : .absent
    }
}
