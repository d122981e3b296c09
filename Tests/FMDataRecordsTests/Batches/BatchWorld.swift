import FMData
import FMSandbox
import FMTestSupport
import Testing

extension Sandbox {
    func setLocked(_ isLocked: Bool, person recordId: Int) throws {
        try setLocked(isLocked, recordId: recordId, ofTable: "People", inDatabase: "Single")
    }
}

extension DataAPI.Batch {
    /// The totals of a batch that is stopped: its summary fails with them.
    func stopped() async throws -> DataAPI.BatchSummary {
        let error = await summary.outcome().failure
        return try #require(error?.batchSummary)
    }
}

/// The outcomes of a batch as short texts, for comparisons.
extension DataAPI.BatchRow {
    var short: String {
        let word =
            switch result.kind {
            case .updated: "edited"
            case .deleted: "deleted\(result.wasThere.map { $0 ? "" : ", was gone" } ?? ", who knows")"
            case .failed:
                "failed \(error?.fileMakerCode.map { "\($0.rawValue)" } ?? error?.code.description ?? "without an error")"
            default: result.kind.description
            }
        return "\(index) \(word)"
    }
}
