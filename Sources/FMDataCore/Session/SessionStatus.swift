public import Foundation

extension DataAPI {
    /// The state of a database's sessions: a snapshot.
    public struct SessionStatus: Hashable, Sendable {
        /// Sessions that are open on the server as far as is known: idle, leased, or being logged out.
        public var sessions = 0
        /// Sessions that a request or pinned work is using.
        public var leased = 0
        /// Logins under way, and slots of a budget that are being taken.
        public var loggingIn = 0
        /// Requests that wait for a session.
        public var waiting = 0
        /// The largest number of sessions at the moment: the configured one, or fewer while the host is full.
        public var limit = 0
        /// The total of logins that succeeded.
        public var logins = 0
        /// The total of logins that failed.
        public var failedLogins = 0
        /// The total of tokens that the server refused.
        public var refusals = 0
        /// The total of sessions that were logged out or left to a token store.
        public var logouts = 0
        /// The total of sessions that the server may still have because they could not be logged out. The server drops
        /// each of them after 15 minutes.
        public var sessionsLeft = 0
        /// The total of failures of the token store or the budget.
        public var storeFailures = 0
        /// When the server drops the last of the open sessions if none of them is used before: its last use plus
        /// FileMaker's 15 minutes. `nil` when none is open.
        ///
        /// Each answer postpones it. The pool itself logs an idle session out half a minute earlier, and the server may
        /// end a session at any time; then the next request logs in automatically.
        public var expires: Date?

        /// The status of a database without sessions.
        public init() {}

        /// Whether a session is open that the server should still know at the given time: one that is in use, or one
        /// that has not expired by then.
        ///
        ///     if database.sessionStatus.isActive() { … }
        ///
        /// This sends no request. ``Database/validateSession(isolation:)`` asks the server. No call needs either: a
        /// call that finds its session ended renews it.
        ///
        /// - Parameter date: the time to check. The default is now.
        public func isActive(at date: Date = Date()) -> Bool {
            leased > 0 || expires.map { date < $0 } ?? false
        }
    }
}

extension DataAPI.SessionStatus: CustomStringConvertible {
    /// The counts in a few words, without secrets or field values.
    public var description: String {
        var text = """
            \(sessions) of \(limit) sessions, \(leased) leased, \(loggingIn) logging in, \(waiting) waiting; \
            \(logins) logins, \(failedLogins) failed, \(refusals) refusals, \(logouts) logouts
            """
        if sessionsLeft > 0 { text += ", \(sessionsLeft) left on the server" }
        if storeFailures > 0 { text += ", \(storeFailures) failures of the token store or the budget" }
        return text
    }
}
