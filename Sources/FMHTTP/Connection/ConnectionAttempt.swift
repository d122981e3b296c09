internal import NIOConcurrencyHelpers
internal import NIOCore

/// An attempt to connect. It can be abandoned at any step: look-up, TCP or handshake.
final class ConnectionAttempt: Sendable {
    private enum State {
        /// The channels opened so far, one per address that is tried. → `abandoned`, or the attempt ends and the state
        /// is no longer read.
        case running([any Channel])
        case abandoned(HTTPClientError)
    }

    let eventLoop: any EventLoop
    /// Completes when the attempt ends. Callbacks are added before the attempt begins: the new connection may be closed
    /// at once, and the pool must learn of its success before it learns of its close.
    let ready: EventLoopPromise<HTTP1Connection>
    /// How long the attempt may take; `nil` for no limit.
    let limit: TimeAmount?
    private let state = NIOLockedValueBox(State.running([]))

    init(on eventLoop: any EventLoop, limit: TimeAmount?) {
        self.eventLoop = eventLoop
        self.limit = limit
        ready = eventLoop.makePromise()
    }

    /// Registers a channel of the attempt, to be closed with it. Throws if the attempt was abandoned, so that the
    /// channel is closed at once.
    func add(_ channel: any Channel) throws {
        try state.withLockedValue { state in
            switch state {
            case .running(let channels): state = .running(channels + [channel])
            case .abandoned(let error): throw error
            }
        }
    }

    func abandon(_ error: HTTPClientError) {
        let last = state.withLockedValue { state in
            defer { state = .abandoned(error) }
            return state
        }
        guard case .running(let channels) = last else { return }
        ready.fail(error)
        for channel in channels { channel.close(promise: nil) }
    }
}
