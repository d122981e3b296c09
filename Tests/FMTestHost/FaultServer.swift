internal import NIOConcurrencyHelpers
public import NIOCore
public import NIOHTTP1
internal import NIOPosix
public import NIOSSL

/// A server on loopback that does exactly what a test says, right or wrong: raw bytes, cuts, resets, silence.
///
/// It reads requests with NIO's own parser, so the client's writer is checked by another author, and counts everything
/// the client could leave behind.
///
///     let server = try await FaultServer.start { request in [.send("HTTP/1.1 204 No Content\r\n\r\n")] }
///     defer { server.stop() }
public final class FaultServer: Sendable {
    /// A request as it arrived.
    public struct Request: Sendable {
        public let method: HTTPMethod
        public let target: String
        public let headers: HTTPHeaders
        public let body: ByteBuffer
        /// Connections are numbered from 1 in the order they were accepted.
        public let connection: Int
        /// Requests of one connection are numbered from 1.
        public let number: Int
    }

    /// What the server does next on a connection.
    public enum Step: Sendable {
        case send(ByteBuffer)
        /// Each byte in a write, a packet and an event loop tick of its own.
        case sendByteByByte(ByteBuffer)
        /// FIN, after everything sent.
        case close
        /// RST, as when a process dies.
        case reset
        /// FIN for one direction; the server goes on reading.
        case closeOutput
        /// Goes on with the next step when the gate opens.
        case wait(Gate)
        /// Says that this step was reached.
        case open(Gate)
        /// Begins to read, where `Options.reads` is `false`.
        case startReading
        /// Sends this many zero bytes, as fast as the client takes them and no faster.
        case sendZeros(Int)

        public static func send(_ text: String) -> Step { .send(ByteBuffer(string: text)) }
        public static func sendByteByByte(_ text: String) -> Step { .sendByteByByte(ByteBuffer(string: text)) }
    }

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

    public struct Options: Sendable {
        /// Encrypts; see `TestCertificates`.
        public var tls: NIOSSLContext?
        /// Done at once with each accepted connection, by number.
        public var onAccept: @Sendable (Int) -> [Step]
        /// Answers as soon as the head of a request is there, without waiting for its body.
        public var answersEarly: Bool
        /// Whether to read at all; a server that does not read blocks an upload.
        public var reads: Bool
        /// Where it listens.
        public var address = "127.0.0.1"
        /// Where it works. A measurement gives it a thread of its own.
        public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
        /// Whether to keep `requests`; a long walk does without.
        public var remembers = true
        /// Answers that are sent as they are, at once and without a trace in `requests`, by what a request begins with, as
        /// `GET /a `. No request that has a body may begin so. A client that sends a request before the last one is answered
        /// gets the answers in another order.
        public var ready: [(requestPrefix: String, answer: ByteBuffer)] = []

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

    public static func start(_ options: Options = Options(), _ answer: @escaping Answer) async throws -> FaultServer {
        let box = NIOLockedValueBox<FaultServer?>(nil)
        let bootstrap = ServerBootstrap(group: options.eventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Accepted connections wait until the server knows itself.
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

    /// A server on `::1` keeps the same port of `127.0.0.1` to itself: a test whose server is there would reach this one, since
    /// `localhost` means both, and `::1` is tried first.
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
                // Somebody else has that port of `::1`.
                guard attempts < 100 else { throw error }
            }
        }
    }

    /// Stops listening. Open connections stay as they are.
    public func stop() { channel.close(promise: nil) }

    public func stopped() async throws { try await channel.close().get() }

    public var port: Int { channel.localAddress?.port ?? 0 }
    public var requests: [Request] { log.value.requests }
    /// Connections accepted so far.
    public var acceptedCount: Int { log.value.accepted }
    /// Connections that are open now.
    public var openCount: Int { log.value.open }
    /// Bytes that the system has taken from `sendZeros`.
    public var bytesWritten: Int { log.value.bytesWritten }

    // MARK: Waiting

    public func allConnectionsClosed() async { await log.wait { $0.open == 0 } }
    public func connectionCount(atLeast count: Int) async { await log.wait { $0.accepted >= count } }
    public func requestCount(atLeast count: Int) async { await log.wait { $0.requests.count >= count } }
    public func bytesWritten(atLeast count: Int) async { await log.wait { $0.bytesWritten >= count } }
}
