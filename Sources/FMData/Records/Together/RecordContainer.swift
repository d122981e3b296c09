extension DataAPI {
    /// What became of the container of one record; see
    /// ``FoundSet/containers(_:repetition:upTo:have:isolation:)``.
    public struct RecordContainer<Content> {
        /// The record.
        public var recordId: Int
        /// The record's version *before* the content was fetched: the content is of this version or a later one. Kept with the
        /// content it makes the next run fetch what has changed since, and at worst once more what has not.
        public var modId: Int
        /// The content; `nil` when the container is empty; or why this one cannot be had, although others can: it is the path
        /// of a file (``FMRest/APIError/containerError``), larger than was allowed, or its record is gone by now (FileMaker code
        /// 101).
        public var result: Result<Content?, FMRest.APIError>

        /// The content, if there is one and it came.
        public var content: Content? { try? result.get() }

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(recordId: Int, modId: Int, result: Result<Content?, FMRest.APIError>) {
            self.recordId = recordId
            self.modId = modId
            self.result = result
        }
    }
}

extension DataAPI.RecordContainer: Sendable where Content: Sendable {}
