import NIOCore
public import OpenCombine

extension Publisher {
    /// Carries out many writes in one transaction after the other: each is made as a whole, or not at all.
    ///
    ///     let script = DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs"))
    ///     let writes: [DataAPI.RecordWrite<Person>] = [.create(ada), .edit(17, ["City": "London"]), .delete(18)]
    ///
    ///     writes.publisher.commit(in: people, by: script)
    ///
    /// It takes a script in the file: ``DataAPI/CommitScript``. Without one, rows of a portal are what the Data API itself writes
    /// together with their record: ``DataAPI/Draft/portals``.
    ///
    /// Publishes one ``DataAPI/BatchRow`` for each write, in their order, then finishes; ``DataAPI/Batch/summary`` adds
    /// them up. The row at fault has failed with its own code, the others of its commit with
    /// ``FMRest/APIError/Code/rolledBack``; the next commits are made all the same. Nothing is sent before demand. When
    /// rows are asked for, ``DataAPI/CommitOptions/rowsPerCommit`` writes are asked for at a time, and sent in one
    /// request; another one reads what the script made of them. Commits follow each other. It is one run, however many
    /// look at it.
    ///
    /// **Lost answers** are settled by the job record: it is looked up by a new UUID, made again if there is none, and
    /// its result is awaited for ``DataAPI/CommitOptions/patience``. Rows of a job whose result never comes are
    /// ``DataAPI/WriteResult/Kind/unknown``: no script is started twice. To make that sure against a request that was
    /// held up on its way the key field has to be unique.
    ///
    /// An atomic commit that was reverted by something that passes, such as a locked record (301), is made again with pauses
    /// of a second for the patience. With a journal the key of each job is on the disk before its record is made, so that a
    /// program that was killed asks for what became of it; it is resumed with the same
    /// ``DataAPI/CommitOptions/rowsPerCommit``.
    ///
    /// Fails with the publisher of the writes, without sending those that did not fill a commit; and when no commit can succeed any
    /// more, after its rows: the login is refused, the layout of job records is missing. Cancelling ends the request under way, which
    /// may have been carried out; nothing more is published.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func commit<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        by script: DataAPI.CommitScript,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.CommitOptions = DataAPI.CommitOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Output == DataAPI.RecordWrite<R> {
        let news = BatchNews()
        let writes = mapError { FMRest.APIError(wrapping: $0, otherwise: .encoding) }.eraseToAnyPublisher()
        func rows(_ journal: OpenJournal?) -> AnyPublisher<DataAPI.BatchRow, FMRest.APIError> {
            let commit = Commit(layout: layout, script: script, options: options, journal: journal)
            return writes.collect(Swift.max(1, options.rowsPerCommit))
                .scan((firstIndex: 0, writes: [])) { last, writes in (last.firstIndex + last.writes.count, writes) }
                .orderedMap(concurrency: 1) { firstIndex, writes in commit.rows(of: writes, from: firstIndex) }
                .handleEvents(receiveCompletion: { if case .failure = $0 { news.inputIsUnread() } })
                .eraseToAnyPublisher()
        }
        let all: AnyPublisher<DataAPI.BatchRow, FMRest.APIError> =
            if let journal {
                JournalledPublisher(
                    journal: journal,
                    header: layout.layout.journalHeader,
                    settlingTime: TimeAmount(clamping: options.settlingTime),
                    time: layout.server.time,
                    news: news,
                    body: rows
                )
                .eraseToAnyPublisher()
            } else {
                rows(nil)
            }
        return DataAPI.Batch(all, news: news, server: layout.server, isolation: isolation)
    }
}
