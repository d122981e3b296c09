import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// How the exchanges with a host have ended, as far as its health is concerned.
final class ExchangeRecord: Sendable {
    private struct Failure {
        let instant: NIODeadline
        let code: FMRest.APIError.Code
    }

    private struct LastResults {
        var lastAnswer: NIODeadline?
        var lastFailure: Failure?
    }

    private let facts = NIOLockedValueBox(LastResults())
    /// The turns of the server's probes.
    let turns = ProbeTurns()

    /// Notes the end of an exchange that was not cancelled.
    ///
    /// - Parameter error: `nil` if the host has answered as it should.
    func note(_ error: FMRest.APIError?, now: NIODeadline) {
        guard let isAnswer = error.map(\.isAnswerOfHost) ?? true else { return }
        facts.withLockedValue { facts in
            if isAnswer {
                facts.lastAnswer = now
            } else if let error {
                facts.lastFailure = Failure(instant: now, code: error.code)
            }
        }
    }

    func tell(_ health: inout DataAPI.Health, _ time: SessionTime) {
        let facts = facts.withLockedValue { $0 }
        health.lastAnswer = facts.lastAnswer.map(time.date)
        health.lastFailure = facts.lastFailure.map { time.date($0.instant) }
        health.failure = facts.lastFailure?.code
    }
}

/// Lets a probe of a host through once a minute.
final class ProbeTurns: Sendable {
    static let pause = TimeAmount.minutes(1)

    private let last = NIOLockedValueBox<NIODeadline?>(nil)

    /// Publishes a value after a probe, however that ends, or at once if it is too early for another one.
    func probing<Value>(
        _ probe: AnyPublisher<Void, FMRest.APIError>,
        now: NIODeadline,
        _ value: @escaping () -> Value
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let isDue = last.withLockedValue { last in
            if let last, now < last + Self.pause { return false }
            last = now
            return true
        }
        guard isDue else { return .of(value()) }
        return probe.afterFailure { _, _ in AnyPublisher<Void, FMRest.APIError>.of(()) }
            .map(value)
            .eraseToAnyPublisher()
    }
}

extension FMRest.APIError {
    /// Whether the failure of an exchange shows that a Data API has answered (`true`), or that none is there (`false`);
    /// `nil` if it shows neither.
    fileprivate var isAnswerOfHost: Bool? {
        if fileMakerCode != nil { return true }
        switch code {
        case .decoding, .responseTooLarge: return true
        case .notDataAPI: return httpStatus == 401 || httpStatus == 429
        case .network, .tls: return false
        // All connections were in use, which says nothing of the host.
        case .timeout: return transportError?.code == .queueTimeout ? nil : false
        default: return nil
        }
    }
}

/// Where the end of an exchange is noted: in the log of the call, and in the record of the host.
struct ExchangeNotes: Sendable {
    /// `nil` if nothing would be logged.
    let log: CallLog?
    /// Counts for the observers of the call; `nil` if it has none.
    let observed: ObservedCall?
    let record: ExchangeRecord
    let now: @Sendable () -> NIODeadline

    func finished(_ figures: CallFigures) {
        log?.finished(figures)
        record.note(nil, now: now())
    }

    func failed(_ error: FMRest.APIError, _ figures: CallFigures) {
        log?.failed(error, figures)
        record.note(error, now: now())
    }

    func cancelled() { log?.cancelled() }
}

extension DataAPI.Server {
    /// Where the end of an exchange that begins now, in this session, is noted.
    func notes<Response>(of request: DataAPIRequest<Response>, in session: SessionToken?) -> ExchangeNotes {
        ExchangeNotes(
            log: callLog(of: request, in: session),
            observed: request.context.observed,
            record: exchanges,
            now: time.now
        )
    }
}
