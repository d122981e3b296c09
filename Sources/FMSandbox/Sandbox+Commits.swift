/// Changes that others make to the records: people with FileMaker Pro, scripts on the host. Each call is one commit
/// with full access. A commit log (``Solution/addCommitLog(_:)``) gets its entries.
extension Sandbox {
    /// Creates a record, with auto-enter for the fields that have it.
    ///
    /// Throws ``FileMakerError`` 802, 106 or 102 if there is no such database, table or field, and the errors of
    /// validation.
    ///
    /// - Returns: The id of the record.
    @discardableResult
    public func createRecord(
        _ values: [String: String] = [:],
        ofTable table: String,
        inDatabase database: String
    ) throws -> Int {
        try engine.commitOfOthers(table, database) { writer, table in
            try writer.create(in: table, writer.changes(values, in: table)).id
        }
    }

    /// Changes fields of a record, and increments its modId.
    ///
    /// Throws ``FileMakerError`` like ``createRecord(_:ofTable:inDatabase:)``, 101 if there is no such record, and 301
    /// if it is in use.
    public func editRecord(
        _ recordId: Int,
        _ values: [String: String],
        ofTable table: String,
        inDatabase database: String
    ) throws {
        try engine.commitOfOthers(table, database) { writer, table in
            try writer.change(recordId, in: table, writer.changes(values, in: table))
        }
    }

    /// Deletes a record, and related records if a relationship says so.
    ///
    /// Throws ``FileMakerError`` 802, 106 or 101 if there is no such database, table or record, and 301 if it is in
    /// use.
    public func deleteRecord(_ recordId: Int, ofTable table: String, inDatabase database: String) throws {
        try engine.commitOfOthers(table, database) { writer, table in try writer.delete(recordId, in: table) }
    }
}

extension Engine {
    /// Changes records of a table as one commit with full access, without a session.
    func commitOfOthers<Result>(
        _ table: String,
        _ database: String,
        _ body: (inout RecordWriter, _ table: Int) throws -> Result
    ) throws -> Result {
        let (hosted, table) = try model.table(table, ofDatabase: database)
        return try commit { world in
            var writer = RecordWriter(model, hosted, world: world, viewpoint: Viewpoint(now: now))
            let result = try body(&writer, table)
            try writer.logCommit()
            world = writer.world
            return result
        }
    }
}
