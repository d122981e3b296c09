import FMHTTP
import NIOConcurrencyHelpers

/// The content of a container at the moment when it has been found and begins: its head, the request that found it, and the
/// response that holds the rest. Whoever drops it without taking the response ends the exchange.
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
