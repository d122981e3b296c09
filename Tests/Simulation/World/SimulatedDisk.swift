import FMData
import NIOCore

@testable import FMDataCore
@testable import FMDataRecords

/// A file with a journal, and its fate when the writing process dies.
///
/// Synced bytes are kept. Of the bytes that were written since, or were being written, some first part may be kept.
final class SimulatedDisk: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    private let machine: VirtualMachine
    private let thread: VirtualMachine.Thread
    private let trace: Trace
    private let plan: DiskPlan
    private var chance: Chance
    private var synced: [UInt8] = []
    private var unsynced: [UInt8] = []
    /// Bytes that are being written.
    private var coming: [UInt8] = []
    /// The process that has it open.
    private weak var holder: Process?
    private var appendCount = 0

    init(_ plan: DiskPlan, seed: UInt64, on machine: VirtualMachine, trace: Trace) {
        self.plan = plan
        self.machine = machine
        self.trace = trace
        thread = machine.makeThread()
        chance = Chance(seed: seed, purpose: .disks)
    }

    /// A new process, which has not opened the file yet.
    func process(whenNoting: @escaping (Int) -> Void) -> Process { Process(self, whenNoting) }

    private func later(_ body: @escaping () -> Void) {
        machine.schedule(at: machine.now + .microseconds(Int64(plan.latency)), on: thread, body)
    }

    /// A process that writes into the file, for one run.
    final class Process: JournalStorage, @unchecked Sendable {
        // Sendable because it runs on the one real thread of the machine.
        private let disk: SimulatedDisk
        private let whenNoting: (Int) -> Void
        private var isAlive = true
        private var noteCount = 0

        fileprivate init(_ disk: SimulatedDisk, _ whenNoting: @escaping (Int) -> Void) {
            self.disk = disk
            self.whenNoting = whenNoting
        }

        var journal: DataAPI.WriteJournal { DataAPI.WriteJournal { self } }

        func load(_ done: @escaping Done<JournalReading>) { load(until: disk.machine.now + .seconds(2), done) }

        private func load(until limit: NIODeadline, _ done: @escaping Done<JournalReading>) {
            disk.later { [self] in
                guard isAlive else { return }
                if disk.holder != nil, disk.holder !== self {
                    guard disk.machine.now < limit else { return done(.failure(.init(.inUse))) }
                    disk.machine.schedule(at: disk.machine.now + .milliseconds(5), on: disk.thread) { [self] in
                        load(until: limit, done)
                    }
                    return
                }
                disk.holder = self
                done(disk.read())
            }
        }

        func append(_ lines: [String], isUrgent: Bool, _ done: @escaping Done<Void>) {
            guard isAlive else { return }
            noteCount += 1
            disk.coming = lines.flatMap { Array("\($0)\n".utf8) }
            disk.trace.note { "journal: \(lines.map { $0.split(separator: " ").dropLast().joined(separator: " ") })" }
            disk.later { [self] in
                guard isAlive else { return }
                done(disk.take(isUrgent: isUrgent))
            }
            whenNoting(noteCount)
        }

        func close(_ done: @escaping @Sendable () -> Void) {
            guard isAlive else { return }
            disk.later { [self] in
                guard isAlive else { return }
                isAlive = false
                disk.synced += disk.unsynced
                disk.unsynced = []
                if disk.holder === self { disk.holder = nil }
                done()
            }
        }

        /// Stops the process: nothing it does has an effect from now on.
        func die() {
            guard isAlive else { return }
            isAlive = false
            guard disk.holder === self else { return }
            disk.holder = nil
            disk.tear()
        }
    }

    private func read() -> Result<JournalReading, DataAPI.WriteJournalError> {
        let bytes = synced + unsynced
        do throws(DataAPI.WriteJournalError) {
            let reading = try JournalReading(bytes)
            synced = Array(bytes.dropLast(reading.cutBytes))
            unsynced = []
            return .success(reading)
        } catch {
            return .failure(error)
        }
    }

    private func take(isUrgent: Bool) -> Result<Void, DataAPI.WriteJournalError> {
        appendCount += 1
        defer { coming = [] }
        if appendCount == plan.failure {
            // The disk is full, or everything was written and could not be synced.
            if chance.once(in: 2) { unsynced += coming }
            trace.note { "journal: fails" }
            return .failure(.init(.storage))
        }
        unsynced += coming
        if isUrgent {
            synced += unsynced
            unsynced = []
        }
        return .success(())
    }

    private func tear() {
        let tail = unsynced + coming
        let count = chance.pick([0, tail.count, chance.below(tail.count + 1)])
        trace.note { "journal: \(count) of the last \(tail.count) bytes stay" }
        synced += tail.prefix(count)
        (unsynced, coming) = ([], [])
    }
}
