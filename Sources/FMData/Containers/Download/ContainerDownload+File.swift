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
            .handedOver(to: isolation, by: server)
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
        subscriber.receive(subscription: Inner(download: self, downstream: AnySubscriber(subscriber)))
    }
}

extension FileDownload {
    private final class Inner: Subscription, Subscriber, @unchecked Sendable {
        typealias Downstream = AnySubscriber<DataAPI.DownloadedFile, FMRest.APIError>
        typealias Input = DataAPI.ContainerPart
        typealias Failure = FMRest.APIError

        private enum State {
            /// → `writing`, with the first demand.
            case ready
            /// → `terminal`
            case writing((any Subscription)?)
            /// Finished, failed or cancelled.
            case terminal
        }

        /// Parts that may wait for the disk.
        private static var window: Subscribers.Demand { .max(4) }

        // `lock` guards `state` and `downstream`; `draft`, `head` and `report` are used on `queue` only: so this class is
        // Sendable.
        private let lock = NIOLock()
        private let queue = DispatchQueue(label: "FMData.FileDownload")
        private let download: FileDownload
        private var downstream: Downstream?
        private var state = State.ready
        private var draft: DraftFile?
        private var head = DataAPI.ContainerHead()
        private let report: ProgressReport

        init(download: FileDownload, downstream: Downstream) {
            self.download = download
            self.downstream = downstream
            report = ProgressReport(download.observer)
        }

        // MARK: From downstream

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            let isFirst = lock.withLock {
                guard case .ready = state else { return false }
                state = .writing(nil)
                return true
            }
            if isFirst { download.parts.subscribe(self) }
        }

        func cancel() {
            _ = end()
        }

        // MARK: From the parts

        func receive(subscription: any Subscription) {
            let isWanted = lock.withLock {
                guard case .writing(nil) = state else { return false }
                state = .writing(subscription)
                return true
            }
            if isWanted { subscription.request(Self.window) } else { subscription.cancel() }
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
            guard case .writing(let subscription?) = lock.withLock({ state }) else { return }
            do {
                switch part {
                case .head(let head):
                    self.head = head
                    draft = try DraftFile(for: download.path)
                case .bytes(let bytes):
                    try draft?.write(bytes)
                }
            } catch {
                return fail(FMRest.APIError(error))
            }
            report.took(part)
            subscription.request(.max(1))
        }

        private func complete(_ completion: Subscribers.Completion<FMRest.APIError>) {
            // A download that was cancelled, or failed on this side, must not bring the file after all.
            guard case .writing = lock.withLock({ state }) else { return }
            switch completion {
            case .failure(let error):
                fail(error)
            case .finished:
                do {
                    try draft?.publish()
                } catch {
                    return fail(FMRest.APIError(error))
                }
                draft = nil
                let file = DataAPI.DownloadedFile(
                    path: download.path,
                    byteCount: report.progress.completedBytes,
                    fileName: head.fileName,
                    mimeType: head.mimeType
                )
                let downstream = end()
                _ = downstream?.receive(file)
                downstream?.receive(completion: .finished)
            }
        }

        private func fail(_ error: FMRest.APIError) {
            draft = nil
            end()?.receive(completion: .failure(error))
        }

        /// Lets go of everything; the draft disappears with the last write.
        private func end() -> Downstream? {
            let (last, downstream) = lock.withLock {
                defer {
                    state = .terminal
                    self.downstream = nil
                }
                return (state, self.downstream)
            }
            if case .writing(let subscription) = last {
                subscription?.cancel()
                queue.async { self.draft = nil }
            }
            return downstream
        }
    }
}
