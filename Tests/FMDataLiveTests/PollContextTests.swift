import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// For which account and with which time limit a poll makes its calls, and what their failures mean.
@Suite struct PollContextTests {
    private typealias Failure = PollerStateMachine.Failure

    @Test func anAnswerIsWaitedForAsTheContextSays() {
        let time = TestClock()
        let context = PollContext(
            accountPeriod: LiveTable.makeTimeAndLayout().layout.layout.database.accountPeriod,
            limit: .seconds(10),
            meter: PollMeter(now: time.sessionTime.now) { _ in }
        )
        var options = DataAPI.CallOptions(timeouts: DataAPI.Timeouts())
        context.apply(to: &options)
        expectNoDifference(options.timeouts.firstByte, .seconds(10))
        expectNoDifference(options.pollMeter === context.meter, true)
    }

    @Test func theHostsWorkIsThatBetweenRequestAndAnswer() {
        let time = TestClock()
        let calls = NIOLockedValueBox<[Int]>([])
        let meter = PollMeter(now: time.sessionTime.now) { meter in calls.withLockedValue { $0.append(meter.calls) } }
        func timeout(_ code: HTTPClientError.Code, _ outcome: HTTPClientError.Outcome) -> FMRest.APIError {
            FMRest.APIError(.timeout, reason: "late", underlying: HTTPClientError(code: code, outcome: outcome))
        }
        let ends: [(seconds: Int64, Subscribers.Completion<FMRest.APIError>?)] = [
            (2, .finished), (3, .failure(FMRest.APIError(.network, reason: "broke"))),
            // The body came too slowly: the host was working.
            (4, .failure(timeout(.tooSlow, .answered))),
            // No answer came, nothing was sent, or the call was cancelled.
            (100, .failure(timeout(.firstByteTimeout, .unknown))), (100, .failure(timeout(.queueTimeout, .notSent))),
            (100, nil),
        ]
        for (seconds, end) in ends {
            let answer = PassthroughSubject<Int, FMRest.APIError>()
            var begin: () -> Void = {}
            let exchange = meter.measured { written in
                begin = written
                return answer.eraseToAnyPublisher()
            }
            let values = TrackingSubscriber<Int, FMRest.APIError>()
            exchange.subscribe(values)
            // The request waits for a connection, and is written a second time because the first connection was closed.
            time.advance(by: .seconds(30))
            begin()
            time.advance(by: .seconds(30))
            begin()
            time.advance(by: .seconds(seconds))
            if case .finished? = end { answer.send(1) }
            if let end { answer.send(completion: end) } else { values.cancel() }
            // Time between two calls is not the host's work.
            time.advance(by: .seconds(60))
        }
        expectNoDifference(meter.work, TimeAmount.seconds(9))
        expectNoDifference(calls.withLockedValue(\.self), ends.flatMap { _ in [1, 0] })
    }

    /// An answer is handled before its call has ended, so the call's work must count by then.
    @Test func workThatHasNotEndedCounts() {
        let time = TestClock()
        let meter = PollMeter(now: time.sessionTime.now) { _ in }
        let answer = PassthroughSubject<Int, FMRest.APIError>()
        let values = TrackingSubscriber<Int, FMRest.APIError>()
        meter.measured { written in
            written()
            return answer.eraseToAnyPublisher()
        }
        .subscribe(values)
        time.advance(by: .seconds(7))
        answer.send(1)
        expectNoDifference(meter.work, TimeAmount.seconds(7))
        values.cancel()
        time.advance(by: .seconds(7))
        expectNoDifference(meter.work, TimeAmount.seconds(7))
        expectNoDifference(meter.calls, 0)
    }

    @Test func whatAFailureMeans() {
        func failure(
            _ code: FMRest.APIError.Code,
            _ fileMakerCode: FileMakerErrorCode? = nil,
            status: Int? = nil,
            _ transport: HTTPClientError.Code? = nil
        ) -> Failure {
            Failure(
                FMRest.APIError(
                    code,
                    reason: "",
                    fileMakerCode: fileMakerCode,
                    httpStatus: status,
                    underlying: transport.map { HTTPClientError(code: $0, outcome: .unknown) }
                )
            )
        }
        // Temporary states, and errors that say nothing about the query.
        for code in [802, 812, 301, 952, 112] as [FileMakerErrorCode] {
            expectNoDifference(failure(.fileMaker, code, status: 500), .passing, "\(code)")
        }
        expectNoDifference(failure(.network, nil, .connectionRefused), .passing)
        expectNoDifference(failure(.notDataAPI, status: 502), .passing)
        expectNoDifference(failure(.tokensRefused, status: 401), .passing)
        expectNoDifference(failure(.timeout, nil, .firstByteTimeout), .silence)
        // A developer may be changing the file at this moment.
        for code in [102, 104, 105, 106] as [FileMakerErrorCode] {
            expectNoDifference(failure(.fileMaker, code, status: 500), .refusal, "\(code)")
        }
        expectNoDifference(failure(.script, 3, status: 200), .refusal)
        expectNoDifference(failure(.notDataAPI, status: 401), .refusal)
        for code in [9, 200, 201, 219, 960, 1708] as [FileMakerErrorCode] {
            expectNoDifference(failure(.fileMaker, code, status: 500), .refusal, "\(code)")
            expectNoDifference(failure(.fileMaker, code, status: 401), .refusal, "\(code)")
        }
        expectNoDifference(failure(.script, 212, status: 200), .refusal)
        // Errors that would lock the account if repeated, and errors that no host can change.
        for code in [210, 211, 212, 213, 214] as [FileMakerErrorCode] {
            expectNoDifference(failure(.fileMaker, code, status: 401), .final, "\(code)")
            expectNoDifference(failure(.fileMaker, code, status: 500), .final, "\(code)")
        }
        expectNoDifference(failure(.unauthorized, 212, status: 401), .final)
        expectNoDifference(failure(.unauthorized), .final)
        expectNoDifference(failure(.encoding), .final)
        expectNoDifference(failure(.credentialsReplaced), .final)
        expectNoDifference(failure(.invalidRequest), .final)
        expectNoDifference(failure(.shutdown), .final)
    }
}
