public import FMDataCore
import FMHTTP
import Logging
import OpenCombine

extension DataAPI {
    /// The totals of a batch, at its end or so far: how many rows had which result, and which did not succeed and why.
    ///
    /// It holds no secret, and no field value except the keys of rows that did not succeed. The number of single rows
    /// it lists is bounded by ``maximumProblems``. To resume a batch, use the ``WriteJournal``, not the summary.
    public struct BatchSummary: Hashable, Sendable {
        /// How many records were created.
        public private(set) var createdCount = 0
        /// How many records were edited, or already held the values.
        public private(set) var updatedCount = 0
        /// How many records were deleted, or did not exist any more.
        public private(set) var deletedCount = 0
        /// How many rows failed.
        public private(set) var failedCount = 0
        /// How many rows have an unknown outcome: the server may have carried them out.
        public private(set) var unknownCount = 0
        /// How many rows were not sent, because the batch had ended before.
        public private(set) var skippedCount = 0
        /// How many of all these rows an earlier run of the same journal has settled.
        public private(set) var journalCount = 0
        /// Rows that failed or whose outcome is unknown: the first ``maximumProblems`` of them, in the order in which
        /// they ended.
        public private(set) var problems: [Problem] = []
        /// How many such rows there are that ``problems`` does not list.
        public private(set) var omittedProblemCount = 0
        /// How many rows ``problems`` may hold. The default is 1,000.
        public var maximumProblems = 1_000
        /// Why the batch ended before its input, if it did.
        public var stop: Problem.Cause?
        /// Whether the input may have had more rows, which are not counted: the batch had ended, and its publisher did
        /// not send them as soon as they were requested.
        public var isInputUnread = false
        /// How many bytes were cut off the end of the journal: of a line that was not whole.
        public var journalBytesCut = 0
        /// Whether the journal may have lost rows: one of its runs was killed, or its end was lost, so that it has no
        /// line that says that the run had ended. See ``WriteJournal`` for what follows.
        public var journalMayMissRows = false

        /// Makes a summary of no rows.
        public init() {}

        /// A row that did not succeed.
        public struct Problem: Hashable, Sendable {
            /// The row's place in the input, counted from 0.
            public var index: Int
            /// The key or record id of the row; see ``DataAPI/BatchRow/key``.
            public var key: String?
            /// Whether the server may have carried it out.
            public var isUnknown: Bool
            /// The error.
            public var cause: Cause

            /// An error in a form that can be stored.
            public struct Cause: Codable, Hashable, Sendable {
                /// The kind of failure, as ``FMRest/APIError/code`` names it.
                public var code: String
                /// FileMaker's error code, if there is one.
                public var fileMakerCode: Int?
                /// The fields that the error is about, if they are known.
                public var fields: [String]
                /// The error's description, which holds no secret and no value of a field.
                public var text: String
                /// Whether the same row may succeed later without any change.
                public var isRetryable: Bool

                init(_ error: FMRest.APIError) {
                    code = error.code.description
                    fileMakerCode = error.fileMakerCode?.rawValue
                    fields = error.fields
                    text = error.description
                    isRetryable = BatchTrouble(error).mayPass
                }
            }
        }
    }
}

extension DataAPI.BatchSummary {
    /// How many rows the server has carried out.
    public var doneCount: Int { createdCount + updatedCount + deletedCount }

    /// How many rows have been counted.
    public var rowCount: Int { doneCount + failedCount + unknownCount + skippedCount }

    /// Whether every row of the input was carried out.
    public var isComplete: Bool { stop == nil && doneCount == rowCount && !isInputUnread }

    /// Counts a row.
    public mutating func add(_ row: DataAPI.BatchRow) {
        if row.isFromJournal { journalCount += 1 }
        switch row.result.kind {
        case .created: createdCount += 1
        case .updated, .unchanged: updatedCount += 1
        case .deleted: deletedCount += 1
        case .unknown: add(problem: row)
        case .skipped: skippedCount += 1
        default: add(problem: row)
        }
    }

    private mutating func add(problem row: DataAPI.BatchRow) {
        let isUnknown = row.result.kind == .unknown
        if isUnknown { unknownCount += 1 } else { failedCount += 1 }
        guard problems.count < maximumProblems, let error = row.error else {
            omittedProblemCount += 1
            return
        }
        problems.append(Problem(index: row.index, key: row.key, isUnknown: isUnknown, cause: Problem.Cause(error)))
    }
}

extension DataAPI.BatchSummary: CustomStringConvertible, CustomReflectable {
    /// The counts, and why the batch was stopped.
    public var description: String {
        "\(createdCount) created, \(updatedCount) updated, \(deletedCount) deleted, \(failedCount) failed, "
            + "\(unknownCount) unknown, \(skippedCount) skipped"
            + (isInputUnread ? ", the rest of the input not read" : "") + (stop.map { ", stopped: \($0.text)" } ?? "")
    }

    /// Children for a dump, without any key.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["counts": description, "causes": problems.map(\.cause.text), "stop": stop?.text as Any]
        )
    }
}

extension FMRest.APIError {
    /// The totals of the batch that this error has stopped: its rows and its ``DataAPI/Batch/summary`` fail with it.
    public var batchSummary: DataAPI.BatchSummary? { detail as? DataAPI.BatchSummary }
}

extension DataAPI.Layout {
    /// Logs the end of a batch: counts only.
    func log(_ summary: DataAPI.BatchSummary) {
        guard let logger = log(.debug) else { return }
        var metadata: Logger.Metadata = [
            LogKey.created: "\(summary.createdCount)", LogKey.updated: "\(summary.updatedCount)",
            LogKey.deleted: "\(summary.deletedCount)", LogKey.failed: "\(summary.failedCount)",
            LogKey.unknown: "\(summary.unknownCount)", LogKey.skipped: "\(summary.skippedCount)",
        ]
        if let stop = summary.stop {
            metadata[LogKey.error] = "\(stop.code)"
            metadata[LogKey.code] = stop.fileMakerCode.map { "\($0)" }
            metadata[LogKey.reason] = "\(stop.text.prefix(300))"
        }
        logger.debug(summary.stop == nil ? "batch finished" : "batch stopped", metadata: metadata)
    }
}
