import FMHTTP

extension DataAPI {
    /// What a request asks the host for, such as ``findRecords``. More may be added: a `switch` needs a `default`.
    public struct Operation: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name, as in `findRecords`.
        public let rawValue: String

        /// Creates an operation of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        private init(_ name: String) { rawValue = name }

        /// The ``rawValue``.
        public var description: String { rawValue }

        /// Opens a session.
        public static let logIn = Operation("logIn")
        /// Closes a session.
        public static let logOut = Operation("logOut")
        /// Asks whether a session is alive.
        public static let validateSession = Operation("validateSession")
        /// Reads what the host is.
        public static let productInfo = Operation("productInfo")
        /// Lists the host's databases.
        public static let databaseNames = Operation("databaseNames")
        /// Lists a database's layouts.
        public static let layoutNames = Operation("layoutNames")
        /// Lists a database's scripts.
        public static let scriptNames = Operation("scriptNames")
        /// Reads a layout's fields, portals and value lists.
        public static let layoutMetadata = Operation("layoutMetadata")
        /// Reads a range of records.
        public static let getRecords = Operation("getRecords")
        /// Reads one record.
        public static let getRecord = Operation("getRecord")
        /// Finds records.
        public static let findRecords = Operation("findRecords")
        /// Creates a record.
        public static let createRecord = Operation("createRecord")
        /// Changes a record.
        public static let editRecord = Operation("editRecord")
        /// Duplicates a record.
        public static let duplicateRecord = Operation("duplicateRecord")
        /// Deletes a record.
        public static let deleteRecord = Operation("deleteRecord")
        /// Puts a file into a container field.
        public static let uploadContainer = Operation("uploadContainer")
        /// Fetches the content of a container field. This is no call of the Data API: it needs no free session.
        public static let downloadContainer = Operation("downloadContainer")
        /// Sets global fields.
        public static let setGlobals = Operation("setGlobals")
        /// Runs a script.
        public static let runScript = Operation("runScript")
        /// Lists the providers of a sign-in by OAuth, or begins one.
        public static let oAuth = Operation("oAuth")
        /// Registers, reads or removes webhooks.
        public static let webhooks = Operation("webhooks")
        /// A request that the library has no call for: ``Database/rawAnswer(to:isolation:)``.
        public static let raw = Operation("raw")
    }
}

extension DataAPIRequest {
    /// What the request asks for, by its method and path.
    var operation: DataAPI.Operation {
        let segments = path.segments
        switch (segments.first, segments.count) {
        case ("productInfo", _): return .productInfo
        case ("validateSession", _): return .validateSession
        case ("databases", 1): return .databaseNames
        case ("databases", 3...): break
        case ("fmi", _): return .webhooks
        default: return .oAuth
        }
        switch (segments[2], segments.count) {
        case ("sessions", _): return method == .POST ? .logIn : .logOut
        case ("globals", _): return .setGlobals
        case ("scripts", _): return .scriptNames
        case ("layouts", 3): return .layoutNames
        case ("layouts", 4): return .layoutMetadata
        default: break
        }
        guard segments[2] == "layouts", segments.count > 4 else { return .raw }
        switch (segments[4], segments.count) {
        case ("_find", _): return .findRecords
        case ("script", _): return .runScript
        case ("records", 5): return method == .POST ? .createRecord : .getRecords
        case ("records", 6): break
        case ("records", _): return .uploadContainer
        case ("metadata", _): return .layoutMetadata
        default: return .raw
        }
        switch method {
        case .GET: return .getRecord
        case .PATCH: return .editRecord
        case .DELETE: return .deleteRecord
        default: return .duplicateRecord
        }
    }
}
