extension DataAPI {
    /// A number of sessions that several databases share, in one process or in many.
    ///
    /// Without a budget each database opens up to ``SessionConfiguration/maximumSessions`` sessions of its own, so
    /// that ten processes can open ten times as many. With a budget, a session is opened only in a *slot*, of which
    /// there is a fixed number for all databases with the same login:
    ///
    ///     config.sessions.budget = .memory(slots: 4)
    ///
    /// A database takes a slot when it needs a session, and keeps it until it has not used it for some time or another
    /// one waits for it. A slot that is passed on takes its session's token along, so the next database need not log
    /// in. ``memory(slots:)`` is shared by the databases of one process; the product FMDataFleet has one that processes
    /// share through Redis or Valkey.
    ///
    /// **How a slot is used.** Each slot that was taken is either given back or lost. Between the two:
    /// - Without a token the database logs in and *puts* the token into the slot. If that is refused, the slot had been
    ///   passed on meanwhile, and the session is logged out.
    /// - With a token it uses the session. If the host refuses the token, it *drops* that token and logs in.
    /// - When another database waits, the slot is *recalled*: it is given back after the request under way, 250 ms
    ///   after it was taken at the earliest.
    /// - When the slot is *lost*, the session is let go silently, since it belongs to the next owner. One whose token
    ///   was still on its way into the slot is logged out: nobody else has it.
    /// - Work that is bound to a session (``Database/withSession(keptAlive:isolation:_:)``, and global fields that are
    ///   set outside of it) has one of its own: its token is never put, the session is logged out at the end, and the
    ///   slot is given back empty.
    /// - A session beyond the first that has not been used for a minute, and any session that
    ///   is about to expire, is logged out, and its slot given back empty.
    /// - At `shutdown()` the slots are given back with their tokens, for the other databases. `logOut()` closes the
    ///   sessions.
    ///
    /// Sessions that are not opened for calls are not counted: those of
    /// ``Database/login(credentials:dataSourceCredentials:isolation:)``, of tokens that the program supplies, and of
    /// logins without an identity (OAuth, Claris ID). With a budget, ``SessionConfiguration/tokenStore`` is not used.
    public struct SessionBudget: Sendable {
        let take: @Sendable (Request) async throws -> Slot
        let put: @Sendable (_ token: String, _ slot: Slot, _ life: Duration) async throws -> Bool
        let drop: @Sendable (_ token: String, _ slot: Slot) async throws -> Bool
        let give: @Sendable (_ slot: Slot, _ life: Duration?) async throws -> Void
        let full: @Sendable (_ slot: Slot) async throws -> Void
        let refused: @Sendable (_ slot: Slot, _ code: FileMakerErrorCode?) async throws -> Void
        let left: @Sendable (_ slot: Slot) async throws -> Void

        /// A budget of its own kind.
        ///
        /// For each database, `take` is called one at a time; the others are called one at a time and in order. All of
        /// them must return: `take` when its task is cancelled, the others within seconds. An error of `put` or `drop`
        /// means that it is not known whether it was carried out. Errors are logged, and counted in
        /// ``SessionStatus/storeFailures``.
        ///
        /// - Parameters:
        ///   - take: returns a slot as soon as there is one, after those who have waited for longer. Throws
        ///     ``CredentialsRefused`` if another database has been refused with this login shortly before.
        ///   - put: keeps the token of a new session with the slot, for so long as it lives, and returns whether the
        ///     slot is still held.
        ///   - drop: removes the token from the slot *if the slot has that one*, and returns whether the slot is still
        ///     held.
        ///   - give: gives the slot back. Its token, if there is one, lives for so long; `nil` if it has not been used,
        ///     so that nothing new is known of its life.
        ///   - full: gives the slot back, since the host had no room for its session.
        ///   - refused: gives the slot back, since the host refused the login with this code.
        ///   - left: gives the slot back although the host may have a session in it that nobody knows, since its login
        ///     was sent and not answered. By default it is given back as any other.
        public init(
            take: @escaping @Sendable (_ request: Request) async throws -> Slot,
            put: @escaping @Sendable (_ token: String, _ slot: Slot, _ life: Duration) async throws -> Bool,
            drop: @escaping @Sendable (_ token: String, _ slot: Slot) async throws -> Bool,
            give: @escaping @Sendable (_ slot: Slot, _ life: Duration?) async throws -> Void,
            full: @escaping @Sendable (_ slot: Slot) async throws -> Void,
            refused: @escaping @Sendable (_ slot: Slot, _ code: FileMakerErrorCode?) async throws -> Void,
            left: (@Sendable (_ slot: Slot) async throws -> Void)? = nil
        ) {
            self.take = take
            self.put = put
            self.drop = drop
            self.give = give
            self.full = full
            self.refused = refused
            self.left = left ?? { slot in try await give(slot, nil) }
        }
    }
}

extension DataAPI.SessionBudget {
    /// What a database asks of a budget: a slot.
    public struct Request: Sendable {
        /// The host, the database and the login. Requests with equal keys share the slots.
        public let key: DataAPI.TokenStore.Key
        /// The database object that asks.
        public let member: DataAPI.Member
        /// Tells the database what has become of the slot, on any thread, from the moment it is granted.
        public let tell: @Sendable (Event) -> Void

        /// A request, as a database makes it.
        public init(key: DataAPI.TokenStore.Key, member: DataAPI.Member, tell: @escaping @Sendable (Event) -> Void) {
            self.key = key
            self.member = member
            self.tell = tell
        }
    }

    /// What may happen to a slot that is held.
    public enum Event: Hashable, Sendable {
        /// Another member waits for a slot.
        case recalled
        /// The slot is held by somebody else by now, with its token.
        case lost
        /// The budget has no token of the slot any more: put it again.
        case forgotten
    }

    /// A slot that is held.
    public struct Slot: Sendable {
        /// The request that it was granted to.
        public let request: Request
        /// Its number, from 1; 0 if the session is outside of the budget.
        public let number: Int
        /// Names the time in which this member holds the slot: an owner that is too late must not be taken for the
        /// next one.
        public let lease: String
        /// The token of the slot's session; `nil` when there is none.
        public let token: String?
        /// How many others wait for a slot.
        public let waiting: Int
        /// Whether the session is only this member's: its token is not put, and it is logged out when the slot is
        /// recalled.
        public let isPrivate: Bool

        /// A slot; see the properties for its parts.
        public init(
            for request: Request,
            number: Int,
            lease: String,
            token: String? = nil,
            waiting: Int = 0,
            isPrivate: Bool = false
        ) {
            self.request = request
            self.number = number
            self.lease = lease
            self.token = token
            self.waiting = waiting
            self.isPrivate = isPrivate
        }
    }

    /// The host has refused these credentials a short time ago, so they are not sent.
    public struct CredentialsRefused: Error, Hashable, Sendable {
        /// FileMaker's code; `nil` when the host gave none.
        public let code: FileMakerErrorCode?

        /// The refusal with this code.
        public init(code: FileMakerErrorCode?) {
            self.code = code
        }
    }
}

extension DataAPI.SessionBudget.Slot: CustomStringConvertible, CustomReflectable {
    /// The slot's number, without its token.
    public var description: String { "Slot(\(number))" }

    /// The children that a dump shows, without the token.
    public var customMirror: Mirror { Mirror(self, children: ["number": number, "waiting": waiting]) }
}
