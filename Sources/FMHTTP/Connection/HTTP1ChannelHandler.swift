internal import NIOCore
internal import NIOHTTP1

/// The NIO side of one connection: it passes bytes and channel events to the state machines and carries out their
/// actions. Confined to its loop.
final class HTTP1ChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let id: ConnectionID
    private let pool: ConnectionPool
    /// `nil` when bodies are not decompressed.
    private let maximumInflationRatio: Int?
    /// Closes an encrypted connection; `nil` for plain HTTP.
    var closer: AbruptCloseHandler?
    private var context: ChannelHandlerContext?
    private var machine = ConnectionStateMachine()
    private var parser: ResponseParser
    private var timeouts = TimeoutStateMachine()
    private var timer: Scheduled<Void>?
    private var running: Running?
    /// The last error that the channel reported: the reason for a close that follows.
    private var closeReason: String?

    /// The state of the running exchange; dropped when the exchange ends.
    private final class Running {
        let exchange: Exchange
        let connection: HTTP1Connection
        let sink: any ResponseSink
        var upload: Upload?
        /// Decompresses the response; `nil` if it is not compressed.
        var inflater: Inflater?
        var figures = ExchangeFigures()

        init(_ exchange: Exchange, on connection: HTTP1Connection, sink: any ResponseSink) {
            self.exchange = exchange
            self.connection = connection
            self.sink = sink
        }
    }

    init(
        id: ConnectionID,
        pool: ConnectionPool,
        limits: ResponseParser.Limits,
        maximumInflationRatio: Int?
    ) {
        self.id = id
        self.pool = pool
        self.maximumInflationRatio = maximumInflationRatio
        parser = ResponseParser(limits: limits)
    }

    // MARK: Calls from the connection

    func run(_ exchange: Exchange, on connection: HTTP1Connection) {
        guard let sink = exchange.begin(on: connection) else {
            pool.returned(connection, lifetime: machine.lifetime)
            return
        }
        if !exchange.isSafeToRepeat, machine.servedCount > 0, context?.channel.isClosedByPeer == true {
            // The server has closed the connection, but the loop has not read that yet. A request sent now would be
            // lost, and its outcome would be unknown.
            close()
            return exchange.foundConnectionClosed(HTTPClientError(.connectionClosed, .notSent, origin: pool.origin))
        }
        let framing = exchange.framing
        let start = machine.start(
            bodyLength: framing.bodyLength,
            maximumBodyBytes: exchange.limits.maximumBodyBytes,
            closesAfterwards: framing.closesConnection
        )
        guard start == .send, let context else {
            exchange.failed(HTTPClientError(.connectionClosed, .notSent, origin: pool.origin))
            return
        }
        running = Running(exchange, on: connection, sink: sink)
        if let upload = Upload(framing.body, exchange: exchange, handler: self, eventLoop: context.eventLoop) {
            // Making the stream runs user code, which may have cancelled the exchange.
            guard let running, running.exchange === exchange else { return upload.cancel() }
            running.upload = upload
        }
        parser.begin(method: framing.method)
        context.writeAndFlush(wrapOutboundOut(framing.head), promise: nil)
        if machine.becameWritable() { running?.upload?.pull() }
        progressed()
    }

    func cancel(_ exchange: Exchange) {
        guard running?.exchange === exchange else { return }
        abandon(nil)
    }

    func resumeReading(_ exchange: Exchange) {
        guard running?.exchange === exchange, machine.demanded() else { return }
        progressed()
        context?.read()
    }

    func close() {
        if running != nil {
            abandon(HTTPClientError(.shutdown, machine.outcome, origin: pool.origin))
        } else {
            machine.abandon()
            context?.close(promise: nil)
        }
    }

    // MARK: Body of the request

    func uploadGave(_ chunk: ByteBuffer, to exchange: Exchange) {
        guard running?.exchange === exchange, let context else { return }
        switch machine.chunkOffered(count: chunk.readableBytes, isWritable: context.channel.isWritable) {
        case .writeAndPull:
            context.writeAndFlush(wrapOutboundOut(chunk), promise: nil)
            progressed()
            running?.upload?.pull()
        case .write, .writeLast:
            context.writeAndFlush(wrapOutboundOut(chunk), promise: nil)
            progressed()
        case .fail(let failure):
            abandon(failure)
        case .ignore:
            break
        }
    }

    func uploadEnded(_ error: (any Error)?, of exchange: Exchange) {
        guard running?.exchange === exchange else { return }
        if let error {
            // The text of a foreign error may contain anything, such as secrets, so only its type is shown.
            let detail = String(describing: type(of: error))
            abandon(HTTPClientError(.bodyFailed, machine.outcome, origin: pool.origin, detail: detail))
        } else if let failure = machine.sourceEnded() {
            abandon(failure)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, machine.becameWritable() {
            progressed()
            running?.upload?.pull()
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: Response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parser.append(unwrapInboundIn(data))
        guard running != nil else {
            // Bytes without a request. They could be taken for the answer to the next one, so close.
            if !parser.isIdle || parser.hasLeftover { close() }
            return
        }
        parse()
    }

    private func parse() {
        let exchange = running?.exchange
        // A subscriber may cancel when it receives a part; then no further part is read for it.
        while let running, running.exchange === exchange {
            do throws(ResponseParser.Problem) {
                guard let event = try parser.next() else { return }
                handle(event, running)
            } catch {
                abandon(HTTPClientError(parsing: error, outcome: machine.outcome, origin: pool.origin))
            }
        }
    }

    private func handle(_ event: ResponseParser.Event, _ running: Running) {
        switch event {
        case .informational:
            break
        case .head(let head, let persistence, let bodyLength):
            // Reported for the first exchange only: the pool remembers it.
            if machine.servedCount == 0 { pool.answered() }
            if let failure = machine.headReceived(persistence, bodyLength: bodyLength) { return abandon(failure) }
            running.figures.status = head.status.code
            running.sink.received(.head(head))
            if let maximumInflationRatio, bodyLength != .none {
                running.inflater = Inflater(for: head, maximumRatio: maximumInflationRatio)
            }
        case .body(let bytes):
            running.figures.wireBodyBytes += bytes.readableBytes
            if running.inflater == nil { received(bytes, running) } else { inflate(bytes, running) }
        case .end:
            do throws(Inflater.Problem) {
                try running.inflater?.finish()
                complete()
            } catch {
                inflationFailed(error)
            }
        }
    }

    private func inflate(_ bytes: ByteBuffer, _ running: Running) {
        running.inflater?.append(bytes)
        do throws(Inflater.Problem) {
            // A chunk may exceed the body limit; then the rest is not inflated.
            while self.running === running, let chunk = try running.inflater?.next() { received(chunk, running) }
        } catch {
            inflationFailed(error)
        }
    }

    private func received(_ bytes: ByteBuffer, _ running: Running) {
        if let failure = machine.bodyReceived(count: bytes.readableBytes) { return abandon(failure) }
        running.figures.bodyBytes += bytes.readableBytes
        running.sink.received(.body(bytes))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        running?.sink.readCompleted()
        let wantsMore = running?.sink.wantsMore ?? true
        if machine.readCompleted(subscriberWantsMore: wantsMore) { context.read() }
        progressed()
    }

    /// Returns the connection to the pool before reporting the end: the subscriber may start the next request then,
    /// which should find the connection free.
    private func complete() {
        guard let running = endRunning() else { return }
        switch machine.endReceived(hasLeftover: parser.hasLeftover) {
        case .park(let lifetime):
            pool.released(running.connection, lifetime: lifetime)
        case .close:
            context?.close(promise: nil)
        }
        running.exchange.completed(running.figures)
    }

    // MARK: Ends

    private func abandon(_ failure: RequestStateMachine.Failure) {
        abandon(HTTPClientError(failure.code, failure.outcome, origin: pool.origin, detail: failure.detail))
    }

    private func inflationFailed(_ problem: Inflater.Problem) {
        abandon(HTTPClientError(.decompressionFailed, .answered, origin: pool.origin, detail: "\(problem)"))
    }

    /// Abandons the exchange, and the connection with it, because a message is incomplete on it.
    private func abandon(_ error: HTTPClientError?) {
        let running = endRunning()
        machine.abandon()
        closeNow()
        if let error { running?.exchange.failed(error) }
    }

    private func closeNow() {
        if let closer { closer.close() } else { context?.close(promise: nil) }
    }

    private func endRunning() -> Running? {
        defer { running = nil }
        running?.upload?.cancel()
        timeouts.ended()
        return running
    }

    func channelInactive(context: ChannelHandlerContext) {
        closed(reason: closeReason)
        context.fireChannelInactive()
    }

    private func closed(reason: String?) {
        let hasBegun = parser.hasBegun
        let isStale = machine.servedCount > 0 && !hasBegun
        // A body without a length ends with the connection, but not when the connection ended in an error.
        if let running, reason == nil, let event = try? parser.finish() { handle(event, running) }
        switch machine.closed(hasBegun: hasBegun, detail: reason) {
        case .none:
            pool.closed(id)
        case .fail(let failure):
            let running = endRunning()
            pool.closed(id)
            let error = HTTPClientError(
                failure.code,
                failure.outcome,
                origin: pool.origin,
                detail: failure.detail,
                isFirstContact: pool.isUnanswered
            )
            running?.exchange.failed(error, wasStale: isStale)
        }
        timer?.cancel()
        timer = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        closeReason = ConnectionFailure.text(of: error)
        closeNow()
    }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    // MARK: Time

    /// Called after each progress: moves the deadlines that count from the last progress.
    private func progressed() {
        guard let running, let context, let phase = machine.phase else { return }
        let now = context.eventLoop.now
        let deadline = timeouts.progressed(
            to: phase,
            bodyBytes: running.figures.wireBodyBytes,
            limits: running.exchange.limits,
            now: now
        )
        if let deadline { setTimer(deadline) }
    }

    private func setTimer(_ deadline: NIODeadline) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.timerFired() }
    }

    private func timerFired() {
        guard let context else { return }
        switch timeouts.fired(now: context.eventLoop.now) {
        case .expired(let code):
            abandon(HTTPClientError(code, machine.outcome, origin: pool.origin))
        case .schedule(let deadline):
            setTimer(deadline)
        case .none:
            break
        }
    }
}
