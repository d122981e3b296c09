import FMDataCore

/// Whether a write whose answer was lost has been carried out, as far as a later lookup shows. Batches, commits, saves
/// and upserts share this outcome; each decides by itself what follows from it.
///
/// What proves what:
///
///     create    by its key        one record has exactly this key and the fields written with it: carried out;
///                                 none: not seen
///     edit      by id and modId   the old modId: not carried out; the edit's fields in a later version prove nothing,
///                                 since another client may have written the same: a counter that two have raised
///     edit      by id alone       the record holds the edit's fields, written by any client: carried out;
///                                 others: not seen
///     upsert    by key and modId  its fields: carried out; the version it was over: not carried out; no record: not
///                                 carried out, or not seen if the record was to be created
///
/// `notSeen` becomes `notCarriedOut` when a second lookup finds nothing either, once the host can no longer be working
/// on the first attempt.
enum WriteOutcome: Equatable, Sendable {
    case carriedOut
    /// It was not carried out. If it arrives late, the server refuses it because of its modId.
    case notCarriedOut
    /// Nothing of it was found. It may still arrive.
    case notSeen
    case undecided(Doubt)

    /// Why an outcome is not possible.
    enum Doubt: Equatable, Sendable {
        /// A record has the key, and other values than were written.
        case otherValues
        /// Several records have the key.
        case severalRecords
        /// A record that was found by the key has it in another form.
        case keyInOtherForm
        /// A record that was found by the key has it in another spelling, and may be the row's: a file can change what
        /// is entered.
        case keySpelledOtherwise
        /// The earlier run gave the record a key in another field, or none.
        case otherKeyField
        /// A later row has been written to the same record, or may have been.
        case superseded
        /// It was not seen, and there is no time left to wait for a late arrival.
        case outOfTime
        /// Another client has changed the record since.
        case changedSince
        /// A later version of the record holds what was to be written, by this write or by an equal one.
        case equalWrite
        /// The record was deleted.
        case gone
        /// There is neither a key nor a modId to decide by.
        case nothingToTellBy
        /// The record could not be read; the read's error says why.
        case unreadable
    }
}

extension WriteOutcome {
    /// The outcome for a create, from the records that have exactly its key.
    ///
    /// - Parameters:
    ///   - matches: for each record, whether it holds what was written with the key.
    ///   - isKeyOurs: whether the key was generated for this record, so that no other client can have written it.
    static func ofCreate(matches: [Bool], isKeyOurs: Bool) -> WriteOutcome {
        switch matches.count {
        case 0: .notSeen
        case 1: matches[0] || isKeyOurs ? .carriedOut : .undecided(.otherValues)
        default: .undecided(.severalRecords)
        }
    }

    /// The outcome for an edit, from the record to be edited.
    ///
    /// - Parameters:
    ///   - base: the modId that the edit was based on; `nil` for one that overwrites.
    ///   - found: the record's modId, and whether it holds the edit's fields; `nil` when the record does not exist.
    static func ofEdit(base: Int?, found: (modId: Int, isSame: Bool)?) -> WriteOutcome {
        guard let found else { return .undecided(.gone) }
        guard let base else { return found.isSame ? .carriedOut : .notSeen }
        if found.modId == base { return .notCarriedOut }
        return .undecided(found.isSame ? .equalWrite : .changedSince)
    }

    /// The outcome for an upsert, from the record that has its key.
    ///
    /// - Parameters:
    ///   - base: the version of the record that it was written over; `nil` for a record that was to be created.
    ///   - found: the record, and whether it holds what was written; `nil` when there is none.
    static func ofUpsert(over base: WrittenVersion?, found: (version: WrittenVersion, isSame: Bool)?) -> WriteOutcome {
        // A late edit cannot change a record that does not exist any more.
        guard let found else { return base == nil ? .notSeen : .notCarriedOut }
        if found.isSame { return .carriedOut }
        guard let base else { return .undecided(.otherValues) }
        return found.version == base ? .notCarriedOut : .undecided(.changedSince)
    }
}

extension WriteOutcome.Doubt {
    /// The reason, as a sentence.
    var text: String {
        switch self {
        case .otherValues: "A record has the row's key and other values than were written: it may be somebody else's."
        case .severalRecords:
            "Several records have the row's key, and nobody can tell whether one of them is the row's."
        case .keyInOtherForm: "A record was found by the row's key, and has it in another form."
        case .keySpelledOtherwise:
            "A record was found by the row's key in another spelling: it may be the row's, if the file changes keys as "
                + "they are entered."
        case .otherKeyField:
            "The earlier run gave it a key in another field, or none: BatchOptions.idempotencyKey was another one."
        case .superseded: "A later row has been written into the same record since, or may have been."
        case .outOfTime: "It was not seen, and the call has no time left to see whether it is still on its way."
        case .changedSince: "The record has been changed since by somebody else, before or after the write."
        case .equalWrite: "The record holds what was to be written: by this write, or by an equal one of somebody else."
        case .gone: "The record is gone, and with it what would tell."
        case .nothingToTellBy: "Neither a key nor a modId tells whether it was carried out."
        case .unreadable: "The record could not be looked up."
        }
    }
}

// Whether the write of a save was carried out: the outcome of an edit, plus what its portal rows show. That a record
// holds what was to be written proves nothing, since another client may have written the same.

extension WriteOutcome {
    /// The outcome for the change of a record that was read before.
    static func ofChange(
        _ change: RecordDiff,
        on base: RecordImage,
        found theirs: RecordImage
    ) -> WriteOutcome {
        let added = AddedRows(change, base, theirs)
        var isDone = change.fields.isContained(in: theirs.fields) && (added == .none || added == .present)
        // A third value is another client's: the write came before it, or was not carried out.
        var isUntouched = change.fields.names.allSatisfy { name in
            (theirs.fields[name] ?? .emptyField).isSame(as: base.fields[name])
        }
        var onlyDeletes = change.fields.isEmpty
        for row in change.rows {
            switch row {
            case .add: onlyDeletes = false
            case .edit(let portal, let mine):
                onlyDeletes = false
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
        // On some servers, writing rows alone does not change the record's modId.
        if !change.ownFieldNames.isEmpty { return ofEdit(base: base.modId, found: (theirs.modId, isDone)) }
        if isUntouched, added == .none || added == .absent { return .notCarriedOut }
        if onlyDeletes, isDone { return .carriedOut }
        return .undecided(isDone ? .equalWrite : .changedSince)
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

    init(_ change: RecordDiff, _ base: RecordImage, _ theirs: RecordImage) {
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
