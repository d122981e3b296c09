import Foundation
import NIOCore

/// One end of a connection through a `Network`. It behaves like NIO's channel of a socket: it reads on request, notices
/// an end also without one, and is not writable while the other side does not read.
final class VirtualChannel: Channel, ChannelCore, @unchecked Sendable {
    // Sendable because everything but `arrived`, which the network calls, runs on the loop, and all of it on one real
    // thread.

    /// What arrives through a wire.
    enum Arrival {
        case bytes(ByteBuffer)
        case end
        case reset
    }

    private enum State {
        case new, open, closed
    }

    let eventLoop: any EventLoop
    let allocator = ByteBufferAllocator()
    private let closePromise: EventLoopPromise<Void>
    private var ownPipeline: ChannelPipeline?
    private var state = State.new
    /// The direction to the other end.
    private var wire: Wire?
    /// What the system has received and the loop has not read.
    private var inbox = CircularBuffer<Arrival>()
    private var isAwake = false
    private var readPending = false
    private var autoRead = true
    private var outbox = MarkedCircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>(initialCapacity: 4)
    private var unsent = 0
    /// Called once, when the system has closed its end.
    var whenClosed: (() -> Void)?

    private static let lowWater = 32 * 1024
    private static let highWater = 64 * 1024
    /// The largest number of pieces per read.
    private static let piecesPerRead = 4

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        closePromise = eventLoop.makePromise()
        ownPipeline = ChannelPipeline(channel: self)
    }

    var pipeline: ChannelPipeline { ownPipeline.unsafelyUnwrapped }
    var closeFuture: EventLoopFuture<Void> { closePromise.futureResult }
    var localAddress: SocketAddress? { nil }
    var remoteAddress: SocketAddress? { nil }
    var parent: (any Channel)? { nil }
    private(set) var isWritable = true
    var isActive: Bool { state == .open }
    var isOpen: Bool { state != .closed }
    var _channelCore: any ChannelCore { self }
    var syncOptions: (any NIOSynchronousChannelOptions)? { Options(channel: self) }

    /// Becomes one end of a connection. Called on the loop.
    func open(to wire: Wire) {
        guard state == .new else { return }
        state = .open
        self.wire = wire
        pipeline.syncOperations.fireChannelRegistered()
        pipeline.syncOperations.fireChannelActive()
        readIfWanted()
    }

    /// The system closes this end, since its process is killed. The process never hears of it.
    func breakOff() {
        if state == .open { wire?.finish() }
    }

    // MARK: From the network

    /// Called when the system has received something.
    func arrived(_ arrival: Arrival) {
        guard state == .open else { return }
        inbox.append(arrival)
        wakeUp()
    }

    /// Called when there is room for more bytes.
    func gotRoom() {
        guard state == .open, !outbox.isEmpty else { return }
        eventLoop.execute { self.send() }
    }

    var hasEnded: Bool {
        switch inbox.last {
        case .end?, .reset?: true
        case .bytes?, nil: state != .open
        }
    }

    private func wakeUp() {
        guard !isAwake, readPending || hasEnded, !inbox.isEmpty else { return }
        isAwake = true
        eventLoop.execute {
            self.isAwake = false
            self.look()
        }
    }

    /// The reaction of a loop when its selector reports something to read, or the end of the stream: in that case
    /// everything is read, even without a request.
    private func look() {
        guard state == .open else { return }
        if hasEnded { return drain() }
        guard readPending else { return }
        readPending = false
        for _ in 0..<Self.piecesPerRead {
            guard state == .open, case .bytes(let bytes)? = inbox.first else { break }
            inbox.removeFirst()
            take(bytes)
        }
        guard state == .open else { return }
        pipeline.syncOperations.fireChannelReadComplete()
        readIfWanted()
        wakeUp()
    }

    private func drain() {
        while state == .open, let arrival = inbox.popFirst() {
            switch arrival {
            case .bytes(let bytes):
                readPending = false
                take(bytes)
                if state == .open { pipeline.syncOperations.fireChannelReadComplete() }
                readIfWanted()
            case .end:
                pipeline.syncOperations.fireChannelReadComplete()
                close0(error: ChannelError.eof, mode: .all, promise: nil)
            case .reset:
                let error = IOError(errnoCode: ECONNRESET, reason: "read")
                pipeline.syncOperations.fireErrorCaught(error)
                close0(error: error, mode: .all, promise: nil)
            }
        }
    }

    private func take(_ bytes: ByteBuffer) {
        wire?.back?.wasRead(bytes.readableBytes)
        pipeline.syncOperations.fireChannelRead(NIOAny(bytes))
    }

    private func readIfWanted() {
        if state == .open, autoRead, !readPending { pipeline.syncOperations.read() }
    }

    // MARK: ChannelCore, on the loop

    func localAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
    func remoteAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
    func register0(promise: EventLoopPromise<Void>?) { promise?.succeed() }
    func registerAlreadyConfigured0(promise: EventLoopPromise<Void>?) { promise?.succeed() }

    func bind0(to: SocketAddress, promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }

    func connect0(to: SocketAddress, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }

    func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state == .open else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard case .byteBuffer(let bytes) = unwrapData(data, as: IOData.self) else {
            preconditionFailure("neither end sends files")
        }
        outbox.append((bytes, promise))
        unsent += bytes.readableBytes
        if isWritable, unsent > Self.highWater {
            isWritable = false
            pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    func flush0() {
        outbox.mark()
        send()
    }

    private func send() {
        while state == .open, outbox.hasMark, let wire {
            var (bytes, promise) = outbox[outbox.startIndex]
            let count = min(bytes.readableBytes, wire.room)
            guard count > 0 || bytes.readableBytes == 0 else { break }
            if let part = bytes.readSlice(length: count), count > 0 { wire.send(part) }
            unsent -= count
            if bytes.readableBytes > 0 {
                outbox[outbox.startIndex].bytes = bytes
            } else {
                _ = outbox.removeFirst()
                promise?.succeed()
            }
        }
        if state == .open, !isWritable, unsent < Self.lowWater {
            isWritable = true
            pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    func read0() {
        guard state == .open else { return }
        readPending = true
        wakeUp()
    }

    func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard state != .closed else {
            promise?.fail(ChannelError.alreadyClosed)
            return
        }
        guard mode == .all else {
            wire?.finish()
            promise?.succeed()
            return
        }
        let wasOpen = state == .open
        // A system that closes a socket with unread bytes sends a reset.
        let hasUnread = inbox.contains { if case .bytes = $0 { true } else { false } }
        state = .closed
        inbox.removeAll()
        while let (_, unsent) = outbox.popFirst() { unsent?.fail(ChannelError.ioOnClosedChannel) }
        if hasUnread { wire?.reset() } else { wire?.finish() }
        whenClosed?()
        whenClosed = nil
        promise?.succeed()
        if wasOpen {
            pipeline.syncOperations.fireChannelInactive()
            pipeline.syncOperations.fireChannelUnregistered()
        }
        eventLoop.execute {
            // Later, since callers may still be on their way through the pipeline.
            self.removeHandlers(pipeline: self.pipeline)
            self.closePromise.succeed()
            self.wire = nil
        }
    }

    func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }

    func channelRead0(_ data: NIOAny) {}
    func errorCaught0(error: any Error) {}

    // MARK: Options

    func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
        eventLoop.makeCompletedFuture { try set(option, value) }
    }

    func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
        eventLoop.makeCompletedFuture { try get(option) }
    }

    fileprivate func set<Option: ChannelOption>(_ option: Option, _ value: Option.Value) throws {
        guard option is ChannelOptions.Types.AutoReadOption, let value = value as? Bool else {
            throw ChannelError.operationUnsupported
        }
        autoRead = value
        if value { readIfWanted() } else { readPending = false }
    }

    fileprivate func get<Option: ChannelOption>(_ option: Option) throws -> Option.Value {
        let value: Any? =
            switch option {
            case is ChannelOptions.Types.AutoReadOption: autoRead
            case is ChannelOptions.Types.SocketOption:
                // The only option that the client reads, the state in `TCP_INFO`: 1 (established), or 8 if the other
                // side has closed.
                (hasEnded ? 8 : 1) as ChannelOptions.Types.SocketOption.Value
            default: nil
            }
        guard let value = value as? Option.Value else { throw ChannelError.operationUnsupported }
        return value
    }

    private struct Options: NIOSynchronousChannelOptions {
        let channel: VirtualChannel

        func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) throws {
            try channel.set(option, value)
        }

        func getOption<Option: ChannelOption>(_ option: Option) throws -> Option.Value { try channel.get(option) }
    }
}
