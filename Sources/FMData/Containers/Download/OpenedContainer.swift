import NIOConcurrencyHelpers

/// The content of a container at the moment when it has been found and begins: its head, and the response that holds the
/// rest. Whoever drops it without taking the response ends the exchange.
final class OpenedContainer: @unchecked Sendable {
    let head: DataAPI.ContainerHead
    /// The limits of the exchange, for the error if one strikes.
    let timeouts: DataAPI.Timeouts

    // `lock` guards `response`, which makes this class Sendable.
    private let lock = NIOLock()
    private var response: HeldResponse?

    init(head: DataAPI.ContainerHead, response: HeldResponse, timeouts: DataAPI.Timeouts) {
        self.head = head
        self.timeouts = timeouts
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
