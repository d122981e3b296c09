internal import NIOCore

/// A connection as seen from outside its handler: an id and calls that are safe on any thread.
final class HTTP1Connection: Sendable {
    let id: ConnectionID
    let eventLoop: any EventLoop
    private let handler: NIOLoopBound<HTTP1ChannelHandler>

    /// Called on the loop.
    init(id: ConnectionID, eventLoop: any EventLoop, handler: HTTP1ChannelHandler) {
        self.id = id
        self.eventLoop = eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
    }

    func run(_ exchange: Exchange) {
        onLoop { $0.run(exchange, on: self) }
    }

    /// Stops the exchange if it is still the running one.
    func cancel(_ exchange: Exchange) {
        onLoop { $0.cancel(exchange) }
    }

    func resumeReading(_ exchange: Exchange) {
        onLoop { $0.resumeReading(exchange) }
    }

    /// Closes the connection, even if an exchange is running.
    func close() {
        onLoop { $0.close() }
    }

    private func onLoop(_ body: @escaping @Sendable (HTTP1ChannelHandler) -> Void) {
        if eventLoop.inEventLoop {
            body(handler.value)
        } else {
            eventLoop.execute { [handler] in body(handler.value) }
        }
    }
}
