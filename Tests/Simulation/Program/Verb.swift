/// The calls that a step can make.
///
/// All calls except the upload of a file on disk, which is read on a queue of its own. Metadata of older servers are
/// requested when a request for the current ones is answered by 404, which is one of the faults.
enum Verb: Equatable, CaseIterable {
    case create, edit, editChecked, duplicate, delete, upload, uploadStream, logScript
    case echoScript, read, readMissing, list, stream, find, findNothing, findStream, findAlternatives
    case download, downloadStream
    case metadata, layouts, scripts, productInfo, databases, validate
    case setGlobals, pinned, logOut, logIn, asOther, oAuthProviders, asOAuthUser
    // Calls of typed layouts, most of them built from several requests.
    case createRetrying, pages, recordsByID, joined, shared, save, upsert
    case batchCreate, batchEdit, batchUpsert, commit
    // Calls that keep themselves current, and never end by themselves.
    case live, liveFound, liveByScan, liveByStamp, liveByLog, changes, changesTakenUp, observe
    // Hints from outside, and commits of others without a session.
    case hint, createByOthers, editByOthers, deleteByOthers
    // Calls of several accounts: reading the account, and replacing it.
    case whoAmI, swap, swapByLogin
    // One run of a job, which is written with a journal.
    case journal
    // One run of a program that keeps a copy.
    case followCopy

    /// Whether it runs until it is cancelled.
    var isWatching: Bool { Work.watching.contains(self) || self == .followCopy }

    /// The lasting change on the host when it is carried out once; `nil` for none.
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
        /// A record for each row of the step; their markers end with the row's number.
        case newRecords(from: String, isAtomic: Bool)
        /// A second record with the marker of the step's own record.
        case copy
        /// One more modification of the step's record.
        case newVersion
        /// One more modification of the step's record for each row.
        case newVersions
        /// The deletion of the step's record.
        case removal
    }

    /// The number of rows of a step that writes several.
    static let rows = 3
}

/// A kind of program.
enum Work: String, CaseIterable {
    /// Calls of untyped layouts.
    case calls
    /// Calls of typed layouts that consist of many requests, among others.
    case records
    /// Live queries, while the same client and others write records.
    case live
    /// Some of everything, by two accounts that see different records, in parallel and replacing each other.
    case accounts
    /// Many rows that are written with a journal, by runs most of which are killed.
    case journals
    /// Copies kept by programs that are killed, while others write and backups are restored.
    case copies
    /// Live queries of more than a page, while others write, hosts answer falsely and backups are restored.
    case restores
    /// Calls of several processes that share their sessions through a store, while processes stand still, are killed or
    /// are replaced by others.
    case fleets

    /// The verbs of a typical program, each as often as its share.
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
                .layouts, .layouts, .scripts, .metadata, .pinned, .setGlobals, .read, .read, .find, .findAlternatives,
                .findStream, .stream, .download, .downloadStream, .pages, .pages, .recordsByID, .joined, .shared,
                .shared,
                .create, .edit, .delete, .upload, .save, .createRetrying, .batchCreate, .batchEdit, .batchEdit,
                .live, .live, .liveFound, .liveFound, .changes, .changes, .observe,
            ]
        // In addition to the runs of each job.
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
        case .fleets:
            [
                .create, .create, .create, .edit, .edit, .delete, .duplicate, .logScript, .upload, .echoScript, .read,
                .read, .read, .find, .find, .list, .stream, .download, .pinned, .logOut,
            ]
        }
    }

    /// Whether hosts restore backups, and answer falsely.
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
