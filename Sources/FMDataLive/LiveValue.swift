public import FMDataCore
public import FMDataRecords
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
        /// What caused a value. More may be added: a `switch` over it needs a `default`.
        public struct Origin: Hashable, Sendable, CustomStringConvertible {
            /// The name of the cause.
            public let description: String

            private init(_ description: String) {
                self.description = description
            }

            /// The first poll.
            public static let snapshot = Origin("snapshot")
            /// A scheduled poll.
            public static let poll = Origin("poll")
            /// A poll caused by a wake-up: a webhook, a hint.
            public static let wake = Origin("wake")
            /// A poll that the program requested.
            public static let refresh = Origin("refresh")
            /// A poll after a write through the same database object.
            public static let ownWrite = Origin("ownWrite")
            /// The previous values are no longer valid, for one of two reasons. The database was switched to another
            /// account (``DataAPI/Database/replaceCredentials(_:dataSources:)``): this value is empty, and the next one
            /// has the records that account sees. Or the records on the host are older than those published before, as
            /// in a restored backup: this value has the current records.
            public static let reset = Origin("reset")
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
}
