import NIOCore

@testable import FMDataFleet
@testable import FMTestStore

/// The store of a fleet in memory: it answers the commands with which members share slots, and forgets everything when
/// it is started again.
final class SimulatedStore: SimulatedPeer, @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    let name = "store.example.com"
    let loop: VirtualLoop
    private(set) var isDown = false
    private let machine: VirtualMachine
    private let trace: Trace
    private var clients: [StoreHandler] = []
    private var runs = 1
    private var startedAt: NIODeadline
    /// How far its clock was set forward, in milliseconds.
    private var offset = 0
    private var pools: [String: StoredSlots] = [:]
    private var notes: [String: (text: [UInt8], until: Int)] = [:]
    private var scripts: Set<String> = []
    /// The strays of runs that are over.
    private var formerStrays = 0
    /// Called before everything is forgotten.
    var whenForgetting: () -> Void = {}

    init(on machine: VirtualMachine, trace: Trace) {
        self.machine = machine
        self.trace = trace
        loop = VirtualLoop(on: machine)
        startedAt = machine.now
    }

    func accept(_ channel: VirtualChannel, through wire: Wire) {
        loop.execute { [self] in
            do {
                try channel.pipeline.syncOperations.addHandler(StoreHandler(self))
                channel.open(to: wire)
            } catch {
                wire.reset()
                channel.close0(error: error, mode: .all, promise: nil)
            }
        }
    }

    fileprivate func joined(_ client: StoreHandler) { clients.append(client) }
    fileprivate func left(_ client: StoreHandler) { clients.removeAll { $0 === client } }

    // MARK: Events

    /// Carries out an event.
    func suffer(_ event: StoreEvent) {
        trace.note { "\(self.name): \(event)" }
        switch event {
        case .restart(let milliseconds):
            whenForgetting()
            formerStrays = strays
            (pools, notes, scripts) = ([:], [:], [])
            runs += 1
            isDown = milliseconds > 0
            let back = machine.now + .milliseconds(Int64(milliseconds))
            startedAt = back
            loop.execute { [self] in for client in clients { client.close() } }
            machine.schedule(at: back, on: loop.thread) { [self] in isDown = false }
        case .jump(let seconds): offset += seconds * 1000
        case .dropConnections: loop.execute { [self] in for client in clients { client.close() } }
        }
    }

    // MARK: What it knows

    private var now: Int { Int((machine.now - machine.start).nanoseconds / 1_000_000) + offset }

    /// How many members have died during a login, as it has told others or will tell the next one.
    var strays: Int {
        let now = now
        return formerStrays
            + pools.values.reduce(0) { sum, pool in
                sum + pool.strays + pool.places.values.count { $0.isOpening && $0.until <= now }
            }
    }

    /// Whether it has ever forgotten everything, logins under way included.
    var hasForgotten: Bool { runs > 1 }

    /// The sealed tokens in slots.
    var sealedTokens: [[UInt8]] { pools.values.flatMap { $0.places.values.compactMap(\.token) } }

    // MARK: Commands

    fileprivate func answer(_ words: [[UInt8]], to client: StoreHandler) -> RESPValue {
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        switch (texts.first, texts.count) {
        case ("HELLO", _): return .map([.text(Array("proto".utf8)), .integer(3)])
        case ("INFO", _):
            let uptime = (machine.now - startedAt).nanoseconds / 1_000_000_000
            return .text(Array("run_id:run\(runs)\r\nuptime_in_seconds:\(uptime)\r\n".utf8))
        case ("PING", _): return .simple("PONG")
        case ("SUBSCRIBE", 2): return client.subscribe(words[1], texts[1])
        case ("UNSUBSCRIBE", 2): return client.unsubscribe(words[1], texts[1])
        case ("GET", 2):
            guard let note = notes[texts[1]], note.until > now else { return .null }
            return .text(note.text)
        case ("SET", 5):
            notes[texts[1]] = (words[2], now + (Int(texts[4]) ?? 0))
            return .simple("OK")
        case ("EVALSHA", 9...):
            return scripts.contains(texts[1]) ? run(words, texts) : .error(.init("NOSCRIPT".utf8))
        case ("EVAL", 9...):
            guard texts[1] == StoreScript.slots.text else { return .error(.init("ERR unknown script".utf8)) }
            scripts.insert(StoreScript.slots.hash)
            return run(words, texts)
        default: return .error(.init("ERR unknown command".utf8))
        }
    }

    /// The two keys of the pool stand before the arguments. The first one names it.
    private func run(_ words: [[UInt8]], _ texts: [String]) -> RESPValue {
        let name = texts[3]
        let arguments = Array(words[(3 + (Int(texts[2]) ?? 0))...])
        var messages: [(channel: String, word: String)] = []
        let prefix = String(decoding: arguments[8], as: UTF8.self)
        let answer = pools[name, default: StoredSlots()].run(arguments, now: now) { member, word in
            messages.append((prefix + member, word))
        }
        trace.note { "\(self.name): \(String(decoding: arguments[0], as: UTF8.self)) \(answer.shown)" }
        for (channel, word) in messages { tell(channel, word) }
        return answer
    }

    private func tell(_ channel: String, _ word: String) {
        trace.note { "\(self.name): tells \(word)" }
        for client in clients { client.tell(channel, word) }
    }

    func end() {
        whenForgetting = {}
        loop.execute { [self] in for client in clients { client.close() } }
    }
}

/// One connection of the store.
private final class StoreHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let store: SimulatedStore
    private var parser = RESPParser()
    private var channels: Set<String> = []
    private var context: ChannelHandlerContext?

    init(_ store: SimulatedStore) { self.store = store }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        store.joined(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        store.left(self)
    }

    func channelInactive(context: ChannelHandlerContext) { store.left(self) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parser.append(unwrapInboundIn(data))
        while let command = try? parser.next() {
            write(store.answer((command.elements ?? []).map { $0.bytes ?? [] }, to: self))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func close() { context?.close(promise: nil) }

    func subscribe(_ channel: [UInt8], _ name: String) -> RESPValue {
        channels.insert(name)
        return .push([.text(Array("subscribe".utf8)), .text(channel), .integer(channels.count)])
    }

    func unsubscribe(_ channel: [UInt8], _ name: String) -> RESPValue {
        channels.remove(name)
        return .push([.text(Array("unsubscribe".utf8)), .text(channel), .integer(channels.count)])
    }

    func tell(_ channel: String, _ word: String) {
        guard channels.contains(channel) else { return }
        write(.push([.text(Array("message".utf8)), .text(Array(channel.utf8)), .text(Array(word.utf8))]))
    }

    private func write(_ value: RESPValue) {
        guard let context else { return }
        var buffer = context.channel.allocator.buffer(capacity: 64)
        value.write(into: &buffer)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }
}

extension RESPValue {
    /// Writes it as the third version of the protocol has it, as far as this store answers.
    fileprivate func write(into buffer: inout ByteBuffer) {
        func write(_ mark: String, _ count: Int, _ parts: [RESPValue]) {
            buffer.writeString("\(mark)\(count)\r\n")
            for part in parts { part.write(into: &buffer) }
        }
        switch self {
        case .integer(let number): buffer.writeString(":\(number)\r\n")
        case .simple(let text): buffer.writeString("+\(text)\r\n")
        case .error(let error):
            buffer.writeString("-\(error.word)\(error.isUnknownCommand ? " unknown command" : "")\r\n")
        case .text(let bytes):
            buffer.writeString("$\(bytes.count)\r\n")
            buffer.writeBytes(bytes)
            buffer.writeString("\r\n")
        case .array(let parts): write("*", parts.count, parts)
        case .map(let parts): write("%", parts.count / 2, parts)
        case .push(let parts): write(">", parts.count, parts)
        case .null, .bool, .double, .big: buffer.writeString("_\r\n")
        }
    }

    /// Its numbers, for a trace: texts may be tokens.
    fileprivate var shown: String {
        switch self {
        case .integer(let number): "\(number)"
        case .array(let parts): "\(parts.map(\.shown))"
        case .text(let bytes) where bytes.count < 12: String(decoding: bytes, as: UTF8.self)
        default: "…"
        }
    }
}
