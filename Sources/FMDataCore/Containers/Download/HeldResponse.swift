import FMHTTP
import NIOCore
import OpenCombine

/// One HTTP exchange whose body stays unread until its head has been checked. Then the body is passed on under the
/// receiver's demand, or dropped.
final class HeldResponse: ResponseReceiver, Sendable {
    typealias Input = HTTPResponsePart
    typealias Failure = HTTPClientError

    /// Receives the body. Called by one thread at a time.
    protocol BodyReceiver: AnyObject, Sendable {
        func receive(_ bytes: ByteBuffer) -> Subscribers.Demand
        func bodyEnded(_ completion: Subscribers.Completion<any Error>)
    }

    private enum State {
        /// → `awaitingHead`, `over`
        case new
        /// → `held`, `over`
        case awaitingHead((any Subscription)?)
        /// The completion is set if the exchange has ended already (an empty body, or a failure).
        /// → `passing`, `dropping`, `over`
        case held(any Subscription, Subscribers.Completion<any Error>?)
        /// → `over`
        case passing(any Subscription, to: any BodyReceiver)
        /// → `over`
        case dropping(any Subscription, remaining: Int, then: @Sendable () -> Void)
        case over
    }

    /// A dropped body is read up to this size, to keep the connection open. For a longer one the connection is closed.
    private static let maximumDroppedBytes = 64 * 1024

    typealias Report = @Sendable (Result<HTTPResponseHead, any Error>) -> Void

    private struct Exchange {
        var state = State.new
        var report: Report?

        mutating func hold() -> Report? {
            guard case .awaitingHead(let subscription?) = state else { return nil }
            state = .held(subscription, nil)
            return report.take()
        }
    }

    private let exchange: Guarded<Exchange>

    /// `report` is called once, unless the exchange is cancelled before.
    init(report: @escaping Report) {
        exchange = Guarded(Exchange(report: report))
    }

    /// Sends the request, unless it was cancelled before.
    func start(_ request: ContainerRequest, _ http: HTTPRequest) {
        let isNew = exchange.withLock { exchange in
            guard case .new = exchange.state else { return false }
            exchange.state = .awaitingHead(nil)
            return true
        }
        guard isNew else { return }
        do { try request.send(http, to: self) } catch { ended(error) }
    }

    /// Passes the body on. No bytes arrive before the receiver asks for them, but the completion may arrive at once.
    func pass(to receiver: any BodyReceiver) {
        let completion: Subscribers.Completion<any Error>? = exchange.withLock { exchange in
            guard case .held(let subscription, let completion) = exchange.state else { return nil }
            exchange.state = completion == nil ? .passing(subscription, to: receiver) : .over
            return completion
        }
        if let completion { receiver.bodyEnded(completion) }
    }

    func request(_ demand: Subscribers.Demand) {
        let subscription: (any Subscription)? = exchange.withLock { exchange in
            if case .passing(let subscription, _) = exchange.state { return subscription } else { return nil }
        }
        subscription?.request(demand)
    }

    /// Reads and discards the body, or closes the connection if the body is long, and then calls `next`.
    func drop(then next: @escaping @Sendable () -> Void) {
        let (subscription, isOver): ((any Subscription)?, Bool) = exchange.withLock { exchange in
            guard case .held(let subscription, let completion) = exchange.state else { return (nil, false) }
            guard completion == nil else {
                exchange.state = .over
                return (nil, true)
            }
            exchange.state = .dropping(subscription, remaining: Self.maximumDroppedBytes, then: next)
            return (subscription, false)
        }
        subscription?.request(.max(1))
        if isOver { next() }
    }

    func cancel() {
        let (last, report) = exchange.withLock { exchange in
            defer { exchange.state = .over }
            return (exchange.state, exchange.report.take())
        }
        switch last {
        case .awaitingHead(let subscription): subscription?.cancel()
        case .held(let subscription, _), .passing(let subscription, _), .dropping(let subscription, _, _):
            subscription.cancel()
        case .new, .over: break
        }
        withExtendedLifetime(report) {}
    }

    // MARK: From the client

    func receive(subscription: any Subscription) {
        let isWanted = exchange.withLock { exchange in
            guard case .awaitingHead(nil) = exchange.state else { return false }
            exchange.state = .awaitingHead(subscription)
            return true
        }
        if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
    }

    func receive(_ part: HTTPResponsePart) -> Subscribers.Demand {
        switch part {
        case .head(let head):
            let report = exchange.withLock { $0.hold() }
            report?(.success(head))
            return .none
        case .body(let bytes):
            return receive(bytes)
        }
    }

    private func receive(_ bytes: ByteBuffer) -> Subscribers.Demand {
        enum Action {
            case pass(any BodyReceiver)
            case drop
            case giveUp(any Subscription, then: @Sendable () -> Void)
            case none
        }
        let action: Action = exchange.withLock { exchange in
            switch exchange.state {
            case .passing(_, let receiver):
                return .pass(receiver)
            case .dropping(let subscription, let remaining, let next) where bytes.readableBytes > remaining:
                exchange.state = .over
                return .giveUp(subscription, then: next)
            case .dropping(let subscription, let remaining, let next):
                exchange.state = .dropping(subscription, remaining: remaining - bytes.readableBytes, then: next)
                return .drop
            case .new, .awaitingHead, .held, .over:
                return .none
            }
        }
        switch action {
        case .pass(let receiver): return receiver.receive(bytes)
        case .drop: return .max(1)
        case .giveUp(let subscription, let next):
            subscription.cancel()
            next()
            return .none
        case .none: return .none
        }
    }

    func ended(_ error: (any Error)?) {
        let completion: Subscribers.Completion<any Error> = error.map { .failure($0) } ?? .finished
        let last = exchange.withLock { exchange in
            defer {
                if case .held(let subscription, _) = exchange.state {
                    exchange.state = .held(subscription, completion)
                } else {
                    exchange.state = .over
                }
            }
            return exchange.state
        }
        switch last {
        case .awaitingHead:
            // Instead of a head, only a failure can come.
            if case .failure(let error) = completion { exchange.withLock { $0.report.take() }?(.failure(error)) }
        case .passing(_, let receiver): receiver.bodyEnded(completion)
        case .dropping(_, _, let next): next()
        case .new, .held, .over: break
        }
    }
}
