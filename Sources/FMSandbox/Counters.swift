extension Sandbox {
    /// Counts of events since the start or the last ``Sandbox/reset()``.
    public struct Counters: Sendable, Equatable {
        /// Requests per endpoint, refused ones included.
        public var requests: [Endpoint: Int] = [:]
        /// Requests that matched no endpoint (HTTP status 404 or 405).
        public var strayRequests = 0
        /// Sessions opened.
        public var logins = 0
        /// Logins refused.
        public var failedLogins = 0
        /// Sessions closed by their clients.
        public var logouts = 0
        /// Sessions that expired because no request came.
        public var expiredSessions = 0
        /// Sessions that are open now.
        public var openSessions = 0
        /// The highest number of sessions that were open at the same time.
        public var mostOpenSessions = 0
        /// The highest number of requests that ran at the same time.
        public var mostConcurrentRequests = 0
        /// Requests that changed records (create, edit, duplicate, delete, upload), without refused ones.
        public var executedWrites = 0
        /// Scripts run.
        public var scriptRuns = 0
        /// Connections accepted.
        public var connections = 0

        /// The number of all requests that reached an endpoint.
        public var totalRequests: Int { requests.values.reduce(0, +) }
    }
}
