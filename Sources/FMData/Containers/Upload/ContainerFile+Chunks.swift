import Foundation
import OpenCombine

extension FMRest.ContainerFile {
    /// The bytes, chunk by chunk, read as the subscriber demands them. Each subscription starts from the beginning.
    func chunks() -> AnyPublisher<Data, any Error> {
        switch source {
        case .data(let data): ByteChunks(source: .data(data)).eraseToAnyPublisher()
        case .file(let path, _): ByteChunks(source: .file(path: path)).eraseToAnyPublisher()
        case .stream(_, _, let make): make()
        }
    }

    /// The bytes, and a report on each chunk that was handed down.
    func chunks(reportingTo observer: @escaping DataAPI.ProgressObserver) -> AnyPublisher<Data, any Error> {
        Deferred {
            var progress = DataAPI.TransferProgress(completedBytes: 0, totalBytes: length)
            return chunks().handleEvents(
                receiveSubscription: { _ in observer(progress) },
                receiveOutput: { chunk in
                    progress.completedBytes += chunk.count
                    observer(progress)
                }
            )
        }
        .eraseToAnyPublisher()
    }
}
