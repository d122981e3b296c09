extension DataAPI {
    /// What became of one row of a batch.
    public struct BatchRow: Sendable {
        /// The row's place in the input, counted from 0.
        public var index: Int
        /// What the row is known by: the value of its key field, or the id of its record. `nil` for a record that is made
        /// without a key.
        public var key: String?
        /// What became of it.
        public var result: WriteResult
        /// Whether an earlier run of the same journal has dealt with it: nothing was sent in this one.
        public var isFromJournal: Bool

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(index: Int, key: String? = nil, result: WriteResult, isFromJournal: Bool = false) {
            self.index = index
            self.key = key
            self.result = result
            self.isFromJournal = isFromJournal
        }
    }
}

extension DataAPI.BatchRow {
    /// Whether the server has what the row said.
    public var isDone: Bool { result.isDone }

    /// The record that was created or edited, as far as it is known.
    public var recordId: Int? { result.recordId }

    /// Why it failed, or why nobody knows.
    public var error: FMRest.APIError? { result.error }
}

extension DataAPI.BatchRow: CustomStringConvertible, CustomReflectable {
    /// Place and result, in a few words that hold no field value: the key is left out.
    public var description: String { "row \(index): \(result)" + (isFromJournal ? ", by the journal" : "") }

    /// What a dump may show: no field value.
    public var customMirror: Mirror { Mirror(self, children: ["index": index, "result": result]) }
}
