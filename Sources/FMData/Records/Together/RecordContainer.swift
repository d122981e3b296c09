extension DataAPI {
    /// What became of the container of one record; see
    /// ``FoundSet/containers(_:repetition:upTo:have:concurrency:onProgress:isolation:)``.
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
        /// How far the whole set has come with this one.
        public var progress: ContainersProgress

        /// The content, if there is one and it came.
        public var content: Content? { try? result.get() }

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

    /// How far the fetching of many containers has come.
    ///
    ///     for try await photo in people.containers(.photo).values {
    ///         bar.show(photo.progress.fraction)
    ///     }
    public struct ContainersProgress: Hashable, Sendable {
        /// Records so far, those included that the caller has already. All before them are done, too: values come in the order of
        /// the found set.
        public var completedRecords: Int
        /// Records in all, as the server counted them at the beginning. More or fewer may come when others insert and delete
        /// meanwhile. `nil` when the server does not count, as FileMaker Server 17.
        public var totalRecords: Int?
        /// Bytes of the contents so far. How many there will be no server tells.
        public var completedBytes: Int

        /// Progress; `totalRecords` is `nil` while it is not known.
        public init(completedRecords: Int = 0, totalRecords: Int? = nil, completedBytes: Int = 0) {
            self.completedRecords = completedRecords
            self.totalRecords = totalRecords
            self.completedBytes = completedBytes
        }

        /// The part of the records that is done, from 0 to 1; `nil` while the whole is not known.
        public var fraction: Double? {
            guard let totalRecords else { return nil }
            return totalRecords > 0 ? min(1, Double(completedRecords) / Double(totalRecords)) : 1
        }
    }
}

extension DataAPI.RecordContainer: Sendable where Content: Sendable {}
