extension DataAPI {
    /// What a program that keeps a copy of a query's records itself has to do next.
    ///
    /// A copy changes by these alone, and in their order. What one says may come again after a restart, so that each is to be carried
    /// out in a way that can be repeated; the mark is kept with what came before it, in one transaction or after it.
    public enum CopyEvent<R: RecordFields>: Sendable {
        /// Records that have come or were committed anew, a page at a time, in any order: they take the place of those with the same
        /// ids.
        case records([TypedLayout<R>.Record])
        /// Records of the query that cannot be decoded, in versions that were not told yet. What the copy has of them can stay.
        case unreadable([UnreadableRecord])
        /// Records that are not among those of the query any more. Ids that the copy does not have may be among them.
        case gone([Gone])
        /// A look is complete, and the copy is what the query found. Without anything before it, nothing has changed.
        case looked(CopyMark, Freshness)
        /// The copy is of no use any more: all records go, with the mark. Those that there are follow.
        case reset(ResetReason)

        /// A record that has gone.
        public struct Gone: Hashable, Sendable {
            /// Its id.
            public var recordId: Int
            /// What became of it.
            public var reason: RemovalReason
        }
    }
}
