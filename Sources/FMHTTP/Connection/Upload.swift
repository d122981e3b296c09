internal import NIOConcurrencyHelpers
internal import NIOCore
internal import OpenCombine

/// The source of a request's body. The handler pulls one chunk at a time, on the loop, and receives it by a call.
enum Upload {
    case bytes(BytesUpload)
    case stream(StreamUpload)

    /// `nil` when there is no body.
    init?(_ body: RequestFraming.Body, exchange: Exchange, handler: HTTP1ChannelHandler, eventLoop: any EventLoop) {
        switch body {
        case .none:
            return nil
        case .bytes(let bytes):
            self = .bytes(BytesUpload(bytes, exchange: exchange, handler: handler))
        case .stream(let stream):
            self = .stream(StreamUpload(stream, exchange: exchange, handler: handler, eventLoop: eventLoop))
        }
    }

    func pull() {
        switch self {
        case .bytes(let upload): upload.pull()
        case .stream(let upload): upload.pull()
        }
    }

    func cancel() {
        switch self {
        case .bytes: break
        case .stream(let upload): upload.cancel()
        }
    }
}

/// A body in memory, sent in slices so that progress of a slow server is noticed between them. Confined to the loop.
final class BytesUpload {
    private static let sliceBytes = 64 * 1024

    private var bytes: ByteBuffer
    private let exchange: Exchange
    private unowned let handler: HTTP1ChannelHandler

    init(_ bytes: ByteBuffer, exchange: Exchange, handler: HTTP1ChannelHandler) {
        self.bytes = bytes
        self.exchange = exchange
        self.handler = handler
    }

    func pull() {
        guard let slice = bytes.readSlice(length: min(Self.sliceBytes, bytes.readableBytes)) else { return }
        handler.uploadGave(slice, to: exchange)
    }
}

/// A body from a publisher: each pull requests one value, and each value is passed to the loop.
final class StreamUpload: Subscriber, @unchecked Sendable {
    // Sendable because `state` is read and changed under `lock` only, and the handler is used on its loop only.

    typealias Input = ByteBuffer
    typealias Failure = any Error

    private enum State {
        /// The subscription has not arrived yet; the demand so far.
        case awaitingSubscription(demand: Int)
        case subscribed(any Subscription)
        case ended
    }

    private let eventLoop: any EventLoop
    private let exchange: Exchange
    private let handler: NIOLoopBound<HTTP1ChannelHandler>
    private let lock = NIOLock()
    private var state = State.awaitingSubscription(demand: 0)

    init(_ stream: BodyStream, exchange: Exchange, handler: HTTP1ChannelHandler, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.exchange = exchange
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
        stream.make().subscribe(self)
    }

    func pull() {
        let subscription: (any Subscription)? = lock.withLock {
            switch state {
            case .awaitingSubscription(let demand):
                state = .awaitingSubscription(demand: demand + 1)
                return nil
            case .subscribed(let subscription):
                return subscription
            case .ended:
                return nil
            }
        }
        subscription?.request(.max(1))
    }

    func cancel() {
        let subscription: (any Subscription)? = lock.withLock {
            defer { state = .ended }
            guard case .subscribed(let subscription) = state else { return nil }
            return subscription
        }
        subscription?.cancel()
    }

    func receive(subscription: any Subscription) {
        let demand: Int? = lock.withLock {
            guard case .awaitingSubscription(let demand) = state else { return nil }
            state = .subscribed(subscription)
            return demand
        }
        switch demand {
        case nil: subscription.cancel()
        case 0: break
        case let demand?: subscription.request(.max(demand))
        }
    }

    func receive(_ input: ByteBuffer) -> Subscribers.Demand {
        // Always through `execute`, even on the loop: a chunk published inside `pull` is then handled after the
        // machine's current transition, and chunks and completion keep their order.
        eventLoop.execute { [handler, exchange] in handler.value.uploadGave(input, to: exchange) }
        return .none
    }

    func receive(completion: Subscribers.Completion<any Error>) {
        lock.withLock { state = .ended }
        let error: (any Error)? =
            switch completion {
            case .finished: nil
            case .failure(let error): error
            }
        eventLoop.execute { [handler, exchange] in handler.value.uploadEnded(error, of: exchange) }
    }
}
