extension DataAPI {
    /// What to do when somebody else has changed a record between its reading and its saving (FileMaker code 306).
    ///
    /// ```swift
    /// var draft = try await people.record(3).firstValue().draft()
    /// draft.notes = "mine"
    /// try await people.edit(3, ["Notes": "Theirs"]).firstValue()  // somebody else
    ///
    /// let resolving = people.save(draft, onConflict: .resolve { conflict in
    ///     conflict.field == "Notes" ? .value("\(conflict.theirs) and \(conflict.mine)") : .theirs
    /// })
    /// print(try await resolving.firstValue().record.fieldData.notes ?? "")        // Theirs and mine
    /// ```
    ///
    /// Whatever it is, a record whose modId moved although no field of it did is saved: an import and a commit without a change
    /// count as modifications. A field that both changed to the same value is none to argue about.
    public enum ConflictPolicy: Sendable {
        /// The save fails, with the fields and all their versions in ``FMRest/APIError/saveConflict``.
        case fail
        /// What was changed here is written over theirs; what was not stays theirs. A row of a portal that they deleted cannot
        /// be written to: the save fails.
        case mine
        /// What was changed here is given up, all of it, and their record is published.
        case theirs
        /// What was changed here is written where they changed nothing, and what they changed stays. The save fails when both
        /// changed a field to different values, or one a row of a portal that the other deleted.
        case merge
        /// As ``merge``, and the closure decides of each field that both changed. It is called on any thread, perhaps more than
        /// once for a field, if the record keeps changing. Rows of portals that one changed and the other deleted make the save
        /// fail.
        case resolve(@Sendable (FieldConflict) -> ConflictResolution)
    }

    /// What is to become of a field that both changed.
    public enum ConflictResolution: Hashable, Sendable {
        /// The value from here.
        case mine
        /// The value that is there.
        case theirs
        /// Another one, as it goes over the wire.
        case value(FieldValue)
        /// It cannot be decided: the save fails.
        case unsettled
    }
}
