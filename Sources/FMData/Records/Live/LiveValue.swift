public import Foundation

extension DataAPI {
    /// The records of a live query as they are now, and what has changed since the previous value.
    public struct LiveValue<R: RecordFields>: Sendable {
        /// All records, in the query's order.
        public var records: [TypedLayout<R>.Record]
        /// Records of the query that cannot be decoded, in the order of their ids: which record, which field, and its
        /// value. The other records are published without them. If none of several records can be decoded, the query
        /// fails instead.
        public var unreadable: [UnreadableRecord]
        /// What has changed since this subscriber's previous value; in its first value all records are inserted.
        public var changes: ChangeSet<R>
        /// How old the value is, and where it comes from.
        public var freshness: Freshness
    }

    /// How old a value of a live query is, and where it comes from.
    public struct Freshness: Hashable, Sendable {
        /// What caused the value.
        public enum Origin: Hashable, Sendable {
            /// The first poll.
            case snapshot
            /// A scheduled poll.
            case poll
            /// A poll caused by a wake-up: a webhook, a hint.
            case wake
            /// A poll that the program requested.
            case refresh
            /// A poll after a write through the same database object.
            case ownWrite
            /// The previous values are no longer valid, for one of two reasons. The database was switched to another
            /// account (``DataAPI/Database/replaceCredentials(_:dataSources:)``): this value is empty, and the next one
            /// has the records that account sees. Or the records on the host are older than those published before, as
            /// in a restored backup: this value has the current records.
            case reset
        }

        /// What caused the value.
        public var origin: Origin
        /// When the poll began: the records are as they were then or later.
        public var asOf: Date
        /// Whether the table did not change while it was read. `false` when it has changed during three polls in a row:
        /// a record may then be missing, and comes with the next poll.
        public var isComplete: Bool
        /// How many polls have found changes since this subscriber's previous value: more than 1 if the subscriber was
        /// slow.
        public var polls: Int
        /// How the poll has detected changes; for ``LiveWatch/automatic``, the strategy that was chosen.
        public var watch: LiveWatch
    }

    /// What a live query is doing at the moment.
    public enum LiveStatus: Sendable {
        /// There are no subscribers.
        case idle
        /// A poll has been under way since that time, and waits. While it awaits an answer, `until` is the time limit,
        /// after which it is repeated as after any failure. While it awaits a session, `until` is `nil`: it waits as
        /// long as necessary.
        case looking(since: Date, awaiting: Awaited, until: Date?)
        /// It waits for the next poll.
        case waiting(until: Date)
        /// It waits for the poll rate limit: other live queries of the same server go first.
        case throttled
        /// No subscriber wants values: the next poll comes with the next demand.
        case paused
        /// Polls have been failing since that time. The error is the last one; the next attempt is made at `until`.
        case failing(FMRest.APIError, since: Date, until: Date)
        /// It has failed permanently.
        case ended(FMRest.APIError)

        /// What a poll waits for.
        public enum Awaited: Hashable, Sendable {
            /// A session: all are in use by calls of the program, which go first.
            case session
            /// An answer of the host. The limit for its first byte is a twelfth of the limit for the program's calls,
            /// which is 10 seconds of 120 (``DataAPI/Timeouts``, `firstByte`; also 10 seconds if that is `nil`). The
            /// limit for its end is three times that, or four times the slowest answer of the last accepted poll if
            /// that is longer. Both double each time they were too short. The time starts anew with each answer, so a
            /// poll of any number of records may take as long as it makes progress.
            case answer
        }
    }
}
