import FMDataCore
import Foundation
import NIOCore
import OpenCombine

/// Carries out writes in one transaction: creates a job record from them, which runs the script, and reads the result
/// that the script left in it.
///
/// The record is created by a batch of one row, which settles a lost answer by the record's key. So either the script
/// runs exactly once, or it is unknown whether it ran. With a journal the key is on the disk before the record is
/// created, so that a later run can look it up.
struct Commit<R: RecordFields> {
    typealias Outcome = DataAPI.WriteResult

    let layout: DataAPI.TypedLayout<R>
    let script: DataAPI.CommitScript
    let options: DataAPI.CommitOptions
    let journal: OpenJournal?

    /// A row to be sent, or that an earlier run has sent.
    private struct Row {
        let index: Int
        let payload: CommitPayload.Row
        let digest: RowDigest?
        /// Whether the journal has its outcome. It keeps the places of the other rows of its job.
        var isSettled = false
    }

    /// The rows of one job record.
    private struct Job {
        let key: String
        /// Whether an earlier run may have created the record.
        var isOpen = false
        /// Whether the journal has the job.
        var isNoted = false
        var rows: [Row]

        /// Whether the outcomes of some of its rows are known: its record was created, and must not be again.
        var isSettledInPart: Bool { rows.contains(where: \.isSettled) }
    }

    /// The results of some jobs.
    private struct Results {
        var outcomes: [Int: Outcome] = [:]
        /// Why no other commit can succeed.
        var stop: FMRest.APIError?

        /// The rows that the script could not carry out because of a temporary state.
        var passing: Set<Int> {
            Set(
                outcomes.lazy.filter { _, outcome in
                    outcome.error?.passing != nil && outcome.kind == .failed && outcome.error?.request == nil
                }
                .map(\.key)
            )
        }

        /// Merges the results of further jobs.
        func followed(by next: Results) -> Results {
            Results(outcomes: outcomes.merging(next.outcomes) { $1 }, stop: stop ?? next.stop)
        }
    }

    /// Sends these writes, the first of which has index `firstIndex`, and publishes the result of each. Fails
    /// afterwards when no other commit could succeed either.
    package func rows(
        of writes: [DataAPI.RecordWrite<R>],
        from firstIndex: Int
    ) -> AnyPublisher<[DataAPI.BatchRow], FMRest.APIError> {
        guard writes.contains(where: \.isWholeRecord) else { return rows(of: writes, from: firstIndex, .givenByField) }
        return layout.knowingWholeRecord { whole in rows(of: writes, from: firstIndex, whole) }
    }

    /// - Parameter whole: selects the fields of writes that are whole records.
    private func rows(
        of writes: [DataAPI.RecordWrite<R>],
        from firstIndex: Int,
        _ whole: WholeRecord
    ) -> AnyPublisher<[DataAPI.BatchRow], FMRest.APIError> {
        guard let validation = layout.layout.database.calls.options.validation else {
            return rows(of: writes, from: firstIndex, whole) { _ in nil }
        }
        let format = server.encoding.values.format
        func checked(
            _ shown: DataAPI.Layout.LayoutMetaData?
        ) -> AnyPublisher<[DataAPI.BatchRow], FMRest.APIError> {
            rows(of: writes, from: firstIndex, whole) { payload in
                let invalid =
                    WriteValidation.Write(payload)
                    .map { validation.invalidValues(in: $0, shown, format: format) } ?? []
                return invalid.isEmpty ? nil : .invalid(invalid)
            }
        }
        return validation.followsLayout ? layout.layout.described(call: checked) : checked(nil)
    }

    /// - Parameters:
    ///   - whole: selects the fields of writes that are whole records.
    ///   - refusal: why a row must not be sent; `nil` if it may.
    private func rows(
        of writes: [DataAPI.RecordWrite<R>],
        from firstIndex: Int,
        _ whole: WholeRecord,
        refusal: (CommitPayload.Row) -> FMRest.APIError?
    ) -> AnyPublisher<[DataAPI.BatchRow], FMRest.APIError> {
        var settled: [Int: Outcome] = [:]
        var known: Set<Int> = []
        var fresh: [Row] = []
        var areFreshUnnoted = true
        var open: [String: Job] = [:]
        for (place, write) in writes.enumerated() {
            let index = firstIndex + place
            do {
                var payload = try CommitPayload.Row(write, in: layout)
                // The digest covers all fields of the row, whatever fields the layout shows today.
                let digest = journal.map { payload.digest(salt: $0.state.header.salt) }
                if write.isWholeRecord { payload.fields = payload.fields.map(whole.carried) }
                let row = Row(index: index, payload: payload, digest: digest)
                guard let noted = journal?.state.rows[index] else {
                    if let error = refusal(payload) { throw error }
                    fresh.append(row)
                    continue
                }
                let isSame = noted.digest == row.digest
                switch noted.phase {
                case .done(let outcome) where outcome.kind == .failed && options.retriesRefused:
                    if let error = refusal(payload) { throw error }
                    fresh.append(row)
                    areFreshUnnoted = false
                case _ where !isSame, .open:
                    throw FMRest.APIError.inputHasChanged(isOpen: noted.phase.isOpen)
                case .done(let outcome):
                    settled[index] = Outcome(outcome)
                    known.insert(index)
                    let row = Row(index: index, payload: payload, digest: digest, isSettled: true)
                    open[noted.key ?? "", default: Job(key: noted.key ?? "", isNoted: true, rows: [])].rows.append(row)
                case .openInJob:
                    open[noted.key ?? "", default: Job(key: noted.key ?? "", isNoted: true, rows: [])].rows.append(row)
                    open[noted.key ?? ""]?.isOpen = true
                case .free:
                    if let error = refusal(payload) { throw error }
                    fresh.append(row)
                    areFreshUnnoted = false
                }
            } catch {
                settled[index] = .failed(FMRest.APIError(wrapping: error, otherwise: .encoding))
            }
        }
        var jobs = open.values.filter { $0.isOpen && isWhole($0) }
        for job in open.values where job.isOpen && !isWhole(job) {
            for row in job.rows where !row.isSettled { settled[row.index] = .unknown(.jobIsTornApart) }
        }
        // An atomic commit with a faulty row is not sent; otherwise the other rows are.
        let fault = settled.filter { !known.contains($0.key) }.min { $0.key < $1.key }?.value.error
        if options.isAtomic, let fault {
            for row in fresh { settled[row.index] = .failed(.rolledBack(with: fault)) }
        } else if !fresh.isEmpty {
            jobs.append(areFreshUnnoted ? newJob(fresh) : Job(key: UUID(random: server.random).uuidString, rows: fresh))
        }
        return outcomes(of: jobs).map { results in
            let rows = writes.enumerated().map { place, write in
                let index = firstIndex + place
                return DataAPI.BatchRow(
                    index: index,
                    key: write.key,
                    result: settled[index] ?? results.outcomes[index] ?? .skipped,
                    isFromJournal: known.contains(index)
                )
            }
            return (rows, results.stop)
        }
        .orderedMap(concurrency: 1) { rows, stop -> AnyPublisher<[[DataAPI.BatchRow]], FMRest.APIError> in
            guard let stop else { return .of([rows]) }
            return Just([rows]).setFailureType(to: FMRest.APIError.self).append(Fail(error: stop)).eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    /// The job of rows of which the journal says nothing. Its key follows from them, so that it can be looked up even
    /// if the journal has lost the line that notes it.
    private func newJob(_ rows: [Row]) -> Job {
        guard let journal, let first = rows.first else {
            return Job(key: UUID(random: server.random).uuidString, rows: rows)
        }
        let digests = rows.compactMap { $0.digest?.text }.joined(separator: " ")
        return Job(
            key: RowDigest(salt: journal.state.header.salt, write: digests).key(ofRow: first.index),
            isOpen: journal.earlier.mayMissRows,
            rows: rows
        )
    }

    /// Whether all rows that the journal knows of the job are here.
    private func isWhole(_ job: Job) -> Bool {
        journal?.state.rows.values.count { $0.key == job.key } == job.rows.count
    }

    /// Runs the jobs one after the other, until one fails with an error that no other commit could avoid (`stop`).
    private func outcomes(of jobs: [Job]) -> AnyPublisher<Results, FMRest.APIError> {
        guard !jobs.isEmpty else { return .of(Results()) }
        return jobs.publisher.setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) { job in
                let end = server.time.now() + TimeAmount(clamping: max(.zero, options.retryTimeout))
                return outcomes(of: job, until: end).map { [$0] }.eraseToAnyPublisher()
            }
            .scan((all: Results(), count: 0)) { ($0.all.followed(by: $1), $0.count + 1) }
            .first { $0.all.stop != nil || $0.count == jobs.count }
            .map(\.all)
            .eraseToAnyPublisher()
    }

    /// - Parameter end: until when a commit is repeated that was reverted because of a temporary state, such as a
    ///   locked record. Of a commit that is not atomic, the rows that failed for that reason are repeated.
    private func outcomes(of job: Job, until end: NIODeadline) -> AnyPublisher<Results, FMRest.APIError> {
        let payload = CommitPayload(layout: layout.layout.name, atomic: options.isAtomic, rows: job.rows.map(\.payload))
        let run: AnyPublisher<[Outcome], FMRest.APIError>
        if let journal, !job.isNoted {
            let rows = job.rows.compactMap { row in
                row.digest.map { JournalEntry.JobRow(row: row.index, digest: $0) }
            }
            run = NotingPublisher(entry: .job(key: job.key, rows: rows), writer: journal.writer, time: server.time)
                .orderedMap(concurrency: 1) { _ in self.run(payload, job).map { [$0] }.eraseToAnyPublisher() }
                .eraseToAnyPublisher()
        } else {
            run = self.run(payload, job)
        }
        return run.map { outcomes in
            Results(outcomes: Dictionary(zip(job.rows.map(\.index), outcomes)) { first, _ in first })
        }
        .handleEvents(receiveOutput: { note($0, of: job) })
        .orderedMap(concurrency: 1) { results -> AnyPublisher<[Results], FMRest.APIError> in
            let passing = results.passing
            guard !passing.isEmpty, server.time.now() < end else { return .of([results]) }
            let rows = job.rows.filter { !$0.isSettled && (options.isAtomic || passing.contains($0.index)) }
            let again = Job(key: UUID(random: server.random).uuidString, rows: rows)
            return PausePublisher(pause: .seconds(1), time: server.time)
                .orderedMap(concurrency: 1) { _ in
                    outcomes(of: again, until: end).map { [[results.followed(by: $0)]] }.eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        // Results published before a failure are kept with it.
        .map(Result<Results, FMRest.APIError>.success)
        .afterFailure { error, _ in
            Just(Result<Results, FMRest.APIError>.failure(error)).setFailureType(to: FMRest.APIError.self)
        }
        .reduce(Results()) { all, next in
            switch next {
            case .success(let results): return results
            case .failure(let error):
                var all = all
                all.stop = error
                return all
            }
        }
        .eraseToAnyPublisher()
    }

    private func note(_ results: Results, of job: Job) {
        guard let journal else { return }
        for row in job.rows where !row.isSettled {
            guard let outcome = results.outcomes[row.index], outcome.kind != .unknown else { continue }
            journal.writer.note(
                JournalOutcome(outcome).map { .outcome(row: row.index, nil, $0) } ?? .withdrawn(row: row.index)
            )
        }
        journal.writer.flush()
    }

    // MARK: The job record

    private var jobs: DataAPI.TypedLayout<FieldData> { script.layout.of(FieldData.self) }
    private var server: DataAPI.Server { script.layout.database.server }

    private func run(_ payload: CommitPayload, _ job: Job) -> AnyPublisher<[Outcome], FMRest.APIError> {
        let text: String
        do {
            text = String(decoding: try FMEncoder().encode(payload), as: UTF8.self)
        } catch {
            return .of(payload.all(.failed(FMRest.APIError(wrapping: error, otherwise: .encoding))))
        }
        let attempt =
            job.isOpen
            ? journal.map { BatchStateMachine.OpenAttempt(isOverAt: $0.isOverAt, isNoted: job.isNoted) } : nil
        let making = BatchPublisher(
            upstream: { _ in Just([script.payloadField: .text(text)] as FieldData) },
            settings: BatchStateMachine.Settings(
                DataAPI.BatchOptions(
                    concurrency: 1,
                    retryTimeout: options.retryTimeout,
                    settlingTime: options.settlingTime
                ),
                in: script.layout.database
            ),
            time: server.time,
            random: server.random,
            makeOperation: { fields, _ in
                var operation = try BatchOperation.create(
                    fields,
                    isWhole: true,
                    keyField: script.keyField,
                    script: DataAPI.ScriptQuery(script: script.name),
                    in: jobs,
                    BatchOperation.Context(attempt: attempt, key: job.key)
                )
                .mayLoseItsWindow
                if job.isSettledInPart { operation.write = { _ in .failing(.noAnswer) } }
                return operation
            }
        )
        return
            making
            .orderedMap(concurrency: 1) { made in
                let outcomes: AnyPublisher<[Outcome], FMRest.APIError> =
                    switch made.result.kind {
                    case .created: results(ofJob: made.recordId ?? 0, payload)
                    case .failed where job.isSettledInPart: .of(payload.all(.unknown(.jobIsTornApart)))
                    case .failed: .of(payload.all(.failed(made.error ?? .noAnswer)))
                    case .unknown: .of(payload.all(.unknown(made.error ?? .noAnswer)))
                    default: .of(payload.all(.skipped))
                    }
                return outcomes.map { [$0] }.eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
    }

    private func results(
        ofJob recordId: Int,
        _ payload: CommitPayload
    ) -> AnyPublisher<[Outcome], FMRest.APIError> {
        result(ofJob: recordId, until: server.time.now() + TimeAmount(clamping: max(.zero, options.retryTimeout)))
            .tryMap { text in payload.outcomes(of: try FMDecoder().decode([CommitResult].self, from: text.utf8)) }
            .mapError(FMRest.APIError.init(wrapping:))
            .afterFailure { error, _ in
                AnyPublisher.of(payload.all(.unknown(.noResult(ofJob: recordId, error))))
            }
            .eraseToAnyPublisher()
    }

    /// Reads the result that the script left in its record: when the answer was lost, it may still be running.
    private func result(ofJob recordId: Int, until end: NIODeadline) -> AnyPublisher<String, FMRest.APIError> {
        let again = {
            PausePublisher(pause: .seconds(1), time: server.time)
                .orderedMap(concurrency: 1) { _ in
                    result(ofJob: recordId, until: end).map { [$0] }.eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        return jobs.record(id: recordId, isolation: .insideACall)
            .tryMap { record in
                guard let result = record.fieldData[script.resultField], !result.isEmpty else {
                    throw FMRest.APIError.jobIsNotDone
                }
                return result.text
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .afterFailure { error, _ in
                // A job that has no result yet is no server error.
                (error.code == .noValue || error.isRetryable || error.isUnreadable) && server.time.now() < end
                    ? again() : .failing(error)
            }
            .eraseToAnyPublisher()
    }
}

extension BatchOperation {
    /// The same operation for a write with a script. The script may close the window (112) after the record was
    /// created, so the record is looked up.
    fileprivate var mayLoseItsWindow: BatchOperation {
        var operation = self
        operation.write = { found in
            write(found).mapError { error in
                guard error.fileMakerCode == .windowMissing else { return error }
                var error = error
                error.outcomeIsUnknown = true
                return error
            }
            .eraseToAnyPublisher()
        }
        return operation
    }
}

extension DataAPI.RecordWrite {
    /// The record id of the row, as its key.
    fileprivate var key: String? {
        switch kind {
        case .create, .upsert: nil
        case .edit(let recordId, _, _), .delete(let recordId): recordId.number.map(String.init)
        case .save(let draft): "\(draft.recordId)"
        }
    }

    fileprivate var isWholeRecord: Bool {
        if case .create(let given) = kind { given.isWhole } else { false }
    }
}

extension FMRest.APIError {
    fileprivate static let jobIsNotDone = FMRest.APIError(
        .noValue,
        reason: "The script has left no result in the record of its job.",
        hint: "It may still be at work, or have been stopped in the middle of its work."
    )

    fileprivate static let jobIsTornApart = FMRest.APIError(
        .invalidRequest,
        reason: "An earlier run may have committed the row together with others, which are not all in this commit.",
        hint: "Resume with the same CommitOptions.rowsPerCommit.",
        outcomeIsUnknown: true
    )

    fileprivate static func noResult(ofJob recordId: Int, _ error: FMRest.APIError) -> FMRest.APIError {
        FMRest.APIError(
            error.code,
            reason: "Nobody knows what became of the writes of the job with record id \(recordId): \(error.reason)",
            hint: error.hint,
            request: error.request,
            outcomeIsUnknown: true,
            underlying: error
        )
    }
}
