import FMSandbox

extension Program {
    /// The program of a seed.
    ///
    /// - Parameter calls: the number of calls; drawn by default, with small numbers as likely as large ones.
    init(seed: UInt64, _ work: Work = .calls, calls: Int? = nil) {
        var chance = Chance(seed: seed, purpose: .program)
        self.work = work
        let drawn = chance.magnitude(3...100)
        // Journals get fewer steps, since each run of a job takes long.
        let count = calls ?? (work == .journals ? 2 + drawn / 10 : drawn)
        self.seed = seed
        client = ClientPlan(chance: &chance)
        let hostCount = chance.once(in: 3) ? 2 : 1
        hosts = (0..<hostCount).map { _ in HostPlan(chance: &chance, work, records: count) }
        if work == .accounts {
            // Sessions of an account do not make room for those of another, so a full host could keep one of them out
            // for ever.
            for index in hosts.indices { hosts[index].maximumSessions = max(hosts[index].maximumSessions, 50) }
        }
        weather = Network.Weather(chance: &chance)
        // From all steps at once to one every second.
        let span = chance.pick(work.spans ?? [0, 50, 1000, 10_000, count * 1000])
        // Some programs repeat a few verbs only.
        let verbs = chance.once(in: 3) ? (0..<4).map { _ in chance.pick(work.usual) } : work.usual
        steps = (0..<count).map { id in
            var step = Step(id: id, span: span, hosts: hostCount, verbs: verbs, chance: &chance)
            if work == .accounts, chance.once(in: 3) { step.account = chance.pick(HostPlan.accounts) }
            return step
        }
        let violence = chance.pick([0, 2, 5, 10, 30])
        faults = (0..<violence).map { _ in
            PlannedFault(
                span: span,
                hosts: hostCount,
                connections: chance.pick([4, 20, 60]),
                endpoints: work.endpoints,
                chance: &chance
            )
        }
        // Held answers are released at some time.
        faults.append(.moment(milliseconds: span + 2000, host: 0, .releaseAnswers))
        if hostCount == 2 { faults.append(.moment(milliseconds: span + 2000, host: 1, .releaseAnswers)) }
        ending =
            switch chance.below(4) {
            case 0: .release
            case 1: .earlyShutdown(milliseconds: chance.magnitude(1...max(2, span + 1000)))
            default: .shutdown
            }
        if chance.once(in: 4) { calmDown() }
        if work == .journals { planJobs(&chance) }
        if work == .copies { planCopies(span, &chance) }
        if work == .restores { planRestores(span, &chance) }
        if work == .fleets { planFleet(span, &chance) }
    }

    private mutating func calmDown() {
        isCalm = true
        faults = []
        if case .earlyShutdown = ending { ending = .shutdown }
        weather.latency = 50...200
        client.total = nil
        client.firstByte = 120
        client.waitingDeadline = 30
        for index in hosts.indices {
            hosts[index].latency = hosts[index].latency.map { min($0, 20) }
            hosts[index].keepAlive = 5000
            hosts[index].requestsPerConnection = nil
            hosts[index].maximumSessions = 500
            hosts[index].sessionLifetime = 900
        }
        for index in steps.indices {
            switch steps[index].demand {
            case .slowly, .late: steps[index].demand = .oneByOne
            case .unlimited, .oneByOne: break
            }
        }
    }
}

extension ClientPlan {
    fileprivate init(chance: inout Chance) {
        maximumSessions = chance.pick([1, 2, 3, 8])
        maximumConnections = chance.pick([1, 2, 4, 16])
        firstByte = chance.pick([2, 20, 120])
        total = chance.once(in: 4) ? chance.pick([1, 5, 60]) : nil
        waitingDeadline = chance.pick([1, 30, 30])
        idleTrim = chance.pick([1, 60])
        explainsErrors = !chance.once(in: 3)
        loops = chance.pick([1, 2])
        logs = chance.once(in: 8)
    }
}

extension HostPlan {
    fileprivate init(chance: inout Chance, _ work: Work, records: Int) {
        self.work = work
        maximumSessions = chance.once(in: 4) ? chance.pick([1, 2, 4]) : 500
        keepAlive = chance.pick([20, 500, 5000, 5000])
        requestsPerConnection = chance.once(in: 4) ? chance.pick([1, 2, 10]) : nil
        latency = chance.once(in: 2) ? chance.magnitude(1...2000) : nil
        compresses = chance.once(in: 6)
        sessionLifetime = chance.once(in: 4) ? chance.pick([2, 60]) : 900
        self.records = records
    }
}

extension Network.Weather {
    fileprivate init(chance: inout Chance) {
        latency = chance.pick([0...0, 50...200, 1000...30_000, 1...300_000])
        capacity = chance.once(in: 4) ? 500 : 256 * 1024
        tearsApart = chance.once(in: 3)
    }
}

extension Step {
    fileprivate init(id: Int, span: Int, hosts: Int, verbs: [Verb], chance: inout Chance) {
        self.id = id
        time = span == 0 ? 0 : chance.below(span)
        host = chance.below(hosts)
        verb = chance.pick(verbs)
        demand =
            switch chance.below(8) {
            case 0, 1: .oneByOne
            case 2: .slowly(milliseconds: chance.magnitude(1...5000))
            case 3: .late(milliseconds: chance.magnitude(1...5000))
            default: .unlimited
            }
        cancel =
            switch chance.below(24) {
            case 0: .beforeDemand
            case 1, 2: .after(milliseconds: chance.magnitude(1...3000) - 1)
            case 3: .atValue(1 + chance.below(3))
            default: nil
            }
        inside = id > 0 && chance.once(in: 8) ? chance.below(id) : nil
    }
}

extension PlannedFault {
    fileprivate init(
        span: Int,
        hosts: Int,
        connections: Int,
        endpoints: [Sandbox.Endpoint],
        chance: inout Chance
    ) {
        let host = chance.below(hosts)
        switch chance.below(10) {
        case 0..<4: self = .connection(1 + chance.below(connections), ConnectionFault(chance: &chance))
        case 4, 5:
            self = .moment(
                milliseconds: chance.below(span + 1000),
                host: host,
                HostEvent(chance: &chance)
            )
        default: self = .request(host: host, Sandbox.FaultRule(endpoints: endpoints, chance: &chance))
        }
    }
}

extension ConnectionFault {
    fileprivate init(chance: inout Chance) {
        self =
            switch chance.below(12) {
            case 0: .lookUpFails
            case 1: .refused
            case 2: .lostSYN
            case 3: .slow(milliseconds: chance.magnitude(1...20_000))
            case 4..<7: .up(afterBytes: chance.magnitude(1...20_000) - 1, Wire.Break(chance: &chance))
            default: .down(afterBytes: chance.magnitude(1...60_000) - 1, Wire.Break(chance: &chance))
            }
    }
}

extension Wire.Break {
    fileprivate init(chance: inout Chance) {
        self =
            switch chance.below(9) {
            case 0, 1: .finish
            case 2, 3: .reset
            case 4: .resetBehind
            case 5: .halfClose
            case 6: .silence
            default: .stall(milliseconds: chance.magnitude(1...200_000))
            }
    }
}

extension HostEvent {
    fileprivate init(chance: inout Chance) {
        self =
            switch chance.below(8) {
            case 0, 1: .restart(downForMilliseconds: chance.pick([0, 0, 100, 5000]))
            case 2, 3: .expireSessions
            case 4: .jump(seconds: chance.pick([-86_400, -60, 60, 901, 86_400]))
            case 5: .releaseAnswers
            default: .dropConnections
            }
    }
}

extension Work {
    /// In how many milliseconds the steps begin; `nil` for the usual choice.
    fileprivate var spans: [Int]? {
        switch self {
        case .copies, .restores: [1000, 60_000, 900_000]
        // Long enough for leases to end.
        case .fleets: [1000, 10_000, 60_000, 180_000]
        case .calls, .records, .live, .accounts, .journals: nil
        }
    }

    /// The endpoints of faults that are not for all requests.
    fileprivate var endpoints: [Sandbox.Endpoint] {
        switch self {
        case .calls, .records, .live, .accounts, .fleets: Sandbox.Endpoint.allCases
        case .journals:
            [.createRecord, .editRecord, .deleteRecord, .find, .getRecord, .createRecord, .editRecord, .login]
        case .copies, .restores: [.getRecords, .getRecords, .find, .getRecord, .login]
        }
    }
}

extension Sandbox.FaultRule {
    fileprivate init(endpoints: [Sandbox.Endpoint], chance: inout Chance) {
        let fault: Sandbox.Fault =
            switch chance.below(24) {
            case 0: .expireToken
            case 1: .delay(.milliseconds(chance.magnitude(1...200_000)))
            case 2: .cut(afterBodyBytes: chance.magnitude(1...600) - 1)
            case 3, 4: .cutAnswer(afterBytes: chance.magnitude(1...2000) - 1, framing: .contentLength)
            case 5, 6: .cutAnswer(afterBytes: chance.magnitude(1...2000) - 1, framing: .chunked)
            case 7: .badChunkSize(chance.pick(Sandbox.ChunkSizeMistake.allCases), afterBodyBytes: chance.below(600))
            case 8: .closeAfterAnswer
            case 9: .holdAnswer
            case 10: .refuseToken
            case 11: .refuseFreshToken
            case 12: .lostLogout
            case 13: .lateLogout(.milliseconds(chance.magnitude(1...20_000)))
            case 14: .reset
            case 15: .resetAfterExecution
            case 16: .html(status: chance.pick([400, 401, 404, 500, 502, 503, 504]))
            case 17: .brokenJSON
            case 18: .empty(status: chance.pick([401, 500, 503]))
            case 19: .error(FileMakerError(chance.pick([102, 301, 500, 802, 952, 112, 1708])))
            case 20: .fullHost
            case 21, 22: .htmlAfterExecution(status: chance.pick([500, 502, 503, 504]))
            default: .restart
            }
        var endpoint = chance.once(in: 2) ? chance.pick(endpoints) : nil
        // Half of a file's bytes, announced as its whole length, are a valid file.
        if fault == .brokenJSON, endpoint == nil || endpoint == .downloadContainer { endpoint = .getRecord }
        self.init(
            fault,
            on: endpoint,
            skipping: chance.magnitude(1...100) - 1,
            count: chance.once(in: 10) ? 5 : 1
        )
    }
}
