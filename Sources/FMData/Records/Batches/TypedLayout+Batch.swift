public import OpenCombine

extension DataAPI.TypedLayout {
    /// Carries out many writes and notes them in a journal, so that a killed program can resume them.
    ///
    ///     let rows = people.map { DataAPI.RecordWrite.create(Person($0)) }.publisher
    ///
    ///     try await people.writing(rows, journal: .file(url), options: .init(idempotencyKey: "UUID"))
    ///         .summary.firstValue()
    ///
    /// Publishes one ``DataAPI/BatchRow`` per write. To resume, make the same call with the same journal and the same
    /// rows in the same order: ``DataAPI/WriteJournal`` says what happens to each row. See ``DataAPI/Batch`` for
    /// everything else.
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
        DataAPI.Batch(
            of: rows,
            in: self,
            journal: journal,
            options,
            isolation: isolation
        ) { BatchOperation.ofWrite(in: $0, keyField: options.idempotencyKey) }
    }

    /// Carries out many writes and notes them in a journal, so that a killed program can resume them.
    ///
    ///     people.writing([.create(ada), .edit(17, ["City": "London"]), .delete(18)], journal: .file(url))
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
