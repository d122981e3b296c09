extension DataAPI {
    /// Reads a program's copy of records for ``RecordSource/changes(keptBy:options:isolation:)``, to continue where
    /// an earlier run has ended.
    ///
    ///     let keeper = DataAPI.CopyKeeper(
    ///         mark: { done in done(Result { try table.mark() }) },
    ///         versions: { after, limit, done in done(Result { try table.versions(after: after, limit: limit) }) }
    ///     )
    ///
    /// Both closures are called when the first poll begins, one after the other, on a thread that serves other work
    /// too. Do long work, such as a query of a database on disk, on a thread of your own. Each closure must call `done`
    /// once, from any thread. If it passes an error, the publisher fails with ``FMRest/APIError/Code/keeper``.
    public struct CopyKeeper: Sendable {
        let mark: @Sendable (_ done: @escaping @Sendable (Result<CopyMark?, any Error>) -> Void) -> Void
        let versions:
            @Sendable (
                _ after: Int?, _ limit: Int, _ done: @escaping @Sendable (Result<[RecordVersion], any Error>) -> Void
            ) -> Void

        /// Creates a keeper of two closures.
        ///
        /// - Parameters:
        ///   - mark: returns the mark of the last ``CopyEvent/polled(_:_:)`` that was processed; `nil` when there was
        ///     none, or none since a ``CopyEvent/reset(_:)``.
        ///   - versions: returns the ids and modIds of the copy's records with ids greater than `after` (all, if that
        ///     is `nil`), in rising order of the ids; at most `limit`, and fewer only if there are no more.
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
