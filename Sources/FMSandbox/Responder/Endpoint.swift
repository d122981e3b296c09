extension Sandbox {
    /// A call of the Data API. More may be added in later versions.
    public struct Endpoint: RawRepresentable, Hashable, Sendable, CaseIterable, CustomStringConvertible {
        /// What the sandbox distinguishes: the compiler asks for the answer to each.
        enum Kind: String, CaseIterable {
            case productInfo, validateSession, databases, login, logout, setGlobals, scripts, layouts, layoutMetadata
            case oldMetadata, getRecords, getRecord, createRecord, editRecord, duplicateRecord, deleteRecord
            case uploadContainer, downloadContainer, find, runScript, oauth
        }

        let kind: Kind

        init(_ kind: Kind) {
            self.kind = kind
        }

        /// Finds the call of this name.
        public init?(rawValue: String) {
            guard let kind = Kind(rawValue: rawValue) else { return nil }
            self.init(kind)
        }

        /// The name of the call.
        public var rawValue: String { kind.rawValue }
        /// The name of the call.
        public var description: String { rawValue }
        /// All calls.
        public static let allCases = Kind.allCases.map(Endpoint.init)
    }
}

extension Sandbox.Endpoint {
    /// `GET productInfo`
    public static let productInfo = Self(.productInfo)
    /// `GET validateSession`
    public static let validateSession = Self(.validateSession)
    /// `GET databases`
    public static let databases = Self(.databases)
    /// `POST sessions`
    public static let login = Self(.login)
    /// `DELETE sessions/{token}`
    public static let logout = Self(.logout)
    /// `PATCH globals`
    public static let setGlobals = Self(.setGlobals)
    /// `GET scripts`
    public static let scripts = Self(.scripts)
    /// `GET layouts`
    public static let layouts = Self(.layouts)
    /// `GET layouts/{layout}`
    public static let layoutMetadata = Self(.layoutMetadata)
    /// `GET layouts/{layout}/metadata`, the format of FileMaker Server 17
    public static let oldMetadata = Self(.oldMetadata)
    /// `GET records`
    public static let getRecords = Self(.getRecords)
    /// `GET records/{id}`
    public static let getRecord = Self(.getRecord)
    /// `POST records`
    public static let createRecord = Self(.createRecord)
    /// `PATCH records/{id}`
    public static let editRecord = Self(.editRecord)
    /// `POST records/{id}`
    public static let duplicateRecord = Self(.duplicateRecord)
    /// `DELETE records/{id}`
    public static let deleteRecord = Self(.deleteRecord)
    /// `POST containers/{field}`
    public static let uploadContainer = Self(.uploadContainer)
    /// `GET /Streaming_SSL/…`
    public static let downloadContainer = Self(.downloadContainer)
    /// `POST _find`
    public static let find = Self(.find)
    /// `GET script/{script}`
    public static let runScript = Self(.runScript)
    /// The two requests that precede an OAuth login, and the requests of the sign-in page.
    public static let oauth = Self(.oauth)
}

extension Sandbox.Endpoint {
    /// The first release that has the endpoint.
    var firstVersion: Sandbox.ServerVersion {
        switch kind {
        case .validateSession: .v19
        // The guide has duplicating since 18, but clients' tests of it passed on a server 17.
        case .productInfo, .databases, .scripts, .layouts, .layoutMetadata, .runScript: .v18
        case .login, .logout, .setGlobals, .oldMetadata, .getRecords, .getRecord, .createRecord, .editRecord,
            .duplicateRecord, .deleteRecord, .uploadContainer, .downloadContainer, .find, .oauth:
            .v17
        }
    }

    /// Whether the request needs a session, named by its bearer token.
    var needsToken: Bool {
        switch kind {
        case .validateSession, .setGlobals, .scripts, .layouts, .layoutMetadata, .oldMetadata, .getRecords, .getRecord,
            .createRecord, .editRecord, .duplicateRecord, .deleteRecord, .uploadContainer, .find, .runScript:
            true
        case .productInfo, .databases, .login, .logout, .downloadContainer, .oauth: false
        }
    }

    /// Whether the request has a body with the content type JSON.
    var takesJSON: Bool {
        switch kind {
        case .login, .createRecord, .editRecord, .duplicateRecord, .find, .setGlobals: true
        case .productInfo, .validateSession, .databases, .logout, .scripts, .layouts, .layoutMetadata, .oldMetadata,
            .getRecords, .getRecord, .deleteRecord, .uploadContainer, .downloadContainer, .runScript, .oauth:
            false
        }
    }
}
