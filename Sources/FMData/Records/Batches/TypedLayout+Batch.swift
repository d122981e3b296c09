public import OpenCombine

extension DataAPI.TypedLayout {
    /// Carries out many writes, each with its own result.
    ///
    ///     people.writing(newcomers.publisher.map { .create($0) })
    ///     people.writing(people.all().map { .edit($0.recordId, setting: ["Seen": 1], modId: $0.modId) })
    ///     people.writing(rows, journal: .file(url), options: .init(idempotencyKey: "UUID"))
    ///
    /// Publishes one ``DataAPI/BatchRow`` per write. With a journal, a killed program can resume the writes: make the
    /// same call with the same journal and the same rows in the same order. ``DataAPI/WriteJournal`` says what happens
    /// to each row; see ``DataAPI/Batch`` for everything else.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    /// - Parameters:
    ///   - rows: the writes. A run that resumes another one has to get the same.
    ///   - journal: records what is sent. Without a journal a killed run cannot be resumed.
    ///   - options: how the rows are written.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Create a record", "Edit a record", "Delete a record" and "Perform a find
    /// request".
    public func writing<Rows: Publisher>(
        _ rows: Rows,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Rows.Output == DataAPI.RecordWrite<R> {
        DataAPI.Batch(of: rows, in: self, journal: journal, options, isolation: isolation)
    }

    /// Carries out many writes, each with its own result.
    ///
    ///     people.writing([.create(ada), .edit(17, setting: ["City": "London"]), .delete(18)])
    ///     people.writing(contacts.map { .upsert($0, by: .email) }, journal: .file(url))
    ///
    /// The same as with a publisher of writes.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    public func writing(
        _ rows: some Sequence<DataAPI.RecordWrite<R>>,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch {
        writing(rows.publisher, journal: journal, options: options, isolation: isolation)
    }
}
