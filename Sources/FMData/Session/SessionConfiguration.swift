extension DataAPI {
    /// How many sessions a database may hold on its server, and how long things may take.
    ///
    ///     var sessions = DataAPI.SessionConfiguration()
    ///     sessions.maximumSessions = 8
    ///     sessions.tokenStore = .file(at: "/var/lib/invoices/session")
    ///
    /// A FileMaker session answers one request after the other, so `maximumSessions` is the number of requests that
    /// run at the same time. Sessions are opened when they are needed and closed when they are not; see
    /// ``SessionStatus`` for what is open at this moment.
    ///
    /// Source: Claris Data API guide, "Connect to or disconnect from a database" (a token ends 15 minutes after the last
    /// call).
    public struct SessionConfiguration: Sendable {
        /// The largest number of sessions that are open at once. The default is 1; less than 1 counts as 1.
        ///
        /// Each one is a client in the eyes of the server, which limits their number.
        public var maximumSessions = 1

        /// How many requests may wait for a session; one more fails at once with code `timeout`. The default is 10,000.
        public var maximumWaiting = 10_000

        /// How long a request waits for a session, a login included, before it fails with code `timeout`, or with
        /// FileMaker's own code when the host is full. The default is 30 seconds.
        public var waitingDeadline = Duration.seconds(30)

        /// How long the server keeps a session that is not used. The default is FileMaker's 15 minutes.
        public var idleExpiry = Duration.seconds(15 * 60)

        /// How long before ``idleExpiry`` an idle session counts as gone: it is logged out then, and not offered any
        /// more. The default is 30 seconds, which leaves room for a slow network and a clock that drifts.
        public var idleMargin = Duration.seconds(30)

        /// How long a session beyond the first may lie idle before it is logged out. The default is 60 seconds.
        public var idleTrim = Duration.seconds(60)

        /// The pause before the next login after the server said that it is full (812, 953, 956). It doubles with each
        /// refusal, is drawn at random from its upper half, and never exceeds ``maximumBackOff``. The default is
        /// 1 second.
        public var minimumBackOff = Duration.seconds(1)

        /// The longest pause between two logins at a full server. The default is 60 seconds.
        public var maximumBackOff = Duration.seconds(60)

        /// How long a login may go on when nobody waits for it any more, so that its session can be logged out instead
        /// of being left behind on the server. A new request takes it over. The default is 5 seconds; with `.zero` it
        /// is cancelled at once.
        public var abandonedLogin = Duration.seconds(5)

        /// How long `shutdown()` waits for the requests that are under way. Their sessions are logged out after that.
        /// The default is 30 seconds.
        public var shutdownDeadline = Duration.seconds(30)

        /// How long a logout may take before it counts as failed. The default is 10 seconds.
        public var logOutDeadline = Duration.seconds(10)

        /// How long credentials that the server locked out (214) are left alone. The default is 5 minutes.
        ///
        /// Credentials that were refused for another reason are not tried again until they are replaced.
        public var lockOutCoolDown = Duration.seconds(5 * 60)

        /// Where tokens are kept between two runs. The default is ``TokenStore/memory``: nowhere, so a session ends
        /// with its database.
        public var tokenStore = TokenStore.memory

        /// One session, FileMaker's 15 minutes, nothing stored.
        public init() {}
    }
}
