import NIOCore

/// The shell around ``StoreConnectionMachine``: the last handler of a connection's pipeline, which is confined to the
/// connection's event loop.
final class StoreConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What a connection tells its owner, on its event loop.
    struct Observer {
        var ready: (StoreRun) -> Void
        /// Messages need a connection of their own.
        var fallBack: () -> Void
        var message: (_ channel: String, _ text: [UInt8]) -> Void
        var subscriptionRefused: (StoreError) -> Void
        /// It is closed, once.
        var closed: (StoreError) -> Void
    }

    private var machine: StoreConnectionMachine
    private var parser = RESPParser()
    private var observer: Observer?
    private var context: ChannelHandlerContext?
    private var waiting: [Int: (Result<RESPValue, StoreError>) -> Void] = [:]
    private var lastCommand = 0
    private var alarm: Scheduled<Void>?

    init(settings: StoreConnectionMachine.Settings, observer: Observer) {
        machine = StoreConnectionMachine(settings: settings)
        self.observer = observer
    }

    var isReady: Bool { machine.isReady }

    func send(_ command: RESPCommand, _ report: @escaping (Result<RESPValue, StoreError>) -> Void) {
        guard let context else { return report(.failure(.unreachable)) }
        lastCommand += 1
        waiting[lastCommand] = report
        run(machine.send(lastCommand, command, now: context.eventLoop.now))
    }

    func subscribe(_ channel: String) {
        if let context { run(machine.subscribe(channel, now: context.eventLoop.now)) }
    }

    func unsubscribe(_ channel: String) {
        if let context { run(machine.unsubscribe(channel, now: context.eventLoop.now)) }
    }

    func close() {
        run(machine.closed())
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // Whoever shuts down while a channel is being opened closes a connection that has none yet.
        if observer == nil { return context.close(promise: nil) }
        if context.channel.isActive { run(machine.connected(now: context.eventLoop.now)) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        run(machine.closed())
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        run(machine.connected(now: context.eventLoop.now))
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parser.append(unwrapInboundIn(data))
        do throws(RESPParser.Failure) {
            while let value = try parser.next() { run(machine.received(value, now: context.eventLoop.now)) }
        } catch {
            run(machine.failed(error))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        run(machine.closed())
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        run(machine.closed())
    }

    // MARK: Actions

    private func run(_ actions: [StoreConnectionMachine.Action]) {
        for action in actions {
            switch action {
            case .write(let command): write(command)
            case .becomeReady(let run): observer?.ready(run)
            case .fallBack: observer?.fallBack()
            case .succeed(let id, let value): waiting.removeValue(forKey: id)?(.success(value))
            case .fail(let id, let error): waiting.removeValue(forKey: id)?(.failure(error))
            case .deliver(let channel, let text): observer?.message(channel, text)
            case .refuseSubscription(let error): observer?.subscriptionRefused(error)
            case .setAlarm(let instant): setAlarm(instant)
            case .close(let error): end(error)
            }
        }
    }

    private func write(_ command: RESPCommand) {
        guard let context else { return }
        var buffer = context.channel.allocator.buffer(capacity: 256)
        command.write(into: &buffer)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    private func setAlarm(_ instant: NIODeadline) {
        alarm?.cancel()
        guard let eventLoop = context?.eventLoop else { return }
        alarm = eventLoop.assumeIsolated().scheduleTask(deadline: instant) { [weak self] in
            guard let self else { return }
            self.run(self.machine.wakeUp(now: eventLoop.now))
        }
    }

    private func end(_ error: StoreError) {
        alarm?.cancel()
        alarm = nil
        let observer = observer.take()
        context?.close(promise: nil)
        observer?.closed(error)
    }
}
