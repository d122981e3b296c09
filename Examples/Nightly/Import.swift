import FMData
import Foundation
import OpenCombine

/// Writes edits back with a journal, so that it may be killed and started again, and reports rejected ones. Of those
/// that were under way at a kill, nobody knows whose write a changed record shows: they are told as unknown, and a
/// person looks.
struct Import {
    /// An edit, and the vessel's number, to name it in reports.
    struct Row {
        var number: Int
        var edit: DataAPI.RecordWrite<Vessel>
    }

    let vessels: DataAPI.TypedLayout<Vessel>
    let rows: [Row]
    /// The journal of what was sent.
    let journal: URL

    /// Writes all rows, prints each rejected one, and returns the summary.
    func run() async throws -> DataAPI.BatchSummary {
        let batch = vessels.writing(rows.map(\.edit), journal: .file(journal))
        var count = 0
        for try await row in batch.values {
            count += 1
            if count.isMultiple(of: 500) {
                print("\(count) of \(rows.count) written")
                fflush(nil)
            }
            // An earlier run received this row's outcome and has printed it.
            guard !row.isFromJournal, let error = row.error else { continue }
            let fields = error.fields.joined(separator: ", ")
            let code = error.fileMakerCode?.rawValue ?? 0
            print("row \(row.index), number \(rows[row.index].number), \(fields): \(error.reason) (\(code))")
        }
        // The summary of the same run.
        return try await batch.summary.firstValue()
    }
}
