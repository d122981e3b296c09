import CustomDump
import FMData
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// A batch with a journal whose process is killed: at every single step of small batches, with every possible state of
/// the disk and of the calls under way, and again at every step of the run that resumes it. No row is written twice,
/// lost or reported wrongly.
@Suite struct JournalCrashTests {
    private static let batches: [(name: String, tasks: [BatchStateMachine.RowTask])] = [
        ("creates", [.createWithKey, .createWithKey, .createWithKey]),
        ("edits", [.edit(1, base: 0), .edit(2, base: 0), .edit(1, base: 1)]),
        ("deletes", [.delete(1), .delete(2), .delete(3)]),
        ("upserts", [.upsert("new"), .upsert("1"), .upsert("new")]),
        ("mixed", [.createWithKey, .edit(1, base: 0), .delete(2), .upsert("1")]),
        ("without a key or a modId", [.create, .edit(1), .create]),
        ("one record", [.edit(1), .upsert("1"), .edit(1), .delete(2), .upsert("1")]),
    ]

    @Test(arguments: batches.indices)
    func killedAtEveryStep(batch: Int) {
        let tasks = Self.batches[batch].tasks
        var world = JournalledWorld(tasks)
        let length = world.run(killedAfter: .max)
        world.check("\(Self.batches[batch].name), never killed")
        for loses in [false, true] {
            for fate in JournalledWorld.Fate.all {
                for first in stride(from: 0, through: length, by: Effort.of(1, brief: 7)) {
                    var killed = JournalledWorld(tasks)
                    killed.run(killedAfter: first, fate: fate, losesUnsynced: loses)
                    for second in [Int.max] + Array(stride(from: first % 3, through: length, by: 3)) {
                        var world = killed
                        if second != .max { world.run(killedAfter: second, fate: fate, losesUnsynced: loses) }
                        world.run(killedAfter: .max)
                        world.check("\(Self.batches[batch].name), killed at \(first) and \(second), \(fate), \(loses)")
                    }
                }
            }
        }
    }

    /// The same with a server whose answers get lost, also in the runs that resume.
    @Test(arguments: batches.indices)
    func killedAtEveryStepOfARunThatLosesAnswers(batch: Int) {
        let tasks = Self.batches[batch].tasks
        for losses in [Set([0]), [1], [0, 1, 2], [2, 3]] {
            for fate in JournalledWorld.Fate.all {
                for first in stride(from: 0, to: 40, by: Effort.of(1, brief: 8)) {
                    var world = JournalledWorld(tasks)
                    world.losses = losses
                    world.run(killedAfter: first, fate: fate, losesUnsynced: true)
                    world.run(killedAfter: .max)
                    world.check("\(Self.batches[batch].name), lost \(losses.sorted()), killed at \(first), \(fate)")
                }
            }
        }
    }

    /// Each write in turn is answered by an error that stops the batch, or each sync in turn fails because the disk is
    /// full. The run that resumes sends the remaining rows.
    @Test(arguments: batches.indices)
    func stoppedAtEveryStep(batch: Int) {
        let tasks = Self.batches[batch].tasks
        for losses in [Set<Int>(), [0], [1, 2]] {
            for first in stride(from: 0, to: 10, by: Effort.of(1, brief: 2)) {
                for loses in [false, true] {
                    var world = JournalledWorld(tasks)
                    world.losses = losses
                    world.stop = loses ? .journal(first) : .server(first)
                    world.run(killedAfter: .max, losesUnsynced: loses)
                    world.stop = .server(0)
                    world.run(killedAfter: .max)
                    world.stop = nil
                    world.run(killedAfter: .max)
                    world.check("\(Self.batches[batch].name), stopped at \(first), lost \(losses.sorted()), \(loses)")
                }
            }
        }
    }

    /// Rows that the server refused temporarily until the retry timeout ended. They are then written after others.
    @Test(arguments: batches.indices)
    func refusedInPassingAndKilledAtEveryStep(batch: Int) {
        let tasks = Self.batches[batch].tasks
        for refused in [Set([0]), [1], [0, 1], [0, 3]] {
            for first in Array(stride(from: 0, to: 40, by: Effort.of(1, brief: 8))) + [Int.max] {
                for fate in [JournalledWorld.Fate.lost, .executed] {
                    var world = JournalledWorld(tasks)
                    world.refused = refused
                    world.run(killedAfter: first, fate: fate)
                    world.refused = []
                    world.run(killedAfter: .max)
                    world.check("\(Self.batches[batch].name), refused \(refused.sorted()), killed at \(first), \(fate)")
                }
            }
        }
    }
}

/// A host, a disk, and processes that write rows one after the other. All but the last are killed or stopped.
private struct JournalledWorld {
    typealias Machine = BatchStateMachine

    /// What happens to the calls under way when a process is killed.
    enum Fate: CaseIterable {
        case lost, executed, late, firstLate, secondLate

        static let all = allCases

        func of(_ place: Int) -> Fate {
            switch self {
            case .lost, .executed, .late: self
            case .firstLate: place == 0 ? .late : .executed
            case .secondLate: place == 0 ? .lost : .late
            }
        }
    }

    private struct Call: Hashable {
        let row: Int
        let work: Machine.Work

        static func == (left: Call, right: Call) -> Bool { left.row == right.row && left.work == right.work }
        func hash(into hasher: inout Hasher) { hasher.combine(row) }
    }

    private static let header = JournalHeader(salt: [], origin: "o", database: "d", layout: "l")

    let tasks: [Machine.RowTask]
    /// The writes of each process whose answers are lost, counted from 0.
    var losses: Set<Int> = []
    /// The rows whose writes the server refuses temporarily.
    var refused: Set<Int> = []
    /// What ends a process without a kill.
    var stop: Stop?

    enum Stop {
        /// The answer to this write, counted from 0, is an error that stops the batch.
        case server(Int)
        /// This sync, counted from 0, fails because the disk is full.
        case journal(Int)
    }

    // The disk.
    private var lines: [JournalEntry] = [.header(header)]
    private var syncedCount = 1

    // The host.
    private var versions: [Int: Int] = [1: 0, 2: 0, 3: 0]
    private var recordsByKey: [String: Int] = ["1": 3]
    private var lastWriter: [Int: Int] = [:]
    private var nextRecordId = 100
    private var effects: [Int: Int] = [:]
    private var lateCalls: [Call] = []

    // The results of the last process.
    private var outcomes: [Int: Machine.Outcome] = [:]
    private var errors: [Int: FMRest.APIError] = [:]
    /// Rows that a later row of the same serial key supersedes.
    private var superseded: Set<Int> = []
    /// The rows that have written each record, in order.
    private var writers: [Int: [Int]] = [:]

    init(_ tasks: [Machine.RowTask]) {
        self.tasks = tasks
    }

    /// Runs one process.
    ///
    /// - Parameter steps: the number of steps after which it is killed.
    /// - Returns: the number of steps that it has made.
    @discardableResult
    mutating func run(killedAfter steps: Int, fate: Fate = .lost, losesUnsynced: Bool = false) -> Int {
        guard let state = journal else {
            Issue.record("the journal cannot be read")
            return 0
        }
        syncedCount = lines.count
        outcomes = [:]
        errors = [:]
        superseded = []
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var settings = Machine.Settings()
        settings.concurrency = 2
        settings.isJournalled = true
        var machine = Machine(settings: settings)
        machine.requested(.unlimited)
        let isOverAt = now + settings.settlingTime
        var running: [Call] = []
        var noting: [Int] = []
        var alarm: NIODeadline?
        var writeCount = 0
        var syncCount = 0
        var count = 0
        var hasEnded = false
        var hasInput = false

        /// Does everything that the machine asks for. A kill comes before a step that touches the disk or the network.
        func obey(_ world: inout JournalledWorld) {
            while count < steps {
                switch machine.next() {
                case .rest: return
                case .ask: break
                case .setAlarm(let instant): alarm = instant
                case .publish(let row, let outcome): world.outcomes[row] = outcome
                case .stop: break
                case .end: hasEnded = true
                case .note(let row, let note):
                    count += 1
                    world.note(row, note)
                    if case .attempt = note { noting.append(row) }
                case .start(let row, let work):
                    count += 1
                    running.append(Call(row: row, work: work))
                }
            }
        }

        while count < steps, !hasEnded {
            if !hasInput {
                hasInput = true
                for (row, task) in tasks.enumerated() {
                    var task = task
                    switch state.rows[row]?.phase {
                    case .open(let over): task.attempt = .init(over: over, isOverAt: isOverAt)
                    case .done:
                        machine.receivedKnown(row)
                        continue
                    case .free, .openInJob, nil: break
                    }
                    if task.overwrites, let last = task.serialKey.flatMap({ state.lastRowsOfLanes()[$0] }), last > row {
                        superseded.insert(row)
                        if task.attempt == nil { task = .init(kind: .unusable) }
                        task.attempt?.doubt = .superseded
                    }
                    machine.received(row, task)
                }
                machine.upstreamEnded(hasFailed: false)
            } else if !noting.isEmpty {
                count += 1
                if case .journal(syncCount) = stop {
                    if losesUnsynced { lines = Array(lines.prefix(syncedCount)) }
                    machine.journalFailed()
                } else {
                    syncedCount = lines.count
                    for row in noting { machine.noted(row) }
                }
                syncCount += 1
                noting = []
            } else if !running.isEmpty {
                count += 1
                let call = running.removeFirst()
                var answer: Machine.CallResult
                if case .write = call.work {
                    if case .server(writeCount) = stop {
                        answer = .trouble(.hopeless)
                        errors[call.row] = FMRest.APIError(.unauthorized, reason: "")
                    } else if refused.contains(call.row) {
                        answer = .trouble(.passing)
                        errors[call.row] = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: .recordInUse)
                    } else {
                        answer = execute(call)
                        if answer == .trouble(.modIdMismatch) {
                            errors[call.row] = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: .modIdMismatch)
                        }
                    }
                    if losses.contains(writeCount) {
                        answer = .trouble(.answerLost)
                        errors[call.row] = FMRest.APIError(.network, reason: "", outcomeIsUnknown: true)
                    }
                    writeCount += 1
                } else {
                    answer = execute(call)
                }
                machine.answered(call.row, answer, jitter: 1, now: now)
            } else if let next = alarm {
                // What an earlier process has sent arrives before the time at which the host can no longer be working
                // on it.
                for call in lateCalls { _ = execute(call) }
                lateCalls = []
                now = next
                alarm = nil
                machine.wakeUp(now: now)
            } else {
                obey(&self)
                if noting.isEmpty, running.isEmpty, alarm == nil, !hasEnded, count < steps {
                    Issue.record("the batch goes on no more")
                    return count
                }
            }
            obey(&self)
        }
        if !hasEnded {
            for (place, call) in running.enumerated() {
                switch fate.of(place) {
                case .executed: _ = execute(call)
                case .late: lateCalls.append(call)
                default: break
                }
            }
            if losesUnsynced { lines = Array(lines.prefix(syncedCount)) }
        }
        return count
    }

    /// Compares the results of the last process with what the host has done.
    mutating func check(_ name: String) {
        for call in lateCalls { _ = execute(call) }
        lateCalls = []
        for (row, task) in tasks.enumerated() {
            let count = effects[row] ?? 0
            let outcome = outcomes[row]
            func rule(_ holds: Bool) {
                if !holds {
                    Issue.record(
                        "\(name): row \(row), \(task.kind), was done \(count) times and told \(String(describing: outcome))"
                    )
                }
            }
            if superseded.contains(row) {
                rule(outcome == .unknown(.superseded) ? count <= 1 : outcome == .failed(.lastError) && count == 0)
                continue
            }
            switch (task.kind, outcome) {
            // The edit that it was based on was never made.
            case (.edit(base: .some), .known) where count == 0:
                rule(state(of: row) == .done(.init(kind: .failed, errorCode: "fileMaker", fileMakerCode: 306)))
            case (_, .known): rule(count > 0)
            // An upsert overwrites its record, and may do so again.
            case (.upsert, .created), (.upsert, .edited): rule(count > 0)
            case (.create, .created), (.edit(base: .some), .edited): rule(count == 1)
            // That it was carried out cannot be shown: another client may have written the same.
            case (.edit(base: .some), .unknown(.equalWrite)), (.edit(base: .some), .unknown(.changedSince)):
                rule(count == 1)
            case (.delete, .deleted): rule(count <= 1)
            case (.create(hasKey: false), .unknown), (.edit(base: nil), .unknown): rule(count <= 1)
            case (.edit(base: nil), .edited): rule(count > 0)
            default: rule(false)
            }
        }
        // A later row's write is never overwritten by an earlier row.
        for (record, writers) in writers where writers != writers.sorted() {
            Issue.record("\(name): record \(record) was written by \(writers)")
        }
        // Each key was made at most once.
        let keys = made.values.filter { $0 > 1 }
        if !keys.isEmpty { Issue.record("\(name): a key was made twice: \(made)") }
    }

    // MARK: The disk

    private mutating func note(_ row: Int, _ note: Machine.Note) {
        let digest = RowDigest(salt: [], write: "\(row)")
        switch note {
        case .attempt(let over):
            let (key, field): (String?, JournalEntry.NotedField) =
                switch tasks[row].serialKey {
                case .record(let id): ("\(id)", .none)
                case .key(let key): (key, .named("Key"))
                case nil: (nil, .none)
                }
            lines.append(.attempt(row: row, digest, key: key, field: field, over: over))
        case .withdrawn: lines.append(.withdrawn(row: row))
        case .outcome(let outcome):
            let result = DataAPI.WriteResult(outcome, of: BatchRowMemory(error: errors[row]))
            if let kept = JournalOutcome(result) {
                lines.append(.outcome(row: row, digest, kept))
            } else if case .open = state(of: row) {
                lines.append(.withdrawn(row: row))
            }
        }
    }

    private func state(of row: Int) -> JournalState.Phase? { journal?.rows[row]?.phase }

    /// The state that the lines add up to; `nil` if they cannot follow each other.
    private var journal: JournalState? {
        try? lines.dropFirst().reduce(into: JournalState(Self.header)) { try $0.add($1) }
    }

    // MARK: The host

    private var made: [String: Int] = [:]

    private mutating func execute(_ call: Call) -> Machine.CallResult {
        let task = tasks[call.row]
        switch (task.kind, call.work) {
        case (.create(let hasKey), .write):
            return make(call.row, key: hasKey ? "row \(call.row)" : nil)
        case (.create, .lookUp):
            let id = recordsByKey["row \(call.row)"]
            return .found(
                .init(
                    outcome: .ofCreate(matches: id == nil ? [] : [true], isKeyOurs: true),
                    record: id.map { WrittenVersion(recordId: $0, modId: versions[$0] ?? 0) }
                )
            )
        case (.edit(let base), .write):
            return edit(call.row, task.recordId, base: base)
        case (.edit(let base), .lookUp):
            let found = versions[task.recordId].map { (modId: $0, isSame: lastWriter[task.recordId] == call.row) }
            return .found(
                .init(
                    outcome: .ofEdit(base: base, found: found),
                    record: found.map { WrittenVersion(recordId: task.recordId, modId: $0.modId) }
                )
            )
        case (.upsert, .write(let over)):
            return over.map { edit(call.row, $0.recordId, base: $0.modId) } ?? make(call.row, key: task.key)
        case (.upsert, .lookUp):
            guard let id = recordsByKey[task.key], let modId = versions[id] else { return .found(.nothing) }
            return .found(
                .init(
                    outcome: lastWriter[id] == call.row ? .carriedOut : .undecided(.otherValues),
                    record: WrittenVersion(recordId: id, modId: modId)
                )
            )
        case (.delete, _):
            guard versions.removeValue(forKey: task.recordId) != nil else { return .trouble(.recordMissing) }
            effects[call.row, default: 0] += 1
            return .deleted
        case (.unusable, _):
            return .trouble(.refused)
        }
    }

    private mutating func make(_ row: Int, key: String?) -> Machine.CallResult {
        nextRecordId += 1
        versions[nextRecordId] = 0
        lastWriter[nextRecordId] = row
        writers[nextRecordId, default: []].append(row)
        if let key {
            recordsByKey[key] = nextRecordId
            made[key, default: 0] += 1
        }
        effects[row, default: 0] += 1
        return .created(recordId: nextRecordId, modId: 0)
    }

    private mutating func edit(_ row: Int, _ id: Int, base: Int?) -> Machine.CallResult {
        guard let modId = versions[id] else { return .trouble(.recordMissing) }
        guard base == nil || base == modId else { return .trouble(.modIdMismatch) }
        versions[id] = modId + 1
        lastWriter[id] = row
        writers[id, default: []].append(row)
        effects[row, default: 0] += 1
        return .edited(recordId: id, modId: modId + 1)
    }
}

extension BatchStateMachine.RowTask {
    fileprivate var recordId: Int { if case .record(let id) = serialKey { id } else { 0 } }
    fileprivate var key: String { if case .key(let key) = serialKey { key } else { "" } }
}
