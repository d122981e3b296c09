import FMData
import Foundation
import OpenCombine

/// Writes edits back, and tells which were refused.
struct Import {
    /// An edit, and the vessel's number, by which a person knows it.
    struct Row {
        var number: Int
        var edit: DataAPI.RecordEdit
    }

    let vessels: DataAPI.TypedLayout<Vessel>
    let rows: [Row]

    /// Writes all rows, prints each that is refused, and returns what it came to.
    func run() async throws -> DataAPI.BatchSummary {
        try await rows.map(\.edit).publisher.edit(in: vessels)
            .handleEvents(receiveOutput: { row in
                guard let error = row.error else { return }
                let fields = error.fields.joined(separator: ", ")
                let code = error.fileMakerCode?.rawValue ?? 0
                print("row \(row.index), number \(rows[row.index].number), \(fields): \(error.reason) (\(code))")
            })
            .summarized()
            .firstValue()
    }
}
