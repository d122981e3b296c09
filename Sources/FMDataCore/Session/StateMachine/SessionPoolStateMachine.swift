import NIOCore

/// The sessions of one database under one identity, as a pure state machine.
///
/// Events come in (a lease request, the end of a login, the alarm), actions come out. The machine knows neither tokens
/// nor subscribers nor errors: its shell, ``SessionPool``, keeps those in tables under the names used here. Time and
/// random numbers come from outside, so a test is a list of events and the actions that must follow.
///
/// The phases of a session:
///
///     opening (ask the store, log in) → idle ⇄ leased → logging out → removed
///            ↘ removed (login failed)             ↘ removed (refused)
///
/// With a budget a session is opened in a slot, and ends by giving the slot back; see `+Slots`.
///
/// The parts: `+Leasing` (which request gets which session), `+Opening` (stores and logins), `+Trouble` (failed logins,
/// a full host, refused tokens), `+Slots` (slots of a budget), `+Visiting` (sessions that come from outside), `+Ending`
/// (logging out, shutting down), `+Alarm` (what is due at which time).
struct SessionPoolStateMachine {
    var settings: Settings

    /// Sorted by id, since new sessions are appended.
    var sessions: [Session] = []
    /// Sorted by last use. The most recently used session is leased first, so that the others can be trimmed.
    var idle: [SessionID] = []
    var queue = LeaseQueue()
    var endings: [SessionEnding] = []

    /// How many sessions may be open at the moment: `settings.maximumSessions`, or fewer after the host was full.
    var limit: Int
    var backOff: BackOff
    /// No login starts before this instant.
    var opensNotBefore: NIODeadline?
    /// How many logins have failed in a row for a temporary reason while no other session could serve.
    var failuresInARow = 0
    /// How many refusals in a row concerned a token that had never worked and was opened after the refusal before.
    var refusalsInARow = 0
    /// The tick of the last refusal counted in `refusalsInARow`.
    var lastRefusal = TokenEpoch(tick: 0)
    var refusalBackOff: BackOff
    /// Whether a login has succeeded since the credentials were set. Until then only one login runs at a time, so that
    /// wrong credentials are not sent again and again.
    var credentialsAreProven = false
    /// Whether the last login found the host full.
    var hostIsFull = false
    /// How long the last login took: the cost of one more session.
    var loginTime = TimeAmount.zero
    /// How long requests have waited that one more session would have served.
    var pressure = WaitingPressure()
    /// The token of the reserved session, to which requests are confined; see ``reservedSession``.
    var kept: TokenEpoch?
    /// The token that the owner was told last.
    var shown: TokenEpoch?
    /// For each session that the server may still have although it is not in `sessions` any more: when the server drops
    /// it. Such a session could not be logged out, or its token never arrived.
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

    /// The name of the newest request so far; later requests have greater names.
    var newestLease: LeaseID { LeaseID(number: lastLease) }
    var newestSession: SessionID { SessionID(number: lastSession) }

    /// The position in `sessions`, found by binary search; `nil` if the session is not there any more.
    func index(of id: SessionID) -> Int? {
        var low = 0
        var high = sessions.count
        while low < high {
            let middle = (low + high) / 2
            if sessions[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < sessions.count && sessions[low].id == id ? low : nil
    }

    /// When the last of the open sessions ends if none of them is used again; `nil` when none is open.
    var expiry: NIODeadline? {
        sessions.lazy.filter(\.isOpen).map(\.lastUse).max().map { $0 + settings.lifeTime }
    }

    /// The status without the expiry, which the shell converts to a date.
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

// MARK: - Types of events and actions

extension SessionPoolStateMachine {
    /// ``DataAPI/SessionConfiguration`` in the machine's own units, with invalid values corrected.
    struct Settings: Equatable {
        var maximumSessions = 1
        var maximumWaiting = 10_000
        var waitingTime = TimeAmount.seconds(30)
        /// How long to wait for a full host when no session of the pool can serve meanwhile.
        var fullHostTime = TimeAmount.seconds(10)
        /// The upper limit of the time that requests must have waited before the pool grows, however long logins take.
        var longestPatience = TimeAmount.seconds(1)
        /// How long the server keeps an idle session.
        var lifeTime = TimeAmount.seconds(15 * 60)
        /// `lifeTime` minus the margin.
        var idleTime = TimeAmount.seconds(14 * 60 + 30)
        var trimTime = TimeAmount.seconds(60)
        var minimumBackOff = TimeAmount.seconds(1)
        var maximumBackOff = TimeAmount.seconds(60)
        /// The number of attempts at a login that fails for a temporary reason.
        var loginAttempts = 3
        var abandonedTime = TimeAmount.seconds(5)
        var shutdownTime = TimeAmount.seconds(25)
        var logOutTime = TimeAmount.seconds(10)
        /// Whether one session is kept in a store that outlives the pool.
        var hasStore = false
        /// Whether sessions are opened in slots of a budget.
        var hasBudget = false
        /// How long a slot is used, at least, before it is given to somebody who waits for it.
        var quantum = TimeAmount.milliseconds(250)
    }

    struct Session: Equatable {
        enum Phase: Equatable {
            /// → idle, leased or logging out (a token came), removed (it failed, or was cancelled). No request waits
            /// for it if `abandoned` is set: the instant at which it is cancelled.
            case opening(Stage, abandoned: NIODeadline?)
            /// An external login, which will bring its session: → removed (its session is then adopted, or logged out).
            case visiting(abandoned: NIODeadline?)
            /// → leased, logging out, removed (a session that was opened elsewhere, when it ends).
            case idle
            /// → idle (released), logging out (released for good, or taken back by a shutdown), removed (refused).
            case leased(LeaseID, since: TokenEpoch)
            /// → removed, when the server has answered or `until` has passed. `again`: when a failed logout is
            /// repeated.
            case loggingOut(until: NIODeadline, again: NIODeadline?)
        }

        /// The stage of opening. A store, if there is one, is asked first, and a budget for a slot.
        enum Stage: Equatable {
            case load, logIn
            /// The slot is being taken.
            case slot
            /// The slot came with a session, which is logged out, since the work needs one of its own.
            case clear
            /// The slot's token was refused, and is taken out of the slot.
            case drop
            /// The slot is held and has no token; the login begins when somebody waits for it.
            case empty
        }

        enum Owner: Equatable {
            /// Opened by the pool, which logs it out.
            case pool
            /// Kept in the store: other processes may be using it, so it is left open at the end.
            case store
            /// Its token belongs to its slot: it is left open when the slot is given back.
            case slot
            /// Its slot was lost, so it belongs to somebody else by now, and is let go silently.
            case nobody
            /// Opened elsewhere: used until it is refused, and logged out only by an explicit `logOut()`.
            case stranger
        }

        /// A slot that is held.
        struct Slot: Equatable {
            /// It is not given to others before this instant.
            var givesNotBefore: NIODeadline
            /// Whether a request has been served in it.
            var hasServed = false
            /// Whether its token is on the way into it. Until it is there, nobody else can use the session.
            var isPutting = false
        }

        let id: SessionID
        var owner: Owner
        var phase: Phase
        /// Ends as soon as it is not leased any more.
        var isEnding = false
        /// The token's name: the tick at which it came; zero while there is none.
        var token = TokenEpoch(tick: 0)
        /// When the server last answered in this session.
        var lastUse: NIODeadline
        /// The newest tick at which the token is known to have been good.
        var goodAsOf = TokenEpoch(tick: 0)
        var hasWorked = false
        /// Already counted as refused; the logout that follows is not counted.
        var isRefused = false
        /// The slot in which the session is, or is opened. A session in a slot that is owned by the pool is private: it
        /// is logged out before the slot is given back.
        var slot: Slot?
        /// Whether somebody waits for the slot.
        var isRecalled = false
    }

    struct EndingID: Hashable, Sendable {
        let number: Int
    }

    /// A `logOut()` or `shutdown()` that is not complete yet.
    struct SessionEnding: Equatable {
        enum Kind: Equatable {
            case logOut
            /// Leases are taken back at `forced`; the shutdown is over at `deadline`.
            case shutdown(forced: NIODeadline, deadline: NIODeadline)
        }

        let id: EndingID
        let kind: Kind
        /// Requests up to this one are served first.
        let after: LeaseID
        /// The newest session that has to end; `nil` while older requests still wait.
        var upTo: SessionID?
        /// How many sessions could not be logged out since this began, so that the server may still have them.
        var left = 0
    }

    /// Why a request was not granted. The shell turns it into an error.
    enum LeaseRefusal: Equatable {
        case queueIsFull
        case deadlinePassed
        /// The call's own time is over, and nothing of the call was sent.
        case callDeadlinePassed
        /// Like `loginFailed`, after waiting for a host that stayed full while no session could serve.
        case hostStayedFull
        case loginFailed
        /// The server refuses the tokens that it gives, so there is no login for some time.
        case tokensRefused
        /// The request needs a session of its own, and the only one is the ``SessionPoolStateMachine/reservedSession``.
        case onlySessionIsKept
        /// The request was made as an account that has been replaced.
        case credentialsReplaced
        case isShutDown
    }

    /// A session leased to a request.
    struct Grant: Equatable {
        let lease: LeaseID
        let session: SessionID
        let token: TokenEpoch
        let hasWorked: Bool
    }

    /// The answer to a request.
    enum LeaseAnswer: Equatable {
        case granted(Grant)
        case waiting(LeaseID)
        case refused(LeaseRefusal)
    }

    enum LoginFailure: Equatable {
        case credentialsRefused
        case hostFull
        /// It says nothing about the next attempt: the connection broke, or the web server waits for its Data API.
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
        case refuse(LeaseID, LeaseRefusal)
        /// Ask the store for a token.
        case load(SessionID)
        case logIn(SessionID)
        /// Give up loading or logging in. A token that still comes is reported, and logged out.
        case cancelOpening(SessionID)
        case save(TokenEpoch)
        /// Take this token out of the store, unless a newer one is there.
        case drop(TokenEpoch)
        /// May be repeated for the same session.
        case logOut(SessionID, TokenEpoch)
        /// Leave the session to the store; log it out if the store holds another token by now.
        case leave(SessionID, TokenEpoch)
        case cancelLogOut(SessionID)
        /// The token is not needed any more.
        case forget(TokenEpoch)
        /// Take a slot. Its token, if it has one, is reported with it.
        case take(SessionID)
        /// Put this token into the session's slot.
        case put(SessionID, TokenEpoch, life: TimeAmount)
        /// Take this token out of the session's slot.
        case empty(SessionID, TokenEpoch)
        /// Give the session's slot back, `without` the token of a session that has ended. The token in it lives for so
        /// long; `nil` if it was not used.
        case give(SessionID, without: TokenEpoch?, life: TimeAmount?)
        /// Give the session's slot back, since the host is full.
        case giveToFullHost(SessionID)
        /// Give the session's slot back, since the host refused the credentials.
        case giveAfterRefusal(SessionID)
        /// Give the session's slot back. The login was sent, so the host may have a session in it that nobody knows.
        case giveAfterLostLogin(SessionID)
        case announce(Announcement)
        /// `left`: the number of sessions that the server may still have.
        case finish(EndingID, left: Int)
        /// Set the alarm to this instant; it replaces any earlier alarm.
        case setAlarm(NIODeadline)
        case cancelAlarm
    }
}
