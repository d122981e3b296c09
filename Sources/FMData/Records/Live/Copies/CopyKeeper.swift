extension DataAPI {
    /// Where a program keeps a copy of records, for ``TypedLayout/changes(of:keptBy:options:isolation:)``: what has to be read back to
    /// go on where an earlier run has ended.
    ///
    ///     let keeper = DataAPI.CopyKeeper(
    ///         mark: { done in done(Result { try table.mark() }) },
    ///         versions: { after, limit, done in done(Result { try table.versions(after: after, limit: limit) }) }
    ///     )
    ///
    /// Both closures are called while the first look begins, one call after the other, on a thread that serves others, too: what takes
    /// long, such as a query of a database on disk, belongs on a thread of the program's own. Each calls back once, from any thread.
    /// What a closure fails with ends the publisher, as ``FMRest/APIError/Code/keeper``.
    public struct CopyKeeper: Sendable {
        let mark: @Sendable (_ done: @escaping @Sendable (Result<CopyMark?, any Error>) -> Void) -> Void
        let versions:
            @Sendable (
                _ after: Int?, _ limit: Int, _ done: @escaping @Sendable (Result<[RecordVersion], any Error>) -> Void
            ) -> Void

        /// - Parameters:
        ///   - mark: the mark of the last ``CopyEvent/looked(_:_:)`` that was dealt with; `nil` when there was none, or since a
        ///     ``CopyEvent/reset(_:)``.
        ///   - versions: the ids and modIds of the records of the copy, rising by their ids, from the first id after that one on (from
        ///     the least one, where that is `nil`); as many as `limit` says, fewer only where there are no more.
        public init(
            mark: @escaping @Sendable (_ done: @escaping @Sendable (Result<CopyMark?, any Error>) -> Void) -> Void,
            versions:
                @escaping @Sendable (
                    _ after: Int?,
                    _ limit: Int,
                    _ done: @escaping @Sendable (Result<[RecordVersion], any Error>) -> Void
                ) -> Void
        ) {
            self.mark = mark
            self.versions = versions
        }
    }
}
