import Foundation
public import OpenCombine

extension DataAPI.ContainerDownload {
    /// Downloads the whole content to memory.
    ///
    /// Fails with ``FMRest/APIError/Code/responseTooLarge`` as soon as more than `maximumBytes` are announced or
    /// received.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - maximumBytes: The largest number of bytes to accept. The default is 256 MB.
    ///   - onProgress: Called with the progress of the download.
    public func toMemory(
        upTo maximumBytes: Int = 256 << 20,
        onProgress: DataAPI.ProgressObserver? = nil
    ) -> AnyPublisher<DataAPI.ContainerContent, FMRest.APIError> {
        OnDemandPublisher {
            arrivingParts.tryReduce(Collector(maximumBytes: maximumBytes, onProgress: onProgress)) { collector, part in
                try collector.take(part)
                return collector
            }
            .map { $0.content }
            .mapError(FMRest.APIError.init(wrapping:))
            .eraseToAnyPublisher()
        }
        .delivered(on: isolation, by: database)
    }
}

/// Collects the parts of one download.
private final class Collector {
    /// The most memory that is reserved for an announced length before the bytes arrive.
    private static var maximumReservation: Int { 4 << 20 }

    private let maximumBytes: Int
    private let report: ProgressReport
    private var head = DataAPI.ContainerHead()
    private var data = Data()

    init(maximumBytes: Int, onProgress: DataAPI.ProgressObserver?) {
        self.maximumBytes = maximumBytes
        report = ProgressReport(onProgress)
    }

    func take(_ part: DataAPI.ContainerPart) throws(FMRest.APIError) {
        switch part {
        case .head(let head):
            try check(head.byteCount ?? 0)
            self.head = head
            data.reserveCapacity(min(head.byteCount ?? 0, Self.maximumReservation))
        case .bytes(let bytes):
            try check(data.count + bytes.count)
            data.append(bytes)
        }
        report.took(part)
    }

    private func check(_ byteCount: Int) throws(FMRest.APIError) {
        guard byteCount <= maximumBytes else {
            throw FMRest.APIError(
                .responseTooLarge,
                reason: "The container holds more than \(maximumBytes) bytes.",
                hint: "Allow more with toMemory(upTo:), or use toFile(at:)."
            )
        }
    }

    var content: DataAPI.ContainerContent {
        DataAPI.ContainerContent(data: data, fileName: head.fileName, mimeType: head.mimeType)
    }
}

/// Counts the bytes of one download and calls the observer. Used by one thread at a time.
final class ProgressReport {
    private let observer: DataAPI.ProgressObserver?
    private(set) var progress = DataAPI.TransferProgress(completedBytes: 0, totalBytes: nil)

    init(_ observer: DataAPI.ProgressObserver?) {
        self.observer = observer
    }

    func took(_ part: DataAPI.ContainerPart) {
        switch part {
        case .head(let head): progress.totalBytes = head.byteCount
        case .bytes(let bytes): progress.completedBytes += bytes.count
        }
        observer?(progress)
    }
}
