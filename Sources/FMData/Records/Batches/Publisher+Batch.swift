public import OpenCombine

/// Each of these writes what the publisher publishes, and publishes one ``DataAPI/BatchRow`` for each value: see
/// ``DataAPI/Batch``.
extension Publisher {
    /// Makes a record of each value.
    ///
    ///     rows.publisher.create(in: people)
    ///     rows.publisher.create(in: people, journal: .file(url), options: .init(idempotencyKey: "UUID"))
    ///
    /// Publishes one ``DataAPI/BatchRow`` for each value, ``DataAPI/WriteResult/Kind/created`` when all is well, then
    /// finishes. Nothing is sent before demand; it is one run. A create whose answer was lost is settled by
    /// ``DataAPI/BatchOptions/idempotencyKey``; without one its outcome is `unknown`. See ``DataAPI/Batch`` for all
    /// else.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Create a record".
    public func create<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Output == R {
        DataAPI.Batch(
            of: self,
            in: layout,
            journal: journal,
            options,
            isolation: isolation
        ) { BatchOperation.create(in: $0, keyField: options.idempotencyKey) }
    }

    /// Makes a record of each value: of the fields that are set in it, and FileMaker enters the others as it does for any new
    /// record.
    ///
    ///     rows.map { Person.Changes(name: $0.name) }.publisher.create(in: people)
    ///
    /// Publishes one ``DataAPI/BatchRow`` for each value, ``DataAPI/WriteResult/Kind/created`` when all is well, then
    /// finishes. Nothing is sent before demand; it is one run. A create whose answer was lost is settled by
    /// ``DataAPI/BatchOptions/idempotencyKey``; without one its outcome is `unknown`. See ``DataAPI/Batch`` for all
    /// else.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Create a record".
    public func create<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Output: RecordChanges, Output.Record == R {
        DataAPI.Batch(
            of: self,
            in: layout,
            journal: journal,
            options,
            isolation: isolation
        ) { BatchOperation.create(in: $0, isWhole: false, keyField: options.idempotencyKey) }
    }

    /// Makes each edit.
    ///
    ///     edits.publisher.edit(in: people)
    ///     people.all().map { DataAPI.RecordEdit($0, ["Seen": 1]) }.edit(in: people)
    ///
    /// Publishes one ``DataAPI/BatchRow`` for each edit, ``DataAPI/WriteResult/Kind/updated`` when all is well, then
    /// finishes. Nothing is sent before demand; it is one run. Edits of the same record are made in their order; those
    /// with a modId are refused (306) from the second on, since the first one changes it. See ``DataAPI/Batch`` for all
    /// else.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    public func edit<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Output == DataAPI.RecordEdit {
        DataAPI.Batch(
            of: self,
            in: layout,
            journal: journal,
            options,
            isolation: isolation
        ) { BatchOperation.edit(in: $0) }
    }

    /// Deletes the records of these ids.
    ///
    ///     ids.publisher.delete(in: people)
    ///
    /// Publishes one ``DataAPI/BatchRow`` for each id, ``DataAPI/WriteResult/Kind/deleted`` when all is well, also for
    /// a record that was gone before, then finishes. Nothing is sent before demand; it is one run. An id that is no
    /// number fails alone. See ``DataAPI/Batch`` for all else.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Delete a record".
    public func delete<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Output: DataAPI.RecordIdentifier {
        DataAPI.Batch(
            of: self,
            in: layout,
            journal: journal,
            options,
            isolation: isolation
        ) { BatchOperation.delete(in: $0) }
    }

    /// Edits the record that has the same key as the value, or makes one when there is none.
    ///
    ///     rows.publisher.upsert(in: people, by: .email)
    ///
    /// Publishes one ``DataAPI/BatchRow`` for each value, ``DataAPI/WriteResult/Kind/created`` or
    /// ``DataAPI/WriteResult/Kind/updated`` when all is well, then finishes. Nothing is sent before demand; it is one
    /// run. A row fails whose key is empty, or is that of several records.
    ///
    /// Each row is a find and a write, **not one step**: somebody else may make a record of the same key in between. A unique field
    /// makes the server refuse the second (504), which this then edits; without one there are two. A record that changes between
    /// the find and the edit is looked up again. See ``DataAPI/Batch`` for all else.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - layout: the layout to write to.
    ///   - key: the field by which a record is found. FileMaker finds texts whatever their case.
    ///   - journal: where it is noted what is sent; see ``DataAPI/WriteJournal``.
    ///   - options: how the rows are written.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Perform a find request", "Edit a record", "Create a record".
    public func upsert<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        by key: R.CodingKeys,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Output == R {
        DataAPI.Batch(
            of: self,
            in: layout,
            journal: journal,
            options,
            isolation: isolation
        ) { BatchOperation.upsert(in: $0, by: key.stringValue) }
    }

    /// Writes the fields that are set in the value into the record that has the same key, or makes a record of them
    /// when there is none.
    ///
    ///     rows.map { Person.Changes(email: $0.email, city: $0.city) }.publisher.upsert(in: people, by: .email)
    ///
    /// The key is one of the fields that are set; all else is as with whole records. Publishes one ``DataAPI/BatchRow``
    /// for each value, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Perform a find request", "Edit a record", "Create a record".
    public func upsert<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        by key: R.CodingKeys,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Output: RecordChanges, Output.Record == R {
        DataAPI.Batch(
            of: self,
            in: layout,
            journal: journal,
            options,
            isolation: isolation
        ) { BatchOperation.upsert(in: $0, isWhole: false, by: key.stringValue) }
    }
}
