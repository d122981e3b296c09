public import Foundation

extension DataAPI {
    /// What a database's sessions are doing: a snapshot.
    public struct SessionStatus: Hashable, Sendable {
        /// Sessions that are open on the server as far as is known: idle, leased, or being logged out.
        public var sessions = 0
        /// Sessions that a request or pinned work is using.
        public var leased = 0
        /// Logins under way.
        public var loggingIn = 0
        /// Requests that wait for a session.
        public var waiting = 0
        /// The largest number of sessions at this moment: the configured one, or fewer while the host is full.
        public var limit = 0
        /// Logins that succeeded, since the beginning.
        public var logins = 0
        /// Logins that failed, since the beginning.
        public var failedLogins = 0
        /// Tokens that the server refused, since the beginning.
        public var refusals = 0
        /// Sessions that were logged out or left to a token store, since the beginning.
        public var logouts = 0
        /// Sessions that the server may still have, since it could not be told to end them, since the beginning. It drops
        /// them by itself after 15 minutes.
        public var sessionsLeft = 0
        /// How often the token store failed, since the beginning.
        public var storeFailures = 0
        /// When the server drops the last of the open sessions if none of them is used before: its last use and
        /// ``SessionConfiguration/idleExpiry``. `nil` when none is open.
        ///
        /// Each answer puts it off. The pool itself lets go of an idle session a little earlier
        /// (``SessionConfiguration/idleMargin``), and the server may end one at any time: then the next request logs in
        /// by itself.
        public var expires: Date?

        /// A database without sessions.
        public init() {}

        /// Whether a session is open that the server should still know at that time: one that is in use, or one that
        /// has not expired by then.
        ///
        ///     if database.sessionStatus.isActive() { … }
        ///
        /// It asks nobody. ``Database/validateSession(isolation:)`` asks the server, and no call needs either: a session
        /// that has ended is renewed by the call that notices.
        ///
        /// - Parameter date: the default is now.
        public func isActive(at date: Date = Date()) -> Bool {
            leased > 0 || expires.map { date < $0 } ?? false
        }
    }
}

extension DataAPI.SessionStatus: CustomStringConvertible {
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String {
        var text = """
            \(sessions) of \(limit) sessions, \(leased) leased, \(loggingIn) logging in, \(waiting) waiting; \
            \(logins) logins, \(failedLogins) failed, \(refusals) refusals, \(logouts) logouts
            """
        if sessionsLeft > 0 { text += ", \(sessionsLeft) left on the server" }
        if storeFailures > 0 { text += ", \(storeFailures) failures of the token store" }
        return text
    }
}
