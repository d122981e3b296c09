/// What others do to the records: people with FileMaker Pro, scripts on the host. Each call is one commit, by an account that may do
/// everything; a log of commits (``Solution/addCommitLog(_:)``) gets its entries.
extension Sandbox {
    /// Creates a record, with what its fields enter by themselves.
    ///
    /// Throws ``FileMakerError`` 802, 106 or 102 when there is no such database, table or field, and what validation says.
    ///
    /// - Returns: the id of the record.
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

    /// Changes fields of a record, and counts its modId up by one.
    ///
    /// Throws ``FileMakerError`` as ``createRecord(_:ofTable:inDatabase:)`` does, 101 when there is no such record, and 301 when it is in
    /// use.
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

    /// Deletes a record, and related ones where a relationship says so.
    ///
    /// Throws ``FileMakerError`` 802, 106 or 101 when there is no such database, table or record, and 301 when it is in use.
    public func deleteRecord(_ recordId: Int, ofTable table: String, inDatabase database: String) throws {
        try engine.commitOfOthers(table, database) { writer, table in try writer.delete(recordId, in: table) }
    }
}

extension Engine {
    /// Changes records of a table as one commit of somebody who needs no session and may do everything.
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
