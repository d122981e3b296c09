public import Foundation

extension DataAPI {
    /// The records of a live query as they are now, and what has changed since the value before.
    public struct LiveValue<R: RecordFields>: Sendable {
        /// All records, in the query's order.
        public var records: [TypedLayout<R>.Record]
        /// Records of the query that cannot be decoded, in the order of their ids: which, which field, and what stands there.
        /// The others go on without them. When none of several records can be decoded, the query fails instead.
        public var unreadable: [UnreadableRecord]
        /// What has changed since this subscriber's value before; everything is inserted in its first.
        public var changes: ChangeSet<R>
        /// How old the value is, and where it comes from.
        public var freshness: Freshness
    }

    /// How old a value of a live query is, and where it comes from.
    public struct Freshness: Hashable, Sendable {
        /// What made the value.
        public enum Origin: Hashable, Sendable {
            /// The first look.
            case snapshot
            /// A look that was due.
            case poll
            /// A look that something asked for: a webhook, a hint.
            case wake
            /// A look that the program asked for.
            case refresh
            /// A look after a write through the same database object.
            case ownWrite
            /// What was told before is of no use. The database became another account's
            /// (``DataAPI/Database/replaceCredentials(_:dataSources:)``): nothing is known of what that sees, and the next value
            /// tells. Or the records on the host are older than those that were told, as in a backup that was restored: these
            /// are the records as they are.
            case reset
        }

        /// What made the value.
        public var origin: Origin
        /// When the look began: the records are as they were then or later.
        public var asOf: Date
        /// Whether the table stood still while it was read. `false` where it has been in motion for three looks in a row: a record
        /// may be missing then, and comes with the next look.
        public var isComplete: Bool
        /// How many looks have brought something since this subscriber's value before: more than 1 where it was slow.
        public var looks: Int
        /// How the poll has looked for changes: of ``LiveWatch/automatic`` what it has come to.
        public var watch: LiveWatch
    }

    /// What a live query does at the moment.
    public enum LiveStatus: Sendable {
        /// Nobody listens.
        case idle
        /// It looks, since then, and waits for that: for an answer until that time, and then looks again as after any failure; for
        /// a session (`until` is `nil`) as long as it takes.
        case looking(since: Date, awaiting: Awaited, until: Date?)
        /// It waits for the next look.
        case waiting(until: Date)
        /// It wants to look, and other live queries of the same server are served first.
        case throttled
        /// Nobody wants values: the next look comes with the next demand.
        case paused
        /// Looks fail since then; the error is the last one, and the next attempt comes by itself at that time.
        case failing(FMRest.APIError, since: Date, until: Date)
        /// It has failed for good.
        case ended(FMRest.APIError)

        /// What a look waits for.
        public enum Awaited: Hashable, Sendable {
            /// A session: all that there are serve calls of the program, which go first.
            case session
            /// An answer of the host. Its first byte is waited for a twelfth as long as calls of the program wait for theirs, which
            /// is 10 seconds of 120 (``DataAPI/Timeouts``, `firstByte`; where that is `nil`, 10 seconds too), and its end three
            /// times as long, or four times as long as the slowest answer of the look before; both twice as long each time that
            /// has not been enough. The time begins anew with each answer, so that a look at any number of records may take as long
            /// as it gets on.
            case answer
        }
    }
}
