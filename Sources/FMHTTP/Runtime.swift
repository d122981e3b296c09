package import NIOCore
internal import NIOPosix

/// What a client runs on: event loops, their time, chance, and the network. Whatever the client decides by rests on nothing
/// else, so that a simulation can give it a world of its own. (Threads that only hand values over are not part of it:
/// ``HTTPClientConfiguration/Delivery/background`` has its own.)
package struct Runtime: Sendable {
    /// Where connections live and alarms ring. It is never shut down here.
    package let eventLoopGroup: any EventLoopGroup
    /// Opens the channel of a new connection.
    package var open: ChannelOpener
    /// A number from `0..<1`, drawn anew with each call.
    package var random: @Sendable () -> Double = { .random(in: 0..<1) }

    /// Whose time it is: all loops of a group have the same.
    private let clock: any EventLoop

    /// The machine's own, with these loops.
    package init(
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        open: @escaping ChannelOpener = Runtime.sockets
    ) {
        self.eventLoopGroup = eventLoopGroup
        self.open = open
        clock = eventLoopGroup.any()
    }

    /// The present, in the time by which timeouts are set and alarms ring.
    package var now: NIODeadline { clock.now }
}

/// Looks a host up, connects, and has the channel set up before anything is read. Fails with what the system says, or with
/// `ChannelError.connectTimeout`.
package typealias ChannelOpener = @Sendable (ChannelOpening) -> EventLoopFuture<any Channel>

/// A channel that is wanted.
package struct ChannelOpening: Sendable {
    /// Of the proxy where there is one, else of the origin: a name or an address, one of IPv6 without brackets.
    package let host: String
    /// Of the same.
    package let port: Int
    /// The loop on which the channel is to live.
    package let eventLoop: any EventLoop
    /// How long look-up and connecting may take; `nil` for as long as they take.
    package let limit: TimeAmount?
    /// Asks for the addresses of a name.
    let lookUp: HostResolver.LookUp
    /// Puts the client's handlers into the channel: once, and before it is active.
    package let setUp: @Sendable (any Channel) -> EventLoopFuture<Void>
}

extension Runtime {
    /// TCP, to the first of the host's addresses that answers (RFC 8305).
    package static let sockets: ChannelOpener = { opening in
        ClientBootstrap(group: opening.eventLoop)
            .resolver(HostResolver(eventLoop: opening.eventLoop, lookUp: opening.lookUp))
            .connectTimeout(opening.limit ?? .hours(24))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer(opening.setUp)
            .connect(host: opening.host, port: opening.port)
    }
}
