import CustomDump
import NIOCore
import Testing

@testable import FMData

/// When a call is retried and when it is not: failures go in, actions come out.
@Suite struct RetryStateMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let locked = FMRest.APIError(.fileMaker, reason: "Record is in use", fileMakerCode: 301)
    private static let down = FMRest.APIError(.notDataAPI, reason: "A page", httpStatus: 503)

    /// A call that began at the start, with a full budget.
    private struct Script {
        var machine: RetryStateMachine
        var bucket = RetryBucket(share: 0.1, burst: 10)
        var now = RetryStateMachineTests.start
        var end: NIODeadline?

        init(_ change: (inout DataAPI.RetryPolicy) -> Void = { _ in }) {
            var policy = DataAPI.RetryPolicy(
                firstPause: .seconds(1),
                jitter: 0
            )
            change(&policy)
            machine = RetryStateMachine(policy)
            machine.began(now: now, budget: &bucket)
        }

        /// Returns the pause, or why there is no further attempt, and advances the time to the end of the pause.
        mutating func fail(
            _ error: FMRest.APIError = RetryStateMachineTests.down,
            isRepeatable: Bool = true,
            chance: Double = 0
        ) -> Answer {
            let action = machine.failed(
                error,
                isRepeatable: isRepeatable,
                chance: chance,
                end: end,
                now: now,
                budget: &bucket
            )
            switch action {
            case .tryAgain(let instant):
                defer { now = instant }
                return .pause(instant - now)
            case .giveUp(let reason):
                return .giveUp(reason)
            }
        }
    }

    private enum Answer: Equatable {
        case pause(TimeAmount)
        case giveUp(RetryStateMachine.Reason)
    }

    // MARK: Pauses

    @Test func pausesGrowUntilTheAttemptsAreUsedUp() {
        var script = Script { $0.maximumAttempts = 5 }
        let answers = (1...5).map { _ in script.fail() }
        expectNoDifference(
            answers,
            [.pause(.seconds(1)), .pause(.seconds(2)), .pause(.seconds(4)), .pause(.seconds(8)), .giveUp(.attempts)]
        )
    }

    @Test func noPauseGrowsBeyondTheLongest() {
        var script = Script {
            $0.maximumPause = .milliseconds(1500)
            $0.multiplier = 3
        }
        let answers = (1...3).map { _ in script.fail() }
        expectNoDifference(
            answers,
            [.pause(.seconds(1)), .pause(.milliseconds(1500)), .pause(.milliseconds(1500))]
        )
    }

    @Test(arguments: [(0.0, 750), (0.5, 875), (1.0, 1000)])
    func aPartOfThePauseIsDrawn(chance: Double, milliseconds: Int64) {
        var script = Script { $0.jitter = 0.25 }
        expectNoDifference(script.fail(chance: chance), .pause(.milliseconds(milliseconds)))
    }

    @Test func aServerIsLeftAloneAsLongAsItAsks() {
        var busy = Self.down
        busy.retryAfter = .seconds(30)
        var script = Script { $0.jitter = 0.5 }
        // With jitter, clients that were refused at the same time do not come back at the same time.
        expectNoDifference(script.fail(busy, chance: 0.5), .pause(.milliseconds(30_250)))
        busy.retryAfter = .zero
        expectNoDifference(script.fail(busy, chance: 0.5), .pause(.milliseconds(1500)))
    }

    // MARK: Ends

    @Test func noAttemptBeginsAfterTheDeadline() {
        var script = Script { $0.deadline = .seconds(3) }
        expectNoDifference(script.fail(), .pause(.seconds(1)))
        expectNoDifference(script.fail(), .pause(.seconds(2)))
        expectNoDifference(script.fail(), .giveUp(.time))
    }

    @Test func noPauseGoesBeyondTheEndOfTheCall() {
        var script = Script { $0.deadline = nil }
        script.end = script.now + .seconds(3)
        expectNoDifference(script.fail(), .pause(.seconds(1)))
        // The pause would end together with the call.
        expectNoDifference(script.fail(), .giveUp(.time))
    }

    @Test func aServerThatAsksForTooMuchIsNotWaitedFor() {
        var busy = Self.down
        busy.retryAfter = .seconds(3600)
        var script = Script()
        let budget = script.bucket
        expectNoDifference(script.fail(busy), .giveUp(.time))
        // A pause that does not take place is not paid for.
        expectNoDifference(script.bucket, budget)
        var patient = Script { $0.deadline = nil }
        expectNoDifference(patient.fail(busy), .pause(.seconds(3600)))
    }

    @Test func withoutABudgetThereIsNoOtherAttempt() {
        var script = Script()
        script.bucket = RetryBucket(share: 0, burst: 1)
        expectNoDifference(script.fail(), .pause(.seconds(1)))
        expectNoDifference(script.fail(), .giveUp(.budget))
    }

    // MARK: What is retried

    @Test func aWriteThatMayHaveBeenCarriedOutIsNever() {
        var script = Script()
        expectNoDifference(
            script.fail(FMRest.APIError(.network, reason: "broke", outcomeIsUnknown: true)),
            .giveUp(.notRepeatable)
        )
    }

    @Test(arguments: [
        FMRest.APIError(.fileMaker, reason: "Missing", fileMakerCode: 101),
        FMRest.APIError(.script, reason: "Script", fileMakerCode: 301),
        FMRest.APIError(.decoding, reason: "Shape"), FMRest.APIError(.shutdown, reason: "Over"),
    ])
    func whatWouldEndTheSameWayIsNot(error: FMRest.APIError) {
        var script = Script()
        expectNoDifference(script.fail(error), .giveUp(.notRepeatable))
    }

    @Test func whatTheCallItselfForbidsIsNot() {
        var script = Script()
        expectNoDifference(script.fail(isRepeatable: false), .giveUp(.notRepeatable))
    }

    @Test func aPolicyMayChoose() {
        var locks = Script {
            $0.codes = [.fileMaker]
            $0.fileMakerCodes = [.recordInUse]
        }
        expectNoDifference(locks.fail(Self.locked), .pause(.seconds(1)))
        expectNoDifference(locks.fail(Self.down), .giveUp(.notSelected))
        let full = FMRest.APIError(.fileMaker, reason: "Full", fileMakerCode: 812)
        expectNoDifference(locks.fail(full), .giveUp(.notSelected))
        // A selection of FileMaker codes does not apply to failures without a code.
        var others = Script { $0.fileMakerCodes = [] }
        expectNoDifference(others.fail(Self.down), .pause(.seconds(1)))
        expectNoDifference(others.fail(Self.locked), .giveUp(.notSelected))
        // Selected errors still have to be safe to retry.
        var missing = Script { $0.fileMakerCodes = [.recordMissing] }
        let error = FMRest.APIError(.fileMaker, reason: "Missing", fileMakerCode: 101)
        expectNoDifference(missing.fail(error), .giveUp(.notRepeatable))
    }

    // MARK: Invalid numbers

    @Test(arguments: [0, -1, .min])
    func fewerAttemptsThanOneAreOne(attempts: Int) {
        var script = Script { $0.maximumAttempts = attempts }
        expectNoDifference(script.fail(), .giveUp(.attempts))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e300])
    func anyNumberWillDo(number: Double) {
        var script = Script {
            $0.maximumAttempts = 2000
            $0.multiplier = number
            $0.jitter = number
            $0.deadline = nil
        }
        script.bucket = RetryBucket(share: 1, burst: .max)
        for _ in 1..<2000 {
            guard case .pause(let pause) = script.fail(chance: 0.5) else {
                Issue.record("there was no pause")
                return
            }
            #expect(pause >= .zero && pause <= .seconds(10))
        }
        expectNoDifference(script.fail(), .giveUp(.attempts))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero])
    func anySpanWillDo(span: Duration) {
        var asking = Self.down
        asking.retryAfter = span
        for deadline in [Duration?.none, span] {
            var script = Script {
                $0.firstPause = span
                $0.maximumPause = span
                $0.deadline = deadline
            }
            if case .pause(let pause) = script.fail(asking, chance: 1) { #expect(pause >= .zero) }
        }
    }
}
