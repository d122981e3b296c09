import NIOCore

/// The sessions of one database under one identity, as a pure state machine.
///
/// Events come in (a wish for a session, a login that ended, the alarm), orders come out. It knows neither tokens nor
/// subscribers nor errors: its shell, ``SessionPool``, keeps those in tables under the names used here. Time and chance
/// come from outside, so a test is a list of events and the orders they must give.
///
/// A session's life:
///
///     opening (ask the store, log in) → idle ⇄ leased → logging out → gone
///            ↘ gone (login failed)                ↘ gone (refused)
///
/// The parts: `+Leasing` (who gets which session), `+Opening` (stores and logins), `+Trouble` (logins that fail, a full
/// host, tokens that are refused), `+Visiting` (sessions that come from outside), `+Ending` (logging out, shutting down),
/// `+Alarm` (what time does).
struct SessionPoolStateMachine {
    var settings: Settings

    /// Sorted by id: new ones are appended.
    var sessions: [Session] = []
    /// Sorted by last use: the most recently used one is offered first, so that the others can be trimmed.
    var idle: [SessionID] = []
    var queue = LeaseQueue()
    var endings: [Ending] = []

    /// How many sessions may be open at this moment: `settings.maximumSessions`, or fewer after the host was full.
    var limit: Int
    var backOff: BackOff
    /// No login before this instant.
    var opensNotBefore: NIODeadline?
    /// How many logins have failed in a row for a reason that passes, while nobody was served.
    var failuresInARow = 0
    /// How many tokens in a row the server has refused that had never worked, each given after the one before was refused.
    var refusalsInARow = 0
    /// When that was last so.
    var lastRefusal = TokenEpoch(tick: 0)
    var refusalBackOff: BackOff
    /// Whether a login has succeeded since the credentials were set. Until then one at a time is tried, so that wrong
    /// ones are not sent again and again.
    var credentialsAreProven = false
    /// Whether the last login found the host full.
    var hostIsFull = false
    /// How long the last login took: what one more session costs.
    var loginTime = TimeAmount.zero
    /// For how long somebody has waited whom one more session would have served.
    var pressure = WaitingPressure()
    /// The token of the session that requests are confined to; see ``keeper``.
    var kept: TokenEpoch?
    /// The token that the owner was told of last.
    var shown: TokenEpoch?
    /// When the server drops the sessions by itself that it may still have though they are not here any more: it could not be
    /// told of their ends, or nobody knows them.
    var leftUntil: [NIODeadline] = []
    var isShutDown = false
    var alarm: NIODeadline?

    private(set) var epoch = TokenEpoch(tick: 0)
    private var lastLease = 0
    private var lastSession = 0
    private var lastEnding = 0

    var totals = DataAPI.SessionStatus()

    init(settings: Settings) {
        self.settings = settings
        limit = settings.maximumSessions
        backOff = BackOff(minimum: settings.minimumBackOff, maximum: settings.maximumBackOff)
        refusalBackOff = backOff
    }

    mutating func nextLease() -> LeaseID {
        lastLease += 1
        return LeaseID(number: lastLease)
    }

    mutating func nextSession() -> SessionID {
        lastSession += 1
        return SessionID(number: lastSession)
    }

    mutating func nextEnding() -> EndingID {
        lastEnding += 1
        return EndingID(number: lastEnding)
    }

    mutating func tick() -> TokenEpoch {
        epoch.tick += 1
        return epoch
    }

    /// The newest wish so far: what came after it is younger.
    var newestLease: LeaseID { LeaseID(number: lastLease) }
    var newestSession: SessionID { SessionID(number: lastSession) }

    /// Where in `sessions` this one is; `nil` when it is gone.
    func index(of id: SessionID) -> Int? {
        var low = 0
        var high = sessions.count
        while low < high {
            let middle = (low + high) / 2
            if sessions[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < sessions.count && sessions[low].id == id ? low : nil
    }

    /// When the last of the open sessions ends if none of them is used any more; `nil` when none is open.
    var expiry: NIODeadline? {
        sessions.lazy.filter(\.isOpen).map(\.lastUse).max().map { $0 + settings.lifeTime }
    }

    /// All but the expiry, which the shell says in the time of the wall clock.
    var status: DataAPI.SessionStatus {
        var status = totals
        status.limit = limit
        status.waiting = queue.count
        for session in sessions {
            switch session.phase {
            case .opening, .visiting: status.loggingIn += 1
            case .idle, .loggingOut: status.sessions += 1
            case .leased:
                status.sessions += 1
                status.leased += 1
            }
        }
        return status
    }
}

// MARK: - The words it speaks in

extension SessionPoolStateMachine {
    /// ``DataAPI/SessionConfiguration`` in the machine's own units, and checked.
    struct Settings: Equatable {
        var maximumSessions = 1
        var maximumWaiting = 10_000
        var waitingTime = TimeAmount.seconds(30)
        /// How long to wait for a full host when there is no session that serves meanwhile.
        var fullHostTime = TimeAmount.seconds(10)
        /// The longest wait that may be needed before the pool grows, however long logins take.
        var longestPatience = TimeAmount.seconds(1)
        /// How long the server keeps an idle session.
        var lifeTime = TimeAmount.seconds(15 * 60)
        /// The same, less the margin.
        var idleTime = TimeAmount.seconds(14 * 60 + 30)
        var trimTime = TimeAmount.seconds(60)
        var minimumBackOff = TimeAmount.seconds(1)
        var maximumBackOff = TimeAmount.seconds(60)
        /// How often a login is tried that fails for a reason that passes.
        var loginAttempts = 3
        var abandonedTime = TimeAmount.seconds(5)
        var shutdownTime = TimeAmount.seconds(25)
        var logOutTime = TimeAmount.seconds(10)
        /// Whether one session is kept in a store that outlives the pool.
        var hasStore = false
    }

    struct Session: Equatable {
        enum Phase: Equatable {
            /// → idle, leased or logging out (a token came), gone (it failed, or was cancelled). Nobody waits for it
            /// any more when `abandoned` says when it is to be cancelled.
            case opening(Stage, abandoned: NIODeadline?)
            /// A login by somebody who brings the session along: → gone (and then adopted, or logged out).
            case visiting(abandoned: NIODeadline?)
            /// → leased, logging out, gone (left alone, or expired).
            case idle
            /// → idle (released), logging out (released for good, or taken away by a shutdown), gone (refused).
            case leased(LeaseID, since: TokenEpoch)
            /// → gone, when the server has answered or its time is over. `again` while a failed one waits to be repeated.
            case loggingOut(until: NIODeadline, again: NIODeadline?)
        }

        /// Where there is a store it is asked first.
        enum Stage: Equatable {
            case load, logIn
        }

        enum Owner: Equatable {
            /// Opened here, logged out here.
            case pool
            /// Kept in the store: other processes may be using it, so it is left alone at the end.
            case store
            /// A token somebody else opened: used until it is refused, never logged out unasked.
            case stranger
        }

        let id: SessionID
        var owner: Owner
        var phase: Phase
        /// Ends as soon as nobody uses it.
        var isEnding = false
        /// Named by the tick at which it came; zero while there is none.
        var token = TokenEpoch(tick: 0)
        /// When the server last answered on it.
        var lastUse: NIODeadline
        /// The newest tick at which the token is known to have been good.
        var goodAsOf = TokenEpoch(tick: 0)
        var hasWorked = false
        /// Counted as such, though it is logged out in addition.
        var isRefused = false
    }

    struct EndingID: Hashable, Sendable {
        let number: Int
    }

    /// A `logOut()` or `shutdown()` that is not done yet.
    struct Ending: Equatable {
        enum Kind: Equatable {
            case logOut
            /// Leases are taken back at `forced`; at the deadline it is over.
            case shutdown(forced: NIODeadline, deadline: NIODeadline)
        }

        let id: EndingID
        let kind: Kind
        /// Wishes up to this one are served first.
        let after: LeaseID
        /// The newest session that has to go; `nil` while older wishes still wait.
        var upTo: SessionID?
        /// Sessions that the server may still have since then, as it could not be told.
        var left = 0
    }

    /// Why a wish was not granted. The shell makes an error of it.
    enum Refusal: Equatable {
        case queueIsFull
        case deadlinePassed
        /// The call's own time is over, and nothing of it was sent.
        case callDeadlinePassed
        /// As `loginFailed`, after waiting for a host that stayed full while no session served.
        case hostStayedFull
        case loginFailed
        /// The server refuses the tokens that it gives: no login for some time.
        case tokensRefused
        /// Work that needs a session of its own, where the only one is the ``SessionPoolStateMachine/keeper``.
        case onlySessionIsKept
        /// It was to be done as an account that the pool opens sessions for no more.
        case credentialsReplaced
        case isShutDown
    }

    /// A session that is given to a wish.
    struct Grant: Equatable {
        let lease: LeaseID
        let session: SessionID
        let token: TokenEpoch
        let hasWorked: Bool
    }

    /// The answer to a wish.
    enum Answer: Equatable {
        case granted(Grant)
        case waiting(LeaseID)
        case refused(Refusal)
    }

    enum LoginFailure: Equatable {
        case credentialsRefused
        case hostFull
        /// It says nothing about the next one: a connection that broke, a web server that waits for its Data API.
        case passing
        case other
    }

    enum Announcement: Equatable {
        case loggedIn(TokenEpoch)
        /// No session is left, and the credentials were refused.
        case lost
        case loggedOut
        /// The credentials are those of another account.
        case replaced
    }

    enum Action: Equatable {
        case grant(Grant)
        case refuse(LeaseID, Refusal)
        /// Ask the store for a token.
        case load(SessionID)
        case logIn(SessionID)
        /// Give up loading or logging in. A token that comes all the same is reported, and logged out.
        case cancelOpening(SessionID)
        case save(TokenEpoch)
        /// Take this token out of the store, unless a newer one is there.
        case drop(TokenEpoch)
        /// May come again for the same session.
        case logOut(SessionID, TokenEpoch)
        /// Leave the session to the store; log it out if the store has another one by now.
        case leave(SessionID, TokenEpoch)
        case cancelLogOut(SessionID)
        /// The token is of no use any more.
        case forget(TokenEpoch)
        case announce(Announcement)
        /// With the number of sessions that the server may still have.
        case finish(EndingID, left: Int)
        /// Ring at this instant instead of any earlier order.
        case setAlarm(NIODeadline)
        case cancelAlarm
    }
}
