import NIOCore
public import OpenCombine

extension Publisher {
    /// Carries out many writes in one transaction after the other: each is made as a whole, or not at all.
    ///
    /// ```swift
    /// let script = DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs"))
    /// let writes: [DataAPI.RecordWrite<Person>] = [.create(Person(name: "Emmy Noether")), .edit(3, ["City": "Göttingen"])]
    ///
    /// let committed = try await writes.publisher.commit(in: people, by: script).summary.firstValue()
    /// print(committed.createdCount, "made,", committed.updatedCount, "edited")     // 1 made, 1 edited
    /// ```
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
    /// of a second for the patience; of one that is not atomic, the rows that met it. With a journal the key of each job is on the disk before its record is made, so that a
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
        // What became of rows that were sent as an account that is replaced the rows tell themselves.
        let rows = OnDemandPublisher { self.commitRows(in: layout, by: script.bound, journal, options, news) }
        return DataAPI.Batch(rows.eraseToAnyPublisher(), news: news, server: layout.server, isolation: isolation)
    }

    private func commitRows<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        by script: DataAPI.CommitScript,
        _ journal: DataAPI.WriteJournal?,
        _ options: DataAPI.CommitOptions,
        _ news: BatchNews
    ) -> AnyPublisher<DataAPI.BatchRow, FMRest.APIError> where Output == DataAPI.RecordWrite<R> {
        func rows(_ journal: OpenJournal?) -> AnyPublisher<DataAPI.BatchRow, FMRest.APIError> {
            let commit = Commit(layout: layout, script: script, options: options, journal: journal)
            return mapError { FMRest.APIError(wrapping: $0, otherwise: .encoding) }
                .collect(Swift.max(1, options.rowsPerCommit))
                .scan((firstIndex: 0, writes: [])) { last, writes in (last.firstIndex + last.writes.count, writes) }
                .orderedMap(concurrency: 1) { firstIndex, writes in commit.rows(of: writes, from: firstIndex) }
                .handleEvents(receiveCompletion: { if case .failure = $0 { news.inputIsUnread() } })
                .eraseToAnyPublisher()
        }
        guard let journal else { return rows(nil) }
        return JournalledPublisher(
            journal: journal,
            header: layout.layout.journalHeader,
            settlingTime: TimeAmount(clamping: options.settlingTime),
            time: layout.server.time,
            news: news,
            body: rows
        )
        .eraseToAnyPublisher()
    }
}

extension DataAPI.CommitScript {
    /// The same for commits that are all made as the account of this moment, or not at all.
    fileprivate var bound: DataAPI.CommitScript {
        var script = self
        script.layout = layout.bound(to: layout.database.tenure)
        return script
    }
}
