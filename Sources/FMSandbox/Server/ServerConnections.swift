import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOSSL

#if Compression
import NIOHTTPCompression
#endif

/// The connections that a sandbox has accepted, whatever carries them.
final class ServerConnections: Sendable {
    private struct State {
        /// In the order in which they were accepted.
        var open: [(channel: any Channel, generation: Int)] = []
        /// The connections of older generations were dropped.
        var generation = 0
        var isStopped = false
    }

    private let engine: Engine
    private let tls: NIOSSLContext?
    private let tasks: RunningTasks
    private let state = NIOLockedValueBox(State())

    init(of engine: Engine, tasks: RunningTasks = RunningTasks()) throws {
        self.engine = engine
        self.tasks = tasks
        tls = try engine.certificate?.serverContext()
    }

    /// Takes a connection and answers what comes on it; throws when the server has been stopped, or has dropped those of its
    /// generation. Called on the channel's loop.
    ///
    /// - Parameter authority: where the client has reached the sandbox, if it does not say so itself.
    func accept(_ channel: any Channel, authority: String) throws {
        engine.withState { $0.counters.connections += 1 }
        let responder = Responder(engine: engine)
        guard remember(channel, responder.generation) else { throw ChannelError.ioOnClosedChannel }
        try setUp(channel, responder, authority)
    }

    private func remember(_ channel: any Channel, _ generation: Int) -> Bool {
        let isOpen = state.withLockedValue { state in
            guard !state.isStopped, generation >= state.generation else { return false }
            state.open.append((channel, generation))
            return true
        }
        channel.closeFuture.whenComplete { [state] _ in
            state.withLockedValue { $0.open.removeAll { $0.channel === channel } }
        }
        return isOpen
    }

    private func setUp(_ channel: any Channel, _ responder: Responder, _ authority: String) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        try pipeline.configureHTTPServerPipeline()
        #if Compression
        if responder.engine.traits.compression {
            try pipeline.addHandlers([GzipPreference(), Self.makeCompressor()])
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

    /// Takes no more connections, and returns those that are open.
    func take() -> [any Channel] {
        state.withLockedValue { state in
            state.isStopped = true
            return state.open.map(\.channel)
        }
    }

    func interruptRequests() { tasks.stop() }

    /// Closes those of older generations.
    func drop(before generation: Int) {
        let dropped = state.withLockedValue { state in
            state.generation = generation
            return state.open.filter { $0.generation < generation }
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
