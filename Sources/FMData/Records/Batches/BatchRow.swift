extension DataAPI {
    /// The result of one row of a batch.
    public struct BatchRow: Sendable {
        /// The row's place in the input, counted from 0.
        public var index: Int
        /// The value of the row's key field, or the id of its record. `nil` for a record that is created without a key.
        public var key: String?
        /// The result of the write.
        public var result: WriteResult
        /// Whether an earlier run of the same journal has settled the row: this run sent nothing for it.
        public var isFromJournal: Bool

        /// Makes a value for tests and doubles; see the properties for its parts.
        public init(index: Int, key: String? = nil, result: WriteResult, isFromJournal: Bool = false) {
            self.index = index
            self.key = key
            self.result = result
            self.isFromJournal = isFromJournal
        }
    }
}

extension DataAPI.BatchRow {
    /// Whether the host has what was to be written.
    public var isDone: Bool { result.isDone }

    /// The record that was created or edited, if it is known.
    public var recordId: Int? { result.recordId }

    /// Why the row failed, or why its outcome is unknown.
    public var error: FMRest.APIError? { result.error }
}

extension DataAPI.BatchRow: CustomStringConvertible, CustomReflectable {
    /// The row's index and result, without any field value: the key is left out.
    public var description: String { "row \(index): \(result)" + (isFromJournal ? ", by the journal" : "") }

    /// Children for a dump, without any field value.
    public var customMirror: Mirror { Mirror(self, children: ["index": index, "result": result]) }
}
