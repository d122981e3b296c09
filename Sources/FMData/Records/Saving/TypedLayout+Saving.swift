public import OpenCombine

/// Saves changes of records instead of whole records. Cancelling aborts the request: a write that was already sent may
/// have been carried out.
///
/// A write whose answer is lost is looked up. It is sent again only when it was certainly not carried out, and when the
/// server would refuse it if the first attempt still arrived. Where that cannot be determined, as with scripts, the
/// error stays, with ``FMRest/APIError/outcomeIsUnknown``.
extension DataAPI.TypedLayout {
    /// Writes what a draft changes, and nothing else.
    ///
    ///     var draft = record.draft()
    ///     draft.city = "London"
    ///     people.save(draft, onConflict: .merge)
    ///
    /// A field is sent when its value differs from that of the base in FileMaker's sense: numbers are compared as
    /// numbers, texts exactly except for their line ends, and empty is the same as `nil`. So fields that FileMaker
    /// enters or calculates by itself stay as they are, and so do containers. A property that became `nil` clears its
    /// field. Portal rows are compared one by one, by their recordId: changed rows are sent with their own modId, rows
    /// without a recordId are added, rows removed from the draft are deleted. Everything is one commit.
    ///
    /// The server refuses the write when the record, or a changed row, has another modId by now; `onConflict` says what
    /// follows. It merges three times at most. A deleted row is deleted whatever its version is, and the server does
    /// not compare fields of related records that the layout shows (`Table::Field`) either: FileMaker cannot guard
    /// them.
    ///
    /// Publishes one ``DataAPI/Saved``, without a request when nothing differs. While the record is locked (301), or in
    /// another temporary state, the write is repeated, for 30 seconds at most or as the layout's own policy says. The
    /// record is read again after a write with rows or scripts, or after a merge. Fails with
    /// ``FMRest/APIError/Code/conflict`` when the changes cannot be merged or the record was deleted
    /// (``FMRest/APIError/saveConflict``), with FileMaker codes 500 to 513 when a field's validation refuses its value,
    /// and with ``FMRest/APIError/Code/invalidRequest``, before anything is sent, when a field was changed that no
    /// write can change: one of ``RecordFields/readOnlyFields`` or, if the type does not list them, one that the
    /// layout's description shows as such. The description is requested once a minute at most.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - draft: the record as it was read, and as it is wanted.
    ///   - onConflict: what to do when another client has changed the record; the default is to fail.
    ///   - refreshing: whether the record is read again after every write, to get what FileMaker entered by itself.
    ///   - script: scripts to run with the write. When nothing differs, nothing is sent and they do not run.
    ///   - isolation: the actor on which values arrive; leave it out.
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
        .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    /// Reads a record, changes it and writes the differences.
    ///
    /// ```swift
    /// struct NotEnough: Error {}
    ///
    /// let paying = people.update(3) { person in
    ///     guard let balance = person.balance, balance >= 20 else { throw NotEnough() }
    ///     person.balance = 0
    /// }
    /// print(try await paying.firstValue().result.kind)            // updated
    /// ```
    ///
    /// When another client changes the record between the read and the write, it is read again and the closure is
    /// called again with the new values, three times at most: so its decision is always based on what it overwrites.
    /// There is no conflict to settle. The closure should only change its draft. It is called on any thread. An edit
    /// (`edit(_:setting:)`) does not read, and overwrites.
    ///
    /// Publishes one ``DataAPI/Saved``; when the closure changes nothing, nothing is written. Fails with FileMaker code
    /// 101 when there is no such record, with the error thrown by the closure as ``FMRest/APIError/underlying`` of an
    /// ``FMRest/APIError/Code/invalidRequest``, and like ``save(_:onConflict:refreshing:script:isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - recordId: the id of the record.
    ///   - refreshing: whether the record is read again after every write, to get what FileMaker entered by itself.
    ///   - script: scripts to run with the write.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///   - change: changes the draft that it is given.
    ///
    /// Source: Claris Data API guide, "Get a single record" and "Edit a record".
    public func update(
        _ recordId: some DataAPI.RecordIdentifier,
        refreshing: Bool = false,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation,
        _ change: @escaping @Sendable (inout DataAPI.Draft<R>) throws -> Void
    ) -> AnyPublisher<DataAPI.Saved<R>, FMRest.APIError> {
        saving(.update(LenientInt(id: recordId), change)) { save in
            save.refreshes = refreshing
            save.script = script
        }
        .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    func saving(
        _ source: SavePublisher<R>.Source,
        _ change: (inout SavePublisher<R>) -> Void
    ) -> AnyPublisher<DataAPI.Saved<R>, FMRest.APIError> {
        var save = SavePublisher(layout: self, source: source)
        change(&save)
        // Values are compared in the format in which they are written.
        return server.knowingFormats(AnyPublisher(save), for: DataAPI.EditRecordResponse.self, layout.database.calls)
    }
}
