public import FMDataCore
import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI.RecordSource {
    /// The contents of a container field of all records, in memory.
    ///
    ///     photos.find { $0(.kind) == "portrait" }
    ///         .containers(.photo, skipping: { record in known[record.id] == record.modId })
    ///         .sink(…, receiveValue: { photo in
    ///             keep(photo.content, for: photo.recordId, version: photo.modId)
    ///         })
    ///
    /// Publishes one value for each record that the caller does not have, in their order. Empty
    /// containers, and contents that cannot be fetched, are values, too (``DataAPI/RecordContainer``). Each value has
    /// the progress of the whole (``DataAPI/RecordContainer/progress``). Records that the caller has cost no more than
    /// their part of a page. Contents are fetched only on demand; those being fetched at the same time are in memory.
    /// Each takes two or three requests, since a container's URL expires:
    /// ``DataAPI/Layout/downloadContainer(fieldName:recordId:repetition:isolation:)``.
    ///
    /// Fails with errors that concern all records: no session, no connection, a field that is not on the layout. The
    /// records are read page by page, as by ``all(_:pageSize:isolation:)``: a record that is added meanwhile may be
    /// missed; the next run finds it.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - field: a container field.
    ///   - repetition: which repetition of the field, counted from 1. The default is the first.
    ///   - maximumBytes: the most bytes of one content. The default is 16 MB.
    ///   - isKnown: whether the caller has the record's content in this version. The default is that it has none.
    ///   - concurrency: how many contents are fetched at a time, each in a session of its own. `nil`, the default,
    ///     means 4; it is never more than the maximum number of sessions.
    ///   - onProgress: called with the progress of the whole, including bytes of unfinished contents, whenever bytes
    ///     have arrived. Calls are made one after the other, from any of the threads that receive bytes.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Work with container data".
    public func containers(
        _ field: R.CodingKeys,
        repetition: Int = 1,
        upTo maximumBytes: Int = 16 << 20,
        skipping isKnown: @escaping @Sendable (DataAPI.TypedLayout<R>.Record) -> Bool = { _ in false },
        concurrency: Int? = nil,
        onProgress: (@Sendable (DataAPI.ContainersProgress) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordContainer<DataAPI.ContainerContent>, FMRest.APIError> {
        allRecords.containers(field, repetition, isKnown, concurrency, onProgress, size: \.data.count) {
            _,
            download,
            observer in
            download.toMemory(upTo: maximumBytes, onProgress: observer)
        }
        .delivered(on: isolation, by: database)
    }

    /// The contents of a container field of all records, in files.
    ///
    ///     photos.find { $0(.kind) == "portrait" }
    ///         .containers(.photo, toFiles: { "/srv/photos/\($0.id).jpg" }, skipping: { known[$0.id] == $0.modId })
    ///
    /// A file appears at its path only when it is complete, as in ``DataAPI/ContainerDownload/toFile(at:onProgress:)``;
    /// a file that cannot be written makes the publisher fail. For an empty container an existing file is left as it
    /// is. Little memory is needed, whatever the sizes. Otherwise it works like
    /// ``containers(_:repetition:upTo:skipping:concurrency:onProgress:isolation:)``.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - field: a container field.
    ///   - repetition: which repetition of the field, counted from 1. The default is the first.
    ///   - path: the path of a record's file. Each record needs its own path. Be careful when deriving it from a
    ///     field's value: the author of that value then chooses the path.
    ///   - isKnown: whether the caller has the record's content in this version. The default is that it has none.
    ///   - concurrency: how many contents are fetched at a time, each in a session of its own. `nil`, the default,
    ///     means 4; it is never more than the maximum number of sessions.
    ///   - onProgress: called with the progress of the whole, including bytes of unfinished contents, whenever bytes
    ///     have arrived. Calls are made one after the other, from any of the threads that receive bytes.
    ///   - isolation: where the values arrive; leave it out.
    public func containers(
        _ field: R.CodingKeys,
        repetition: Int = 1,
        toFiles path: @escaping @Sendable (DataAPI.TypedLayout<R>.Record) -> String,
        skipping isKnown: @escaping @Sendable (DataAPI.TypedLayout<R>.Record) -> Bool = { _ in false },
        concurrency: Int? = nil,
        onProgress: (@Sendable (DataAPI.ContainersProgress) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordContainer<DataAPI.DownloadedFile>, FMRest.APIError> {
        allRecords.containers(field, repetition, isKnown, concurrency, onProgress, size: \.byteCount) {
            record,
            download,
            observer in
            download.toFile(at: path(record), onProgress: observer)
        }
        .delivered(on: isolation, by: database)
    }
}

extension DataAPI.FoundSet {
    fileprivate typealias Fetch<Content> = (
        DataAPI.TypedLayout<R>.Record, DataAPI.ContainerDownload, DataAPI.ProgressObserver?
    ) -> AnyPublisher<Content, FMRest.APIError>

    fileprivate func containers<Content>(
        _ field: R.CodingKeys,
        _ repetition: Int,
        _ isKnown: @escaping (DataAPI.TypedLayout<R>.Record) -> Bool,
        _ concurrency: Int?,
        _ onProgress: (@Sendable (DataAPI.ContainersProgress) -> Void)?,
        size: @escaping (Content) -> Int,
        _ fetch: @escaping Fetch<Content>
    ) -> some Publisher<DataAPI.RecordContainer<Content>, FMRest.APIError> {
        Deferred {
            var bytes = 0
            let meter = onProgress.map { ContainersMeter(observer: $0) }
            return contents(field, repetition, skipping: isKnown, concurrency) { record, download in
                fetch(record, download, meter?.observer(of: record.recordId))
            }
            .map { container in
                var container = container
                bytes += container.content.map(size) ?? 0
                container.progress.completedBytes = bytes
                meter?.isDone(container.recordId, container.progress)
                return container
            }
        }
    }

    /// The contents, without the number of bytes in their progress.
    private func contents<Content>(
        _ field: R.CodingKeys,
        _ repetition: Int,
        skipping isKnown: @escaping (DataAPI.TypedLayout<R>.Record) -> Bool,
        _ concurrency: Int?,
        _ fetch:
            @escaping (DataAPI.TypedLayout<R>.Record, DataAPI.ContainerDownload)
            -> AnyPublisher<Content, FMRest.APIError>
    ) -> AnyPublisher<DataAPI.RecordContainer<Content>, FMRest.APIError> {
        database.asOneAccount { accountPeriod in
            let found = bound(to: accountPeriod)
            let layout = found.layout.layout
            return found.pages(.offset, pageSize: 100)
                .orderedMap(concurrency: 1) { page in .of(page.places.filter { !isKnown($0.item) }) }
                .orderedMap(concurrency: layout.database.concurrentCalls(concurrency)) { record, progress in
                    fetch(
                        record,
                        layout.downloadContainer(
                            fieldName: field.stringValue,
                            recordId: record.recordId,
                            repetition: repetition,
                            isolation: .insideACall
                        )
                    )
                    .map { .success($0) }
                    .afterFailure { error, _ in error.asContainerResult().publisher }
                    .map { result in
                        [
                            DataAPI.RecordContainer(
                                recordId: record.recordId,
                                modId: record.modId,
                                result: result,
                                progress: progress
                            )
                        ]
                    }
                    .eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
    }
}

/// Counts the bytes of many containers that have arrived, including those of unfinished ones. One thread calls the
/// observer at a time; other threads leave their bytes to it, and it then reports the latest progress.
private final class ContainersMeter: Sendable {
    private struct State {
        /// The bytes of each container that is being fetched, or was fetched but not published yet.
        var arriving: [Int: Int] = [:]
        var progress = DataAPI.ContainersProgress()
        var isNews = false
        var teller = SoleWorker()

        mutating func news() -> DataAPI.ContainersProgress? {
            guard isNews else {
                teller.stop()
                return nil
            }
            isNews = false
            var progress = progress
            progress.completedBytes += arriving.values.reduce(0, +)
            return progress
        }
    }

    private let state = NIOLockedValueBox(State())
    private let observer: @Sendable (DataAPI.ContainersProgress) -> Void

    init(observer: @escaping @Sendable (DataAPI.ContainersProgress) -> Void) { self.observer = observer }

    func observer(of recordId: Int) -> DataAPI.ProgressObserver {
        { [self] progress in change { $0.arriving[recordId] = progress.completedBytes } }
    }

    /// A container was published.
    func isDone(_ recordId: Int, _ progress: DataAPI.ContainersProgress) {
        change { state in
            state.arriving[recordId] = nil
            state.progress = progress
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let tells = state.withLockedValue { state in
            body(&state)
            state.isNews = true
            return state.teller.start()
        }
        guard tells else { return }
        while let progress = state.withLockedValue({ $0.news() }) { observer(progress) }
    }
}

extension ItemPage {
    /// The items of the page, each with the progress of the whole up to it.
    fileprivate var places: [(item: Item, progress: DataAPI.ContainersProgress)] {
        let before = progress.delivered - items.count
        return items.enumerated().map { index, item in
            let progress = DataAPI.ContainersProgress(
                completedRecords: before + index + 1,
                totalRecords: progress.total
            )
            return (item, progress)
        }
    }
}

extension FMRest.APIError {
    /// The failure of a download as the result of one container, or as the failure of all when it concerns all.
    fileprivate func asContainerResult<Content>() -> Result<Result<Content?, FMRest.APIError>, FMRest.APIError> {
        if fileMakerCode == .recordMissing || code == .responseTooLarge { return .success(.failure(self)) }
        guard let reason = containerError?.code else { return .failure(self) }
        switch reason {
        case .empty: return .success(.success(nil))
        // The next container would fail in the same way.
        case .fieldMissing, .unwritable: return .failure(self)
        default: return .success(.failure(self))
        }
    }
}

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
