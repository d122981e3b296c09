import FMHTTP
import NIOConcurrencyHelpers

/// The content of a container that has been found: its head, the request that found it, and the response that holds the
/// body. If it is released before the response was taken, the exchange is cancelled.
final class OpenedContainer: @unchecked Sendable {
    let head: HTTPResponseHead
    let request: ContainerRequest

    // `lock` guards `response`, which makes this class Sendable.
    private let lock = NIOLock()
    private var response: HeldResponse?

    init(head: HTTPResponseHead, request: ContainerRequest, response: HeldResponse) {
        self.head = head
        self.request = request
        self.response = response
    }

    deinit { response?.cancel() }

    func takeResponse() -> HeldResponse? {
        lock.withLock {
            defer { response = nil }
            return response
        }
    }
}
