import FMData
import Foundation
import NIOCore

@testable import FMDataCore

/// A copy that a program keeps; it outlives the runs that follow the changes.
final class KeptCopy: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.

    private struct Kept {
        var lines: [Int: Copy.Line] = [:]
        /// As JSON, like in a program.
        var mark: Data?
        /// Whether records have arrived since the mark was made.
        var isAheadOfMark = false

        var hasUnmarked: Bool { !lines.isEmpty && (isAheadOfMark || mark == nil) }
    }

    let plan: CopyPlan
    private let machine: VirtualMachine
    private let thread: VirtualMachine.Thread
    private var kept = Kept()
    /// The state before the last event.
    private var before = Kept()
    /// Whether a backup was restored while the copy had records newer than its mark: then a record with the same
    /// version but other values cannot be detected.
    private(set) var isBlind = false

    init(_ plan: CopyPlan, on machine: VirtualMachine) {
        self.plan = plan
        self.machine = machine
        thread = machine.makeThread()
    }

    /// In ascending order of their ids.
    var lines: [Copy.Line] { kept.lines.values.sorted { $0.id < $1.id } }

    var keeper: DataAPI.CopyKeeper {
        DataAPI.CopyKeeper(
            mark: { [self] done in
                later {
                    let mark = self.kept.mark
                    done(Result { try mark.map { try JSONDecoder().decode(DataAPI.CopyMark.self, from: $0) } })
                }
            },
            versions: { [self] after, limit, done in
                later {
                    let versions = self.lines.filter { $0.id > after ?? .min }.prefix(limit)
                    done(.success(versions.map { DataAPI.RecordVersion(recordId: $0.id, modId: $0.modId) }))
                }
            }
        )
    }

    private func later(_ body: @escaping () -> Void) {
        machine.schedule(at: machine.now + .milliseconds(Int64(plan.latency)), on: thread, body)
    }

    /// Applies an event. Returns its error, or `nil`.
    ///
    /// - Parameter host: the host of the records.
    func carryOut(_ event: DataAPI.CopyEvent<Row>, of host: SimulatedHost) -> String? {
        before = kept
        switch event {
        case .records(let records):
            kept.isAheadOfMark = true
            for line in records.map(Copy.Line.init) {
                if let old = kept.lines.updateValue(line, forKey: line.id), old.modId > line.modId {
                    return "record \(line.id) goes back from version \(old.modId) to \(line.modId)"
                }
            }
        case .unreadable(let records): return "\(records) cannot be decoded"
        case .gone(let gone):
            for record in gone {
                kept.lines[record.recordId] = nil
                if host.restores == 0, host.isThere(record.recordId) {
                    return "record \(record.recordId) is said to be \(record.reason), and is there"
                }
            }
        case .polled(let mark, _):
            kept.mark = try? JSONEncoder().encode(mark)
            kept.isAheadOfMark = false
        case .reset(let reason):
            kept = Kept()
            isBlind = false
            guard reason == .otherFile, host.restores > 0 else { return "the copy is of no use any more: \(reason)" }
        }
        return nil
    }

    /// Called when a run has ended. If its process died, the last event may be lost.
    func end(dies: Bool) {
        if dies, plan.losesLastEvent { kept = before }
        before = kept
    }

    /// The state before the last event counts too, since it may be the one that is kept in the end.
    func backupIsRestored() { isBlind = isBlind || kept.hasUnmarked || before.hasUnmarked }
}
