internal import NIOConcurrencyHelpers
public import NIOCore
public import NIOHTTP1
internal import NIOPosix
public import NIOSSL

/// A server on loopback that sends exactly what a test specifies, right or wrong: raw bytes, cuts, resets, silence.
///
/// It reads requests with NIO's own parser, so the client's writer is checked by independent code, and counts
/// everything that the client could leave behind.
///
///     let server = try await FaultServer.start { request in [.send("HTTP/1.1 204 No Content\r\n\r\n")] }
///     defer { server.stop() }
public final class FaultServer: Sendable {
    /// A request as received.
    public struct Request: Sendable {
        /// The method of the request line.
        public let method: HTTPMethod
        /// The target of the request line, as the client wrote it.
        public let target: String
        /// The headers, in the order in which they were received.
        public let headers: HTTPHeaders
        /// The bytes of the body; empty if the server answers early.
        public let body: ByteBuffer
        /// Connections are numbered from 1 in the order they were accepted.
        public let connection: Int
        /// Requests of one connection are numbered from 1.
        public let number: Int
    }

    /// The next action of the server on a connection.
    public enum Step: Sendable {
        case send(ByteBuffer)
        /// Each byte in a write, a packet and an event loop tick of its own.
        case sendByteByByte(ByteBuffer)
        /// Sends FIN, after everything sent.
        case close
        /// Sends RST, as when a process dies.
        case reset
        /// Sends FIN, closing the server's direction only; the server continues to read.
        case closeOutput
        /// Continues with the next step when the gate opens.
        case wait(Gate)
        /// Opens a gate, to signal that this step was reached.
        case open(Gate)
        /// Starts reading, if `Options.reads` is `false`.
        case startReading
        /// Sends this many zero bytes, as fast as the client takes them and no faster.
        case sendZeros(Int)

        /// Sends a text as UTF-8.
        public static func send(_ text: String) -> Step { .send(ByteBuffer(string: text)) }
        /// Sends a text as UTF-8, each byte in a write of its own.
        public static func sendByteByByte(_ text: String) -> Step { .sendByteByByte(ByteBuffer(string: text)) }
    }

    /// Returns the steps that answer a request.
    public typealias Answer = @Sendable (Request) -> [Step]

    struct Log: Sendable {
        var requests: [Request] = []
        var accepted = 0
        var open = 0
        var bytesWritten = 0
    }

    let log = Watched(Log())
    private let channel: any Channel

    private init(channel: any Channel) { self.channel = channel }

    /// The settings of a server.
    public struct Options: Sendable {
        /// The TLS side, if the server uses TLS; see `TestCertificates`.
        public var tls: NIOSSLContext?
        /// The steps to carry out when a connection is accepted, by its number.
        public var onAccept: @Sendable (Int) -> [Step]
        /// Whether to answer once the head of a request has arrived, without waiting for its body.
        public var answersEarly: Bool
        /// Whether to read at all; a server that does not read blocks an upload.
        public var reads: Bool
        /// The address to listen on.
        public var address = "127.0.0.1"
        /// The loops of the server. A measurement gives it a thread of its own.
        public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
        /// Whether to keep `requests`; long random walks do without.
        public var remembers = true
        /// Prepared answers, sent immediately and not recorded in `requests`, by the beginning of a request, such as
        /// `GET /a `. Requests with a body must not begin like that. A client that pipelines requests may get answers
        /// in another order.
        public var ready: [(requestPrefix: String, answer: ByteBuffer)] = []

        /// Creates settings. By default the server uses no TLS, and answers a request once it is complete.
        public init(
            tls: NIOSSLContext? = nil,
            answersEarly: Bool = false,
            reads: Bool = true,
            onAccept: @escaping @Sendable (Int) -> [Step] = { _ in [] }
        ) {
            self.tls = tls
            self.answersEarly = answersEarly
            self.reads = reads
            self.onAccept = onAccept
        }
    }

    /// Starts a server, which answers every request with the steps that the closure returns.
    public static func start(_ options: Options = Options(), _ answer: @escaping Answer) async throws -> FaultServer {
        let box = NIOLockedValueBox<FaultServer?>(nil)
        let bootstrap = ServerBootstrap(group: options.eventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections are accepted only after `server` below is set.
            .serverChannelOption(.autoRead, value: false)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.autoRead, value: options.reads)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let server = box.withLockedValue({ $0 }) else { return }
                    let pipeline = channel.pipeline.syncOperations
                    let wire = WireHandler()
                    try pipeline.addHandler(wire)
                    if let tls = options.tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    if !options.ready.isEmpty { try pipeline.addHandler(ReadyAnswerHandler(options.ready)) }
                    let decoder = ByteToMessageHandler(HTTPRequestDecoder())
                    try pipeline.addHandler(decoder)
                    let handler = FaultServerHandler(
                        server: server,
                        options: options,
                        wire: wire,
                        decoder: decoder,
                        answer: answer
                    )
                    try pipeline.addHandler(handler)
                }
            }
        let channel = try await bind(bootstrap, options)
        let server = FaultServer(channel: channel)
        box.withLockedValue { $0 = server }
        try await channel.setOption(.autoRead, value: true).get()
        channel.closeFuture.whenComplete { _ in box.withLockedValue { $0 = nil } }
        return server
    }

    /// A server on `::1` also reserves the same port on `127.0.0.1`: otherwise another test's server might use that
    /// port, and its client would reach this server, since `localhost` means both, and `::1` is tried first.
    private static func bind(_ bootstrap: ServerBootstrap, _ options: Options) async throws -> any Channel {
        guard options.address == "::1" else { return try await bootstrap.bind(host: options.address, port: 0).get() }
        var attempts = 0
        while true {
            attempts += 1
            let guardian = try await ServerBootstrap(group: options.eventLoopGroup)
                .serverChannelOption(.autoRead, value: false)
                .bind(host: "127.0.0.1", port: 0)
                .get()
            do {
                let port = guardian.localAddress?.port ?? 0
                let channel = try await bootstrap.bind(host: options.address, port: port).get()
                channel.closeFuture.whenComplete { _ in guardian.close(promise: nil) }
                return channel
            } catch {
                try await guardian.close()
                // Another process uses that port of `::1`.
                guard attempts < 100 else { throw error }
            }
        }
    }

    /// Stops listening. Open connections stay as they are.
    public func stop() { channel.close(promise: nil) }

    /// Stops listening, and returns when the port is closed. Open connections stay as they are.
    public func stopped() async throws { try await channel.close().get() }

    /// The port on which the server listens.
    public var port: Int { channel.localAddress?.port ?? 0 }
    /// The requests received so far; see `Options.remembers` and `Options.ready`.
    public var requests: [Request] { log.value.requests }
    /// Connections accepted so far.
    public var acceptedCount: Int { log.value.accepted }
    /// Connections that are open now.
    public var openCount: Int { log.value.open }
    /// The bytes of `sendZeros` that the system has accepted.
    public var bytesWritten: Int { log.value.bytesWritten }

    // MARK: Waiting

    /// Returns when no connection is open.
    public func allConnectionsClosed() async { await log.wait { $0.open == 0 } }
    /// Returns when at least this many connections were accepted.
    public func connectionCount(atLeast count: Int) async { await log.wait { $0.accepted >= count } }
    /// Returns when at least this many requests were received.
    public func requestCount(atLeast count: Int) async { await log.wait { $0.requests.count >= count } }
    /// Returns when the system has accepted at least this many bytes of `sendZeros`.
    public func bytesWritten(atLeast count: Int) async { await log.wait { $0.bytesWritten >= count } }
}
