import FMHTTP
import NIOConcurrencyHelpers

/// The content of a container that has been found: its head, the request that found it, and the response that holds the
/// body. If it is released before the response was taken, the exchange is cancelled.
final class OpenedContainer: Sendable {
    let head: HTTPResponseHead
    let request: ContainerRequest

    private let response: NIOLockedValueBox<HeldResponse?>

    init(head: HTTPResponseHead, request: ContainerRequest, response: HeldResponse) {
        self.head = head
        self.request = request
        self.response = NIOLockedValueBox(response)
    }

    deinit { takeResponse()?.cancel() }

    func takeResponse() -> HeldResponse? {
        response.withLockedValue { $0.take() }
    }
}
