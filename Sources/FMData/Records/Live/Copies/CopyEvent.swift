extension DataAPI {
    /// What a program that keeps a copy of a query's records itself has to do next.
    ///
    /// A copy changes only by these events, in their order. After a restart an event may come again, so process each
    /// one in a way that can be repeated. Store the mark in the same transaction as the events before it, or after
    /// them.
    public enum CopyEvent<R: RecordFields>: Sendable {
        /// Records that were added or committed, one page at a time, in any order. They replace those with the same
        /// ids.
        case records([TypedLayout<R>.Record])
        /// Records of the query that cannot be decoded, in versions that were not published yet. The copy may keep its
        /// versions of them.
        case unreadable([UnreadableRecord])
        /// Records that the query does not find any more. There may be ids among them that the copy does not have.
        case gone([Gone])
        /// A poll is complete, and the copy equals what the query found. If no event came before it, nothing has
        /// changed.
        case polled(CopyMark, Freshness)
        /// The copy is no longer valid: delete all its records and the mark. The current records follow.
        case reset(ResetReason)

        /// A record that the query does not find any more.
        public struct Gone: Hashable, Sendable {
            /// The record's id.
            public var recordId: Int
            /// Why it was removed.
            public var reason: RemovalReason
        }
    }
}
