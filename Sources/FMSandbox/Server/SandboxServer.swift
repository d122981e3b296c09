import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if Compression
import NIOHTTPCompression
#endif

/// One listening socket on loopback and the connections it accepted.
final class SandboxServer: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: (channel: any Channel, generation: Int)] = [:]
        /// The connections of older generations were dropped.
        var generation = 0
        var isStopped = false
    }

    /// A sandbox is never to be reached from another machine.
    static let address = "127.0.0.1"

    let port: Int
    private let listener: any Channel
    private let tasks: RunningTasks
    private let state: NIOLockedValueBox<State>

    static func start(_ engine: Engine) async throws -> SandboxServer { try await bind(engine).get() }

    static func startAndWait(_ engine: Engine) throws -> SandboxServer { try bind(engine).wait() }

    private static func bind(_ engine: Engine) throws -> EventLoopFuture<SandboxServer> {
        let tls = try engine.certificate?.serverContext()
        let tasks = RunningTasks()
        let state = NIOLockedValueBox(State())
        let requested = engine.configuration.port
        return ServerBootstrap(group: SandboxLoops.group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    engine.withState { $0.counters.connections += 1 }
                    let responder = Responder(engine: engine)
                    guard remember(channel, responder.generation, state) else { throw ChannelError.ioOnClosedChannel }
                    let port = channel.localAddress?.port ?? requested
                    try setUp(channel, responder, tasks, tls, "\(address):\(port)")
                }
            }
            .bind(host: address, port: requested)
            .flatMapErrorThrowing { error in
                throw (error as? IOError).map { Sandbox.PortError(port: requested, $0) } ?? error
            }
            .map { SandboxServer(listener: $0, tasks: tasks, state: state) }
    }

    private init(listener: any Channel, tasks: RunningTasks, state: NIOLockedValueBox<State>) {
        self.listener = listener
        self.tasks = tasks
        self.state = state
        port = listener.localAddress?.port ?? 0
    }

    /// Keeps a connection until it closes; false when the server has been stopped, or has dropped those of its generation.
    private static func remember(_ channel: any Channel, _ generation: Int, _ state: NIOLockedValueBox<State>) -> Bool {
        let id = ObjectIdentifier(channel)
        let isOpen = state.withLockedValue { state in
            guard !state.isStopped, generation >= state.generation else { return false }
            state.connections[id] = (channel, generation)
            return true
        }
        channel.closeFuture.whenComplete { _ in state.withLockedValue { $0.connections[id] = nil } }
        return isOpen
    }

    private static func setUp(
        _ channel: any Channel,
        _ responder: Responder,
        _ tasks: RunningTasks,
        _ tls: NIOSSLContext?,
        _ authority: String
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        try pipeline.configureHTTPServerPipeline()
        #if Compression
        if responder.engine.traits.compression {
            try pipeline.addHandlers([GzipPreference(), makeCompressor()])
        }
        #endif
        try pipeline.addHandler(
            HTTPHandler(responder: responder, tasks: tasks, scheme: tls == nil ? "http" : "https", authority: authority)
        )
    }

    #if Compression
    /// Compresses JSON over 1 KB, as the middleware of the real engine does.
    private static func makeCompressor() -> HTTPResponseCompressor {
        HTTPResponseCompressor(initialByteBufferCapacity: 64 << 10) { head, canCompress in
            let length = head.headers.first(name: "content-length").flatMap(Int.init) ?? 0
            let type = head.headers.first(name: "content-type") ?? ""
            guard canCompress, length >= 1024, type.hasPrefix("application/json") else { return .doNotCompress }
            head.headers.remove(name: "content-length")
            return .compressIfPossible
        }
    }
    #endif

    // MARK: Stopping

    /// Closes the listening socket and all connections, and interrupts requests that wait. It may be called twice.
    func stop() async {
        // Connections first: a request that is interrupted then has nobody to answer to.
        for channel in takeChannels() { try? await channel.close().get() }
        tasks.stop()
    }

    func stopAndWait() {
        for channel in takeChannels() { try? channel.close().wait() }
        tasks.stop()
    }

    private func takeChannels() -> [any Channel] {
        let connections = state.withLockedValue { state in
            state.isStopped = true
            return state.connections.values.map(\.channel)
        }
        return [listener] + connections
    }

    /// Closes the connections of older generations, as a restart of the web server does.
    func dropConnections(before generation: Int) {
        let dropped = state.withLockedValue { state in
            state.generation = generation
            return state.connections.values.filter { $0.generation < generation }
        }
        for (channel, _) in dropped { channel.close(promise: nil) }
    }
}

#if Compression
/// Asks for gzip where a client takes several codings: the compressor would choose by its own order, servers choose gzip.
private final class GzipPreference: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = Self.unwrapInboundIn(data) else {
            context.fireChannelRead(data)
            return
        }
        if head.headers[canonicalForm: "accept-encoding"].contains(where: Self.allowsGzip) {
            head.headers.replaceOrAdd(name: "accept-encoding", value: "gzip")
        }
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    }

    /// `gzip`, or `gzip;q=0.5`, but not `gzip;q=0` (RFC 9110, section 12.5.3).
    private static func allowsGzip(_ coding: Substring) -> Bool {
        let parts = coding.lowercased().split(separator: ";").map { String($0).trimmed }
        guard parts.first == "gzip" else { return false }
        return parts.dropFirst().allSatisfy { !$0.hasPrefix("q=") || Double($0.dropFirst(2)) ?? 0 > 0 }
    }

    typealias InboundOut = HTTPServerRequestPart
}
#endif
