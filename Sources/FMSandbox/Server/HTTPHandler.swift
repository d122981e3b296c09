import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// One connection: collects a request, has it answered, writes the answer. Confined to its event loop; NIO's pipelining
/// handler sees to it that the next request comes only after the answer to this one.
final class HTTPHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// Between requests.
        case idle
        case receiving(HTTPRequestHead, ByteBuffer)
        /// The request has been refused before all of it was there, and what still comes of it is dropped. To close at once could
        /// take the refusal away from a client that is still sending.
        case discarding
        case answering(HTTPRequestHead)
        case closing
    }

    private let responder: Responder
    private let tasks: RunningTasks
    private let scheme: String
    private let authority: String
    private var state = State.idle
    private var served = 0
    private var idleTimer: Scheduled<Void>?

    private var configuration: Sandbox.Configuration { responder.engine.configuration }

    init(responder: Responder, tasks: RunningTasks, scheme: String, authority: String) {
        self.responder = responder
        self.tasks = tasks
        self.scheme = scheme
        self.authority = authority
    }

    func channelActive(context: ChannelHandlerContext) {
        startIdleTimer(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        idleTimer?.cancel()
        state = .closing
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        configuration.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (Self.unwrapInboundIn(data), state) {
        case (.head(let head), .idle):
            startIdleTimer(context)
            // RFC 9112, section 3.2: exactly one, since HTTP/1.1.
            let hosts = head.headers["host"].count
            guard hosts == 1 || (hosts == 0 && head.version != .http1_1) else {
                return refuse(head, FileMakerError(hosts == 0 ? 1705 : 1708), context)
            }
            let announced = head.headers.first(name: "content-length").flatMap(Int.init) ?? 0
            guard announced <= configuration.maximumBodyBytes else { return refuse(head, Self.bodyIsTooLarge, context) }
            state = .receiving(head, context.channel.allocator.buffer(capacity: 0))
            if head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                let goOn = HTTPResponseHead(version: head.version, status: .continue)
                context.writeAndFlush(Self.wrapOutboundOut(.head(goOn)), promise: nil)
            }
        case (.body(var part), .receiving(let head, var body)):
            startIdleTimer(context)
            guard body.readableBytes + part.readableBytes <= configuration.maximumBodyBytes else {
                return refuse(head, Self.bodyIsTooLarge, context)
            }
            // Both owners are let go first, so that the buffer is appended to and not copied.
            state = .closing
            body.writeBuffer(&part)
            state = .receiving(head, body)
        case (.end, .receiving(let head, let body)):
            idleTimer?.cancel()
            state = .answering(head)
            answer(head, body, context)
        case (.body, .discarding): startIdleTimer(context)
        case (.end, .discarding): context.close(promise: nil)
        case (.head, _), (.body, _), (.end, _):
            break
        }
    }

    private static let bodyIsTooLarge = FileMakerError(1708, message: "Request entity too large", status: 413)

    /// Answers before all of the request is there.
    private func refuse(_ head: HTTPRequestHead, _ error: FileMakerError, _ context: ChannelHandlerContext) {
        state = .discarding
        let refusal = Responder.response(to: error)
        context.write(Self.wrapOutboundOut(.head(responseHead(refusal, closing: true))), promise: nil)
        if head.method != .HEAD {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: refusal.body)))), promise: nil)
        }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func answer(_ head: HTTPRequestHead, _ body: ByteBuffer, _ context: ChannelHandlerContext) {
        let request = SandboxRequest(
            method: head.method.rawValue,
            target: head.uri,
            headers: head.headers.map { ($0.name, $0.value) },
            body: Array(body.readableBytesView),
            origin: origin(of: head.headers)
        )
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let responder = responder
        tasks.run {
            let response = await responder.respond(to: request)
            loop.execute {
                let (handler, context) = bound.value
                handler.answered(request, with: response, context)
            }
        }
    }

    /// Where the client reached the sandbox: through a proxy that says so, where it reached the proxy.
    private func origin(of headers: HTTPHeaders) -> String {
        func forwarded(_ name: String, _ isRight: (String) -> Bool) -> String? {
            // A chain of proxies writes a list; the first is what the client asked for.
            headers[canonicalForm: name].first.map(String.init).flatMap { isRight($0) ? $0 : nil }
        }
        let scheme = forwarded("x-forwarded-proto") { $0 == "http" || $0 == "https" }
        let host = forwarded("x-forwarded-host") { host in
            !host.isEmpty
                && host.utf8.allSatisfy { $0 < 0x80 && (Character(.init($0)).isLetter || Self.hostBytes.contains($0)) }
        }
        return "\(scheme ?? self.scheme)://\(host ?? headers.first(name: "host") ?? authority)"
    }

    /// What a host name, an address or a port is written with besides letters.
    private static let hostBytes = Set("0123456789-._:[]".utf8)

    private static func metadata(of request: SandboxRequest, _ response: SandboxResponse) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "method": "\(request.method)", "path": "\(LoggedPath(request.path))", "status": "\(response.status)",
        ]
        if let code = response.code { metadata["code"] = "\(code)" }
        return metadata
    }

    private func answered(_ request: SandboxRequest, with response: SandboxResponse, _ context: ChannelHandlerContext) {
        configuration.logger.info("request", metadata: Self.metadata(of: request, response))
        // The connection may be gone by now; then there is nobody to tell.
        guard case .answering(let head) = state else { return }
        served += 1
        let isLast = configuration.requestsPerConnection.map { served >= $0 } ?? false
        switch response.delivery {
        case .whole: write(response, for: head, closing: isLast || !head.isKeepAlive, context)
        case .thenClose: write(response, for: head, closing: true, announced: false, context)
        case .cut(let count): write(response, for: head, cutAfter: count, context)
        case .bytes(let bytes):
            let head = responseHead(response, closing: false)
            write(bytes(RawAnswer(head: head, body: response.body)), context)
        }
    }

    /// The first bytes of an answer, or all of them, as they go on the wire: JSON over 1 KB compressed for those who accept
    /// that, as by the middleware of the real engine.
    private func encodedBody(
        of response: SandboxResponse,
        count: Int,
        for head: HTTPRequestHead
    ) -> (bytes: ByteBuffer, coding: ContentCoding?) {
        let bytes = response.body.prefix(count)
        if responder.engine.traits.compression, response.isJSON, response.body.count >= 1024, head.method != .HEAD,
            let coding = ContentCoding.chosen(from: head.headers[canonicalForm: "accept-encoding"]),
            let compressed = coding.compressed(bytes, isWhole: bytes.count == response.body.count)
        {
            return (compressed, coding)
        }
        return (ByteBuffer(bytes: bytes), nil)
    }

    private func responseHead(
        _ response: SandboxResponse,
        coding: ContentCoding? = nil,
        closing: Bool
    ) -> HTTPResponseHead {
        var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
        // The web server in front of the engine.
        headers.add(name: "Server", value: "Apache")
        headers.add(name: "Date", value: responder.engine.httpDate)
        if let coding {
            // The web server sends what it has before it knows the length: compressed answers are chunked, as recorded.
            headers.add(name: "Content-Encoding", value: coding.rawValue)
            headers.add(name: "Transfer-Encoding", value: "chunked")
        } else {
            headers.add(name: "Content-Length", value: String(response.body.count))
        }
        if response.isJSON {
            headers.add(name: "Access-Control-Allow-Origin", value: authority)
        }
        if closing {
            headers.add(name: "Connection", value: "close")
        } else {
            let seconds = responder.engine.traits.keepAlive.components.seconds
            let remaining = configuration.requestsPerConnection.map { $0 - served } ?? 100
            headers.add(name: "Keep-Alive", value: "timeout=\(seconds), max=\(remaining)")
            headers.add(name: "Connection", value: "Keep-Alive")
        }
        return HTTPResponseHead(
            version: .http1_1,
            // A scripted fault may ask for any number; what is no status of a final answer would upset the connection.
            status: HTTPResponseStatus(statusCode: (200...599).contains(response.status) ? response.status : 500),
            headers: headers
        )
    }

    private func write(
        _ response: SandboxResponse,
        for head: HTTPRequestHead,
        closing: Bool,
        announced: Bool = true,
        _ context: ChannelHandlerContext
    ) {
        let (body, coding) = encodedBody(of: response, count: response.body.count, for: head)
        let responseHead = responseHead(response, coding: coding, closing: closing && announced)
        context.write(Self.wrapOutboundOut(.head(responseHead)), promise: nil)
        if body.readableBytes > 0, head.method != .HEAD {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        if closing {
            state = .closing
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            // The end is out when all that was written before it is.
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
        } else {
            // Ready before the answer leaves: the pipelining handler may hand on the next request at once.
            state = .idle
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            // A connection rests when the answer is out: a client may take long to read it.
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenSuccess {
                let (handler, context) = bound.value
                if case .idle = handler.state { handler.startIdleTimer(context) }
            }
        }
    }

    /// Promises the whole body and closes in the middle of it.
    private func write(
        _ response: SandboxResponse,
        for head: HTTPRequestHead,
        cutAfter count: Int,
        _ context: ChannelHandlerContext
    ) {
        state = .closing
        let (part, coding) = encodedBody(of: response, count: count, for: head)
        let responseHead = responseHead(response, coding: coding, closing: false)
        context.write(Self.wrapOutboundOut(.head(responseHead)), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(Self.wrapOutboundOut(.body(.byteBuffer(part)))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }

    /// Sends bytes past the encoder, which would write an answer as it should be, and closes.
    private func write(_ bytes: ArraySlice<UInt8>, _ context: ChannelHandlerContext) {
        state = .closing
        guard let encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self) else {
            return context.close(promise: nil)
        }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        encoder.writeAndFlush(NIOAny(context.channel.allocator.buffer(bytes: bytes))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }

    private func startIdleTimer(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        idleTimer?.cancel()
        idleTimer = context.eventLoop.scheduleTask(in: TimeAmount(responder.engine.traits.keepAlive)) {
            let (handler, context) = bound.value
            // A timer that was cancelled a moment too late must not close a busy connection. A request that stops coming is
            // given up like one that never came.
            switch handler.state {
            case .idle, .receiving, .discarding: context.close(promise: nil)
            case .answering, .closing: break
            }
        }
    }
}

/// A path as it may be logged: the tokens in it left out.
struct LoggedPath: CustomStringConvertible {
    let description: String

    init(_ path: String) {
        // Decoded, as the router sees it: an encoded letter must not let a token through.
        var segments = path.split(separator: "/", omittingEmptySubsequences: false).map {
            PercentCoding.decode($0) ?? "…"
        }
        if let sessions = segments.firstIndex(of: "sessions"), sessions + 1 < segments.count {
            segments[sessions + 1] = "…"
        }
        if let streaming = segments.firstIndex(of: "Streaming_SSL"), streaming + 2 < segments.count {
            segments[streaming + 2] = "…"
        }
        description = segments.joined(separator: "/")
    }
}
