import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// One connection: collects a request, passes it to the responder and writes the answer. It runs on its event loop
/// only. NIO's pipelining handler delivers the next request only after the answer to this one.
final class HTTPHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// Between requests.
        case idle
        case receiving(HTTPRequestHead)
        /// The request was refused before it was complete, and the rest of it is ignored. If the connection were closed
        /// at once, a client that is still sending might not receive the refusal.
        case discarding
        case answering(HTTPRequestHead)
        case closing
    }

    private let responder: Responder
    private let tasks: RunningTasks
    private let scheme: String
    private let authority: String
    private var state = State.idle
    /// The body of the request that is received. It is not part of the state: matching a state retains what is in it,
    /// so that each append would copy the whole body.
    private(set) var body = ByteBuffer()
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
            // RFC 9112, section 3.2: exactly one `Host`, since HTTP/1.1.
            let hosts = head.headers["host"].count
            guard hosts == 1 || (hosts == 0 && head.version != .http1_1) else {
                return refuse(head, FileMakerError(hosts == 0 ? 1705 : 1708), context)
            }
            let announced = head.headers.first(name: "content-length").flatMap(Int.init) ?? 0
            guard announced <= configuration.maximumBodyBytes else { return refuse(head, Self.bodyIsTooLarge, context) }
            state = .receiving(head)
            if head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                let goOn = HTTPResponseHead(version: head.version, status: .continue)
                context.writeAndFlush(Self.wrapOutboundOut(.head(goOn)), promise: nil)
            }
        case (.body(var part), .receiving(let head)):
            startIdleTimer(context)
            guard body.readableBytes + part.readableBytes <= configuration.maximumBodyBytes else {
                return refuse(head, Self.bodyIsTooLarge, context)
            }
            body.writeBuffer(&part)
        case (.end, .receiving(let head)):
            idleTimer?.cancel()
            state = .answering(head)
            let received = body
            body = ByteBuffer()
            answer(head, received, context)
        case (.body, .discarding): startIdleTimer(context)
        case (.end, .discarding): context.close(promise: nil)
        case (.head, _), (.body, _), (.end, _):
            break
        }
    }

    private static let bodyIsTooLarge = FileMakerError(1708, message: "Request entity too large", status: 413)

    /// Answers a request before it is complete.
    private func refuse(_ head: HTTPRequestHead, _ error: FileMakerError, _ context: ChannelHandlerContext) {
        state = .discarding
        body = ByteBuffer()
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

    /// The origin under which the client reached the sandbox. A proxy can name its own in `X-Forwarded-…` headers.
    private func origin(of headers: HTTPHeaders) -> String {
        func forwarded(_ name: String, _ isRight: (String) -> Bool) -> String? {
            // A chain of proxies sends a list, whose first entry is the one that the client used.
            headers[canonicalForm: name].first.map(String.init).flatMap { isRight($0) ? $0 : nil }
        }
        let scheme = forwarded("x-forwarded-proto") { $0 == "http" || $0 == "https" }
        let host = forwarded("x-forwarded-host") { host in
            !host.isEmpty
                && host.utf8.allSatisfy { $0 < 0x80 && (Character(.init($0)).isLetter || Self.hostBytes.contains($0)) }
        }
        return "\(scheme ?? self.scheme)://\(host ?? headers.first(name: "host") ?? authority)"
    }

    /// The bytes other than letters in a host name, an address or a port.
    private static let hostBytes = Set("0123456789-._:[]".utf8)

    private static func metadata(of request: SandboxRequest, _ response: SandboxResponse) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "http.method": "\(request.method)", "http.path": "\(LoggedPath(request.path))",
            "http.status": "\(response.status)",
        ]
        if let code = response.code { metadata["fm.code"] = "\(code)" }
        return metadata
    }

    private func answered(_ request: SandboxRequest, with response: SandboxResponse, _ context: ChannelHandlerContext) {
        configuration.logger.info("request", metadata: Self.metadata(of: request, response))
        // The connection may have been closed meanwhile; then the answer is dropped.
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

    /// The first `count` bytes of an answer's body as they are sent. JSON of at least 1 KB is compressed if the client
    /// accepts that, as the real engine's middleware does.
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
        // The web server in front of the engine is Apache.
        headers.add(name: "Server", value: "Apache")
        headers.add(name: "Date", value: responder.engine.httpDate)
        if let coding {
            // The web server starts sending before it knows the length, so compressed answers are chunked, as recorded
            // ones are.
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
            // A scripted fault may have any number; a status that is not a final one would break the connection's
            // state.
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
            // The write of the end completes after everything written before it.
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
        } else {
            // Set the state before the answer is written: the pipelining handler may deliver the next request at once.
            state = .idle
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            // The idle time starts when the answer is sent, because a client may take long to read it.
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenSuccess {
                let (handler, context) = bound.value
                if case .idle = handler.state { handler.startIdleTimer(context) }
            }
        }
    }

    /// Announces the whole body, and closes the connection after `count` bytes of it.
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

    /// Sends bytes without the encoder, which would write a proper answer, and closes the connection.
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
            // A timer that was cancelled too late must not close a busy connection. A request whose data stops coming
            // is treated like an idle connection.
            switch handler.state {
            case .idle, .receiving, .discarding: context.close(promise: nil)
            case .answering, .closing: break
            }
        }
    }
}

/// A path for the log, without the tokens in it.
struct LoggedPath: CustomStringConvertible {
    let description: String

    init(_ path: String) {
        // The path is decoded as in the router; otherwise an encoded letter could hide `sessions`, and the token would
        // be logged.
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
