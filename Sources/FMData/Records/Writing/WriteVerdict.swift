/// Whether a write whose answer did not come has been carried out, as far as what is read afterwards tells. It is the
/// one answer to that question, for batches, commits, saves and upserts; what follows from it is theirs to decide.
///
/// What proves what:
///
///     create    by its key        one record has exactly this key, and what was written with it: carried out · none: not seen
///     edit      by id and modId   the modId it was made for: not carried out · the next one, and its fields: carried out
///     edit      by id alone       its fields: the record holds them, by whomever · others: not seen
///     upsert    by key and modId  its fields: carried out · the version it was over: not carried out · none: as a create
///
/// `notSeen` becomes `notCarriedOut` when it is seen again at a time when the first attempt can no longer be at work.
enum WriteVerdict: Equatable, Sendable {
    case carriedOut
    /// It was not, and should it still arrive it is refused by its modId.
    case notCarriedOut
    /// Nothing of it is there. It may still be on its way.
    case notSeen
    case undecided(Doubt)

    /// Why nobody can tell.
    enum Doubt: Equatable, Sendable {
        /// A record has the key, and other values than were written.
        case otherValues
        /// Several records have the key.
        case severalRecords
        /// A record that was found by the key has it in another form.
        case keyInOtherForm
        /// The earlier run gave the record a key in another field, or none.
        case otherKeyField
        /// A later row has been written into the same record, or may have been.
        case superseded
        /// It was not seen, and there is no time to see whether it is still on its way.
        case outOfTime
        /// Somebody has changed the record since.
        case changedSince
        /// The record is gone.
        case gone
        /// Neither a key nor a modId tells.
        case nothingToTellBy
        /// The record could not be read; why is in the error of the reading.
        case unreadable
    }
}

extension WriteVerdict {
    /// Of a create, by the records whose key is exactly that which was written.
    ///
    /// - Parameters:
    ///   - matches: for each of them whether it holds what was written with the key.
    ///   - isKeyOurs: whether the key was made up for this record, so that nobody else can have written it.
    static func ofCreate(matches: [Bool], isKeyOurs: Bool) -> WriteVerdict {
        switch matches.count {
        case 0: .notSeen
        case 1: matches[0] || isKeyOurs ? .carriedOut : .undecided(.otherValues)
        default: .undecided(.severalRecords)
        }
    }

    /// Of an edit, by the record that was to be edited.
    ///
    /// - Parameters:
    ///   - base: the modId that the edit was made for; `nil` for one that overwrites.
    ///   - found: what the record's modId is, and whether it holds the edit's fields; `nil` when it is gone.
    static func ofEdit(base: Int?, found: (modId: Int, isSame: Bool)?) -> WriteVerdict {
        guard let found else { return .undecided(.gone) }
        guard let base else { return found.isSame ? .carriedOut : .notSeen }
        if found.modId == base { return .notCarriedOut }
        return found.modId == base &+ 1 && found.isSame ? .carriedOut : .undecided(.changedSince)
    }

    /// Of an upsert, by the record that has its key.
    ///
    /// - Parameters:
    ///   - base: the version of the record that it was written over; `nil` for one that was to be made.
    ///   - found: the record, and whether it holds what was written; `nil` when there is none.
    static func ofUpsert(over base: WrittenVersion?, found: (version: WrittenVersion, isSame: Bool)?) -> WriteVerdict {
        // A record that is gone cannot be edited by what is still on its way.
        guard let found else { return base == nil ? .notSeen : .notCarriedOut }
        if found.isSame { return .carriedOut }
        guard let base else { return .undecided(.otherValues) }
        return found.version == base ? .notCarriedOut : .undecided(.changedSince)
    }
}

extension WriteVerdict.Doubt {
    /// The reason, as a sentence.
    var text: String {
        switch self {
        case .otherValues: "A record has the row's key and other values than were written: it may be somebody else's."
        case .severalRecords:
            "Several records have the row's key, and nobody can tell whether one of them is the row's."
        case .keyInOtherForm: "A record was found by the row's key, and has it in another form."
        case .otherKeyField:
            "The earlier run gave it a key in another field, or none: BatchOptions.idempotencyKey was another one."
        case .superseded: "A later row has been written into the same record since, or may have been."
        case .outOfTime: "It was not seen, and the call has no time left to see whether it is still on its way."
        case .changedSince: "The record has been changed since by somebody else, before or after the write."
        case .gone: "The record is gone, and with it what would tell."
        case .nothingToTellBy: "Neither a key nor a modId tells whether it was carried out."
        case .unreadable: "The record could not be looked up."
        }
    }
}
