extension Sandbox {
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
