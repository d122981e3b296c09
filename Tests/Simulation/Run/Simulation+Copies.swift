import FMData
import OpenCombine

@testable import FMDataCore

/// The checks of copies that a program keeps, however often it is killed, whatever the host answers falsely, and also
/// when a backup is restored: no existing record may be reported as removed, and in the end the copy must equal the
/// table.
extension Simulation {
    func makeCopies() {
        guard program.work.hasRestores else { return }
        for plan in program.copies { copies[plan.id] = KeptCopy(plan, on: machine) }
        // Watching calls do not end by themselves, so wait for the last planned event.
        running += 1
        onUserThread(in: program.lastMoment) { self.running -= 1 }
        for host in hosts.indices {
            hosts[host].whenRestored = { [unowned self] in
                for copy in copies.values where copy.plan.host == host { copy.backupIsRestored() }
            }
        }
    }

    private func copy(of step: Step) -> KeptCopy? { step.run.flatMap { copies[$0.job] } }

    /// Follows the changes of a copy, and applies them.
    func follow(_ step: Step, in database: DataAPI.Database) -> Verb.Call {
        guard let copy = copy(of: step) else { return Verb.now {} }
        let host = host(of: step)
        return database.addLayout(HostPlan.stampedLayout).of(Row.self)
            .changes(keptBy: copy.keeper, options: copy.plan.options)
            .eraseToAnyPublisher()
            .seen { [unowned self] event in
                trace.note { "call \(step.id): \(event.inShort)" }
                if let complaint = copy.carryOut(event, of: host) { find("call \(step.id) \(step.verb): \(complaint)") }
                return .nothing
            }
    }

    func copyRunEnds(_ call: Call) { copy(of: call.step)?.end(dies: call.step.run?.dies == true) }

    /// The error of a copy whose last run has received everything; `nil` if it is right.
    func complaint(aboutCopyOf step: Step) -> String? {
        guard let copy = copy(of: step) else { return nil }
        let (lines, table) = (copy.lines, host(of: step).table(for: nil, isFound: false))
        if copy.isBlind {
            let isRight = lines.map { [$0.id, $0.modId] } == table.map { [$0.id, $0.modId] }
            return isRight ? nil : Copy.difference(lines, table)
        }
        return lines == table ? nil : Copy.difference(lines, table)
    }
}

extension DataAPI.CopyEvent<Row> {
    fileprivate var inShort: String {
        switch self {
        case .records(let records): "\(records.count) records, from \(records[0].recordId) on"
        case .unreadable(let records): "\(records.count) records that cannot be decoded"
        case .gone(let gone): "gone: \(gone.map(\.recordId))"
        case .polled(_, let freshness): "polled, \(freshness.origin)"
        case .reset(let reason): "reset: \(reason)"
        }
    }
}
