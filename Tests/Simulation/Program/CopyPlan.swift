import FMData
import FMSandbox

/// A copy of a host's records, which a program keeps by following their changes, in one run after the other.
struct CopyPlan: Equatable {
    enum Way: CaseIterable {
        case automatic, reread, scan, scanByKey, stamp, log
    }

    let id: Int
    var host: Int
    var way: Way
    /// Whether a process that dies has lost the last event that it received.
    var losesLastEvent: Bool
    /// The keeper's response time, in milliseconds.
    var latency: Int

    var options: DataAPI.LiveOptions {
        let watch: DataAPI.LiveWatch =
            switch way {
            case .automatic: .automatic
            case .reread: .reread
            case .scan: .scan(HostPlan.layout)
            case .scanByKey: .scan(HostPlan.layout, key: "Marker")
            case .stamp: .stamp("Changed", reconcile: 2)
            case .log: .log(HostPlan.logLayout, serial: "Serial", reconcile: 2)
            }
        return DataAPI.LiveOptions(watch: watch, every: .seconds(5) ... .seconds(300))
    }
}

extension Program {
    /// The time of the last planned event, in milliseconds.
    var lastMoment: Int {
        let faults = faults.compactMap { fault -> Int? in
            switch fault {
            case .moment(let time, _, _), .member(let time, _, _), .store(let time, _): time
            case .connection, .request, .storeConnection: nil
            }
        }
        return (steps.map(\.time) + faults).max() ?? 0
    }
}

// MARK: - Chance

extension Program {
    /// Draws copies, the runs that follow the changes, false answers, and restored backups.
    mutating func planCopies(_ span: Int, _ chance: inout Chance) {
        planSizes(&chance)
        copies = (0..<chance.pick([1, 1, 2])).map { id in
            CopyPlan(
                id: id,
                host: chance.below(hosts.count),
                way: chance.pick(CopyPlan.Way.allCases),
                losesLastEvent: chance.once(in: 2),
                latency: chance.pick([0, 0, 100, 5000])
            )
        }
        planRestoresAndLies(span, &chance)
        for index in steps.indices where steps[index].verb == .followCopy { planCopyRun(&steps[index], &chance) }
        for copy in copies {
            let runs = steps.indices.filter { steps[$0].run?.job == copy.id }
            // The last run is not cancelled.
            if let last = runs.last { steps[last].cancel = nil }
        }
    }

    /// Draws false answers and restored backups, for live queries of more than a page.
    mutating func planRestores(_ span: Int, _ chance: inout Chance) {
        planSizes(&chance)
        planRestoresAndLies(span, &chance)
    }

    /// Gives hosts a few records, or more than a page.
    private mutating func planSizes(_ chance: inout Chance) {
        for index in hosts.indices {
            hosts[index].records = max(hosts[index].records, chance.pick([0, 120, 260]))
        }
    }

    private mutating func planRestoresAndLies(_ span: Int, _ chance: inout Chance) {
        // With short time limits, polls may never complete, and then nothing can be checked. So most programs have long
        // ones.
        if !chance.once(in: 4) {
            (client.total, client.firstByte, client.waitingDeadline) = (nil, 120, 30)
            for index in hosts.indices { (hosts[index].keepAlive, hosts[index].sessionLifetime) = (5000, 900) }
        }
        guard !isCalm else { return }
        for index in hosts.indices { plan(lieOf: index, &chance) }
        for index in hosts.indices where chance.once(in: 2) { plan(backupOf: index, span, &chance) }
    }

    /// Plans a single answer that there are no records, or that the requested one is missing.
    private mutating func plan(lieOf host: Int, _ chance: inout Chance) {
        guard chance.once(in: 2) else { return }
        let rule = Sandbox.FaultRule(
            .error(FileMakerError(chance.pick([401, 101]))),
            on: chance.pick([.getRecords, .getRecords, .find]),
            skipping: chance.magnitude(1...40) - 1
        )
        faults.append(.request(host: host, rule))
    }

    private mutating func plan(backupOf host: Int, _ span: Int, _ chance: inout Chance) {
        let times = [chance.below(span + 1000), chance.below(span + 1000)].sorted()
        faults.append(.moment(milliseconds: times[0], host: host, .backUp))
        faults.append(.moment(milliseconds: times[1], host: host, .restore))
    }

    private func planCopyRun(_ step: inout Step, _ chance: inout Chance) {
        let copy = chance.pick(copies)
        step.host = copy.host
        step.inside = nil
        step.run = RunPlan(job: copy.id, pause: chance.pick([0, 0, 100, 60_000]), dies: !chance.once(in: 4))
        step.cancel =
            switch chance.below(8) {
            case 0: .beforeDemand
            case 1, 2: .after(milliseconds: chance.magnitude(1...10_000) - 1)
            case 3, 4: .after(milliseconds: chance.magnitude(1...600_000) - 1)
            default: .atValue(chance.magnitude(1...12))
            }
    }
}
