extension DataAPI {
    /// What to do when another client has changed a record between its read and its save (FileMaker code 306).
    ///
    /// ```swift
    /// var draft = try await people.record(id: 3).firstValue().draft()
    /// draft.notes = "mine"
    /// try await people.edit(3, setting: ["Notes": "Theirs"]).firstValue()  // somebody else
    ///
    /// let resolving = people.save(draft, onConflict: .resolve { conflict in
    ///     conflict.field == "Notes" ? .value("\(conflict.theirs) and \(conflict.mine)") : .theirs
    /// })
    /// print(try await resolving.firstValue().record.fieldData.notes ?? "")        // Theirs and mine
    /// ```
    ///
    /// With every policy, a record whose modId changed although none of its fields did is saved: an import and a commit
    /// without a change count as modifications. A field that both sides changed to the same value is not a conflict.
    public enum ConflictPolicy: Sendable {
        /// The save fails, with the fields and all their versions in ``FMRest/APIError/saveConflict``.
        case fail
        /// What was changed here overwrites the other client's changes; other fields keep their current values. A
        /// portal row that the other client deleted cannot be written to: the save fails.
        case mine
        /// All changes made here are dropped, and the current record is published.
        case theirs
        /// What was changed here is written where the other client changed nothing, and the other client's changes
        /// stay. The save fails when both sides changed a field to different values, or when one side changed a portal
        /// row that the other deleted.
        case merge
        /// The same as ``merge``, and the closure decides about each field that both sides changed. It is called on any
        /// thread, perhaps more than once for a field, if the record keeps changing. Portal rows that one side changed
        /// and the other deleted make the save fail.
        case resolve(@Sendable (FieldConflict) -> ConflictResolution)
    }

    /// The decision about a field that both sides changed.
    public enum ConflictResolution: Hashable, Sendable {
        /// The value that was set here.
        case mine
        /// The current value.
        case theirs
        /// Another value, as it is sent.
        case value(FieldValue)
        /// No decision is possible: the save fails.
        case unsettled
    }
}
