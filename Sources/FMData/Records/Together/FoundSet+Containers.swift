import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI.FoundSet {
    /// The contents of a container field of all these records, in memory.
    ///
    ///     photos.find { $0(.kind) == "portrait" }
    ///         .containers(.photo, have: { record in known[record.id] == record.modId })
    ///         .sink(…, receiveValue: { photo in
    ///             keep(photo.content, for: photo.recordId, version: photo.modId)
    ///         })
    ///
    /// Publishes one value for each record that the caller does not have, in the order of the found set, then finishes; an
    /// empty container and one that cannot be had are values, too (``DataAPI/RecordContainer``). Each says how far the whole has
    /// come: ``DataAPI/RecordContainer/progress``. Records that the caller has cost their part of a page and no more. Nothing is
    /// sent before demand, and no content is fetched that is not asked for. Those that are fetched at a time are in memory. Each is
    /// two requests or three, since a container's URL goes stale:
    /// ``DataAPI/Layout/downloadContainer(fieldName:recordId:repetition:isolation:)``. Cancelling ends all of them on the wire.
    ///
    /// Fails with what concerns all: no session, no connection, a field that is not on the layout. The records are read page
    /// after page, as ``all(_:pageSize:isolation:)`` reads them: one that comes meanwhile may be missed by this run, and the next
    /// run finds it.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - field: a container field.
    ///   - repetition: which repetition of the field, counted from 1. The default is the first.
    ///   - maximumBytes: the most bytes of one content. The default is 16 MB.
    ///   - isKnown: whether the caller has the record's content in this version. The default is that it has none.
    ///   - concurrency: how many are fetched at a time, each in a session of its own. `nil`, the default, is 4, or as many as there
    ///     may be sessions where that is less; more than those it is never.
    ///   - onProgress: is told how far the whole has come, bytes on the way included, whenever some have arrived: one call after
    ///     the other, from any of the threads that bring them.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Work with container data".
    public func containers(
        _ field: R.CodingKeys,
        repetition: Int = 1,
        upTo maximumBytes: Int = 16 << 20,
        have isKnown: @escaping @Sendable (DataAPI.TypedLayout<R>.Record) -> Bool = { _ in false },
        concurrency: Int? = nil,
        onProgress: (@Sendable (DataAPI.ContainersProgress) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordContainer<DataAPI.ContainerContent>, FMRest.APIError> {
        containers(field, repetition, isKnown, concurrency, onProgress, size: \.data.count) { _, download, observer in
            download.toMemory(upTo: maximumBytes, onProgress: observer)
        }
        .handedOver(to: isolation, by: layout.layout.database)
    }

    /// The contents of a container field of all these records, in files.
    ///
    ///     photos.find { $0(.kind) == "portrait" }
    ///         .containers(.photo, toFiles: { "/srv/photos/\($0.id).jpg" }, have: { known[$0.id] == $0.modId })
    ///
    /// A file takes its place when it is there as a whole, as in ``DataAPI/ContainerDownload/toFile(at:onProgress:)``; one that
    /// cannot be written ends all. An empty container leaves the place as it is. Little memory is needed whatever the sizes. In
    /// all else it is ``containers(_:repetition:upTo:have:concurrency:onProgress:isolation:)``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - field: a container field.
    ///   - repetition: which repetition of the field, counted from 1. The default is the first.
    ///   - path: where the file of a record shall be. Each record needs a place of its own. Think before making it of a
    ///     field's value: whoever filled the field chooses the place then.
    ///   - isKnown: whether the caller has the record's content in this version. The default is that it has none.
    ///   - concurrency: how many are fetched at a time, each in a session of its own. `nil`, the default, is 4, or as many as there
    ///     may be sessions where that is less; more than those it is never.
    ///   - onProgress: is told how far the whole has come, bytes on the way included, whenever some have arrived: one call after
    ///     the other, from any of the threads that bring them.
    ///   - isolation: where the values arrive; leave it out.
    public func containers(
        _ field: R.CodingKeys,
        repetition: Int = 1,
        toFiles path: @escaping @Sendable (DataAPI.TypedLayout<R>.Record) -> String,
        have isKnown: @escaping @Sendable (DataAPI.TypedLayout<R>.Record) -> Bool = { _ in false },
        concurrency: Int? = nil,
        onProgress: (@Sendable (DataAPI.ContainersProgress) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordContainer<DataAPI.DownloadedFile>, FMRest.APIError> {
        containers(field, repetition, isKnown, concurrency, onProgress, size: \.byteCount) {
            record,
            download,
            observer in
            download.toFile(at: path(record), onProgress: observer)
        }
        .handedOver(to: isolation, by: layout.layout.database)
    }

    private typealias Fetch<Content> = (
        DataAPI.TypedLayout<R>.Record, DataAPI.ContainerDownload, DataAPI.ProgressObserver?
    ) -> AnyPublisher<Content, FMRest.APIError>

    private func containers<Content>(
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
            return contents(field, repetition, have: isKnown, concurrency) { record, download in
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

    /// The contents, which do not know how many bytes there were before them.
    private func contents<Content>(
        _ field: R.CodingKeys,
        _ repetition: Int,
        have isKnown: @escaping (DataAPI.TypedLayout<R>.Record) -> Bool,
        _ concurrency: Int?,
        _ fetch:
            @escaping (DataAPI.TypedLayout<R>.Record, DataAPI.ContainerDownload)
            -> AnyPublisher<Content, FMRest.APIError>
    ) -> AnyPublisher<DataAPI.RecordContainer<Content>, FMRest.APIError> {
        layout.layout.database.asOneAccount { tenure in
            let found = bound(to: tenure)
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
                            isolation: nil
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

/// How many bytes of many containers have arrived, those on the way included. It tells from one thread at a time: who comes
/// while another one tells leaves it to that one, which then tells the latest.
private final class ContainersMeter: Sendable {
    private struct State {
        /// Of each container that is on its way, or has arrived and was not published yet.
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
    /// What is on the page, each with how far the whole has come with it.
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
    /// What the failure of a download says of one container; the failure itself when it is one of all.
    fileprivate func asContainerResult<Content>() -> Result<Result<Content?, FMRest.APIError>, FMRest.APIError> {
        if fileMakerCode == .recordMissing || code == .responseTooLarge { return .success(.failure(self)) }
        guard let reason = containerError?.code else { return .failure(self) }
        switch reason {
        case .empty: return .success(.success(nil))
        // The next one would end the same way.
        case .fieldMissing, .unwritable: return .failure(self)
        default: return .success(.failure(self))
        }
    }
}

extension DataAPI.TypedLayout {
    /// The contents of a container field of all records, in memory; see
    /// ``DataAPI/FoundSet/containers(_:repetition:upTo:have:concurrency:onProgress:isolation:)``.
    public func containers(
        _ field: R.CodingKeys,
        repetition: Int = 1,
        upTo maximumBytes: Int = 16 << 20,
        have isKnown: @escaping @Sendable (Record) -> Bool = { _ in false },
        concurrency: Int? = nil,
        onProgress: (@Sendable (DataAPI.ContainersProgress) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordContainer<DataAPI.ContainerContent>, FMRest.APIError> {
        allRecords.containers(
            field,
            repetition: repetition,
            upTo: maximumBytes,
            have: isKnown,
            concurrency: concurrency,
            onProgress: onProgress,
            isolation: isolation
        )
    }

    /// The contents of a container field of all records, in files; see
    /// ``DataAPI/FoundSet/containers(_:repetition:toFiles:have:concurrency:onProgress:isolation:)``.
    public func containers(
        _ field: R.CodingKeys,
        repetition: Int = 1,
        toFiles path: @escaping @Sendable (Record) -> String,
        have isKnown: @escaping @Sendable (Record) -> Bool = { _ in false },
        concurrency: Int? = nil,
        onProgress: (@Sendable (DataAPI.ContainersProgress) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordContainer<DataAPI.DownloadedFile>, FMRest.APIError> {
        allRecords.containers(
            field,
            repetition: repetition,
            toFiles: path,
            have: isKnown,
            concurrency: concurrency,
            onProgress: onProgress,
            isolation: isolation
        )
    }
}
