extension DataAPI.Database {
    /// How many calls the many that are one to their caller make at a time: each holds a session, and others want one too.
    var concurrentCalls: Int { concurrentCalls(nil) }

    /// - Parameter wanted: how many the caller wants; `nil` for 4.
    func concurrentCalls(_ wanted: Int?) -> Int {
        switch sessions {
        case .pool: max(1, min(wanted ?? 4, server.config.sessions.maximumSessions))
        // One session answers one request after the other.
        case .pinned: 1
        }
    }
}

extension DataAPI.Server {
    /// Calls back when those who have something to do at this moment have had a turn.
    func giveTurn(to taker: any TurnTaker) {
        _ = time.schedule(time.now()) { [weak taker] in taker?.turnPassed() }
    }
}
