import NIOCore
import NIOHTTP1

/// One connection of a receiver: checks each request by its head, collects the body of an authenticated one, answers,
/// and only then passes the delivery to the receiver. Confined to its event loop; NIO's pipelining handler passes the
/// next request only after the answer.
final class WebhookHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// Between requests.
        case idle
        case receiving(HTTPRequestHead)
        /// The request was rejected, and the rest of it is dropped. Closing at once could destroy the answer before a
        /// server that is still sending reads it.
        case discarding
        case closing
    }

    /// The body, as far as it is kept.
    private struct Body {
        var bytes = ByteBuffer()
        /// Whether the body exceeded the limit; then no byte of it is kept.
        var isTooLong = false
    }

    private let receiver: WebhookReceiver
    private var state = State.idle
    /// The body of the request that is received. It is not part of the state: matching a state retains what is in it,
    /// so that each append would copy the whole body.
    private var body = Body()
    private var timer: Scheduled<Void>?

    init(receiver: WebhookReceiver) {
        self.receiver = receiver
    }

    /// Adds the handlers of a connection to its pipeline.
    static func add(to pipeline: ChannelPipeline.SynchronousOperations, for receiver: WebhookReceiver) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderListSize = receiver.configuration.maximumHeadBytes
        limits.maxHeaderFieldSize = receiver.configuration.maximumHeadBytes
        try pipeline.addHandlers([
            HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)),
            HTTPServerPipelineHandler(),
            WebhookHandler(receiver: receiver),
        ])
    }

    func channelActive(context: ChannelHandlerContext) {
        startTimer(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        state = .closing
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        state = .closing
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (Self.unwrapInboundIn(data), state) {
        case (.head(let head), .idle): received(head, context)
        case (.body(var part), .receiving):
            if body.bytes.readableBytes + part.readableBytes > receiver.configuration.maximumBodyBytes {
                body = Body(isTooLong: true)
            } else if !body.isTooLong {
                body.bytes.writeBuffer(&part)
            }
        case (.end, .receiving(let head)):
            let received = body
            body = Body()
            accept(head, received, context)
        case (.end, .discarding): context.close(promise: nil)
        case (.head, _), (.body, _), (.end, _): break
        }
    }

    private func received(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let status = receiver.decoder.status(
            method: head.method.rawValue,
            path: head.uri,
            headers: head.headers.map { (name: $0.name, value: $0.value) }
        )
        guard status == 200 else {
            state = .discarding
            receiver.refused(status: status)
            _ = answer(status, to: head, isLast: true, context)
            return
        }
        receiver.provedItself(context.channel)
        state = .receiving(head)
        if head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" }) {
            let goOn = HTTPResponseHead(version: head.version, status: .continue)
            context.writeAndFlush(Self.wrapOutboundOut(.head(goOn)), promise: nil)
        }
    }

    private func accept(_ head: HTTPRequestHead, _ body: Body, _ context: ChannelHandlerContext) {
        // Set before the answer is written: the pipelining handler may pass the next request at once.
        state = head.isKeepAlive ? .idle : .closing
        startTimer(context)
        let isLast = !head.isKeepAlive
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        answer(200, to: head, isLast: isLast, context).whenComplete { _ in
            if isLast { bound.value.close(promise: nil) }
        }
        receiver.answered(
            path: head.uri,
            headers: head.headers.map { (name: $0.name, value: $0.value) },
            body: body.isTooLong ? nil : Array(body.bytes.readableBytesView)
        )
    }

    private func answer(
        _ status: Int,
        to head: HTTPRequestHead,
        isLast: Bool,
        _ context: ChannelHandlerContext
    ) -> EventLoopFuture<Void> {
        var headers: HTTPHeaders = ["Content-Length": "0"]
        if isLast { headers.add(name: "Connection", value: "close") }
        let response = HTTPResponseHead(
            version: head.version,
            status: HTTPResponseStatus(statusCode: status),
            headers: headers
        )
        context.write(Self.wrapOutboundOut(.head(response)), promise: nil)
        return context.writeAndFlush(Self.wrapOutboundOut(.end(nil)))
    }

    /// Starts the time limit of the next request.
    private func startTimer(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        timer?.cancel()
        timer = context.eventLoop.scheduleTask(in: TimeAmount(receiver.configuration.requestTimeout)) {
            bound.value.close(promise: nil)
        }
    }
}
