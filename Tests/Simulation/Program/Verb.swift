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

    /// What it changes on the host when it is carried out once; `nil` for what changes nothing that lasts.
    var write: Write? {
        switch self {
        case .create: .newRecord(from: "c")
        case .logScript: .newRecord(from: "s")
        case .duplicate: .copy
        case .edit, .editChecked, .upload, .uploadStream: .newVersion
        case .delete: .removal
        default: nil
        }
    }

    enum Write: Equatable {
        /// A record whose marker is this letter and the step's number.
        case newRecord(from: String)
        /// A second record with the marker of the step's own.
        case copy
        /// The step's record has one more modification.
        case newVersion
        /// The step's record is gone.
        case removal
    }
}
