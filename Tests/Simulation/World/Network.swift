import FMHTTP
import Foundation
import NIOCore

/// What can be reached through the network, by its name.
protocol SimulatedPeer: AnyObject {
    var name: String { get }
    var loop: VirtualLoop { get }
    /// Whether it refuses new connections.
    var isDown: Bool { get }

    func accept(_ channel: VirtualChannel, through wire: Wire)
}

/// The network between the clients, the hosts and the store of a fleet.
final class Network: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    let machine: VirtualMachine
    private let thread: VirtualMachine.Thread
    private let trace: Trace
    private var chance: Chance
    private var weather: Weather
    private var peers: [String: any SimulatedPeer] = [:]
    /// The faults of connections to hosts, and of those to the store, by their numbers.
    private var faults: [Int: ConnectionFault] = [:]
    private var storeFaults: [Int: ConnectionFault] = [:]
    private var attempts = 0
    private var storeAttempts = 0
    /// The client's ends of open connections.
    private(set) var clientChannels: [VirtualChannel] = []
    private var wires: [Wire] = []

    /// The properties of the network.
    struct Weather: Equatable {
        /// Of one direction, in microseconds.
        var latency: ClosedRange<Int>
        /// The number of bytes that may be in flight or unread in one direction.
        var capacity: Int
        /// Whether bytes arrive in small pieces.
        var tearsApart: Bool
    }

    init(machine: VirtualMachine, seed: UInt64, weather: Weather, faults: [PlannedFault], trace: Trace) {
        self.machine = machine
        self.trace = trace
        self.weather = weather
        thread = machine.makeThread()
        chance = Chance(seed: seed, purpose: .network)
        for case .connection(let number, let fault) in faults { self.faults[number] = fault }
        for case .storeConnection(let number, let fault) in faults { storeFaults[number] = fault }
    }

    func add(_ peer: any SimulatedPeer) { peers[peer.name] = peer }

    /// Removes all planned faults of connections opened from now on.
    func calmDown() {
        faults = [:]
        storeFaults = [:]
    }

    /// Makes the network fast.
    func clearUp() { weather.latency = 50...200 }

    func note(_ text: () -> String) { trace.note(text) }

    func later(at deadline: NIODeadline, _ body: @escaping () -> Void) {
        machine.schedule(at: deadline, on: thread, body)
    }

    /// The sizes of the pieces in which these bytes arrive.
    func pieces(of count: Int) -> [Int] {
        guard weather.tearsApart else { return [count] }
        var sizes: [Int] = []
        var rest = count
        while rest > 0 {
            let size = sizes.count > 8 ? rest : chance.magnitude(1...rest)
            sizes.append(size)
            rest -= size
        }
        return sizes
    }

    // MARK: Connecting

    /// Opens channels for the client's `Runtime`.
    ///
    /// - Parameter isOver: called when the attempt has failed, or the client has closed the channel.
    func open(_ opening: ChannelOpening, isOver: @escaping () -> Void) -> EventLoopFuture<any Channel> {
        attempts += 1
        return open(Opening(opening), attempts, faults[attempts], isOver)
    }

    /// Opens channels to the store of a fleet.
    func openToStore(_ opening: Opening) -> EventLoopFuture<any Channel> {
        storeAttempts += 1
        return open(opening, storeAttempts, storeFaults[storeAttempts]) {}
    }

    /// The description of a channel to open.
    struct Opening {
        let host: String
        let eventLoop: any EventLoop
        let limit: TimeAmount?
        let setUp: (any Channel) -> EventLoopFuture<Void>

        init(
            host: String,
            eventLoop: any EventLoop,
            limit: TimeAmount?,
            setUp: @escaping (any Channel) -> EventLoopFuture<Void>
        ) {
            self.host = host
            self.eventLoop = eventLoop
            self.limit = limit
            self.setUp = setUp
        }

        fileprivate init(_ opening: ChannelOpening) {
            self.init(
                host: opening.host,
                eventLoop: opening.eventLoop,
                limit: opening.limit,
                setUp: opening.setUp
            )
        }
    }

    private func open(
        _ opening: Opening,
        _ number: Int,
        _ fault: ConnectionFault?,
        _ isOver: @escaping () -> Void
    ) -> EventLoopFuture<any Channel> {
        note { "connection \(number) to \(opening.host)\(fault.map { ": \($0)" } ?? "")" }
        let promise = opening.eventLoop.makePromise(of: (any Channel).self)
        let attempt = Attempt(opening, promise, isOver)
        if let limit = opening.limit {
            attempt.alarm = machine.schedule(at: machine.now + limit, on: thread) {
                opening.eventLoop.execute { attempt.fail(ChannelError.connectTimeout(limit)) }
            } orDrop: {
                attempt.fail(ChannelError.ioOnClosedChannel)
            }
        }
        let trip = travelTime()
        func fail(_ error: any Error, after time: TimeAmount) {
            later(at: machine.now + time) { opening.eventLoop.execute { attempt.fail(error) } }
        }
        switch fault {
        case .lookUpFails?: fail(NameNotFound(), after: trip)
        case .refused?: fail(IOError(errnoCode: ECONNREFUSED, reason: "connect"), after: trip)
        case .lostSYN?: dropped.append(attempt)
        case .slow(let milliseconds)?: reach(attempt, fault, after: trip + .milliseconds(Int64(milliseconds)))
        case .up?, .down?, nil: reach(attempt, fault, after: trip)
        }
        return promise.futureResult
    }

    /// The error for an unknown name.
    struct NameNotFound: Error, CustomStringConvertible {
        let description = "Name or service not known"
    }

    /// Attempts that get no answer; they end by their limit or with the world.
    private var dropped: [Attempt] = []

    private final class Attempt: @unchecked Sendable {
        // Sendable because it runs on the one real thread of the machine.
        let opening: Opening
        private var promise: EventLoopPromise<any Channel>?
        let isOver: () -> Void
        var alarm: VirtualMachine.AlarmID?

        init(_ opening: Opening, _ promise: EventLoopPromise<any Channel>, _ isOver: @escaping () -> Void) {
            self.opening = opening
            self.promise = promise
            self.isOver = isOver
        }

        var isWaiting: Bool { promise != nil }

        func fail(_ error: any Error) {
            guard let promise else { return }
            self.promise = nil
            isOver()
            promise.fail(error)
        }

        func succeed(_ channel: any Channel) {
            promise?.succeed(channel)
            promise = nil
        }
    }

    private func travelTime() -> TimeAmount {
        let range = weather.latency
        return .microseconds(Int64(range.lowerBound + chance.below(range.count)))
    }

    /// The first packet reaches the host, and its answer returns.
    private func reach(_ attempt: Attempt, _ fault: ConnectionFault?, after time: TimeAmount) {
        later(at: machine.now + time) { [self] in
            guard attempt.isWaiting else { return }
            let eventLoop = attempt.opening.eventLoop
            guard let host = peers[attempt.opening.host], !host.isDown else {
                return later(at: machine.now + travelTime()) {
                    eventLoop.execute { attempt.fail(IOError(errnoCode: ECONNREFUSED, reason: "connect")) }
                }
            }
            let (client, server) = (VirtualChannel(on: eventLoop), VirtualChannel(on: host.loop))
            let (up, down) = makeWires(client, server, fault)
            host.accept(server, through: down)
            later(at: machine.now + travelTime()) { [self] in
                eventLoop.execute { self.establish(attempt, client, up) }
            }
        }
    }

    private func makeWires(
        _ client: VirtualChannel,
        _ server: VirtualChannel,
        _ fault: ConnectionFault?
    ) -> (up: Wire, down: Wire) {
        var (upFault, downFault): ((Int, Wire.Break)?, (Int, Wire.Break)?)
        switch fault {
        case .up(let count, let way)?: upFault = (count, way)
        case .down(let count, let way)?: downFault = (count, way)
        default: break
        }
        let up = Wire(to: server, in: self, latency: travelTime(), capacity: weather.capacity, fault: upFault)
        let down = Wire(to: client, in: self, latency: travelTime(), capacity: weather.capacity, fault: downFault)
        up.back = down
        down.back = up
        wires += [up, down]
        return (up, down)
    }

    private func establish(_ attempt: Attempt, _ client: VirtualChannel, _ up: Wire) {
        guard attempt.isWaiting else {
            // The client has given the attempt up, and its system resets the connection.
            up.reset()
            return client.close0(error: ChannelError.eof, mode: .all, promise: nil)
        }
        if let alarm = attempt.alarm { machine.callOff(alarm) }
        attempt.opening.setUp(client).whenComplete { result in
            switch result {
            case .success:
                // Its handler may have closed it at once. Then a system does not connect it.
                guard client.isOpen else {
                    up.reset()
                    return attempt.fail(ChannelError.ioOnClosedChannel)
                }
                self.clientChannels.append(client)
                client.whenClosed = { [self] in
                    clientChannels.removeAll { $0 === client }
                    attempt.isOver()
                }
                attempt.succeed(client)
                client.open(to: up)
            case .failure(let error):
                up.reset()
                client.close0(error: error, mode: .all, promise: nil)
                attempt.fail(error)
            }
        }
    }

    /// Ends whatever is left at the end of the world.
    func end() {
        for attempt in dropped { attempt.fail(ChannelError.ioOnClosedChannel) }
        // They reference the client, which references this network.
        dropped = []
        wires = []
        peers = [:]
    }
}
