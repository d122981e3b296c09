extension DataAPI {
    /// The container content of one record, or why it could not be fetched; see
    /// ``RecordSource/containers(_:repetition:upTo:skipping:concurrency:onProgress:isolation:)``.
    public struct RecordContainer<Content> {
        /// The record.
        public var recordId: Int
        /// The record's version *before* the content was fetched: the content is of this version or a later one. Store
        /// it with the content: the next run then fetches what has changed since, and at worst some unchanged contents
        /// again.
        public var modId: Int
        /// The content, or `nil` for an empty container; or the error when this content could not be fetched, although
        /// others can be: the field holds the path of a file (``FMRest/APIError/containerError``), the content is
        /// larger than allowed, or the record was deleted meanwhile (FileMaker code 101).
        public var result: Result<Content?, FMRest.APIError>
        /// The progress of the whole set up to this record.
        public var progress: ContainersProgress

        /// The content, if there is one and it was fetched.
        public var content: Content? { try? result.get() }

        /// Creates a value, for tests and doubles; see the properties for its parts.
        public init(
            recordId: Int,
            modId: Int,
            result: Result<Content?, FMRest.APIError>,
            progress: ContainersProgress = ContainersProgress()
        ) {
            self.recordId = recordId
            self.modId = modId
            self.result = result
            self.progress = progress
        }
    }

    /// The progress of fetching many containers.
    ///
    ///     for try await photo in people.containers(.photo).values {
    ///         bar.show(photo.progress.fraction)
    ///     }
    public struct ContainersProgress: Hashable, Sendable {
        /// Records so far, including those that the caller has already. All records before are done too, since values
        /// come in the order of the found set.
        public var completedRecords: Int
        /// Records in all, as the server counted them at the beginning. The actual number may differ if records are
        /// inserted or deleted meanwhile. `nil` when the server does not count, as FileMaker Server 17.
        public var totalRecords: Int?
        /// Bytes of the contents so far. No server reports how many there will be.
        public var completedBytes: Int

        /// Creates progress; `totalRecords` is `nil` while it is unknown.
        public init(completedRecords: Int = 0, totalRecords: Int? = nil, completedBytes: Int = 0) {
            self.completedRecords = completedRecords
            self.totalRecords = totalRecords
            self.completedBytes = completedBytes
        }

        /// The fraction of the records that is done, from 0 to 1; `nil` while the total is unknown.
        public var fraction: Double? {
            guard let totalRecords else { return nil }
            return totalRecords > 0 ? min(1, Double(completedRecords) / Double(totalRecords)) : 1
        }
    }
}

extension DataAPI.RecordContainer: Sendable where Content: Sendable {}
