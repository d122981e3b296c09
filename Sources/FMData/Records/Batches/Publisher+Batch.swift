public import OpenCombine

/// Each of these operators writes the values of the publisher and publishes one ``DataAPI/BatchRow`` per value: see
/// ``DataAPI/Batch``.
extension Publisher {
    /// Creates a record from each value.
    ///
    ///     rows.publisher.create(in: people)
    ///     rows.publisher.create(in: people, journal: .file(url), options: .init(idempotencyKey: "UUID"))
    ///
    /// Publishes one ``DataAPI/BatchRow`` per value, ``DataAPI/WriteResult/Kind/created`` on success. A create whose
    /// answer was lost is settled by ``DataAPI/BatchOptions/idempotencyKey``; without one its outcome is `unknown`. See
    /// ``DataAPI/Batch`` for everything else.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
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

    /// Creates a record from the fields that are set in each value; FileMaker enters the other fields as for any new
    /// record.
    ///
    ///     rows.map { Person.Changes(name: $0.name) }.publisher.create(in: people)
    ///
    /// Publishes one ``DataAPI/BatchRow`` per value, ``DataAPI/WriteResult/Kind/created`` on success. A create whose
    /// answer was lost is settled by ``DataAPI/BatchOptions/idempotencyKey``; without one its outcome is `unknown`. See
    /// ``DataAPI/Batch`` for everything else.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
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

    /// Carries out each edit.
    ///
    ///     edits.publisher.edit(in: people)
    ///     people.all().map { DataAPI.RecordEdit($0, ["Seen": 1]) }.edit(in: people)
    ///
    /// Publishes one ``DataAPI/BatchRow`` per edit, ``DataAPI/WriteResult/Kind/updated`` on success. Edits of the same
    /// record are made in their order; those with a modId are refused (306) from the second on, because the first one
    /// changes it. See ``DataAPI/Batch`` for everything else.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
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

    /// Deletes the records with these ids.
    ///
    ///     ids.publisher.delete(in: people)
    ///
    /// Publishes one ``DataAPI/BatchRow`` per id: ``DataAPI/WriteResult/Kind/deleted`` on success, including for a
    /// record that did not exist any more. An id that is not a number fails alone. See ``DataAPI/Batch`` for everything
    /// else.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
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

    /// Edits the record that has the same key as the value, or creates one if there is none.
    ///
    ///     rows.publisher.upsert(in: people, by: .email)
    ///
    /// Publishes one ``DataAPI/BatchRow`` per value, ``DataAPI/WriteResult/Kind/created`` or
    /// ``DataAPI/WriteResult/Kind/updated`` on success. A row fails if its key is empty, or if several records have it.
    ///
    /// Each row is a find and a write, **not one step**: another client may create a record with the same key in
    /// between. With a unique field the server refuses the second record (504), and the row then edits the first;
    /// without one there are two records. A record that changes between the find and the edit is looked up again. See
    /// ``DataAPI/Batch`` for everything else.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    /// - Parameters:
    ///   - layout: the layout to write to.
    ///   - key: the field by which a record is found. The record has to have exactly the row's key; see
    ///     ``DataAPI/Batch``.
    ///   - journal: records what is sent; see ``DataAPI/WriteJournal``.
    ///   - options: how the rows are written.
    ///   - isolation: the actor on which values arrive; leave it out.
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

    /// Writes the fields that are set in the value to the record that has the same key, or creates a record from them
    /// if there is none.
    ///
    ///     rows.map { Person.Changes(email: $0.email, city: $0.city) }.publisher.upsert(in: people, by: .email)
    ///
    /// The key has to be one of the fields that are set; everything else is as with whole records. Publishes one
    /// ``DataAPI/BatchRow`` per value.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
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
