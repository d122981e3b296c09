/// The log of a file's commits, as a script triggered by them can keep it.
///
/// Source: FileMaker Pro Help, "OnWindowTransaction".
extension RecordWriter {
    /// Adds this commit's changes of the file's records to its log, if it has one.
    ///
    /// - Parameter removedBefore: The records that earlier steps of the transaction deleted.
    mutating func logCommit(removedBefore: Set<RecordPlace> = []) throws {
        guard let log = database.commitLog else { return }
        var entries = touched.map { ($0.key, $0.value.isNew ? "New" : "Modified") }
        entries += removed.union(removedBefore).map { ($0, "Deleted") }
        // The entries are written with full access, because the trigger's script has its own privileges.
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
