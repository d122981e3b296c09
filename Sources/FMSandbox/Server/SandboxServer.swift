import NIOCore
import NIOPosix

/// One listening socket on loopback and the connections it accepted.
final class SandboxServer: Sendable {
    /// A loopback address: a sandbox cannot be reached from another machine.
    static let address = "127.0.0.1"

    let port: Int
    private let listener: any Channel
    private let connections: ServerConnections

    static func start(_ engine: Engine) async throws -> SandboxServer { try await bind(engine).get() }

    static func startAndWait(_ engine: Engine) throws -> SandboxServer { try bind(engine).wait() }

    private static func bind(_ engine: Engine) throws -> EventLoopFuture<SandboxServer> {
        let connections = try ServerConnections(of: engine)
        let requested = engine.configuration.port
        return ServerBootstrap(group: SandboxLoops.group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let port = channel.localAddress?.port ?? requested
                    try connections.accept(channel, authority: "\(address):\(port)")
                }
            }
            .bind(host: address, port: requested)
            .flatMapErrorThrowing { error in
                throw (error as? IOError).map { Sandbox.PortError(port: requested, $0) } ?? error
            }
            .map { SandboxServer(listener: $0, connections: connections) }
    }

    private init(listener: any Channel, connections: ServerConnections) {
        self.listener = listener
        self.connections = connections
        port = listener.localAddress?.port ?? 0
    }

    /// Closes the listening socket and all connections, and cancels requests that wait. It may be called twice.
    func stop() async {
        // Close the connections first, so that a cancelled request sends no answer.
        for channel in [listener] + connections.take() { try? await channel.close().get() }
        connections.interruptRequests()
    }

    func stopAndWait() {
        for channel in [listener] + connections.take() { try? channel.close().wait() }
        connections.interruptRequests()
    }

    /// Closes the connections of older generations, as a restart of the web server does.
    func dropConnections(before generation: Int) { connections.drop(before: generation) }
}
