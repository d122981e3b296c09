import NIOCore
import OpenCombine

/// Some writes in one transaction: a job record is made of them, which runs the script, and what the script left in it is read.
///
/// Making the record is a batch of one row, which settles a lost answer by the record's key. So the script runs once, or it is
/// unknown whether it ran.
struct Commit<R: RecordFields> {
    typealias Outcome = DataAPI.BatchRow.Outcome

    let writes: [DataAPI.RecordWrite<R>]
    let layout: DataAPI.TypedLayout<R>
    let script: DataAPI.CommitScript
    let options: DataAPI.CommitOptions

    /// Sends them, and publishes what became of each. Fails after that when no other commit could succeed either.
    func outcomes() -> AnyPublisher<[Outcome], FMRest.APIError> {
        let rows = writes.map { write in
            Result { try CommitPayload.Row(write, in: layout) }
                .mapError { FMRest.APIError(wrapping: $0, otherwise: .encoding) }
        }
        let errors = rows.map(\.failure)
        let sent = rows.compactMap { try? $0.get() }
        // All or nothing, or what there is.
        let isSent = options.isAtomic ? sent.count == rows.count : !sent.isEmpty
        guard isSent else { return .of(unsent(errors)) }
        let payload = CommitPayload(layout: layout.layout.name, atomic: options.isAtomic, rows: sent)
        return run(payload).map { outcomes in
            var outcomes = outcomes.makeIterator()
            return errors.map { error in error.map(Outcome.failed) ?? outcomes.next() ?? .skipped }
        }
        .eraseToAnyPublisher()
    }

    /// Of rows of which one at least cannot be written down.
    private func unsent(_ errors: [FMRest.APIError?]) -> [Outcome] {
        let fault = errors.lazy.compactMap(\.self).first
        return errors.map { error in .failed(error ?? .rolledBack(with: fault)) }
    }

    // MARK: The job record

    private var jobs: DataAPI.TypedLayout<FieldData> { script.layout.of(FieldData.self) }
    private var server: DataAPI.Server { script.layout.database.server }

    private func run(_ payload: CommitPayload) -> AnyPublisher<[Outcome], FMRest.APIError> {
        let text: String
        do {
            text = String(decoding: try FMEncoder().encode(payload), as: UTF8.self)
        } catch {
            return .of(payload.all(.failed(FMRest.APIError(wrapping: error, otherwise: .encoding))))
        }
        let making = DataAPI.Batch(
            of: Just([script.payloadField: .text(text)] as FieldData),
            in: jobs,
            DataAPI.BatchOptions(concurrency: 1, patience: options.patience),
            isolation: nil
        ) { jobs in
            BatchOperation.create(
                in: jobs,
                keyField: script.keyField,
                script: DataAPI.ScriptQuery(script: script.name)
            )
        }
        return making.arrivingRows
            .orderedMap(concurrency: 1) { job in
                let outcomes: AnyPublisher<[Outcome], FMRest.APIError> =
                    switch job.outcome {
                    case .created(let recordId, _): results(ofJob: recordId, payload)
                    case .edited, .deleted, .skipped: .of(payload.all(.skipped))
                    case .failed(let error): .of(payload.all(.failed(error)))
                    case .unknown(let error): .of(payload.all(.unknown(error)))
                    }
                return outcomes.map { [$0] }.eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
    }

    private func results(
        ofJob recordId: Int,
        _ payload: CommitPayload
    ) -> AnyPublisher<[Outcome], FMRest.APIError> {
        result(ofJob: recordId, until: server.time.now() + TimeAmount(clamping: max(.zero, options.patience)))
            .tryMap { text in payload.outcomes(of: try FMDecoder().decode([CommitResult].self, from: text.utf8)) }
            .mapError(FMRest.APIError.init(wrapping:))
            .afterFailure { error, _ in
                AnyPublisher.of(payload.all(.unknown(.noResult(ofJob: recordId, error))))
            }
            .eraseToAnyPublisher()
    }

    /// What the script left in its record: when the answer was lost it may still be at work.
    private func result(ofJob recordId: Int, until end: NIODeadline) -> AnyPublisher<String, FMRest.APIError> {
        let again = {
            PausePublisher(pause: .seconds(1), time: server.time)
                .orderedMap(concurrency: 1) { _ in
                    result(ofJob: recordId, until: end).map { [$0] }.eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        return jobs.record(recordId, isolation: nil)
            .tryMap { record in
                guard let result = record.fieldData[script.resultField], !result.isEmpty else {
                    throw FMRest.APIError.jobIsNotDone
                }
                return result.text
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .afterFailure { error, _ in
                // A job that is not done is no error of the server's.
                (error.code == .noValue || error.isRetryable) && server.time.now() < end
                    ? again() : .failing(error)
            }
            .eraseToAnyPublisher()
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension FMRest.APIError {
    fileprivate static let jobIsNotDone = FMRest.APIError(
        .noValue,
        reason: "The script has left no result in the record of its job.",
        hint: "It may still be at work, or have been stopped in the middle of its work."
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
