internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// One connection of a `FaultServer`: collects requests, and carries out steps one after the other.
final class FaultServerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    private static let zeros = ByteBuffer(repeating: 0, count: 256 * 1024)

    private let server: FaultServer
    private let options: FaultServer.Options
    private let answer: FaultServer.Answer
    private let wire: WireHandler
    private var decoder: ByteToMessageHandler<HTTPRequestDecoder>
    private var connection = 0
    private var requestCount = 0
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var steps: CircularBuffer<FaultServer.Step> = []
    private var isBusy = false

    init(
        server: FaultServer,
        options: FaultServer.Options,
        wire: WireHandler,
        decoder: ByteToMessageHandler<HTTPRequestDecoder>,
        answer: @escaping FaultServer.Answer
    ) {
        self.server = server
        self.options = options
        self.wire = wire
        self.decoder = decoder
        self.answer = answer
    }

    func channelActive(context: ChannelHandlerContext) {
        server.log.change { log in
            log.accepted += 1
            log.open += 1
            self.connection = log.accepted
        }
        carryOut(options.onAccept(connection), context: context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        steps.removeAll()
        server.log.change { $0.open -= 1 }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = ByteBuffer()
            if options.answersEarly { answerRequest(context: context) }
        case .body(let bytes):
            body.writeImmutableBuffer(bytes)
        case .end:
            if !options.answersEarly { answerRequest(context: context) }
            if head?.method == .CONNECT { listenInTunnel(context: context) }
        }
    }

    /// NIO's parser stops after CONNECT; a new one parses the bytes in the tunnel.
    private func listenInTunnel(context: ChannelHandlerContext) {
        let next = ByteToMessageHandler(HTTPRequestDecoder())
        let pipeline = context.pipeline.syncOperations
        try? pipeline.addHandler(next, position: .after(decoder))
        pipeline.removeHandler(decoder, promise: nil)
        decoder = next
    }

    private func answerRequest(context: ChannelHandlerContext) {
        guard let head else { return }
        requestCount += 1
        let request = FaultServer.Request(
            method: head.method,
            target: head.uri,
            headers: head.headers,
            body: body,
            connection: connection,
            number: requestCount
        )
        if options.remembers { server.log.change { $0.requests.append(request) } }
        carryOut(answer(request), context: context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client has closed its direction. If no steps are left, the server closes too.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, !isBusy { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    // MARK: Steps

    private func carryOut(_ more: [FaultServer.Step], context: ChannelHandlerContext) {
        steps.append(contentsOf: more)
        if !isBusy { next(context: context) }
    }

    private func next(context: ChannelHandlerContext) {
        guard let step = steps.popFirst() else {
            isBusy = false
            return
        }
        isBusy = true
        switch step {
        case .send(let bytes):
            context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            next(context: context)
        case .sendByteByByte(var bytes):
            guard let byte = bytes.readSlice(length: 1) else { return next(context: context) }
            context.writeAndFlush(wrapOutboundOut(byte), promise: nil)
            steps.prepend(.sendByteByByte(bytes))
            later(context: context)
        case .close:
            context.close(promise: nil)
        case .reset:
            // A linger time of 0 discards unsent bytes and closes with RST.
            let provider = context.channel as? any SocketOptionProvider
            _ = provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            wire.close()
        case .closeOutput:
            context.close(mode: .output, promise: nil)
            next(context: context)
        case .wait(let gate):
            let box = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            gate.whenOpen { box.eventLoop.execute { box.value.0.next(context: box.value.1) } }
        case .open(let gate):
            gate.open()
            next(context: context)
        case .startReading:
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
            next(context: context)
        case .sendZeros(0):
            next(context: context)
        case .sendZeros(let count):
            let size = min(count, Self.zeros.readableBytes)
            guard let zeros = Self.zeros.getSlice(at: 0, length: size) else {
                preconditionFailure("the size is never larger than the block")
            }
            let promise = context.eventLoop.makePromise(of: Void.self)
            let box = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            promise.futureResult.whenSuccess {
                let (handler, context) = box.value
                handler.server.log.change { $0.bytesWritten += size }
                handler.steps.prepend(.sendZeros(count - size))
                handler.next(context: context)
            }
            context.writeAndFlush(wrapOutboundOut(zeros), promise: promise)
        }
    }

    private func later(context: ChannelHandlerContext) {
        let box = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute { box.value.0.next(context: box.value.1) }
    }
}

/// The handler next to the socket: closes without a TLS shutdown.
final class WireHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
    func close() { context?.close(promise: nil) }
}
