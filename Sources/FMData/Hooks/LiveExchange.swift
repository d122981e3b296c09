extension DataAPI {
    /// Live queries of several processes that share their polls: one process polls, and the others take over what it
    /// has found.
    ///
    ///     config.liveExchange = fleet.liveExchange
    ///
    /// Without an exchange, N processes with the same live query poll the host N times as often as one does. With one,
    /// a query asks the exchange for its turn before each poll, and is told either to poll or what others have found.
    /// The product FMDataFleet has an exchange through Redis or Valkey.
    ///
    /// Queries share their polls when their logins, layouts, finds, sort orders, portals, formats of dates and ways to
    /// detect changes (``LiveOptions/watch``) are equal; the types of their records need not be. These poll by
    /// themselves as without an exchange: queries with ``LiveOptions/related`` or with scripts, copies
    /// (``RecordSource/changes(keptBy:options:isolation:)``), and those of logins without an identity (OAuth, Claris
    /// ID).
    ///
    /// **How a query uses it.** It calls `turn` whenever a poll is due. If it has to poll, it does so, and reports an
    /// accepted poll by `polled`, with the changes since its poll before. Otherwise it adopts the changes that it is
    /// given, in their order. Whenever there is something to adopt, or it has to poll, it is told so by
    /// ``Request/tell``.
    ///
    /// Nothing is lost by an exchange that loses something: with the changes comes a digest of all records, and a query
    /// whose own records have another one polls.
    public struct LiveExchange: Sendable {
        let turn: @Sendable (_ request: Request, _ mustPoll: Bool) async -> Turn
        let polled: @Sendable (_ request: Request, _ report: Report) async -> Void
        let hinted: @Sendable (_ request: Request) -> Void
        let rested: @Sendable (_ request: Request) -> Void
        let left: @Sendable (_ request: Request) -> Void
        let maximumBytes: Int

        /// An exchange of its own kind.
        ///
        /// For each query, `turn` and `polled` are called one at a time and in order. They must return within seconds,
        /// and have no errors: an exchange that cannot be reached lets each query poll.
        ///
        /// - Parameters:
        ///   - turn: says what a query does instead of polling, or that it polls. With `mustPoll` it has to poll in any
        ///     case: it has no records yet, or the records that it has are not those of the others.
        ///   - polled: the query has polled.
        ///   - hinted: something may have changed, as the query has heard from its program: whoever polls should do so
        ///     now. The query calls `turn` as well.
        ///   - rested: the query does not poll any more for now: it has no subscriber that wants a value, or its poll
        ///     has failed. Somebody else should.
        ///   - left: the query has ended.
        ///   - maximumBytes: the most bytes of changes that one poll reports. If it has found more, it reports that
        ///     all others have to poll.
        public init(
            turn: @escaping @Sendable (_ request: Request, _ mustPoll: Bool) async -> Turn,
            polled: @escaping @Sendable (_ request: Request, _ report: Report) async -> Void,
            hinted: @escaping @Sendable (_ request: Request) -> Void,
            rested: @escaping @Sendable (_ request: Request) -> Void,
            left: @escaping @Sendable (_ request: Request) -> Void,
            maximumBytes: Int = 262_144
        ) {
            self.turn = turn
            self.polled = polled
            self.hinted = hinted
            self.rested = rested
            self.left = left
            self.maximumBytes = maximumBytes
        }
    }
}

extension DataAPI.LiveExchange {
    /// A live query of one process, as an exchange sees it.
    public struct Request: Sendable {
        /// A digest of the host, the database and the login, in hexadecimal digits: who may see the records.
        public let login: String
        /// A digest of the query, in hexadecimal digits. Queries with equal digests, of equal logins, share their
        /// polls.
        public let query: String
        /// The query of this process.
        public let member: DataAPI.Member
        /// Tells the query something, on any thread.
        public let tell: @Sendable (Event) -> Void

        /// A request, as a live query makes it.
        public init(login: String, query: String, member: DataAPI.Member, tell: @escaping @Sendable (Event) -> Void) {
            self.login = login
            self.query = query
            self.member = member
            self.tell = tell
        }
    }

    /// What a query is told.
    public enum Event: Hashable, Sendable {
        /// There is something to adopt, or it is the query's turn to poll: it calls `turn` soon.
        case news
        /// Another member has heard that something may have changed: the query calls `turn` soon, and shortens its
        /// pauses.
        case hint
    }

    /// What a query does now.
    public enum Turn: Hashable, Sendable {
        /// It polls, and its pauses after that are so many times as long as its options say.
        case poll(pace: Double)
        /// It adopts what others have found; nothing, if nothing has changed.
        case adopt(Findings)
    }

    /// What others have found.
    public struct Findings: Hashable, Sendable {
        /// Changes, in the order in which they were found.
        public var changes: [Changes]
        /// The digest of the records after these changes (``Report/digest``), if the poll that it comes from began
        /// after the last poll of the query that adopts them; otherwise `nil`.
        public var digest: String?
        /// How long ago the last of those polls has begun.
        public var age: Duration

        /// What others have found; nothing by default.
        public init(changes: [Changes] = [], digest: String? = nil, age: Duration = .zero) {
            self.changes = changes
            self.digest = digest
            self.age = age
        }
    }

    /// What one poll has found.
    public struct Changes: Hashable, Sendable {
        /// The changes as the query that polled has reported them (``Report/changes``).
        public var bytes: [UInt8]
        /// Whether the poll may have ended before the last poll of the query that adopts them. Then only newer versions
        /// of records are adopted at once, since records that came or went may have gone or come again by then; what
        /// became of those is adopted with the next digest (``Findings/digest``).
        public var mayBeOlder: Bool

        /// Changes; see the properties for their parts.
        public init(bytes: [UInt8], mayBeOlder: Bool) {
            self.bytes = bytes
            self.mayBeOlder = mayBeOlder
        }
    }

    /// An accepted poll, as it is reported.
    public struct Report: Hashable, Sendable {
        /// The changes since the query's poll before, in a form of the library's own, with records as the host has sent
        /// them: field values in the clear. `nil` if nothing has changed, and after the first poll.
        public var changes: [UInt8]?
        /// A digest of the ids and modIds of all records. It contains no values.
        public var digest: String
        /// How long ago it has begun.
        public var duration: Duration

        /// A report; see the properties for its parts.
        public init(changes: [UInt8]?, digest: String, duration: Duration) {
            self.changes = changes
            self.digest = digest
            self.duration = duration
        }
    }
}

extension DataAPI.LiveExchange.Changes: CustomStringConvertible, CustomReflectable {
    /// The number of bytes, without the values in them.
    public var description: String { "Changes(\(bytes.count) bytes)" }

    /// The children that a dump shows, without the values.
    public var customMirror: Mirror { Mirror(self, children: ["count": bytes.count, "mayBeOlder": mayBeOlder]) }
}

extension DataAPI.LiveExchange.Report: CustomStringConvertible, CustomReflectable {
    /// The number of bytes, without the values in them.
    public var description: String { "Report(\(changes?.count ?? 0) bytes)" }

    /// The children that a dump shows, without the values.
    public var customMirror: Mirror { Mirror(self, children: ["count": changes?.count ?? 0]) }
}
