extension DataAPI {
    /// How many sessions a database may hold on its server, and how long things may take.
    ///
    ///     var sessions = DataAPI.SessionConfiguration()
    ///     sessions.maximumSessions = 4
    ///     sessions.tokenStore = .file(at: "/var/lib/invoices/session")
    ///
    /// A FileMaker session answers one request after the other, so `maximumSessions` is the number of requests that
    /// run at the same time. Sessions are opened when they are needed and closed when they are not; see
    /// ``SessionStatus`` for what is open at this moment.
    ///
    /// **Growing.** One session is enough for a program that asks one thing after the other, and it opens no more. The
    /// first login proves the credentials, alone. After that one more session is opened when requests have been waiting for
    /// as long as the last login took (a second at most), since the last session came, whether it was one request or one
    /// after the other; and at most as many at once as there are, so that 1, 2, 4 and 8 follow each other while the demand
    /// lasts. A time in which nothing waits takes a quarter of itself off what has added up, so that a burst now and then,
    /// over sooner than a login, opens none. Those beyond the first are logged out when nobody has needed them for
    /// ``idleTrim``.
    ///
    /// **A full host** (812, 956, 1638) has the last word: the pool makes do with the sessions that it has, whose number
    /// ``SessionStatus/limit`` then shows, no request is lost, and one more is tried after a pause that doubles
    /// (``minimumBackOff``). Only when the host grants not even one session do requests fail, after
    /// ``fullHostDeadline``.
    ///
    /// Source: Claris Data API guide, "Connect to or disconnect from a database" (a token ends 15 minutes after the last
    /// call).
    public struct SessionConfiguration: Sendable {
        /// The largest number of sessions that are open at once. The default is 8; less than 1 counts as 1.
        ///
        /// Each one is a client in the eyes of the server: it takes one of the sessions that the host allows (a few
        /// hundred as a rule, fewer by licence or setting) and shows in the Admin Console, until it is logged out. Many
        /// programs on one host share that number, so a program that is started many times, or a small licence, wants
        /// fewer. With 1 all requests run one after the other in one session.
        ///
        /// Why 8: more than most programs ask at once, and a fiftieth of what a host usually allows. Nothing is opened
        /// for it in advance.
        public var maximumSessions = 8

        /// How many requests may wait for a session; one more fails at once with code `timeout`. The default is 10,000.
        public var maximumWaiting = 10_000

        /// How long a request waits for a session, a login included, before it fails with code `timeout`. The default is
        /// 30 seconds. A call that may take less as a whole (`timeouts.total`) waits no longer than that.
        public var waitingDeadline = Duration.seconds(30)

        /// How long a request waits for a full host when no session of this database is open, before it fails with
        /// FileMaker's own code (812, 956, 1638) and an advice. The default is 10 seconds, in which about four logins are
        /// tried; ``waitingDeadline`` counts if it is shorter.
        public var fullHostDeadline = Duration.seconds(10)

        /// How long the server keeps a session that is not used. The default is FileMaker's 15 minutes.
        public var idleExpiry = Duration.seconds(15 * 60)

        /// How long before ``idleExpiry`` an idle session counts as gone: it is logged out then, and not offered any
        /// more. The default is 30 seconds, which leaves room for a slow network and a clock that drifts.
        public var idleMargin = Duration.seconds(30)

        /// How long a session beyond the first may lie idle before it is logged out. The default is 60 seconds.
        public var idleTrim = Duration.seconds(60)

        /// The pause before the next login after the server said that it is full (812, 956, 1638), or after a login
        /// failed while other sessions serve. It doubles with each refusal, is drawn at random from its upper half, and
        /// never exceeds ``maximumBackOff``. The default is 1 second.
        public var minimumBackOff = Duration.seconds(1)

        /// The longest pause between two logins at a full server. The default is 60 seconds.
        public var maximumBackOff = Duration.seconds(60)

        /// How often a login is tried whose failure is a passing one: the connection broke, or the web server waits for its
        /// Data API (502, 503, 504). Those who wait for it go on waiting, within their own limits; between two attempts
        /// there is a pause as for a full server. The default is 3; 1 tells the first failure at once. What another attempt
        /// would not change is told at once in any case: refused credentials, a refused connection, TLS.
        public var loginAttempts = 3

        /// How long a login may go on when nobody waits for it any more, so that its session can be logged out instead
        /// of being left behind on the server. A new request takes it over. The default is 5 seconds; with `.zero` it
        /// is cancelled at once.
        public var abandonedLogin = Duration.seconds(5)

        /// How long `shutdown()` may take in all. Requests that are under way have that time less ``logOutDeadline``, half
        /// of it at least; then their sessions are taken back. The default is 25 seconds: Kubernetes kills a program 30
        /// seconds after it has asked it to end.
        public var shutdownDeadline = Duration.seconds(25)

        /// How long a logout may take before it counts as failed. One that met a passing failure is repeated within this
        /// time; when the database shuts down, within ``shutdownDeadline``. The default is 10 seconds.
        public var logOutDeadline = Duration.seconds(10)

        /// How long credentials that the server locked out (214) are left alone. The default is 5 minutes.
        ///
        /// Credentials that were refused for another reason are not tried again until they are replaced.
        public var lockOutCoolDown = Duration.seconds(5 * 60)

        /// Where tokens are kept between two runs. The default is ``TokenStore/memory``: nowhere, so a session ends
        /// with its database.
        public var tokenStore = TokenStore.memory

        /// Up to eight sessions, FileMaker's 15 minutes, nothing stored.
        public init() {}
    }
}
