internal import NIOConcurrencyHelpers
internal import NIOCore

/// An attempt to connect, which can be given up, whatever it is waiting for: a look-up, the network, a handshake.
final class ConnectionAttempt: Sendable {
    private enum State {
        /// One channel per address that is tried. → `abandoned`, or it is over and this is looked at no more.
        case running([any Channel])
        case abandoned(HTTPClientError)
    }

    let eventLoop: any EventLoop
    /// The end of it. Callbacks are added before the attempt begins: a connection may be closed a moment after it was made, and
    /// that must not be heard of first.
    let ready: EventLoopPromise<HTTP1Connection>
    /// How long it may take; `nil` for ever.
    let limit: TimeAmount?
    private let state = NIOLockedValueBox(State.running([]))

    init(on eventLoop: any EventLoop, limit: TimeAmount?) {
        self.eventLoop = eventLoop
        self.limit = limit
        ready = eventLoop.makePromise()
    }

    /// One more channel to close; throws, so that it is closed at once, when the attempt was given up.
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
