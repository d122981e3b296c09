extension DataAPI.Database {
    /// How many calls an operation of many calls makes at a time. Each call holds a session, and other callers need
    /// sessions, too.
    var concurrentCalls: Int { concurrentCalls(nil) }

    /// - Parameter wanted: how many the caller wants; `nil` for 4. Never more than ``maximumConcurrentCalls``.
    func concurrentCalls(_ wanted: Int?) -> Int { max(1, min(wanted ?? 4, maximumConcurrentCalls)) }

    /// How many calls can be under way at once: one in each session, with a key one on each connection.
    var maximumConcurrentCalls: Int {
        switch sessions {
        case .pool: tenure.key == nil ? server.config.sessions.maximumSessions : server.config.maximumConnections
        // One session answers one request after the other.
        case .pinned: 1
        }
    }
}

extension DataAPI.Server {
    /// Calls back after the work that is due at this moment.
    func yield(to taker: any Yielding) {
        _ = time.schedule(time.now()) { [weak taker] in taker?.turnPassed() }
    }
}
