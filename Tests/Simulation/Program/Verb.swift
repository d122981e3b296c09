/// What can be asked for.
///
/// All calls but the upload of a file on disk, which is read on a queue of its own. The metadata of earlier servers are asked for
/// where those of today are answered by a 404, which is a fault.
enum Verb: Equatable, CaseIterable {
    case create, edit, editChecked, duplicate, delete, upload, uploadStream, logScript
    case echoScript, read, readMissing, list, stream, find, findNothing, findStream, findInSeveralCalls
    case download, downloadStream
    case metadata, layouts, scripts, productInfo, databases, validate
    case setGlobals, pinned, logOut, logIn, asOther, oAuthProviders, asOAuthUser
    // Of the second storey.
    case createRetrying, pages, recordsByID, joined, shared, save, upsert
    case batchCreate, batchEdit, batchUpsert, commit
    // What keeps itself current, and never ends by itself.
    case live, liveFound, liveByScan, liveByStamp, liveByLog, changes, changesTakenUp, observe
    // Word from outside, and what others commit without a session.
    case hint, createByOthers, editByOthers, deleteByOthers
    // Of several accounts: who it is, and somebody else from now on.
    case whoAmI, swap, swapByLogin
    // One run of a job that is written with a journal.
    case journal
    // One run of a program that keeps a copy.
    case followCopy

    /// Whether it goes on until it is cancelled.
    var isWatching: Bool { Work.watching.contains(self) || self == .followCopy }

    /// What it changes on the host when it is carried out once; `nil` for what changes nothing that lasts.
    var write: Write? {
        switch self {
        case .create: .newRecord(from: "c")
        case .logScript: .newRecord(from: "s")
        case .duplicate: .copy
        case .edit, .editChecked, .upload, .uploadStream: .newVersion
        case .delete: .removal
        case .createRetrying: .newRecord(from: "y")
        case .save: .newVersion
        case .upsert: .newRecord(from: "u")
        case .batchCreate: .newRecords(from: "b", isAtomic: false)
        case .batchUpsert: .newRecords(from: "v", isAtomic: false)
        case .commit: .newRecords(from: "j", isAtomic: true)
        case .batchEdit: .newVersions
        default: nil
        }
    }

    enum Write: Equatable {
        /// A record whose marker is this letter and the step's number.
        case newRecord(from: String)
        /// A record for each row of the step, whose markers end with the row's number.
        case newRecords(from: String, isAtomic: Bool)
        /// A second record with the marker of the step's own.
        case copy
        /// The step's record has one more modification.
        case newVersion
        /// The step's record has a modification more for each row.
        case newVersions
        /// The step's record is gone.
        case removal
    }

    /// How many rows a step writes that writes several.
    static let rows = 3
}

/// What a program does.
enum Work: String, CaseIterable {
    /// Calls, as a layout without a type has them.
    case calls
    /// What typed layouts make of many calls, among others.
    case records
    /// Live queries, while records are written by the same client and by others.
    case live
    /// A bit of everything by two accounts that see different records: side by side, and one in the place of the other.
    case accounts
    /// Many rows that are written with a journal, by runs of which most are killed.
    case journals
    /// Copies that programs keep, which are killed, while others write and backups are restored.
    case copies
    /// Live queries of more than a page, while others write, hosts lie and backups are restored.
    case restores

    /// Each verb as often as it comes in a program that does a bit of everything.
    var usual: [Verb] {
        switch self {
        case .calls:
            Verb.allCases.filter {
                !(Self.ofRecords + Self.watching + Self.ofOthers + Self.ofAccounts + [.journal, .followCopy])
                    .contains($0)
            } + [
                .create, .create, .create, .edit, .edit, .delete, .duplicate, .logScript, .upload, .read, .read, .read,
                .list,
                .find, .stream, .echoScript, .echoScript,
            ]
        case .records:
            Self.ofRecords + Self.ofRecords + [.create, .edit, .delete, .duplicate, .read, .find, .setGlobals, .pinned]
        case .live:
            Self.watching + Self.ofOthers + Self.ofOthers + [
                .create, .edit, .editChecked, .delete, .duplicate, .upload, .logScript, .read, .find, .logOut,
            ]
        case .accounts:
            [
                .swap, .swap, .swap, .swap, .swap, .swapByLogin, .swapByLogin, .logIn, .logOut, .whoAmI, .whoAmI,
                .whoAmI,
                .layouts, .layouts, .scripts, .metadata, .pinned, .setGlobals, .read, .read, .find, .findInSeveralCalls,
                .findStream, .stream, .download, .downloadStream, .pages, .pages, .recordsByID, .joined, .shared,
                .shared,
                .create, .edit, .delete, .upload, .save, .createRetrying, .batchCreate, .batchEdit, .batchEdit,
                .live, .live, .liveFound, .liveFound, .changes, .changes, .observe,
            ]
        // Beside what each job is written by.
        case .journals:
            [
                .journal, .journal, .journal, .journal, .journal, .journal, .journal, .read, .find, .create, .edit,
                .logOut,
            ]
        case .copies:
            [.followCopy, .followCopy, .followCopy, .read, .logOut] + Self.ofOthers + Self.ofOthers
        case .restores:
            [
                .live, .live, .liveByScan, .liveByScan, .liveByStamp, .liveByLog, .changes, .changes, .changesTakenUp,
                .read, .logOut,
            ] + Self.ofOthers + Self.ofOthers
        }
    }

    /// Whether hosts of this kind have backups restored, and lie.
    var hasRestores: Bool { self == .copies || self == .restores }

    private static let ofRecords: [Verb] = [
        .createRetrying, .pages, .recordsByID, .joined, .shared, .save, .upsert, .batchCreate, .batchEdit, .batchUpsert,
        .commit,
    ]
    fileprivate static let watching: [Verb] = [
        .live, .liveFound, .liveByScan, .liveByStamp, .liveByLog, .changes, .changesTakenUp, .observe,
    ]
    private static let ofOthers: [Verb] = [.hint, .createByOthers, .editByOthers, .deleteByOthers]
    private static let ofAccounts: [Verb] = [.whoAmI, .swap, .swapByLogin]
}
