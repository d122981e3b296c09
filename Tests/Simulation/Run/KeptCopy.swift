import Foundation
import NIOCore

@testable import FMData

/// A copy as a program keeps it, which outlives the runs that follow the changes.
final class KeptCopy: @unchecked Sendable {
    // Sendable as the machine is.

    private struct Kept {
        var lines: [Int: Copy.Line] = [:]
        /// As JSON, which is what a program keeps.
        var mark: Data?
        /// Whether records have come since the mark was made.
        var isAheadOfMark = false

        var hasUnmarked: Bool { !lines.isEmpty && (isAheadOfMark || mark == nil) }
    }

    let plan: CopyPlan
    private let machine: VirtualMachine
    private let thread: VirtualMachine.Thread
    private var kept = Kept()
    /// What there was before the last event.
    private var before = Kept()
    /// Whether a backup was restored when records were there of which no mark tells: what holds other values in an equal version is
    /// not known from what it was.
    private(set) var isBlind = false

    init(_ plan: CopyPlan, on machine: VirtualMachine) {
        self.plan = plan
        self.machine = machine
        thread = machine.makeThread()
    }

    /// Rising by their ids.
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

    /// Carries out an event. Returns what is wrong with it.
    ///
    /// - Parameter host: the one that the records are on.
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
        case .looked(let mark, _):
            kept.mark = try? JSONEncoder().encode(mark)
            kept.isAheadOfMark = false
        case .reset(let reason):
            kept = Kept()
            isBlind = false
            guard reason == .otherFile, host.restores > 0 else { return "the copy is of no use any more: \(reason)" }
        }
        return nil
    }

    /// A run is over. When its process dies, the last event may not have been kept.
    func end(dies: Bool) {
        if dies, plan.losesLastEvent { kept = before }
        before = kept
    }

    /// What was there before the last event may be what is kept in the end.
    func backupIsRestored() { isBlind = isBlind || kept.hasUnmarked || before.hasUnmarked }
}
