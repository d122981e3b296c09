import Foundation
import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI.ContainerDownload {
    /// The whole content in a file.
    ///
    /// Publishes one value when the file is there, then finishes. The bytes go to a new file beside `path` while they
    /// arrive, and it takes the place of whatever is at `path` when all of them have: nobody ever sees half a file. Little
    /// memory is needed whatever the size. Nothing is sent before demand; each subscription is one download; cancelling
    /// ends it on the wire. Cancelled or failed, it leaves nothing behind.
    ///
    /// Fails with ``DataAPI/ContainerError/Code/unwritable`` when the folder is missing, full or closed to this program.
    /// The name in the container is not used for the file: it may be anything, and it comes from whoever filled it.
    ///
    /// - Parameters:
    ///   - path: Where the file shall be.
    ///   - onProgress: Is told how far the download has come.
    public func toFile(
        at path: String,
        onProgress: DataAPI.ProgressObserver? = nil
    ) -> AnyPublisher<DataAPI.DownloadedFile, FMRest.APIError> {
        FileDownload(parts: arrivingParts, path: path, observer: onProgress)
            .handedOver(to: isolation, by: database)
    }
}

/// Writes the parts of a download to a file, on a queue of the subscription's own: a slow disk slows the server and holds
/// up nobody else.
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

        /// Parts that may wait for the disk.
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

        /// The draft disappears with the last write.
        override func cancelled() { queue.async { self.letGo() } }

        // MARK: From the parts

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
            // A download that was cancelled, or failed on this side, must not bring the file after all.
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
            // Destroyed outside of the lock.
            _ = lock.withLock { parts.take() }
        }

        private func fail(_ error: FMRest.APIError) {
            letGo()
            end(cancelling: true)?.receive(completion: .failure(error))
        }
    }
}
