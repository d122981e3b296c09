import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A response as received over a raw connection.
public struct RawResponse: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The headers, names in lower case, in order.
    public var headers: [Header]
    /// The body as received, not decompressed.
    public var body: [UInt8]

    /// One header line.
    public struct Header: Sendable, Equatable {
        /// The name in lower case.
        public var name: String
        /// The value.
        public var value: String
    }

    /// The first value of a header.
    public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// A simple HTTP client: one connection, one request at a time. The sandbox is tested with it and not with the client
/// of this package, so that a mistake in both cannot hide itself.
public struct RawHTTPClient: Sendable {
    /// The connection ended before the response was complete.
    public struct ConnectionClosed: Error, Equatable {
        /// Bytes of the body that had arrived.
        public var received: Int
    }

    private let channel: any Channel
    private let authority: String

    /// Connects; over TLS if a file with a certificate authority is given, and with that server name if there is one.
    public static func connect(
        host: String,
        port: Int,
        certificateAuthority: String? = nil,
        serverName: String? = nil
    ) async throws -> RawHTTPClient {
        let context = try certificateAuthority.map { file in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(file)
            return try NIOSSLContext(configuration: configuration)
        }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context {
                        try pipeline.addHandler(try NIOSSLClientHandler(context: context, serverHostname: serverName))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(ResponseCollector())
                }
            }
            .connect(host: host, port: port).get()
        return RawHTTPClient(channel: channel, authority: "\(host):\(port)")
    }

    /// Sends a request and returns the complete response.
    public func send(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: [UInt8] = []
    ) async throws -> RawResponse {
        var fields = HTTPHeaders([("Host", authority)])
        fields.add(contentsOf: headers)
        if !body.isEmpty || method == "POST" || method == "PATCH" {
            fields.replaceOrAdd(name: "Content-Length", value: String(body.count))
        }
        let head = HTTPRequestHead(
            version: .http1_1,
            method: HTTPMethod(rawValue: method),
            uri: target,
            headers: fields
        )
        let promise = channel.eventLoop.makePromise(of: RawResponse.self)
        // On a connection that is already closed there is no handler to fail the promise.
        channel.closeFuture.whenComplete { _ in promise.fail(ConnectionClosed(received: 0)) }
        channel.write(ResponseCollector.Order(head: head, body: body, promise: promise), promise: nil)
        channel.flush()
        return try await whileWaiting { try await promise.futureResult.get() }
    }

    /// Waits until the server has closed the connection.
    public func closed() async throws { try await whileWaiting { try await channel.closeFuture.get() } }

    /// A test that exceeds its time limit is cancelled. NIO's futures ignore that, but they fail when the connection is
    /// closed.
    private func whileWaiting<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await withTaskCancellationHandler(operation: body) { channel.close(promise: nil) }
    }

    /// Closes the connection.
    public func close() async throws { try await channel.close().get() }
}

/// Sends requests and collects the responses. Confined to the loop of its channel.
private final class ResponseCollector: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Order
    typealias OutboundOut = HTTPClientRequestPart

    struct Order: Sendable {
        var head: HTTPRequestHead
        var body: [UInt8]
        var promise: EventLoopPromise<RawResponse>
    }

    private var promise: EventLoopPromise<RawResponse>?
    private var response = RawResponse(status: 0, headers: [], body: [])

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let order = Self.unwrapOutboundIn(data)
        guard context.channel.isActive else {
            order.promise.fail(RawHTTPClient.ConnectionClosed(received: 0))
            return
        }
        self.promise = order.promise
        context.write(Self.wrapOutboundOut(.head(order.head)), promise: nil)
        if !order.body.isEmpty {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: order.body)))), promise: nil)
        }
        context.write(Self.wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            response = RawResponse(
                status: Int(head.status.code),
                headers: head.headers.map { RawResponse.Header(name: $0.name.lowercased(), value: $0.value) },
                body: []
            )
        case .body(let part): response.body += part.readableBytesView
        case .end:
            promise?.succeed(response)
            promise = nil
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise?.fail(RawHTTPClient.ConnectionClosed(received: response.body.count))
        promise = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A truncated body is treated like any other end of the connection.
        if !(error is HTTPParserError) { promise?.fail(error) }
        if error is HTTPParserError { promise?.fail(RawHTTPClient.ConnectionClosed(received: response.body.count)) }
        promise = nil
        context.close(promise: nil)
    }
}
