import FMSandbox

/// Rows that are written with one journal, in one run after the other.
struct JobPlan: Equatable {
    /// Identifies its rows on the host.
    let id: Int
    var host: Int
    var rows: [JobRow]
    /// Whether created records have a key by which they can be found.
    var hasKeyField: Bool
    var concurrency: Int
    var keepsInputOrder: Bool
    /// In seconds.
    var retryTimeout: Int
    var repeatsEdits: Bool
    var disk: DiskPlan

    /// In seconds. Longer than the host can work on requests of an earlier run: a request is delayed for at most 200
    /// seconds on its way, and for as long on the host.
    static let settlingTime = 450

    /// The key that the file's records have at the start.
    static func key(ofRecord id: Int) -> String { "Alt-é\(id)" }
}

/// A row of a job. Its number identifies it on the host, and stays the same when the shrinker removes other rows.
struct JobRow: Equatable {
    enum Kind: Equatable {
        /// With a key of the row, or one that the library makes.
        case create(ownKey: Bool)
        /// With a version (`modId`), or unconditional.
        case edit(record: Int, modId: Int?)
        case delete(record: Int)
        /// With the key of an existing record.
        case upsert(record: Int)
        /// With a key that no record has, or that an earlier row has created.
        case upsertNew(key: String)
    }

    let number: Int
    var kind: Kind
}

/// The disk of a journal.
struct DiskPlan: Equatable {
    /// The duration of an access, in microseconds.
    var latency: Int
    /// The number of the append that fails, counted over all runs.
    var failure: Int?
}

/// One run of a job, or of a copy. It begins when the previous run has ended or was killed.
struct RunPlan: Equatable {
    /// The job's number, or the copy's.
    var job: Int
    /// Milliseconds since the previous run.
    var pause: Int
    /// Whether its process dies when the run is cancelled: what it has not written by then is lost.
    var dies: Bool
    /// Whether it is the last run, without faults; that one is not drawn.
    var isLast = false
}

/// A change of a row's record by another client.
struct ForeignChange: Equatable {
    enum Kind: Equatable {
        /// Makes a record whose key is the row's in another spelling.
        case otherSpelling
        case edit
        case remove
    }

    var job: Int
    /// The row's number.
    var row: Int
    /// Since the beginning.
    var milliseconds: Int
    var kind: Kind
}

extension JobRow {
    /// Its tag in the trails of records.
    func tag(in job: JobPlan) -> String { "w\(job.id)x\(number)" }

    /// The key of the row, or of its record.
    func key(in job: JobPlan) -> String? {
        switch kind {
        case .create(ownKey: true): "Née-\(job.id)-\(number)x"
        case .upsert(let record): JobPlan.key(ofRecord: record)
        case .upsertNew(let key): key
        case .create, .edit, .delete: nil
        }
    }

    /// The id of the record, if the row names it by that.
    var record: Int? {
        switch kind {
        case .edit(let record, _), .delete(let record): record
        case .create, .upsert, .upsertNew: nil
        }
    }

    /// The serial key: rows with the same one must not overtake each other.
    var serialKey: String? {
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
    /// Draws jobs, changes of their records by others, and the runs that write them.
    mutating func planJobs(_ chance: inout Chance) {
        var nextRecords = hosts.map { $0.records + 1 }
        jobs = (0..<chance.pick([1, 1, 2, 3])).map { id in
            let host = chance.below(hosts.count)
            return JobPlan(id: id, host: host, firstRecord: &nextRecords[host], chance: &chance)
        }
        for index in hosts.indices {
            hosts[index].records = nextRecords[index] - 1
            // If the host always closed the connection before a request, no row would ever arrive.
            if !chance.once(in: 4) { hosts[index].keepAlive = 5000 }
        }
        if !isCalm { delayWrites(&chance) }
        for job in jobs where chance.once(in: 2) {
            for row in job.rows where chance.once(in: 4) {
                guard let kind = row.foreignChange(&chance) else { continue }
                let time = chance.magnitude(1...2000) - 1
                strangers.append(ForeignChange(job: job.id, row: row.number, milliseconds: time, kind: kind))
            }
        }
        for index in steps.indices where steps[index].verb == .journal { planRun(&steps[index], &chance) }
        // Each job has at least one run.
        for job in jobs where !steps.contains(where: { $0.run?.job == job.id }) {
            guard let index = steps.indices.first(where: { steps[$0].run == nil }) else { continue }
            steps[index].verb = .journal
            planRun(&steps[index], &chance)
            steps[index].run?.job = job.id
            steps[index].host = job.host
        }
    }

    /// Delays writes, so that the host may still work on requests of a program that was killed.
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
        // Some jobs have one kind of row only.
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
                // Several of them may be for one record.
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
        retryTimeout = chance.pick([1, 30])
        repeatsEdits = chance.once(in: 4)
        disk = DiskPlan(
            latency: chance.pick([0, 100, 5000, chance.magnitude(1...1_000_000)]),
            failure: chance.once(in: 12) ? chance.magnitude(1...60) : nil
        )
    }
}

extension JobRow {
    fileprivate func foreignChange(_ chance: inout Chance) -> ForeignChange.Kind? {
        switch kind {
        case .create(ownKey: true), .upsertNew: .otherSpelling
        case .create(ownKey: false): nil
        case .upsert: chance.pick([.otherSpelling, .otherSpelling, .edit])
        case .edit: chance.once(in: 3) ? .remove : .edit
        case .delete: .edit
        }
    }
}
