import Foundation
import NIOCore
import NIOFoundationCompat
import OpenCombine

extension FMRest.ContainerFile {
    /// The bytes, chunk by chunk, read as the subscriber demands them. Each subscription starts from the beginning.
    func chunks() -> AnyPublisher<ByteBuffer, any Error> {
        switch source {
        case .data(let data):
            Just(ByteBuffer(data: data)).setFailureType(to: (any Error).self).eraseToAnyPublisher()
        case .file(let path, _):
            FileChunks(path: path).eraseToAnyPublisher()
        case .stream(_, _, let make):
            make()
        }
    }
}
