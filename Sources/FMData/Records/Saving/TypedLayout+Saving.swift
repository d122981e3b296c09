public import OpenCombine

/// Changes of records instead of whole records. Nothing is sent before demand, each subscription saves once, and cancelling ends
/// what is on the wire: a write that was already sent may have been carried out.
///
/// A write whose answer does not come is looked up: it is sent again only when it was certainly not carried out, and when the
/// server would refuse it if it were after all. Where that cannot be told, as with scripts, the error stays, with
/// ``FMRest/APIError/outcomeIsUnknown``.
extension DataAPI.TypedLayout {
    /// A draft of a record, to be changed and saved.
    public func draft(_ record: Record) -> DataAPI.Draft<R> { DataAPI.Draft(record) }

    /// Writes what a draft changes, and nothing else.
    ///
    ///     var draft = record.draft()
    ///     draft.city = "London"
    ///     people.save(draft, onConflict: .merge)
    ///
    /// A field is sent when its value differs from that of the base in FileMaker's sense: numbers are compared as numbers, texts
    /// exactly but for the ends of their lines, and empty is the same as `nil`. So what FileMaker enters or calculates by itself
    /// is left alone, and so are containers. A property that became `nil` clears its field. Rows of portals are compared
    /// one by one, by their recordId: those that changed are sent with their own modId, those without a recordId are added, those
    /// that are gone from the draft are deleted. All of it is one commit.
    ///
    /// The server refuses the write when the record, or a row that is changed, has another modId by now; `onConflict` says what
    /// follows. It merges three times at most. A row that is deleted is deleted whatever its version is, and fields of
    /// related records that the layout shows (`Table::Field`) are not compared by the server either: FileMaker has nothing
    /// to guard them with.
    ///
    /// Publishes one ``DataAPI/Saved``, then finishes; when nothing differs it does so without a request. While
    /// somebody has the record open (301), or something else passes, the write is repeated, for 30 seconds at most or
    /// as the layout's own policy says. The record is read once more after a write with rows, scripts or the changes of
    /// somebody else. Fails with ``FMRest/APIError/Code/conflict`` when the changes cannot be joined or the record was
    /// deleted (``FMRest/APIError/saveConflict``), with FileMaker codes 500 to 513 when a field's validation refuses
    /// its value, and with ``FMRest/APIError/Code/invalidRequest``, before anything is sent, when a field was changed that
    /// no write can change: one of ``RecordFields/readOnlyFields``, or, where the type does not list them, one that the
    /// layout shows as such, which is asked once a minute at most.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - draft: the record as it was read, and as it is wanted.
    ///   - onConflict: what to do when somebody else has changed the record; to fail by default.
    ///   - refreshing: whether the record is read again after the write in any case, for what FileMaker entered by
    ///     itself.
    ///   - script: scripts to run with the write. When nothing differs nothing is sent, and they do not run.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record", `PATCH …/records/{id}`.
    public func save(
        _ draft: DataAPI.Draft<R>,
        onConflict: DataAPI.ConflictPolicy = .fail,
        refreshing: Bool = false,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Saved<R>, FMRest.APIError> {
        saving(.draft(draft)) { save in
            save.policy = onConflict
            save.refreshes = refreshing
            save.script = script
        }
        .handedOver(to: isolation, by: layout.database, mayHaveWritten: true)
    }

    /// Reads a record, changes it and writes what differs.
    ///
    /// ```swift
    /// struct NotEnough: Error {}
    ///
    /// let paying = people.edit(3) { person in
    ///     guard let balance = person.balance, balance >= 20 else { throw NotEnough() }
    ///     person.balance = 0
    /// }
    /// print(try await paying.firstValue().outcome)                // written
    /// ```
    ///
    /// When somebody else changes the record between the reading and the writing, it is read again and the closure is called
    /// again with what is there then, three times at most: what it decides always rests on what it overwrites. So there is no
    /// conflict to settle, and the closure should do nothing but change its draft. It is called on any thread.
    ///
    /// Publishes one ``DataAPI/Saved``, then finishes; when the closure changes nothing, nothing is written. Fails with
    /// FileMaker code 101 when there is no such record, with what the closure throws as
    /// ``FMRest/APIError/underlying`` of an ``FMRest/APIError/Code/invalidRequest``, and as
    /// ``save(_:onConflict:refreshing:script:isolation:)`` does.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - recordId: the record.
    ///   - refreshing: whether the record is read again after the write in any case, for what FileMaker entered by
    ///     itself.
    ///   - script: scripts to run with the write.
    ///   - isolation: where the values arrive; leave it out.
    ///   - change: changes the draft that it is given.
    ///
    /// Source: Claris Data API guide, "Get a single record" and "Edit a record".
    public func edit(
        _ recordId: some DataAPI.RecordIdentifier,
        refreshing: Bool = false,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation,
        _ change: @escaping @Sendable (inout DataAPI.Draft<R>) throws -> Void
    ) -> AnyPublisher<DataAPI.Saved<R>, FMRest.APIError> {
        saving(.edit(GivenNumber(id: recordId), change)) { save in
            save.refreshes = refreshing
            save.script = script
        }
        .handedOver(to: isolation, by: layout.database, mayHaveWritten: true)
    }

    func saving(
        _ source: SavePublisher<R>.Source,
        _ change: (inout SavePublisher<R>) -> Void
    ) -> AnyPublisher<DataAPI.Saved<R>, FMRest.APIError> {
        var save = SavePublisher(layout: self, source: source)
        change(&save)
        // Values are compared as they are written.
        return server.knowingFormats(AnyPublisher(save), for: DataAPI.EditRecordResponse.self, layout.database.calls)
    }
}
