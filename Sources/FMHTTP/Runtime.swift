package import NIOCore
internal import NIOPosix

/// The environment of a client: event loops, their clock, randomness, and the network. The client's decisions depend on
/// nothing else, so a simulation can replace it all. (Threads that only deliver values are not part of it:
/// ``HTTPClientConfiguration/Delivery/background`` has its own.)
package struct Runtime: Sendable {
    /// The event loops that run connections and timers. The client never shuts them down.
    package let eventLoopGroup: any EventLoopGroup
    /// Opens the channel of a new connection.
    package var open: ChannelOpener
    /// Returns a random number from `0..<1`.
    package var random: @Sendable () -> Double = { .random(in: 0..<1) }

    /// The clock: all loops of a group share one time.
    private let clock: any EventLoop

    /// The real environment, with these event loops.
    package init(
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        open: @escaping ChannelOpener = Runtime.sockets
    ) {
        self.eventLoopGroup = eventLoopGroup
        self.open = open
        clock = eventLoopGroup.any()
    }

    /// The current time, on the clock of timeouts and timers.
    package var now: NIODeadline { clock.now }
}

/// Looks a host up, connects, and has the channel set up before anything is read. Fails with the system's error, or
/// with `ChannelError.connectTimeout`.
package typealias ChannelOpener = @Sendable (ChannelOpening) -> EventLoopFuture<any Channel>

/// The description of a channel to open.
package struct ChannelOpening: Sendable {
    /// The host of the proxy if there is one, else of the origin: a name or an address, IPv6 without brackets.
    package let host: String
    /// The port of the same.
    package let port: Int
    /// The loop on which the channel will run.
    package let eventLoop: any EventLoop
    /// The time limit of look-up and TCP together; `nil` for none.
    package let limit: TimeAmount?
    /// Looks the addresses of a name up.
    let lookUp: HostResolver.LookUp
    /// Adds the client's handlers to the channel. Called once, before the channel is active.
    package let setUp: @Sendable (any Channel) -> EventLoopFuture<Void>
}

extension Runtime {
    /// Connects by TCP to the first of the host's addresses that answers (RFC 8305).
    package static let sockets: ChannelOpener = { opening in
        ClientBootstrap(group: opening.eventLoop)
            .resolver(HostResolver(eventLoop: opening.eventLoop, lookUp: opening.lookUp))
            .connectTimeout(opening.limit ?? .hours(24))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer(opening.setUp)
            .connect(host: opening.host, port: opening.port)
    }
}
