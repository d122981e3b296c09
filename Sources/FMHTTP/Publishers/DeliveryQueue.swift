internal import Dispatch
internal import NIOCore

/// Where one subscription's values are delivered.
enum DeliveryQueue: Sendable {
    /// A queue of its own: serial queues never wait for each other's threads, so a subscriber that blocks holds up
    /// nobody else (Dispatch adds a thread), which its global queues do not promise.
    case background(DispatchQueue)
    case eventLoop(any EventLoop)

    func execute(_ deliverer: any Deliverer) {
        switch self {
        case .background(let queue):
            queue.async { deliverer.deliver() }
        case .eventLoop(let eventLoop) where eventLoop.inEventLoop:
            deliverer.deliver()
        case .eventLoop(let eventLoop):
            eventLoop.execute { deliverer.deliver() }
        }
    }
}

/// Something with values to hand over. Called by one thread at a time.
protocol Deliverer: AnyObject, Sendable {
    func deliver()
}
