import Foundation
import NIOCore
import NIOFoundationCompat
public import OpenCombine

extension DataAPI.ContainerDownload {
    /// The whole content in memory.
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one download; cancelling
    /// ends it on the wire. Fails with ``FMRest/APIError/Code/responseTooLarge`` as soon as more than `maximumBytes` are
    /// announced or seen.
    ///
    /// - Parameters:
    ///   - maximumBytes: The most bytes to take. The default is 256 MB.
    ///   - onProgress: Is told how far the download has come.
    public func toMemory(
        upTo maximumBytes: Int = 256 << 20,
        onProgress: DataAPI.ProgressObserver? = nil
    ) -> AnyPublisher<DataAPI.ContainerContent, FMRest.APIError> {
        Deferred {
            parts(upTo: maximumBytes).reduce(Collector(onProgress: onProgress)) { collector, part in
                collector.take(part)
                return collector
            }
        }
        .map { $0.content }
        .eraseToAnyPublisher()
    }
}

/// Keeps the parts of one download.
private final class Collector {
    /// A server's word is not enough to set aside more than this before the bytes arrive.
    private static var maximumReservation: Int { 4 << 20 }

    private let report: ProgressReport
    private var head = DataAPI.ContainerHead()
    private var data = Data()

    init(onProgress: DataAPI.ProgressObserver?) {
        report = ProgressReport(onProgress)
    }

    func take(_ part: DataAPI.ContainerPart) {
        switch part {
        case .head(let head):
            self.head = head
            data.reserveCapacity(min(head.byteCount ?? 0, Self.maximumReservation))
        case .bytes(let bytes):
            bytes.withUnsafeReadableBytes { data.append(contentsOf: $0) }
        }
        report.took(part)
    }

    var content: DataAPI.ContainerContent {
        DataAPI.ContainerContent(data: data, fileName: head.fileName, mimeType: head.mimeType)
    }
}

/// Counts the parts of one download for whoever watches. Used by one thread at a time.
final class ProgressReport {
    private let observer: DataAPI.ProgressObserver?
    private(set) var progress = DataAPI.TransferProgress(completedBytes: 0, totalBytes: nil)

    init(_ observer: DataAPI.ProgressObserver?) {
        self.observer = observer
    }

    func took(_ part: DataAPI.ContainerPart) {
        switch part {
        case .head(let head): progress.totalBytes = head.byteCount
        case .bytes(let bytes): progress.completedBytes += bytes.readableBytes
        }
        observer?(progress)
    }
}
