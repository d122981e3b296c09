import FMData

@testable import FMSandbox

/// A job while it is written: its journal, and the processes of its runs.
final class Job {
    let plan: JobPlan
    let disk: SimulatedDisk
    private var processes: [Int: SimulatedDisk.Process] = [:]

    init(_ plan: JobPlan, disk: SimulatedDisk) {
        self.plan = plan
        self.disk = disk
    }

    /// Starts the process of a run, and returns its journal.
    func begin(_ step: Step, whenNoting: @escaping (Int) -> Void) -> DataAPI.WriteJournal {
        let process = disk.process(whenNoting: whenNoting)
        processes[step.id] = process
        return process.journal
    }

    func kill(_ step: Step) { processes[step.id]?.die() }

    var options: DataAPI.BatchOptions {
        DataAPI.BatchOptions(
            concurrency: plan.concurrency,
            order: plan.keepsInputOrder ? .input : .completion,
            idempotencyKey: plan.hasKeyField ? "Key" : nil,
            retryTimeout: .seconds(plan.retryTimeout),
            settlingTime: .seconds(JobPlan.settlingTime),
            repeatsEditsWithoutModId: plan.repeatsEdits
        )
    }

    var writes: [DataAPI.RecordWrite<KeyedRow>] {
        plan.rows.map { row in
            let tag = row.tag(in: plan)
            let fields = KeyedRow(marker: tag, note: HostPlan.secret + tag, key: row.key(in: plan) ?? "")
            return switch row.kind {
            case .create: .create(fields)
            case .edit(let record, let modId):
                .edit(record, setting: ["Note": .text(HostPlan.secret + tag)], modId: modId)
            case .delete(let record): .delete(record)
            case .upsert, .upsertNew: .upsert(fields, by: .key)
            }
        }
    }
}

// MARK: - On the host

/// The writes into a record, in their order, with their authors.
struct Trail {
    let record: Int
    /// The tags of rows, and of changes by others.
    let tags: [String]

    /// Whether the first write was not that of a row.
    var beginsWithStranger: Bool { tags.first?.first == "o" }
}

extension SimulatedHost {
    /// The trails of all existing records.
    var trails: [Trail] { engine.world.tables[0].records.map(trail) }

    private func trail(of record: Record) -> Trail {
        let text = engine.model.tables[0].field(named: "Trail").map { record.values[$0.slot].text } ?? ""
        // A record has an initial value that no row wrote.
        let parts = text.split(separator: "|").filter { $0 != HostPlan.secret }
        return Trail(record: record.id, tags: parts.map { String($0.dropFirst(HostPlan.secret.count)) })
    }

    func isThere(_ record: Int) -> Bool { engine.world.tables[0].record(record) != nil }

    /// Carries out another client's change of a row's record.
    ///
    /// - Returns: the trail of the record, if it was deleted.
    func commit(_ deed: ForeignChange, to row: JobRow, of job: JobPlan) -> Trail? {
        let note = HostPlan.secret + "o\(job.id)x\(row.number)"
        trace.note { "\(self.name): \(deed)" }
        let id: Int? = if case .upsert(let record) = row.kind { record } else { row.record }
        let old = id.flatMap { engine.world.tables[0].record($0) }.map(trail)
        do {
            return try engine.commitOfOthers("Rows", HostPlan.database) { writer, table in
                switch (deed.kind, id, row.key(in: job)) {
                case (.otherSpelling, _, let key?):
                    let other = row.number.isMultiple(of: 2) ? key.uppercased() : key.replacing("é", with: "e")
                    let fields = ["Marker": "o\(job.id)x\(row.number)", "Note": note, "Key": other]
                    _ = try writer.create(in: table, writer.changes(fields, in: table))
                case (.edit, let id?, _): try writer.change(id, in: table, writer.changes(["Note": note], in: table))
                case (.remove, let id?, _):
                    try writer.delete(id, in: table)
                    return old
                default: break
                }
                return nil
            }
        } catch {
            return nil
        }
    }
}
