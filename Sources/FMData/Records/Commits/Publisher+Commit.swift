public import OpenCombine

extension Publisher {
    /// Carries out many writes in one transaction after the other: each is made as a whole, or not at all.
    ///
    /// ```swift
    /// let script = DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs"))
    /// let writes: [DataAPI.RecordWrite<Person>] = [.create(Person(name: "Emmy Noether")), .edit(3, ["City": "Göttingen"])]
    ///
    /// let committed = try await writes.publisher.commit(in: people, by: script).summarized().firstValue()
    /// print(committed.createdCount, "made,", committed.editedCount, "edited")      // 1 made, 1 edited
    /// ```
    ///
    /// It takes a script in the file: ``DataAPI/CommitScript``. Without one, rows of a portal are what the Data API itself writes
    /// together with their record: ``DataAPI/Draft/portals``.
    ///
    /// Publishes one ``DataAPI/BatchRow`` for each write, in their order, then finishes;
    /// ``OpenCombine/Publisher/summarized(after:)`` adds them up. The row at fault has failed with its own code, the others of its
    /// commit with ``FMRest/APIError/Code/rolledBack``; the next commits are made all the same. Nothing is sent before demand. When
    /// rows are asked for, ``DataAPI/CommitOptions/rowsPerCommit`` writes are asked for at a time, and sent in one request; another
    /// one reads what the script made of them. Commits follow each other. Each subscription carries out all writes.
    ///
    /// **Lost answers** are settled by the job record: it is looked up by a new UUID, made again if there is none, and its result is
    /// awaited for ``DataAPI/CommitOptions/patience``. Rows of a job whose result never comes are
    /// ``DataAPI/BatchRow/Outcome/unknown(_:)``: no script is started twice. To make that sure against a request that was held up
    /// on its way the key field has to be unique.
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
        options: DataAPI.CommitOptions = DataAPI.CommitOptions(),
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.BatchRow, FMRest.APIError> where Output == DataAPI.RecordWrite<R> {
        OnDemandPublisher {
            let script = script.bound
            return mapError { FMRest.APIError(wrapping: $0, otherwise: .encoding) }
                .collect(Swift.max(1, options.rowsPerCommit))
                .scan((firstIndex: 0, writes: [])) { last, writes in (last.firstIndex + last.writes.count, writes) }
                .orderedMap(concurrency: 1) { firstIndex, writes in
                    Commit(writes: writes, layout: layout, script: script, options: options).outcomes()
                        .map { outcomes in
                            Swift.zip(writes, outcomes).enumerated().map { place, row in
                                DataAPI.BatchRow(index: firstIndex + place, key: row.0.key, outcome: row.1)
                            }
                        }
                        .eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        // Of what was sent as an account that is replaced the rows tell themselves.
        .handedOver(to: isolation, by: layout.server)
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

extension DataAPI.RecordWrite {
    /// What its row is known by.
    fileprivate var key: String? {
        switch self {
        case .create: nil
        case .edit(let edit): "\(edit.recordId)"
        case .delete(let recordId): "\(recordId)"
        }
    }
}
