/// The log that a file keeps of its commits, as a script can that is triggered by them.
///
/// Source: FileMaker Pro Help, "OnWindowTransaction".
extension RecordWriter {
    /// Writes what this commit has done to the file's records into its log, if it keeps one.
    ///
    /// - Parameter removedBefore: what was deleted in earlier steps of the transaction.
    mutating func logCommit(removedBefore: Set<RecordPlace> = []) throws {
        guard let log = database.commitLog else { return }
        var entries = touched.map { ($0.key, $0.value.isNew ? "New" : "Modified") }
        entries += removed.union(removedBefore).map { ($0, "Deleted") }
        // Not by the rights of the one who commits: the trigger's script has its own.
        var clerk = RecordWriter(model, database, world: world, viewpoint: viewpoint)
        for (place, operation) in entries.sorted(by: { ($0.0.table, $0.0.recordId) < ($1.0.table, $1.0.recordId) })
        where database.tables.contains(place.table) && place.table != log {
            let values = [
                "Table": model.tables[place.table].name, "Record": String(place.recordId), "Operation": operation,
            ]
            _ = try clerk.create(in: log, clerk.changes(values, in: log))
        }
        world = clerk.world
    }
}
