import FMData
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

@testable import FMDataCore
@testable import FMHTTP
@testable import FMSandbox

/// Runs a program in its world, from the first call until nothing is left.
final class Simulation: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    let program: Program
    let trace: Trace
    let machine: VirtualMachine
    private let userThread: VirtualMachine.Thread
    let network: Network
    let hosts: [SimulatedHost]
    /// The store of a fleet.
    let store: SimulatedStore
    /// The processes of a fleet, by the numbers of its members, and those that were killed.
    var processes: [FleetProcess] = []
    var dead: [FleetProcess] = []
    /// The sessions that the store has forgotten, and that nobody could tell it of, and the number of such logins.
    var forgottenSessions: Set<String> = []
    var forgottenLogins = 0
    /// How many logins were under way in processes that were killed.
    var lostLogins = 0
    let log: LogBook
    private(set) var servers: [DataAPI.Server] = []
    private(set) var databases: [DataAPI.Database] = []
    var calls: [Int: Call] = [:]
    /// The objects of the steps, as long as they exist.
    var objects: [Int: WeakDatabase] = [:]
    private(set) var callCount = 0
    /// The number of calls that end by themselves, and of those about to begin after another one.
    var running = 0
    /// The jobs, by number.
    var jobs: [Int: Job] = [:]
    /// The kept copies, by number.
    var copies: [Int: KeptCopy] = [:]
    /// The trails of records that others have deleted, by host.
    var lostTrails: [Int: [Trail]] = [:]
    /// The databases of the program that continues the journals at the end.
    private(set) var nextDatabases: [DataAPI.Database] = []
    private(set) var nextServers: [DataAPI.Server] = []
    private var nextShutdowns: [AnyCancellable] = []
    /// Whether the final check of watching calls has begun: no further call may start to watch.
    var isEnding = false
    private var logins = 0
    private var connections: [Int: Int] = [:]
    private(set) var findings: [String] = []

    /// The result of a run.
    struct Report {
        var findings: [String]
        var trace: [String]
        var calls: Int
        var simulated: TimeAmount
    }

    static func run(_ program: Program, keepsTrace: Bool = false) -> Report {
        do {
            let simulation = try Simulation(program, keepsTrace: keepsTrace)
            simulation.run()
            return Report(
                findings: simulation.findings,
                trace: simulation.trace.lines,
                calls: simulation.callCount,
                simulated: simulation.machine.now - simulation.machine.start
            )
        } catch {
            return Report(findings: ["the world cannot be made: \(error)"], trace: [], calls: 0, simulated: .zero)
        }
    }

    private init(_ program: Program, keepsTrace: Bool) throws {
        self.program = program
        let machine = VirtualMachine(seed: program.seed)
        self.machine = machine
        userThread = machine.makeThread()
        let trace = Trace(machine, isKept: keepsTrace)
        self.trace = trace
        log = LogBook(trace)
        network = Network(
            machine: machine,
            seed: program.seed,
            weather: program.weather,
            faults: program.faults,
            trace: trace
        )
        hosts = try program.hosts.enumerated().map { index, plan in
            try SimulatedHost(name: "fms\(index).example.com", plan: plan, on: machine, trace: trace)
        }
        store = SimulatedStore(on: machine, trace: trace)
        for host in hosts { network.add(host) }
    }

    // MARK: Calls

    func find(_ finding: String) {
        trace.note { "FINDING: \(finding)" }
        findings.append(finding)
    }

    func begin(_ step: Step) {
        guard calls[step.id] == nil else { return }
        if program.fleet != nil {
            guard let process = process(of: step), !process.isDead, !process.isLeaving else { return }
        } else {
            guard databases.indices.contains(step.host) else { return }
        }
        trace.note { "call \(step.id) \(step.verb) on \(self.hosts[step.host].name): begins" }
        let call = Call(step, inner: program.steps.filter { $0.inside == step.id }, in: self)
        calls[step.id] = call
        callCount += 1
        if !step.verb.isWatching { running += 1 }
        if step.verb == .logIn || step.verb == .swapByLogin { logins += 1 }
        step.verb.call(of: step, in: self).subscribe(call)
        checkLimits()
    }

    func ended(_ call: Call) {
        if !call.step.verb.isWatching { running -= 1 }
        runEnded(call)
        checkLimits()
    }

    func database(of step: Step) -> DataAPI.Database {
        if let database = process(of: step)?.database { return database }
        return (step.run?.isLast == true ? nextDatabases : databases)[step.host]
    }

    func host(of step: Step) -> SimulatedHost { hosts[step.host] }

    func onUserThread(in milliseconds: Int, _ job: @escaping () -> Void) {
        machine.schedule(at: machine.now + .milliseconds(Int64(milliseconds)), on: userThread, job)
    }

    /// On the thread on which a step runs: that of its process, if there are several.
    func onThread(of step: Step, in milliseconds: Int, _ job: @escaping () -> Void) {
        guard let process = calls[step.id]?.process ?? process(of: step) else {
            return onUserThread(in: milliseconds, job)
        }
        machine.schedule(at: machine.now + .milliseconds(Int64(milliseconds)), on: process.thread, job)
    }

    // MARK: The run

    private func run() {
        if program.fleet == nil { makeClient() } else { makeFleet() }
        watchLifetimes()
        plan()
        letCallsEnd()
        letJobsEnd()
        letWatchersSee()
        checkRegistries()
        checkFleetAtRest()
        end()
        judge()
        if program.fleet != nil { endFleet() }
        letGo()
    }

    private func makeClient() {
        let random = SharedChance(seed: program.seed)
        let loops = VirtualLoopGroup((0..<program.client.loops).map { _ in VirtualLoop(on: machine) })
        for (index, host) in hosts.enumerated() {
            let server = makeServer(for: host, index, program.client.config(log), loops, random)
            servers.append(server)
            let user = program.work == .accounts ? HostPlan.accounts[0] : HostPlan.user
            databases.append(
                server.addDatabase(
                    HostPlan.database,
                    credentials: .init(user: user, password: HostPlan.password)
                )
            )
        }
    }

    /// Makes another program, which shares only the journals with the first one, and has long time limits.
    func makeNextClient() {
        var plan = program.client
        (plan.total, plan.firstByte, plan.waitingDeadline, plan.maximumSessions) = (nil, 120, 30, 2)
        let random = SharedChance(seed: program.seed &+ 1)
        let loops = VirtualLoopGroup([VirtualLoop(on: machine)])
        for (index, host) in hosts.enumerated() {
            var config = plan.config(log)
            config.sessions.maximumSessions = min(2, program.hosts[index].maximumSessions)
            let server = makeServer(for: host, hosts.count + index, config, loops, random)
            nextServers.append(server)
            nextDatabases.append(
                server.addDatabase(
                    HostPlan.database,
                    credentials: .init(user: HostPlan.user, password: HostPlan.password)
                )
            )
        }
    }

    func endNextClient() {
        var ended = 0
        onUserThread(in: 0) { [self] in
            nextShutdowns = nextServers.map {
                $0.shutdown().sink { _ in
                    ended += 1
                } receiveValue: { _ in
                }
            }
        }
        machine.run(for: .minutes(5))
        if ended < nextServers.count { find("the shutdown of the last client never ended") }
        nextShutdowns = []
        nextDatabases = []
        nextServers = []
    }

    private func makeServer(
        for host: SimulatedHost,
        _ owner: Int,
        _ config: DataAPI.Config,
        _ loops: VirtualLoopGroup,
        _ random: SharedChance
    ) -> DataAPI.Server {
        let (machine, network) = (machine, network)
        var runtime = Runtime(eventLoopGroup: loops) { [unowned self] opening in
            self.open(opening, by: owner, through: network)
        }
        runtime.random = { random.fraction() }
        return DataAPI.Server(
            host: host.name,
            config: config,
            runtime: runtime,
            wallClock: { Date(timeIntervalSince1970: Double(machine.now.uptimeNanoseconds) / 1_000_000_000) }
        )
    }

    private func open(
        _ opening: ChannelOpening,
        by owner: Int,
        through network: Network
    ) -> EventLoopFuture<any Channel> {
        connections[owner, default: 0] += 1
        // A connection that makes room may be closed by another loop at the same time, and when the first check runs,
        // the next connection may be open already. So it checks twice.
        onUserThread(in: 1) { [self] in
            guard isOverLimit(owner) else { return }
            onUserThread(in: 1) { [self] in
                guard isOverLimit(owner) else { return }
                find("\(connections[owner, default: 0]) connections, \(program.client.maximumConnections) are allowed")
            }
        }
        return network.open(opening) { self.connections[owner, default: 0] -= 1 }
    }

    private func isOverLimit(_ owner: Int) -> Bool {
        connections[owner, default: 0] > program.client.maximumConnections
    }

    private func plan() {
        makeJobs()
        makeCopies()
        for step in program.steps where step.inside == nil && !isFollowing(step) {
            onUserThread(in: step.time) { self.start(step) }
        }
        for fault in program.faults {
            switch fault {
            // Those of fleets are planned when the fleet is made.
            case .connection, .member, .store, .storeConnection: break
            case .moment(let milliseconds, let host, let event):
                guard hosts.indices.contains(host) else { continue }
                onUserThread(in: milliseconds) { self.hosts[host].suffer(event) }
            case .request(let host, let rule):
                guard hosts.indices.contains(host) else { continue }
                hosts[host].engine.withState { $0.faults.add(rule) }
            }
        }
        if case .earlyShutdown(let milliseconds) = program.ending {
            onUserThread(in: milliseconds) { self.shutDown() }
        }
    }

    /// Begins a step on the thread of its process.
    private func start(_ step: Step) {
        guard let process = process(of: step) else { return begin(step) }
        guard !process.isDead, !process.isLeaving else { return }
        running += 1
        process.beginning += 1
        machine.post(on: process.thread) { [self] in
            guard !process.isDead else { return }
            running -= 1
            process.beginning -= 1
            begin(step)
        }
    }

    private func letCallsEnd() {
        // Each run of a job may wait for the requests of the previous one.
        run(for: program.jobs.isEmpty && program.fleet == nil ? .hours(1) : .hours(24))
        // Steps inside of calls that never received anything.
        for step in program.steps where calls[step.id] == nil && step.run == nil {
            onUserThread(in: 0) { self.start(step) }
        }
        letFleetRest()
        run(for: .hours(1))
        for call in unended { onThread(of: call.step, in: 0) { call.askForTheRest() } }
        run(for: .hours(1))
        for call in unended {
            find("call \(call.step.id) \(call.step.verb): never ended")
        }
    }

    /// The calls that should end by themselves, but have not.
    private var unended: [Call] {
        calls.values.filter { $0.end == nil && !$0.step.verb.isWatching }.sorted { $0.step.id < $1.step.id }
    }

    /// Runs until all calls have ended, or for this time.
    func run(for span: TimeAmount) {
        let end = machine.now + span
        var isFirst = true
        while machine.now < end, isFirst || running > 0 {
            // All programs begin within a few minutes.
            let step: TimeAmount = isFirst ? .seconds(110) : .seconds(10)
            isFirst = false
            switch machine.run(for: step) {
            case .idle: return
            case .timeIsOver: continue
            case .restless: return find("the world does not come to rest")
            }
        }
    }

    // MARK: The end

    private var shutdowns: [Int: Shutdown] = [:]

    private final class Shutdown {
        var summary: DataAPI.ShutdownSummary?
        var hasEnded = false
        var subscription: AnyCancellable?
    }

    /// Whether everything was shut down.
    var shutdownsHaveEnded: Bool { !shutdowns.isEmpty && shutdowns.values.allSatisfy(\.hasEnded) }

    private func shutDown() {
        for (index, server) in servers.enumerated() where shutdowns[index] == nil {
            let shutdown = Shutdown()
            shutdowns[index] = shutdown
            trace.note { "shutdown of \(server) begins" }
            shutdown.subscription = server.shutdown().sink { completion in
                shutdown.hasEnded = true
                self.trace.note { "shutdown of \(server): \(completion)" }
                if case .failure(let error) = completion { self.find("shutdown failed: \(error)") }
            } receiveValue: { summary in
                shutdown.summary = summary
                self.trace.note { "shutdown of \(server): \(summary.sessionsLeft) sessions left" }
            }
        }
    }

    private func end() {
        switch program.ending {
        case .shutdown, .earlyShutdown:
            onUserThread(in: 0) { self.shutDown() }
            run(for: .minutes(5))
            checkShutdown()
            if program.work == .live || program.work == .accounts { checkWatchersEnded() }
        case .release:
            onUserThread(in: 0) { [self] in
                for (database, server) in zip(databases, servers) { check(database.sessionStatus, of: server) }
            }
            run(for: .seconds(1))
        }
    }

    private func check(_ status: DataAPI.SessionStatus, of server: DataAPI.Server) {
        if status.leased > 0 || status.waiting > 0 { find("\(server): all calls have ended, and yet \(status)") }
    }

    private func checkShutdown() {
        for (index, server) in servers.enumerated() {
            guard let shutdown = shutdowns[index], shutdown.hasEnded, let summary = shutdown.summary else {
                find("shutdown of \(server) never ended")
                continue
            }
            let counts = server.client.counts
            if counts != PoolCounts() { find("\(server) is shut down and has \(counts)") }
            if connections[index, default: 0] != 0 { find("\(server) is shut down and has open channels") }
            let status = databases[index].sessionStatus
            if status.sessions + status.leased + status.loggingIn + status.waiting > 0 {
                find("\(server) is shut down and has \(status)")
            }
            let known = program.faults.includeLies ? 0 : hosts[index].knownSessions
            if known > summary.sessionsLeft {
                find("\(server) has left \(known) sessions that it knew of, and says \(summary.sessionsLeft)")
            }
            let left = hosts[index].engine.openSessions.count
            if program.isCalm, summary.sessionsLeft > 0 || left > 0 {
                find("\(server) has left \(left) sessions, and says \(summary.sessionsLeft), though nothing went wrong")
            }
        }
    }

    private func checkLimits() {
        checkSessions()
        for (database, server) in zip(databases, servers) {
            let status = database.sessionStatus
            // Sessions of a call's own login are additional until others have ended.
            let limit = program.client.maximumSessions + logins
            if status.leased > limit { find("too many sessions of \(server) at work: \(status)") }
            // A session that is being logged out already has its successor, and when an account is replaced, all of
            // them may have.
            if program.work != .accounts, status.sessions + status.loggingIn > limit + program.client.maximumSessions {
                find("too many sessions of \(server): \(status)")
            }
        }
    }

    // MARK: Checks

    private func judge() {
        for step in program.steps {
            guard let call = calls[step.id], let end = call.end else { continue }
            for case .copy(let copy) in call.values {
                guard let trouble = copy.trouble else { continue }
                find("call \(step.id) \(step.verb): \(trouble)")
                break
            }
            if program.work != .accounts, host(of: step).restores == 0,
                call.values.contains(where: { if case .copy(let copy) = $0 { copy.isOfOtherFile } else { false } })
            {
                find("call \(step.id) \(step.verb): was told of another file, which there is not")
            }
            switch end {
            case .finished:
                if program.isCalm, program.work != .accounts, call.values.contains(where: \.isTrouble) {
                    find("call \(step.id) \(step.verb): \(call.values) though nothing went wrong")
                }
                let complaint = step.verb.complaint(
                    about: call.values,
                    step: step.id,
                    // A call without access to the record finds nothing.
                    isVisible: call.account.map { $0 == HostPlan.owner(ofStep: step.id) } ?? true,
                    lasting: lasting(step.host)
                )
                if let complaint {
                    find("call \(step.id) \(step.verb): \(complaint)")
                }
            case .failed(let error):
                if program.isCalm || program.fleet != nil, !mayFail(step, error) {
                    find("call \(step.id) \(step.verb): failed though nothing went wrong: \(error)")
                }
                log.checkSecrets("\(error)")
                log.checkSecrets(String(reflecting: error))
            case .cancelled: break
            }
        }
        checkAuthors()
        checkJobs()
        for (index, host) in hosts.enumerated() {
            Ledger(host).check(calls.values.filter { $0.step.host == index }) { self.find($0) }
        }
        for finding in log.findings { find(finding) }
    }

    /// The records of a host that no step deletes.
    private func lasting(_ host: Int) -> Set<Int> {
        let deleted = program.steps.filter { $0.host == host && $0.verb == .delete }.map { $0.id + 1 }
        return Set(1...program.hosts[host].records).subtracting(deleted)
    }

    /// Whether a call may fail in a program without faults.
    private func mayFail(_ step: Step, _ error: FMRest.APIError) -> Bool {
        if program.work == .accounts, error.code == .credentialsReplaced || error.fileMakerCode == .recordAccessDenied {
            return true
        }
        if mayFail(inFleet: step, error) { return true }
        return switch step.verb {
        case .readMissing: error.fileMakerCode == .recordMissing
        // Its disk may be full.
        case .journal: error.code == .journal
        case _ where step.verb.isWatching: error.code == .shutdown
        // A call with its own session may find none free beside the one that holds the shared object's globals.
        case .pinned: program.client.maximumSessions == 1 && program.steps.contains { $0.verb == .setGlobals }
        default: false
        }
    }

    // MARK: Release

    private var lifetimes: [Lifetimes] = []

    private func watchLifetimes() {
        lifetimes = zip(servers, databases).map {
            Lifetimes(server: $0, database: $1, pool: $1.pool, client: $0.client)
        }
    }

    /// A deallocated pool without waiting requests must report its remaining sessions to its server's list.
    private func checkWhatWasLeft(_ pools: [NIOLockedValueBox<ServerPools>]) {
        guard !program.faults.includeLies else { return }
        for (host, pools) in zip(hosts, pools) {
            let (known, told) = (host.knownSessions, pools.withLockedValue { $0.left.count { $0 > machine.now } })
            if known > told {
                find("\(host.name) is left with \(known) sessions that the client knew of, and told of \(told)")
            }
        }
    }

    private func letGo() {
        let pools = servers.map(\.pools)
        onUserThread(in: 0) { [self] in
            calls = [:]
            jobs = [:]
            copies = [:]
            shutdowns = [:]
            databases = []
            servers = []
        }
        // Longer than logins and logouts take, and shorter than the lifetime of a session without logout.
        machine.run(for: .minutes(2))
        if program.ending == .release { checkWhatWasLeft(pools) }
        if machine.run(for: .hours(1)) == .restless { return find("the world does not come to rest") }
        buryTheDead()
        for survivor in lifetimes.flatMap(\.survivors) { find("\(survivor) is never released") }
        if !network.clientChannels.isEmpty { find("\(network.clientChannels.count) channels of the client stay open") }
        // Those of a fleet stay in their slots.
        if program.ending == .release, program.isCalm, program.fleet == nil {
            let left = hosts.map(\.engine.openSessions.count).reduce(0, +)
            if left > 0 { find("\(left) sessions are left on the hosts though nothing went wrong") }
        }
        for host in hosts { host.end() }
        machine.run(for: .hours(24))
        network.end()
        machine.end()
        machine.run()
    }
}
