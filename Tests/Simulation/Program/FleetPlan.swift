import FMSandbox

/// The processes of a fleet, which share a number of sessions through a store.
struct FleetPlan: Equatable {
    var slots: Int
    var members: [MemberPlan]
}

/// One of the processes, and those that are started in its place when it was killed.
struct MemberPlan: Equatable {
    /// How many seconds its wall clock is ahead.
    var isAhead: Int
    /// How fast its clock goes, in percent of the true one.
    var rate: Int
}

/// What may happen to a process of a fleet.
enum MemberEvent: Equatable {
    /// It stands still, as after `SIGSTOP`.
    case stall(milliseconds: Int)
    /// The same, as soon as a login of it is under way.
    case stallInLogin(milliseconds: Int)
    /// It is killed, as by `SIGKILL`; another one is started in its place after this number of milliseconds, if at all.
    case kill(restartsAfter: Int?)
    /// It is shut down as a program does that ends; another one is started in its place like after a kill.
    case shutDown(restartsAfter: Int?)
}

/// What may happen to the store of a fleet.
enum StoreEvent: Equatable {
    /// It has forgotten everything, and refuses connections for a while.
    case restart(downForMilliseconds: Int)
    /// Its clock is set to another time.
    case jump(seconds: Int)
    case dropConnections
}

extension ClientPlan {
    /// With sessions of a fleet a call waits for as long as the program of a process may stand still.
    mutating func joinFleet(_ chance: inout Chance) {
        (total, firstByte, waitingDeadline) = (nil, 120, 7200)
        maximumSessions = chance.pick([1, 2, 8])
        maximumConnections = 16
        idleTrim = chance.pick([1, 60, 86_400, 86_400])
    }
}

// MARK: - Chance

extension Program {
    /// Draws the processes, which of them makes each call, and what happens to them and to the store.
    mutating func planFleet(_ span: Int, _ chance: inout Chance) {
        let slots = chance.pick([1, 1, 2, 3, 4])
        let lies = chance.once(in: 2)
        let members = (0..<chance.pick([2, 2, 3, 4, 6])).map { _ in
            lies
                ? MemberPlan(isAhead: chance.pick([-3600, 0, 3600]), rate: chance.pick([90, 100, 110]))
                : MemberPlan(isAhead: 0, rate: 100)
        }
        fleet = FleetPlan(slots: slots, members: members)
        client.joinFleet(&chance)
        hosts = [hosts[0]]
        hosts[0].keepAlive = 5000
        hosts[0].requestsPerConnection = nil
        hosts[0].sessionLifetime = 900
        hosts[0].maximumSessions = isCalm ? 500 : chance.pick([slots, slots, slots + 1, 500])
        // With slow answers, a process often stands still during its login. A logout must end in time.
        if !isCalm, chance.once(in: 3) { hosts[0].latency = 2000 + chance.below(6000) }
        weather.latency = isCalm ? 50...200 : chance.pick([50...200, 1000...30_000, 1...300_000])
        for index in steps.indices {
            steps[index].host = 0
            steps[index].member = chance.below(members.count)
            // A call that begins in another one is made by the same process.
            if let outer = steps[index].inside { steps[index].member = steps[outer].member }
        }
        if chance.once(in: 3) { keepSessions() }
        faults = []
        ending = chance.once(in: 4) ? .release : .shutdown
        guard !isCalm else { return }
        // Some programs have one kind of trouble only.
        let kinds = chance.once(in: 3) ? [chance.below(11)] : Array(0..<11)
        for _ in 0..<chance.pick([1, 2, 4, 8]) {
            faults.append(trouble(chance.pick(kinds), span, members.count, &chance))
        }
        if chance.once(in: 3) { replaceMembers(span, members.count, &chance) }
    }

    /// Shuts processes down, and starts others in place of most of them, as a new version of a program does.
    private mutating func replaceMembers(_ span: Int, _ members: Int, _ chance: inout Chance) {
        for _ in 0..<chance.pick([1, 3]) {
            let event = MemberEvent.shutDown(restartsAfter: chance.pick([nil, 0, 5000]))
            faults.append(.member(milliseconds: chance.below(span + 20_000), chance.below(members), event))
        }
    }

    /// Nothing logs out: then a session that ends was ended by somebody to whom it did not belong.
    private mutating func keepSessions() {
        client.idleTrim = 86_400
        for index in steps.indices where [.logOut, .pinned].contains(steps[index].verb) { steps[index].verb = .read }
    }

    private func trouble(_ kind: Int, _ span: Int, _ members: Int, _ chance: inout Chance) -> PlannedFault {
        let time = chance.below(span + 5000)
        switch kind {
        case 0, 1, 2:
            let length = chance.once(in: 3) ? chance.magnitude(1...10_000) : 10_000 + chance.below(50_000)
            return .member(milliseconds: time, chance.below(members), .stall(milliseconds: length))
        case 3:
            let length = 10_000 + chance.below(30_000)
            // Most logins are the first ones.
            let start = chance.once(in: 2) ? 0 : time
            return .member(milliseconds: start, chance.below(members), .stallInLogin(milliseconds: length))
        case 4, 5:
            let pause = chance.pick([nil, 0, 1000, 20_000])
            return .member(milliseconds: time, chance.below(members), .kill(restartsAfter: pause))
        case 6: return .store(milliseconds: time, .restart(downForMilliseconds: chance.pick([0, 100, 3000, 15_000])))
        case 7:
            let event = chance.once(in: 2) ? StoreEvent.jump(seconds: chance.pick([-30, 30])) : .dropConnections
            return .store(milliseconds: time, event)
        case 8: return .moment(milliseconds: time, host: 0, .expireSessions)
        case 9: return .storeConnection(1 + chance.below(members * 2), ConnectionFault(ofStore: &chance))
        default:
            let delay = Sandbox.FaultRule(
                .delay(.milliseconds(chance.magnitude(1...30_000))),
                on: chance.pick([.login, .login, .getRecord, .createRecord]),
                skipping: chance.magnitude(1...20) - 1,
                count: chance.pick([1, 4])
            )
            return .request(host: 0, delay)
        }
    }
}

extension ConnectionFault {
    fileprivate init(ofStore chance: inout Chance) {
        let way = chance.pick([
            Wire.Break.finish, .reset, .silence, .stall(milliseconds: chance.magnitude(1...8000)),
        ])
        switch chance.below(8) {
        case 0: self = .refused
        case 1: self = .lostSYN
        case 2..<5: self = .up(afterBytes: chance.magnitude(1...20_000) - 1, way)
        default: self = .down(afterBytes: chance.magnitude(1...4000) - 1, way)
        }
    }
}
