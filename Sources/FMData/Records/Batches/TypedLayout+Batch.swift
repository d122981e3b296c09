public import OpenCombine

extension DataAPI.TypedLayout {
    /// Carries out many writes, and notes them in a journal, so that a program that is killed goes on where it was.
    ///
    ///     let rows = people.map { DataAPI.RecordWrite.create(Person($0)) }.publisher
    ///
    ///     try await people.writing(rows, journal: .file(url), options: .init(idempotencyKey: "UUID")).summary.firstValue()
    ///
    /// Publishes one ``DataAPI/BatchRow`` for each write, then finishes. To resume, make the same call with the same
    /// journal and the same rows, in the same order: ``DataAPI/WriteJournal`` says what happens to each.
    /// ``DataAPI/Batch`` says all else.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - rows: what to write. A run that resumes another one has to get the same.
    ///   - journal: where it is noted what is sent. Without one a run that is killed cannot be resumed.
    ///   - options: how the rows are written.
    ///   - isolation: where the values arrive; leave it out.
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

    /// Carries out many writes, and notes them in a journal, so that a program that is killed goes on where it was.
    ///
    ///     people.writing([.create(ada), .edit(17, ["City": "London"]), .delete(18)], journal: .file(url))
    ///
    /// The same as with a publisher of writes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func writing(
        _ rows: some Sequence<DataAPI.RecordWrite<R>>,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch {
        writing(rows.publisher, journal: journal, options: options, isolation: isolation)
    }
}
