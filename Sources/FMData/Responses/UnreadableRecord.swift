import Foundation

extension DataAPI {
    /// A record that the host has sent and that cannot be decoded: which it is, and why.
    ///
    ///     for record in value.unreadable { print(record.recordId, record.failure) }
    public struct UnreadableRecord: Error, Identifiable, Sendable, CustomStringConvertible {
        /// FileMaker's internal id of the record.
        public var recordId: Int
        /// The modification id of the version that cannot be decoded.
        public var modId: Int
        /// Which field, what was expected and what was found; ``DecodingFailure/rawValue`` is the text that stands there.
        public var failure: DecodingFailure

        /// The record id, for `Identifiable`.
        public var id: Int { recordId }

        /// What is wrong with it, without the field's value: fit for a log.
        public var description: String { failure.description }

        /// A value of your own making, for tests and doubles.
        public init(recordId: Int, modId: Int, failure: DecodingFailure) {
            self.recordId = recordId
            self.modId = modId
            self.failure = failure
        }
    }
}

/// A record of an answer, as far as it can be decoded.
enum RecordAttempt<R, P> {
    case record(DataAPI.Record<R, P>)
    case unreadable(DataAPI.UnreadableRecord)

    var version: DataAPI.RecordVersion {
        switch self {
        case .record(let record): DataAPI.RecordVersion(recordId: record.recordId, modId: record.modId)
        case .unreadable(let record): DataAPI.RecordVersion(recordId: record.recordId, modId: record.modId)
        }
    }

    var record: DataAPI.Record<R, P>? { if case .record(let record) = self { record } else { nil } }
    var unreadable: DataAPI.UnreadableRecord? { if case .unreadable(let record) = self { record } else { nil } }
}

extension RecordAttempt: Sendable where R: Sendable, P: Sendable {}

/// An answer with records, those that cannot be decoded among them, and how long its text was.
struct RecordAttempts<R: Decodable, P: Decodable>: DataAPIResponse {
    typealias Collector = RecordAttemptsAnswer<R, P>

    static var isAboutRecords: Bool { true }

    var records: [RecordAttempt<R, P>]
    var dataInfo: DataAPI.DataInfo
    /// After decompression.
    var bytes = 0
    /// When it was made, by the host's clock.
    var date: Date?

    mutating func nameScripts(_ scripts: ScriptNames) {}
}

extension RecordAttempts {
    /// An answer that was read as a whole: one record that cannot be decoded is one too many.
    init(from decoder: any Decoder) throws {
        let response = try DataAPI.RecordResponse<R, P>(from: decoder)
        self.init(records: response.data.map(RecordAttempt.record), dataInfo: response.dataInfo)
    }
}
