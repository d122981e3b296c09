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
struct FileDownload: ColdPublisher {
    typealias Output = DataAPI.DownloadedFile
    typealias Failure = FMRest.APIError

    let parts: AnyPublisher<DataAPI.ContainerPart, FMRest.APIError>
    let path: String
    let observer: DataAPI.ProgressObserver?

    /// Used on the queue alone, except for what is constant.
    struct Memory {
        var temporary: TemporaryFile?
        var head = DataAPI.ContainerHead()
        let report: ProgressReport
        let queue = DispatchQueue(label: "FMData.FileDownload")
        let path: String
        /// The subscription of the parts.
        let parts = NIOLockedValueBox<(any Subscription)?>(nil)
    }

    var memory: Memory { Memory(report: ProgressReport(observer), path: path) }

    func begin(_ subscription: ColdSubscription<Self>) {
        parts.subscribe(FileWriting(subscription: subscription, queue: subscription.memory.queue))
    }

    /// Releasing the temporary file deletes it, after the write under way.
    func cancelled(_ subscription: ColdSubscription<Self>) {
        let queue = subscription.memory.queue
        queue.async { FileWriting(subscription: subscription, queue: queue).letGo() }
    }
}

/// The subscriber of the parts.
private struct FileWriting: Subscriber, Sendable {
    typealias Input = DataAPI.ContainerPart
    typealias Failure = FMRest.APIError

    /// The number of parts that may wait for the disk.
    private static var window: Subscribers.Demand { .max(4) }

    let subscription: ColdSubscription<FileDownload>
    let queue: DispatchQueue
    var combineIdentifier: CombineIdentifier { subscription.combineIdentifier }

    // MARK: Calls of the parts' publisher

    func receive(subscription parts: any Subscription) {
        guard subscription.proceed(with: parts) else { return parts.cancel() }
        subscription.memory.parts.withLockedValue { $0 = parts }
        parts.request(Self.window)
    }

    func receive(_ part: DataAPI.ContainerPart) -> Subscribers.Demand {
        queue.async { write(part) }
        return .none
    }

    func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        queue.async { complete(completion) }
    }

    // MARK: On the queue

    private func write(_ part: DataAPI.ContainerPart) {
        guard subscription.isRunning else { return }
        do {
            switch part {
            case .head(let head):
                subscription.memory.head = head
                subscription.memory.temporary = try TemporaryFile(for: subscription.memory.path)
            case .bytes(let bytes):
                try subscription.memory.temporary?.write(bytes)
            }
        } catch {
            return fail(FMRest.APIError(error))
        }
        subscription.memory.report.took(part)
        subscription.memory.parts.withLockedValue(\.self)?.request(.max(1))
    }

    private func complete(_ completion: Subscribers.Completion<FMRest.APIError>) {
        // A download that was cancelled, or failed on this side, must not leave a file.
        guard subscription.isRunning else { return }
        switch completion {
        case .failure(let error):
            fail(error)
        case .finished:
            do {
                try subscription.memory.temporary?.publish()
            } catch {
                return fail(FMRest.APIError(error))
            }
            letGo()
            let memory = subscription.memory
            let file = DataAPI.DownloadedFile(
                path: memory.path,
                byteCount: memory.report.progress.completedBytes,
                fileName: memory.head.fileName,
                mimeType: memory.head.mimeType
            )
            subscription.succeed(with: file)
        }
    }

    func letGo() {
        subscription.memory.temporary = nil
        // Released outside of the lock.
        _ = subscription.memory.parts.withLockedValue { $0.take() }
    }

    private func fail(_ error: FMRest.APIError) {
        letGo()
        subscription.end(cancelling: true)?.receive(completion: .failure(error))
    }
}

/// A new file that replaces another one when it is complete. If it is released before, it is deleted.
final class TemporaryFile {
    private let path: String
    private let temporaryPath: String
    private let handle: FileHandle
    private var isPublished = false

    /// - Parameter path: The final path of the file. The new file begins in the same folder, so both are on one disk.
    init(for path: String) throws(DataAPI.ContainerError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let temporaryPath = folder.appendingPathComponent(".fmdata-\(UUID().uuidString)").path
        // O_EXCL: an existing file or link at that path is never written to.
        let descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        self.path = path
        self.temporaryPath = temporaryPath
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    deinit {
        if !isPublished { unlink(temporaryPath) }
    }

    func write(_ bytes: Data) throws(DataAPI.ContainerError) {
        do {
            try handle.write(contentsOf: bytes)
        } catch {
            throw DataAPI.ContainerError(.unwritable, detail: "The file \(path) cannot be written.")
        }
    }

    /// Moves the file to its final path, once it is stored on the disk.
    func publish() throws(DataAPI.ContainerError) {
        guard fsync(handle.fileDescriptor) == 0, rename(temporaryPath, path) == 0 else {
            throw Self.failure(path, errno)
        }
        isPublished = true
    }

    private static func failure(_ path: String, _ number: Int32) -> DataAPI.ContainerError {
        DataAPI.ContainerError(
            .unwritable,
            detail: "The file \(path) cannot be written: \(String(cString: strerror(number)))."
        )
    }
}
