import FMData
import NIOCore

@testable import FMDataCore
@testable import FMDataFleet
@testable import FMSandbox

/// The checks of processes that share sessions through a store: the host never has more sessions than there are slots,
/// except for those that are accounted for; nobody logs out a session that another process uses; no call of a process
/// that lives fails, though processes stand still and die, and the store forgets everything.
extension Simulation {
    /// The process in which a step runs now; `nil` without a fleet.
    func process(of step: Step) -> FleetProcess? {
        step.member.flatMap { processes.indices.contains($0) ? processes[$0] : nil }
    }

    func makeFleet() {
        guard let fleet = program.fleet else { return }
        network.add(store)
        processes = fleet.members.indices.map { FleetProcess($0, number: $0, of: self, in: fleet) }
        store.whenForgetting = { [unowned self] in noteForgottenSessions() }
        hosts[0].whenLoggedOut = { [unowned self] in checkLogOut(of: $0) }
        for fault in program.faults {
            switch fault {
            case .member(let milliseconds, let member, let event):
                guard processes.indices.contains(member) else { continue }
                onUserThread(in: milliseconds) { self.suffer(event, member) }
            case .store(let milliseconds, let event):
                onUserThread(in: milliseconds) { self.store.suffer(event) }
            case .connection, .moment, .request, .storeConnection: break
            }
        }
        watchSessions()
    }

    private func suffer(_ event: MemberEvent, _ member: Int) {
        let process = processes[member]
        guard !process.isDead else { return }
        trace.note { "process \(member): \(event)" }
        switch event {
        case .stall(let milliseconds):
            process.stall(milliseconds)
            onUserThread(in: milliseconds) { [self] in
                trace.note { "process \(member) goes on" }
                process.goOn()
            }
        case .stallInLogin(let milliseconds):
            stall(member, milliseconds, whenLoggingInBefore: machine.now + .seconds(60))
        case .kill(let pause):
            noteSessionsWithoutHolder(process)
            lostLogins += process.loginsUnderWay
            if store.hasForgotten { forgottenLogins += process.loginsUnderWay }
            process.die(in: network)
            running -= process.beginning
            dead.append(process)
            for call in calls.values where call.end == nil && process === call.process { call.die() }
            restart(member, in: pause)
        case .shutDown(let pause):
            machine.post(on: process.thread) { process.shutDown() }
            letGo(of: process, restartingAfter: pause)
        }
    }

    private func restart(_ member: Int, in pause: Int?) {
        guard let pause, let fleet = program.fleet else { return }
        // Two processes with one number would draw the same names.
        let number = fleet.members.count + dead.count
        onUserThread(in: pause) { [self] in
            processes[member] = FleetProcess(member, number: number, of: self, in: fleet)
        }
    }

    /// Ends a process when it has shut down, some time after it has left the store.
    private func letGo(of process: FleetProcess, restartingAfter pause: Int?) {
        guard !process.isDead, !isEnding else { return }
        guard process.hasShutDown else {
            return onUserThread(in: 200) { self.letGo(of: process, restartingAfter: pause) }
        }
        noteSessionsWithoutHolder(process)
        process.leaveStore()
        onUserThread(in: 10_000) { [self] in
            guard !process.isDead, !isEnding else { return }
            process.end()
            dead.append(process)
            restart(process.member, in: pause)
        }
    }

    private func stall(_ member: Int, _ milliseconds: Int, whenLoggingInBefore end: NIODeadline) {
        let process = processes[member]
        guard !process.isDead, machine.now < end, !isEnding else { return }
        if process.loginsUnderWay > 0 { return suffer(.stall(milliseconds: milliseconds), member) }
        onUserThread(in: 20) { [self] in stall(member, milliseconds, whenLoggingInBefore: end) }
    }

    // MARK: Sessions

    private var living: [FleetProcess] { processes.filter { !$0.isDead } }

    /// How many sessions the host may have: one a slot, one for each member that died during its login, one for each
    /// that had none while the store was away, and those that the store has forgotten although nobody could tell it.
    private var sessionLimit: Int {
        let unslotted = (processes + dead).reduce(0) { $0 + $1.counters.sessionsWithoutStore }
        return (program.fleet?.slots ?? 0) + store.strays + unslotted + forgottenSessions.count + forgottenLogins
    }

    private var storedTokens: Set<String> { Set(store.sealedTokens.map { String(decoding: $0, as: UTF8.self) }) }

    private var openTokens: Set<String> { Set(hosts[0].engine.openSessions.map(\.token)) }

    /// A holder ends, and could not tell an empty store what it holds.
    private func noteSessionsWithoutHolder(_ process: FleetProcess) {
        forgottenSessions.formUnion(openTokens.intersection(process.unreturnedTokens).subtracting(storedTokens))
    }

    /// A store that forgets everything is told by those who hold sessions. Other sessions stay on the host.
    private func noteForgottenSessions() {
        forgottenSessions.formUnion(openTokens.subtracting(processes.filter(\.isAwake).flatMap(\.openTokens)))
    }

    private func watchSessions() {
        checkSessions()
        if !isEnding { onUserThread(in: 250) { self.watchSessions() } }
    }

    func checkSessions() {
        guard program.fleet != nil else { return }
        let open = hosts[0].engine.openSessions.count
        if open > sessionLimit { find("the host has \(open) sessions, \(sessionLimit) are accounted for") }
    }

    /// Nobody ends a session that another process uses, unless it is about to end one of its own that has not been used
    /// for long, and does not know that it was passed on.
    private func checkLogOut(of token: String) {
        let mayTrim = program.client.idleTrim < 3600 || program.steps.contains { [.logOut, .pinned].contains($0.verb) }
        guard !mayTrim else { return }
        for process in processes where process.isAwake && process.openTokens.contains(token) {
            find("the session of process \(process.member) was logged out by another one")
        }
    }

    // MARK: The end

    /// Lets everything that is planned happen.
    func letFleetRest() {
        guard program.fleet != nil else { return }
        let last = program.lastMoment + 90_000
        let end = machine.start + .milliseconds(Int64(last))
        if machine.now < end, machine.run(for: end - machine.now) == .restless {
            find("the world does not come to rest")
        }
    }

    /// When nothing happens any more, all that members have open are sessions of slots.
    func checkFleetAtRest() {
        guard let fleet = program.fleet else { return }
        if machine.run(for: .seconds(45)) == .restless { return find("the world does not come to rest") }
        let open = openTokens
        let known = Set(living.flatMap(\.openTokens)).union(storedTokens).intersection(open)
        if known.count > fleet.slots {
            find("\(known.count) sessions are used or lie in slots, and there are \(fleet.slots) slots")
        }
        let lost = open.count - known.count
        // A member that stood still during its login has ended the session meanwhile, though the store takes it for
        // dead.
        let excused = forgottenSessions.count + forgottenLogins + lostLogins
        let limit = excused + (processes + dead).reduce(0) { $0 + $1.unknownSessions }
        if lost > limit { find("the host has \(lost) sessions that nobody knows, \(limit) are accounted for") }
        for process in living {
            if let status = process.database?.sessionStatus, status.leased + status.waiting > 0 {
                find("process \(process.member): all calls have ended, and yet \(status)")
            }
        }
    }

    func endFleet() {
        isEnding = true
        let living = living
        let lifetimes = living.map { Lifetimes($0) }
        switch program.ending {
        case .shutdown, .earlyShutdown:
            for process in living { machine.post(on: process.thread) { process.shutDown() } }
            machine.run(for: .minutes(5))
            for process in living where !process.hasShutDown {
                find("the shutdown of process \(process.member) never ended")
            }
        case .release: break
        }
        judgeFleet()
        onUserThread(in: 0) { [self] in
            calls = calls.filter { $0.value.process?.isDead == true }
            for process in living { process.release() }
        }
        machine.run(for: .minutes(2))
        for process in living { process.leaveStore() }
        machine.run(for: .hours(1))
        for survivor in lifetimes.flatMap(\.survivors) { find("\(survivor) is never released") }
        processes = []
    }

    /// The dead end as well, when everything has been checked.
    func buryTheDead() {
        calls = [:]
        for process in dead { process.rest() }
        machine.run(for: .hours(1))
        for process in dead { process.leaveStore() }
        machine.run(for: .minutes(5))
        dead = []
        store.end()
    }

    private func judgeFleet() {
        let most = hosts[0].engine.counters.mostOpenSessions
        if most > sessionLimit { find("the host had \(most) sessions, \(sessionLimit) are accounted for") }
        guard program.isCalm else { return }
        for process in processes {
            let counters = process.counters
            let troubles = [counters.storeFailures, counters.strays, counters.slotsLost, counters.fullHosts]
            if troubles.contains(where: { $0 > 0 }) {
                find("process \(process.member) has \(counters), though nothing went wrong")
            }
        }
    }

    /// Whether a call may fail although its process lives: when its connections stood still with it, or when the host
    /// has ended the one session in which its work can be done.
    func mayFail(inFleet step: Step, _ error: FMRest.APIError) -> Bool {
        guard let call = calls[step.id], let process = call.process else { return false }
        return process.hasStalled && (error.outcomeIsUnknown || error.isRetryable)
            || process.isLeaving && error.code == .shutdown
            || step.verb == .pinned && error.code == .sessionLost && call.hasSeenExpiry
    }
}

extension Lifetimes {
    init(_ process: FleetProcess) {
        self.init(
            server: process.server,
            database: process.database,
            pool: process.database?.pool,
            client: process.server?.client
        )
    }
}
