extension Sandbox {
    /// The calls of the Data API.
    public enum Endpoint: String, Sendable, CaseIterable {
        /// `GET productInfo`
        case productInfo
        /// `GET validateSession`
        case validateSession
        /// `GET databases`
        case databases
        /// `POST sessions`
        case login
        /// `DELETE sessions/{token}`
        case logout
        /// `PATCH globals`
        case setGlobals
        /// `GET scripts`
        case scripts
        /// `GET layouts`
        case layouts
        /// `GET layouts/{layout}`
        case layoutMetadata
        /// `GET layouts/{layout}/metadata`, the format of FileMaker Server 17
        case oldMetadata
        /// `GET records`
        case getRecords
        /// `GET records/{id}`
        case getRecord
        /// `POST records`
        case createRecord
        /// `PATCH records/{id}`
        case editRecord
        /// `POST records/{id}`
        case duplicateRecord
        /// `DELETE records/{id}`
        case deleteRecord
        /// `POST containers/{field}`
        case uploadContainer
        /// `GET /Streaming_SSL/…`
        case downloadContainer
        /// `POST _find`
        case find
        /// `GET script/{script}`
        case runScript
        /// The two requests that precede an OAuth login, and the requests of the sign-in page.
        case oauth
    }
}

extension Sandbox.Endpoint {
    /// The first release that has the endpoint.
    var firstVersion: Sandbox.ServerVersion {
        switch self {
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
        switch self {
        case .validateSession, .setGlobals, .scripts, .layouts, .layoutMetadata, .oldMetadata, .getRecords, .getRecord,
            .createRecord, .editRecord, .duplicateRecord, .deleteRecord, .uploadContainer, .find, .runScript:
            true
        case .productInfo, .databases, .login, .logout, .downloadContainer, .oauth: false
        }
    }

    /// Whether the request has a body with the content type JSON.
    var takesJSON: Bool {
        switch self {
        case .login, .createRecord, .editRecord, .duplicateRecord, .find, .setGlobals: true
        case .productInfo, .validateSession, .databases, .logout, .scripts, .layouts, .layoutMetadata, .oldMetadata,
            .getRecords, .getRecord, .deleteRecord, .uploadContainer, .downloadContainer, .runScript, .oauth:
            false
        }
    }
}
