extension DataAPI {
    /// The number of sessions that a database may hold on its server, and the time limits of sessions.
    ///
    ///     var sessions = DataAPI.SessionConfiguration()
    ///     sessions.maximumSessions = 4
    ///     sessions.tokenStore = .file(at: "/var/lib/invoices/session")
    ///
    /// A FileMaker session answers one request after the other, so `maximumSessions` is the number of requests that run
    /// at the same time. Sessions are opened when they are needed and closed when they are not; see ``SessionStatus``
    /// for what is open at the moment.
    ///
    /// **Growing.** A program that makes one request after the other needs one session, and no more are opened. The
    /// first login runs alone, since it proves the credentials. After that, one more session is opened when requests
    /// have been waiting for as long as the last login took (one second at most). This time is counted from the arrival
    /// of the last session, and it adds up over all requests, whether one waits that long or several wait in turn. At
    /// most as many sessions are opened at once as are open already, so that 1, 2, 4 and 8 follow each other while the
    /// demand lasts. Time in which no request waits takes a quarter of its length off the sum, so occasional bursts
    /// that end sooner than a login takes open no session. Sessions beyond the first are logged out when they have not
    /// been used for 60 seconds.
    ///
    /// **A full host** (812, 956, 1638) limits the pool: it uses the sessions that it has, whose number
    /// ``SessionStatus/limit`` then shows, no request is lost, and one more login is tried after a pause that doubles
    /// each time, from one second to a minute. Only when the host grants not even one session do requests fail, after
    /// ``fullHostDeadline``.
    ///
    /// Source: Claris Data API guide, "Connect to or disconnect from a database" (a token ends 15 minutes after the
    /// last call).
    public struct SessionConfiguration: Sendable {
        /// The largest number of sessions that are open at once. The default is 8; less than 1 counts as 1.
        ///
        /// The server counts each session as a client: it takes one of the sessions that the host allows (usually a few
        /// hundred, fewer depending on licence or settings) and is listed in the Admin Console until it is logged out.
        /// All programs on a host share that number, so choose fewer for a program that runs in many instances or for a
        /// small licence. With 1, all requests run one after the other in one session.
        ///
        /// Why 8: it is more than most programs need at once, and a fiftieth of what a host usually allows. No session
        /// is opened in advance.
        public var maximumSessions = 8

        /// The number of requests that may wait for a session; one more fails at once with code `timeout`. The default
        /// is 10,000.
        public var maximumWaiting = 10_000

        /// How long a request waits for a session, a login included, before it fails with code `timeout`. The default
        /// is 30 seconds. A call with a shorter total time limit (`timeouts.total`) waits no longer than that limit.
        public var waitingDeadline = Duration.seconds(30)

        /// How long a request waits for a full host when no session of this database is open, before it fails with
        /// FileMaker's own code (812, 956, 1638) and a hint. The default is 10 seconds, in which about four logins are
        /// tried. ``waitingDeadline`` applies if it is shorter.
        public var fullHostDeadline = Duration.seconds(10)

        /// How long the server keeps a session that is not used. The default is FileMaker's 15 minutes.
        package var idleExpiry = Duration.seconds(15 * 60)

        /// How long before ``idleExpiry`` an idle session is logged out and no longer used. The default is 30 seconds,
        /// which allows for a slow network and clock drift.
        package var idleMargin = Duration.seconds(30)

        /// How long a session beyond the first may lie idle before it is logged out. The default is 60 seconds.
        package var idleTrim = Duration.seconds(60)

        /// The pause before the next login after the host reported that it is full (812, 956, 1638), or after a login
        /// failed while other sessions serve. It doubles with each refusal, is drawn at random from its upper half, and
        /// never exceeds ``maximumBackOff``. The default is 1 second.
        package var minimumBackOff = Duration.seconds(1)

        /// The longest pause between two logins to a full host. The default is 60 seconds.
        package var maximumBackOff = Duration.seconds(60)

        /// The number of attempts at a login whose failure is temporary: the connection broke, or the web server waits
        /// for its Data API (502, 503, 504). Requests keep waiting meanwhile, within their own limits; the pause
        /// between two attempts is that for a full host. The default is 3; with 1 the first failure is reported at
        /// once. Failures that another attempt would not change are always reported at once: refused credentials, a
        /// refused connection, TLS errors.
        public var loginAttempts = 3

        /// How long a login may continue when no request waits for it any more, so that its session can be logged out
        /// instead of being left on the server. A new request takes the login over. The default is 5 seconds; with
        /// `.zero` the login is cancelled at once.
        package var abandonedLogin = Duration.seconds(5)

        /// How long `shutdown()` may take in total. Requests under way have that time minus ``logOutDeadline``, but at
        /// least half of it; then their sessions are logged out. The default is 25 seconds, since Kubernetes kills a
        /// program 30 seconds after it has asked the program to end.
        public var shutdownDeadline = Duration.seconds(25)

        /// How long a logout may take before it counts as failed. A logout that met a temporary failure is repeated
        /// within this time or, during a shutdown, within ``shutdownDeadline``. The default is 10 seconds.
        public var logOutDeadline = Duration.seconds(10)

        /// How long credentials are not sent after the server locked them out (214). The default is 5 minutes.
        ///
        /// Credentials that were refused for another reason are not sent again until they are replaced.
        public var lockOutCoolDown = Duration.seconds(5 * 60)

        /// Where tokens are kept between two runs. The default is ``TokenStore/memory``: they are not stored, so a
        /// session ends with its database object.
        public var tokenStore = TokenStore.memory

        /// The number of sessions that this database shares with others, in this process or in others. The default is
        /// `nil`: its sessions are its own. With a budget, ``maximumSessions`` remains the most that this database
        /// opens, and ``tokenStore`` is not used, since tokens are kept with the slots.
        public var budget: SessionBudget?

        /// The defaults: up to eight sessions, FileMaker's 15 minutes, no token store, no budget.
        public init() {}
    }
}
