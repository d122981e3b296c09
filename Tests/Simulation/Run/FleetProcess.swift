import FMData
import FMHTTP
import Foundation
import NIOCore
import OpenCombine

@testable import FMDataCore
@testable import FMDataFleet

/// A process of a fleet: a client with its threads, its clocks, and its connections to the host and to the store.
final class FleetProcess: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    let member: Int
    /// The thread on which its calls begin.
    let thread: VirtualMachine.Thread
    private let loops: [VirtualLoop]
    private let executor: VirtualExecutor
    private let machine: VirtualMachine
    private let core: FleetCore
    private let watch = BudgetWatch()
    private(set) var server: DataAPI.Server?
    private(set) var database: DataAPI.Database?
    private let life = Life()
    var isDead: Bool { life.hasEnded }
    /// The number of its calls that are about to begin.
    var beginning = 0
    /// Until when it stands still.
    private var stalledUntil: NIODeadline
    /// Whether it has ever stood still.
    private(set) var hasStalled = false
    private var subscription: AnyCancellable?
    /// Whether its shutdown has begun: it makes no more calls.
    private(set) var isLeaving = false
    private(set) var hasShutDown = false
    /// The tokens of the sessions that it had open when its shutdown began.
    private var tokensBeforeShutdown: [String] = []
    private var storeFailuresBeforeShutdown = 0

    init(_ member: Int, number: Int, of simulation: Simulation, in fleet: FleetPlan) {
        let (machine, network, program) = (simulation.machine, simulation.network, simulation.program)
        let plan = fleet.members[member]
        self.member = member
        self.machine = machine
        thread = machine.makeThread()
        let clock = VirtualClock(of: machine, rate: Double(plan.rate) / 100)
        // The last one is for the store.
        let loops = (0...program.client.loops).map { _ in VirtualLoop(on: machine, clock: clock) }
        let executor = VirtualExecutor(on: machine)
        (self.loops, self.executor) = (loops, executor)
        stalledUntil = machine.now
        let life = life
        let chance = SharedChance(seed: program.seed &+ UInt64(number) &* 7919)
        let date: @Sendable () -> Date = {
            let seconds = Double(clock.reading(at: machine.now).uptimeNanoseconds) / 1_000_000_000
            return Date(timeIntervalSince1970: seconds + Double(plan.isAhead))
        }
        func time(on loop: VirtualLoop) -> SessionTime {
            var time = SessionTime.running(on: loop, wallClock: date)
            time.startTask = { body in Task(executorPreference: executor) { await body() } }
            return time
        }
        var surroundings = FleetSurroundings(eventLoop: loops[loops.count - 1])
        surroundings.time = time(on: loops[loops.count - 1])
        surroundings.random = { chance.number() }
        surroundings.open = { opening in
            if life.hasEnded { return opening.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
            return network.openToStore(
                Network.Opening(
                    host: simulation.store.name,
                    eventLoop: opening.eventLoop,
                    limit: opening.limit,
                    setUp: opening.setUp
                )
            )
        }
        var settings = SlotMember.Settings()
        settings.calls.slots = fleet.slots
        core = FleetCore(
            store: StoreAddress(host: simulation.store.name),
            settings: settings,
            sealer: .transparent,
            logger: nil,
            surroundings: surroundings
        )
        var config = program.client.config(simulation.log)
        config.sessions.budget = watch.watched(core.budget)
        config.sessions.fullHostDeadline = config.sessions.waitingDeadline
        var runtime = Runtime(eventLoopGroup: VirtualLoopGroup(Array(loops.dropLast()))) { opening in
            if life.hasEnded { return opening.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
            return network.open(opening) {}
        }
        runtime.random = { chance.fraction() }
        let server = DataAPI.Server(
            host: simulation.hosts[0].name,
            config: config,
            runtime: runtime,
            wallClock: date,
            time: time(on: loops[0])
        )
        self.server = server
        database = server.addDatabase(
            HostPlan.database,
            credentials: .init(user: HostPlan.user, password: HostPlan.password)
        )
    }

    /// Known to the closures that connect.
    private final class Life: @unchecked Sendable {
        // Sendable because it runs on the one real thread of the machine.
        var hasEnded = false
    }

    private var threads: [VirtualMachine.Thread] { loops.map(\.thread) + [executor.thread, thread] }

    var counters: FleetCounters { core.counters }

    /// How many sessions it may have left on the host without knowing of them.
    var unknownSessions: Int { watch.unknownSessions }

    /// How many logins of it are under way.
    var loginsUnderWay: Int { watch.logins.count }

    /// Whether it lives and goes on.
    var isAwake: Bool { !isDead && machine.now >= stalledUntil }

    /// The tokens of the sessions that it has open.
    var openTokens: [String] { database?.pool.openTokens.map(\.value) ?? [] }

    /// The tokens of the sessions that it has not given back: those that it has open, and those that a shutdown could
    /// not give back, since the store did not answer. It logs none of these out: others may use them by now.
    var unreturnedTokens: [String] {
        let hasFailed = isLeaving && counters.storeFailures > storeFailuresBeforeShutdown
        return openTokens + (hasFailed ? tokensBeforeShutdown : [])
    }

    // MARK: Events

    /// Stands still for so long. Called by a thread of nobody.
    func stall(_ milliseconds: Int) {
        guard !isDead else { return }
        hasStalled = true
        let end = machine.now + .milliseconds(Int64(milliseconds))
        stalledUntil = max(stalledUntil, end)
        machine.halt(threads)
    }

    /// Goes on, unless it has to stand still for longer.
    func goOn() {
        if isAwake { machine.resume(threads) }
    }

    /// Ends at once: the system closes its connections.
    func die(in network: Network) {
        life.hasEnded = true
        machine.halt(threads)
        for channel in network.clientChannels where loops.contains(where: { $0 === channel.eventLoop }) {
            channel.breakOff()
        }
    }

    /// Ends after its shutdown.
    func end() {
        life.hasEnded = true
        release()
    }

    /// Lets the objects of a dead process end. Its connections are closed, and nobody looks any more.
    func rest() {
        server = nil
        database = nil
        subscription = nil
        machine.resume(threads)
    }

    // MARK: The end

    /// Shuts down. Runs on the process's thread.
    func shutDown() {
        guard let server, !isLeaving else { return }
        isLeaving = true
        tokensBeforeShutdown = openTokens
        storeFailuresBeforeShutdown = counters.storeFailures
        subscription = server.shutdown().sink { [weak self] _ in
            self?.hasShutDown = true
        } receiveValue: { _ in
        }
    }

    /// Lets its objects go.
    func release() {
        server = nil
        database = nil
        subscription = nil
    }

    /// Closes the connection to the store.
    func leaveStore() {
        Task(executorPreference: executor) { [core] in await core.shutdown() }
    }
}

/// Sees how slots are used: which logins are under way, and what may leave sessions on the host that nobody knows. That
/// is a login without an answer, or a token of which it is not known whether the store has it.
private final class BudgetWatch: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    private(set) var unknownSessions = 0
    /// The leases of the slots in which a login is under way.
    private(set) var logins: Set<String> = []

    func watched(_ budget: DataAPI.SessionBudget) -> DataAPI.SessionBudget {
        DataAPI.SessionBudget(
            take: { [self] request in
                let slot = try await budget.take(request)
                if slot.token == nil { logins.insert(slot.lease) }
                return slot
            },
            put: { [self] token, slot, life in
                logins.remove(slot.lease)
                do { return try await budget.put(token, slot, life) } catch {
                    unknownSessions += 1
                    throw error
                }
            },
            drop: { [self] token, slot in
                logins.insert(slot.lease)
                return try await budget.drop(token, slot)
            },
            give: { [self] slot, life in
                logins.remove(slot.lease)
                try await budget.give(slot, life)
            },
            full: { [self] slot in
                logins.remove(slot.lease)
                try await budget.full(slot)
            },
            refused: { [self] slot, code in
                logins.remove(slot.lease)
                try await budget.refused(slot, code)
            },
            left: { [self] slot in
                logins.remove(slot.lease)
                unknownSessions += 1
                try await budget.left(slot)
            }
        )
    }
}

extension Sealer {
    /// Seals nothing.
    fileprivate static let transparent = Sealer(seal: { content, _ in content }, open: { sealed, _ in sealed })
}
