import FMData
import Foundation
import OpenCombine

/// Writes lines of an export back, after an edit.
struct Import {
    let vessels: DataAPI.TypedLayout<Vessel>
    let lines: [Export.Line]

    /// Writes all rows, prints each that is refused, and returns what it came to.
    func run() async throws -> DataAPI.BatchSummary {
        // Each edit is guarded by the modId that the export has seen, so that nobody else's work is overwritten, and an edit whose
        // answer gets lost can be told from one that never arrived.
        let edits = lines.map { line in
            DataAPI.RecordEdit(
                line.recordId,
                ["Name": .text(line.vessel.name), "Length": FieldValue(line.vessel.length)],
                modId: line.modId
            )
        }
        return try await edits.publisher.edit(in: vessels)
            .handleEvents(receiveOutput: { row in
                guard let error = row.error else { return }
                let number = lines[row.index].vessel.number
                let fields = error.fields.joined(separator: ", ")
                print(
                    "row \(row.index), number \(number), \(fields): \(error.reason) (\(error.fileMakerCode?.rawValue ?? 0))"
                )
            })
            .summarized()
            .firstValue()
    }
}
