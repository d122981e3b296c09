import FMData
import NIOCore
import OpenCombine

@testable import FMDataCore

/// The checks of rows that are written with a journal, however often their program is killed: no row may be carried out
/// twice, none reported wrongly, and in the end none may be missing.
extension Simulation {
    private func job(of step: Step) -> Job? { step.run.flatMap { jobs[$0.job] } }

    // MARK: Runs

    func makeJobs() {
        for plan in program.jobs {
            let disk = SimulatedDisk(plan.disk, seed: program.seed &+ UInt64(plan.id), on: machine, trace: trace)
            jobs[plan.id] = Job(plan, disk: disk)
        }
        for deed in program.strangers {
            guard let job = jobs[deed.job]?.plan, let row = job.rows.first(where: { $0.number == deed.row }) else {
                continue
            }
            onUserThread(in: deed.milliseconds) { [self] in
                if let trail = hosts[job.host].commit(deed, to: row, of: job) {
                    lostTrails[job.host, default: []].append(trail)
                }
            }
        }
    }

    /// Whether the step is a later run of its job; the first run starts the job.
    func isFollowing(_ step: Step) -> Bool {
        guard let run = step.run else { return false }
        return program.steps.first { $0.run?.job == run.job }?.id != step.id
    }

    /// Writes the rows of a job, as far as the journal does not have them.
    func write(_ step: Step, in database: DataAPI.Database) -> Verb.Call {
        guard let job = job(of: step) else { return Verb.now {} }
        let journal = job.begin(step) { [unowned self] count in
            guard case .atNote(count, let later)? = step.cancel else { return }
            onUserThread(in: later) { self.calls[step.id]?.cancel() }
        }
        return database.layout(KeyedRow.self).writing(job.writes, journal: journal, options: job.options)
            .eraseToAnyPublisher()
            .seen { .told(Told($0)) }
    }

    /// Called when a run is about to be cancelled.
    func willCancel(_ call: Call) {
        copyRunEnds(call)
        guard call.step.run?.dies == true else { return }
        trace.note { "call \(call.step.id): its process dies" }
        job(of: call.step)?.kill(call.step)
    }

    func runEnded(_ call: Call) {
        guard !isEnding, let run = call.step.run, !run.isLast,
            let next = program.steps.first(where: { $0.run?.job == run.job && $0.id > call.step.id })
        else { return }
        running += 1
        onUserThread(in: next.run?.pause ?? 0) { [self] in
            running -= 1
            begin(next)
        }
    }

    // MARK: The last run

    /// Without faults another program continues each journal, and must complete it.
    func letJobsEnd() {
        guard !jobs.isEmpty else { return }
        onUserThread(in: 0) { [self] in
            network.calmDown()
            network.clearUp()
            for (host, plan) in zip(hosts, program.hosts) {
                host.forgetFaults(expiresSessions: plan.maximumSessions < 50)
            }
        }
        // A host that was down is up again.
        machine.run(for: .seconds(10))
        makeNextClient()
        onUserThread(in: 0) { [self] in
            for job in jobs.values.sorted(by: { $0.plan.id < $1.plan.id }) { begin(lastRun(of: job.plan)) }
        }
        run(for: .hours(24))
        endNextClient()
    }

    private func lastRun(of job: JobPlan) -> Step {
        Step(
            id: 1_000_000 + job.id,
            time: 0,
            host: job.host,
            verb: .journal,
            demand: .unlimited,
            run: RunPlan(job: job.id, pause: 0, dies: false, isLast: true)
        )
    }

    // MARK: Checks

    /// Checks whether the reported outcome of a row is true at this moment.
    func checkRow(of call: Call, given value: Seen) {
        guard case .told(let told) = value, let job = job(of: call.step)?.plan else { return }
        log.checkSecrets(told.text)
        guard job.rows.indices.contains(told.index) else {
            return find("call \(call.step.id): row \(told.index) is told, which is none")
        }
        let row = job.rows[told.index]
        let count = executions(of: row, job)
        func complain(_ text: String) { find("row \(told.index) of job \(job.id), \(row.kind): \(text): \(told.text)") }
        switch told.kind {
        case .failed, .skipped:
            if count > 0, !mayBeWrittenAgain(row, job) { complain("executed, and told as not executed") }
        case .unknown: break
        default:
            if count == 0 { return complain("acknowledged, and not executed") }
            guard let record = told.recordId, hosts[job.host].isThere(record) else { return }
            let trail = hosts[job.host].trails.first { $0.record == record }
            if trail?.tags.contains(row.tag(in: job)) != true {
                complain("told with the record \(record) of somebody else")
            }
        }
    }

    /// The number of executions of a row.
    private func executions(of row: JobRow, _ job: JobPlan) -> Int {
        if case .delete(let record) = row.kind { return hosts[job.host].isThere(record) ? 0 : 1 }
        let tag = row.tag(in: job)
        return allTrails(job.host).reduce(0) { $0 + $1.tags.count { $0 == tag } }
    }

    private func allTrails(_ host: Int) -> [Trail] { hosts[host].trails + lostTrails[host, default: []] }

    private func hasStranger(_ row: JobRow, _ job: JobPlan, _ kinds: ForeignChange.Kind...) -> Bool {
        program.strangers.contains { $0.job == job.id && $0.row == row.number && kinds.contains($0.kind) }
    }

    /// Whether another client makes a record with the row's key in another spelling.
    private func hasOtherSpelling(_ row: JobRow, _ job: JobPlan) -> Bool {
        job.rows.contains { $0.serialKey == row.serialKey && hasStranger($0, job, .otherSpelling) }
    }

    /// Whether a later row writes the same record.
    private func isFollowed(_ row: JobRow, _ job: JobPlan) -> Bool {
        row.serialKey.map { serialKey in job.rows.contains { $0.number > row.number && $0.serialKey == serialKey } }
            ?? false
    }

    /// Whether the row overwrites, as it is allowed to, what others have written since.
    private func mayBeWrittenAgain(_ row: JobRow, _ job: JobPlan) -> Bool {
        guard case .edit(_, modId: nil) = row.kind, job.repeatsEdits, let record = row.record else { return false }
        return job.rows.contains { $0.record == record && hasStranger($0, job, .edit, .remove) }
    }

    func checkJobs() {
        for job in jobs.values.map(\.plan).sorted(by: { $0.id < $1.id }) {
            for row in job.rows {
                let count = executions(of: row, job)
                if count > 1, !mayBeWrittenAgain(row, job) {
                    find("row \(row.number) of job \(job.id), \(row.kind): executed \(count) times")
                }
            }
            checkOrder(job)
            checkLastRun(of: job)
        }
        for index in hosts.indices {
            let new = allTrails(index).filter { $0.record > program.hosts[index].records }
            for trail in new where trail.beginsWithStranger && trail.tags.contains(where: { $0.first == "w" }) {
                find("the record of a stranger was taken: \(trail.tags)")
            }
        }
        for call in calls.values.sorted(by: { $0.step.id < $1.step.id }) where call.step.run != nil {
            // A disk may be full, and a cancelled run may be slow to close its journal.
            guard case .failed(let error)? = call.end, let cause = error.underlying as? DataAPI.WriteJournalError,
                cause.reason != .inUse, cause.reason != .storage
            else { continue }
            find("call \(call.step.id): its journal cannot be read: \(error)")
        }
    }

    /// Rows of one record must be carried out in their order, across all runs.
    private func checkOrder(_ job: JobPlan) {
        let numbers = Dictionary(job.rows.map { ($0.tag(in: job), $0.number) }) { first, _ in first }
        for trail in allTrails(job.host) {
            let order = trail.tags.compactMap { numbers[$0] }
            if order != order.sorted() {
                find("the record \(trail.record) was written by the rows \(order) of job \(job.id)")
            }
        }
    }

    private func checkLastRun(of job: JobPlan) {
        guard let call = calls[lastRun(of: job).id] else { return find("the last run of job \(job.id) never began") }
        let isFull = job.disk.failure != nil
        switch call.end {
        case .finished: break
        case .failed(let error) where error.code == .journal && isFull: return
        case .failed(let error): return find("the last run of job \(job.id) failed: \(error)")
        case .cancelled, nil: return find("the last run of job \(job.id) never ended")
        }
        let told = call.values.compactMap { if case .told(let told) = $0 { told } else { nil } }
        let indexes = told.map(\.index).sorted()
        guard indexes == Array(job.rows.indices) else { return find("job \(job.id): the rows \(indexes) are told") }
        // If the host closes the connection before each request, rows never arrive.
        guard program.hosts[job.host].keepAlive >= 5000, program.hosts[job.host].sessionLifetime >= 60 else { return }
        for told in told {
            let row = job.rows[told.index]
            let text: String? =
                switch told.kind {
                case .unknown where !mayStayUnknown(row, job): "is unknown, though it can be told"
                case .failed where !mayFail(row, job, told), .skipped: "was lost"
                default: nil
                }
            if let text { find("row \(told.index) of job \(job.id), \(row.kind): \(text): \(told.text)") }
        }
    }

    /// Whether neither a key nor a modId can show its outcome.
    private func mayStayUnknown(_ row: JobRow, _ job: JobPlan) -> Bool {
        switch row.kind {
        case .create: !job.hasKeyField
        // That it was carried out cannot be shown: another client may have written the same.
        case .edit(_, modId: .some): executions(of: row, job) > 0 || hasStranger(row, job, .edit, .remove)
        case .edit(_, modId: nil): !job.repeatsEdits || mayBeWrittenAgain(row, job) || isFollowed(row, job)
        case .delete: false
        case .upsert: hasStranger(row, job, .edit)
        // A later row may have changed it, and is not undone to find out; or the key is there in another spelling.
        case .upsertNew: isFollowed(row, job) || hasOtherSpelling(row, job)
        }
    }

    /// Whether the row may have been rejected for good.
    private func mayFail(_ row: JobRow, _ job: JobPlan, _ told: Told) -> Bool {
        if told.isFromJournal, told.mayPass { return false }
        // Rejected by a fault in an earlier run.
        if told.isFromJournal, !program.isCalm { return true }
        switch row.kind {
        case .edit(let record, modId: .some):
            return hasStranger(row, job, .edit, .remove)
                && [.modIdMismatch, .recordMissing].contains(told.fileMakerCode)
                || told.fileMakerCode == .recordMissing && !hosts[job.host].isThere(record)
        case .edit(let record, modId: nil):
            return told.fileMakerCode == .recordMissing && !hosts[job.host].isThere(record)
                || told.fileMakerCode == nil && isFollowed(row, job)
        case .upsertNew:
            return told.fileMakerCode == nil && (isFollowed(row, job) || hasOtherSpelling(row, job))
        case .create, .delete, .upsert: return false
        }
    }
}
