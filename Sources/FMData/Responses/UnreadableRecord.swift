extension DataAPI {
    /// A record that the host sent but that cannot be decoded, with its ids and the reason.
    ///
    ///     for record in value.unreadable { print(record.recordId, record.failure) }
    public struct UnreadableRecord: Error, Identifiable, Sendable, CustomStringConvertible {
        /// FileMaker's internal id of the record.
        public var recordId: Int
        /// The modification id of the version that cannot be decoded.
        public var modId: Int
        /// The field, what was expected and what was found; ``DecodingFailure/rawValue`` is the text at that place.
        public var failure: DecodingFailure

        /// The record id, for `Identifiable`.
        public var id: Int { recordId }

        /// The reason without the field's value, so that it may go to a log.
        public var description: String { failure.description }

        /// Creates a value for tests and test doubles.
        public init(recordId: Int, modId: Int, failure: DecodingFailure) {
            self.recordId = recordId
            self.modId = modId
            self.failure = failure
        }
    }
}

/// A record of an answer, decoded if possible.
enum RecordAttempt<R, P> {
    case record(DataAPI.Record<R, P>)
    case unreadable(DataAPI.UnreadableRecord)

    var version: DataAPI.RecordVersion {
        switch self {
        case .record(let record): record.version
        case .unreadable(let record): record.version
        }
    }

    var recordId: Int { version.recordId }
    var record: DataAPI.Record<R, P>? { if case .record(let record) = self { record } else { nil } }
    var unreadable: DataAPI.UnreadableRecord? { if case .unreadable(let record) = self { record } else { nil } }
}

extension RecordAttempt: Sendable where R: Sendable, P: Sendable {}
