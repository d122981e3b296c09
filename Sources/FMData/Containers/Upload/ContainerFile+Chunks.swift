import Foundation
import OpenCombine

extension FMRest.ContainerFile {
    /// The number of bytes of a chunk.
    static let chunkLength = 64 * 1024

    /// The bytes, chunk by chunk, read on demand. Each subscription starts from the beginning.
    func chunks() -> AnyPublisher<Data, any Error> {
        switch source {
        case .data(let data):
            data.chunks(of: Self.chunkLength).setFailureType(to: (any Error).self).eraseToAnyPublisher()
        case .file(let path, _): FileChunks(path: path).eraseToAnyPublisher()
        case .stream(_, _, let make): make()
        }
    }

    /// The same, with a report of each chunk that was delivered.
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

extension Data {
    /// The bytes in slices, one per unit of demand, on the thread that asks for them.
    fileprivate func chunks(of length: Int) -> some Publisher<Data, Never> {
        stride(from: startIndex, to: endIndex, by: length).lazy
            .map { start in self[start..<Swift.min(start + length, endIndex)] }
            .publisher
    }
}
