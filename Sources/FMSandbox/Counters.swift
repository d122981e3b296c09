extension Sandbox {
    /// What a request asks for, one for each call of the Data API.
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
        /// `GET layouts/{layout}/metadata`, the form of FileMaker Server 17
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
        /// The two requests that precede an OAuth login, and those of the sign-in page.
        case oauth
    }

    /// What has happened since the start or the last ``Sandbox/reset()``.
    public struct Counters: Sendable, Equatable {
        /// Requests that reached an endpoint, refused ones included.
        public var requests: [Endpoint: Int] = [:]
        /// Requests that fitted no endpoint (HTTP status 404 or 405).
        public var strayRequests = 0
        /// Sessions opened.
        public var logins = 0
        /// Logins refused.
        public var failedLogins = 0
        /// Sessions closed by their clients.
        public var logouts = 0
        /// Sessions that ended for want of requests.
        public var expiredSessions = 0
        /// Sessions open now.
        public var openSessions = 0
        /// The most requests that ran at the same moment.
        public var mostConcurrentRequests = 0
        /// Requests that changed records: create, edit, duplicate, delete and upload, refused ones not included.
        public var executedWrites = 0
        /// Scripts run.
        public var scriptRuns = 0
        /// Connections accepted.
        public var connections = 0

        /// All requests that reached an endpoint.
        public var totalRequests: Int { requests.values.reduce(0, +) }
    }
}
