import Foundation
import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI.ContainerDownload {
    /// Downloads the whole content to a file.
    ///
    /// Publishes its value when the file is complete. The bytes are written to a new file beside `path` while they
    /// arrive; when all have arrived, it replaces any file at `path`, so that there is never an incomplete file. It
    /// needs little memory for any size. A cancelled or failed download leaves no file behind.
    ///
    /// Fails with ``DataAPI/ContainerError/Code/unwritable`` when the folder is missing, full or not writable. The name
    /// in the container is not used for the file, since it may be any text and comes from the user who filled the
    /// container.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - onProgress: Called with the progress of the download.
    public func toFile(
        at path: String,
        onProgress: DataAPI.ProgressObserver? = nil
    ) -> AnyPublisher<DataAPI.DownloadedFile, FMRest.APIError> {
        FileDownload(parts: arrivingParts, path: path, observer: onProgress)
            .delivered(on: isolation, by: database)
    }
}

/// Writes the parts of a download to a file, on a queue of its own, so that a slow disk slows only this transfer.
struct FileDownload: Publisher {
    typealias Output = DataAPI.DownloadedFile
    typealias Failure = FMRest.APIError

    let parts: AnyPublisher<DataAPI.ContainerPart, FMRest.APIError>
    let path: String
    let observer: DataAPI.ProgressObserver?

    func receive<Downstream: Subscriber<DataAPI.DownloadedFile, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }
}

extension FileDownload {
    private final class Inner: ColdSubscription<FileDownload>, Subscriber, @unchecked Sendable {
        // @unchecked: as the superclass; `draft`, `head` and `report` are used on `queue` only.
        typealias Input = DataAPI.ContainerPart
        typealias Failure = FMRest.APIError

        /// The number of parts that may wait for the disk.
        private static var window: Subscribers.Demand { .max(4) }

        private let queue = DispatchQueue(label: "FMData.FileDownload")
        private let path: String
        private var parts: (any Subscription)?
        private var draft: DraftFile?
        private var head = DataAPI.ContainerHead()
        private let report: ProgressReport

        override init(_ source: FileDownload, downstream: Downstream) {
            path = source.path
            report = ProgressReport(source.observer)
            super.init(source, downstream: downstream)
        }

        override func begin(_ source: FileDownload) { source.parts.subscribe(self) }

        /// Releasing the draft deletes it, after the write under way.
        override func cancelled() { queue.async { self.letGo() } }

        // MARK: Calls of the parts' publisher

        func receive(subscription: any Subscription) {
            guard proceed(with: subscription) else { return subscription.cancel() }
            lock.withLock { parts = subscription }
            subscription.request(Self.window)
        }

        func receive(_ part: DataAPI.ContainerPart) -> Subscribers.Demand {
            queue.async { self.write(part) }
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            queue.async { self.complete(completion) }
        }

        // MARK: On the queue

        private func write(_ part: DataAPI.ContainerPart) {
            guard isRunning else { return }
            do {
                switch part {
                case .head(let head):
                    self.head = head
                    draft = try DraftFile(for: path)
                case .bytes(let bytes):
                    try draft?.write(bytes)
                }
            } catch {
                return fail(FMRest.APIError(error))
            }
            report.took(part)
            lock.withLock { parts }?.request(.max(1))
        }

        private func complete(_ completion: Subscribers.Completion<FMRest.APIError>) {
            // A download that was cancelled, or failed on this side, must not leave a file.
            guard isRunning else { return }
            switch completion {
            case .failure(let error):
                fail(error)
            case .finished:
                do {
                    try draft?.publish()
                } catch {
                    return fail(FMRest.APIError(error))
                }
                letGo()
                let file = DataAPI.DownloadedFile(
                    path: path,
                    byteCount: report.progress.completedBytes,
                    fileName: head.fileName,
                    mimeType: head.mimeType
                )
                succeed(with: file)
            }
        }

        private func letGo() {
            draft = nil
            // Released outside of the lock.
            _ = lock.withLock { parts.take() }
        }

        private func fail(_ error: FMRest.APIError) {
            letGo()
            end(cancelling: true)?.receive(completion: .failure(error))
        }
    }
}
