import FMData
import Foundation
import OpenCombine

/// Writes edits back by a journal, so that it may be killed and started again, and tells which were refused.
struct Import {
    /// An edit, and the vessel's number, by which a person knows it.
    struct Row {
        var number: Int
        var edit: DataAPI.RecordEdit
    }

    let vessels: DataAPI.TypedLayout<Vessel>
    let rows: [Row]
    /// Where it is noted what is sent.
    let journal: URL

    /// Writes all rows, prints each that is refused, and returns what it came to.
    func run() async throws -> DataAPI.BatchSummary {
        let writes = rows.map { DataAPI.RecordWrite<Vessel>.edit($0.edit) }
        let batch = vessels.writing(writes, journal: .file(journal))
        var count = 0
        for try await row in batch.values {
            count += 1
            if count.isMultiple(of: 500) {
                print("\(count) of \(rows.count) written")
                fflush(nil)
            }
            // What an earlier run has been told, that has printed.
            guard !row.isFromJournal, let error = row.error else { continue }
            let fields = error.fields.joined(separator: ", ")
            let code = error.fileMakerCode?.rawValue ?? 0
            print("row \(row.index), number \(rows[row.index].number), \(fields): \(error.reason) (\(code))")
        }
        // Of the same run.
        return try await batch.summary.firstValue()
    }
}
