import FMSandbox

/// Rows that are written with one journal, by one run after the other.
struct JobPlan: Equatable {
    /// By which its rows are known on the host.
    let id: Int
    var host: Int
    var rows: [JobRow]
    /// Whether creates have a key that they can be looked up by.
    var hasKeyField: Bool
    var concurrency: Int
    var keepsInputOrder: Bool
    /// In seconds.
    var patience: Int
    var repeatsEdits: Bool
    var disk: DiskPlan

    /// Longer than the host can be at work on what a run has sent: a request is held up 200 seconds at most on its way, and as
    /// long on the host. In seconds.
    static let settlingTime = 450

    /// What the file's records have in their key field from the beginning.
    static func key(ofRecord id: Int) -> String { "Alt-é\(id)" }
}

/// A row of a job. By its number it is known on the host: a program that is cut down keeps it.
struct JobRow: Equatable {
    enum Kind: Equatable {
        /// With a key that the row brings, or that the library makes.
        case create(ownKey: Bool)
        /// Of a version, or whatever is there.
        case edit(record: Int, modId: Int?)
        case delete(record: Int)
        /// By the key of a record that is there.
        case upsert(record: Int)
        /// By a key that no record has, or another row before it.
        case upsertNew(key: String)
    }

    let number: Int
    var kind: Kind
}

/// Where a journal is.
struct DiskPlan: Equatable {
    /// How long an access takes, in microseconds.
    var latency: Int
    /// Which append to the journal fails, counted over all runs.
    var failure: Int?
}

/// One run of a job, or of a copy. It begins when the one before has ended, or was killed.
struct RunPlan: Equatable {
    /// The job's number, or the copy's.
    var job: Int
    /// Milliseconds since then.
    var pause: Int
    /// Whether its process dies where the run is cancelled: what it has not written by then it never writes.
    var dies: Bool
    /// Whether nothing goes wrong any more: the last one, which is not drawn.
    var isLast = false
}

/// What somebody else does to the record of a row.
struct StrangersDeed: Equatable {
    enum Kind: Equatable {
        /// Makes a record that has the row's key in another spelling.
        case otherSpelling
        case edit
        case remove
    }

    var job: Int
    /// The row's number.
    var row: Int
    /// After the beginning.
    var milliseconds: Int
    var kind: Kind
}

extension JobRow {
    /// By which it is known in the trails of records.
    func tag(in job: JobPlan) -> String { "w\(job.id)x\(number)" }

    /// The key that it brings, or that its record has.
    func key(in job: JobPlan) -> String? {
        switch kind {
        case .create(ownKey: true): "Née-\(job.id)-\(number)x"
        case .upsert(let record): JobPlan.key(ofRecord: record)
        case .upsertNew(let key): key
        case .create, .edit, .delete: nil
        }
    }

    /// The record that it names by its id.
    var record: Int? {
        switch kind {
        case .edit(let record, _), .delete(let record): record
        case .create, .upsert, .upsertNew: nil
        }
    }

    /// What it may not be overtaken in, or overtake.
    var lane: String? {
        switch kind {
        case .create: nil
        case .edit(let record, _), .delete(let record): "record \(record)"
        case .upsert(let record): "key of \(record)"
        case .upsertNew(let key): key
        }
    }
}

// MARK: - Chance

extension Program {
    /// Draws jobs, what others do to their records, and in which runs they are written.
    mutating func planJobs(_ chance: inout Chance) {
        var nextRecords = hosts.map { $0.records + 1 }
        jobs = (0..<chance.pick([1, 1, 2, 3])).map { id in
            let host = chance.below(hosts.count)
            return JobPlan(id: id, host: host, firstRecord: &nextRecords[host], chance: &chance)
        }
        for index in hosts.indices {
            hosts[index].records = nextRecords[index] - 1
            // A connection that is always closed in front of a request never brings a row home.
            if !chance.once(in: 4) { hosts[index].keepAlive = 5000 }
        }
        if !isCalm { delayWrites(&chance) }
        for job in jobs where chance.once(in: 2) {
            for row in job.rows where chance.once(in: 4) {
                guard let kind = row.strangersDeed(&chance) else { continue }
                let time = chance.magnitude(1...2000) - 1
                strangers.append(StrangersDeed(job: job.id, row: row.number, milliseconds: time, kind: kind))
            }
        }
        for index in steps.indices where steps[index].verb == .journal { planRun(&steps[index], &chance) }
        // Each is begun at least once.
        for job in jobs where !steps.contains(where: { $0.run?.job == job.id }) {
            guard let index = steps.indices.first(where: { steps[$0].run == nil }) else { continue }
            steps[index].verb = .journal
            planRun(&steps[index], &chance)
            steps[index].run?.job = job.id
            steps[index].host = job.host
        }
    }

    /// The host may still be at work on what a program has sent that is dead by now.
    private mutating func delayWrites(_ chance: inout Chance) {
        for _ in 0..<chance.pick([0, 1, 3, 8]) {
            let rule = Sandbox.FaultRule(
                .delay(.milliseconds(chance.magnitude(10...200_000))),
                on: chance.pick([.createRecord, .createRecord, .editRecord, .deleteRecord]),
                skipping: chance.magnitude(1...20) - 1,
                count: chance.pick([1, 1, 4])
            )
            faults.append(.request(host: chance.pick(jobs).host, rule))
        }
    }

    private func planRun(_ step: inout Step, _ chance: inout Chance) {
        let job = chance.pick(jobs)
        step.host = job.host
        step.inside = nil
        step.run = RunPlan(
            job: job.id,
            pause: chance.pick([0, 0, 100, 60_000]),
            dies: !chance.once(in: 4)
        )
        step.cancel =
            switch chance.below(12) {
            case 0, 1: nil
            case 2: .beforeDemand
            case 3, 4: .after(milliseconds: chance.magnitude(1...10_000) - 1)
            case 5: .after(milliseconds: chance.magnitude(1...600_000) - 1)
            case 6: .atValue(1 + chance.below(job.rows.count))
            default:
                .atNote(
                    chance.magnitude(1...2 * job.rows.count),
                    later: chance.pick([0, 0, 1, chance.magnitude(1...2000)])
                )
            }
    }
}

extension JobPlan {
    fileprivate init(id: Int, host: Int, firstRecord: inout Int, chance: inout Chance) {
        self.id = id
        self.host = host
        let count = chance.magnitude(2...40)
        // Some jobs do one thing only.
        let kinds = chance.once(in: 2) ? [chance.below(9)] : Array(0..<9)
        var records: [Int] = []
        var newKeys: [String] = []
        var rows: [JobRow] = []
        for number in 0..<count {
            func newRecord() -> Int {
                defer { firstRecord += 1 }
                return firstRecord
            }
            let kind: JobRow.Kind
            switch chance.pick(kinds) {
            case 0, 1: kind = .create(ownKey: true)
            case 2: kind = .create(ownKey: false)
            case 3: kind = .edit(record: newRecord(), modId: 0)
            case 4:
                // Several of them may come to one record.
                if records.isEmpty || chance.once(in: 2) { records.append(newRecord()) }
                kind = .edit(record: chance.pick(records), modId: nil)
            case 5: kind = .delete(record: newRecord())
            case 6: kind = .upsert(record: newRecord())
            default:
                if newKeys.isEmpty || !chance.once(in: 3) { newKeys.append("Neu-é\(id)-\(number)x") }
                kind = .upsertNew(key: chance.pick(newKeys))
            }
            rows.append(JobRow(number: number, kind: kind))
        }
        self.rows = rows
        hasKeyField = !chance.once(in: 6)
        concurrency = chance.pick([1, 2, 4, 8])
        keepsInputOrder = chance.once(in: 3)
        patience = chance.pick([1, 30])
        repeatsEdits = chance.once(in: 4)
        disk = DiskPlan(
            latency: chance.pick([0, 100, 5000, chance.magnitude(1...1_000_000)]),
            failure: chance.once(in: 12) ? chance.magnitude(1...60) : nil
        )
    }
}

extension JobRow {
    fileprivate func strangersDeed(_ chance: inout Chance) -> StrangersDeed.Kind? {
        switch kind {
        case .create(ownKey: true), .upsertNew: .otherSpelling
        case .create(ownKey: false): nil
        case .upsert: chance.pick([.otherSpelling, .otherSpelling, .edit])
        case .edit: chance.once(in: 3) ? .remove : .edit
        case .delete: .edit
        }
    }
}
