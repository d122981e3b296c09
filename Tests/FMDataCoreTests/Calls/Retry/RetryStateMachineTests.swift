import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// When a call is retried and when it is not: failures go in, actions come out.
@Suite struct RetryStateMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let locked = FMRest.APIError(.fileMaker, reason: "Record is in use", fileMakerCode: 301)
    private static let down = FMRest.APIError(.notDataAPI, reason: "A page", httpStatus: 503)

    /// A call that began at the start, with a full budget.
    private struct MachineFixture {
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
        var call = MachineFixture { $0.maximumAttempts = 5 }
        let answers = (1...5).map { _ in call.fail() }
        expectNoDifference(
            answers,
            [.pause(.seconds(1)), .pause(.seconds(2)), .pause(.seconds(4)), .pause(.seconds(8)), .giveUp(.attempts)]
        )
    }

    @Test func noPauseGrowsBeyondTheLongest() {
        var call = MachineFixture {
            $0.maximumPause = .milliseconds(1500)
            $0.multiplier = 3
        }
        let answers = (1...3).map { _ in call.fail() }
        expectNoDifference(
            answers,
            [.pause(.seconds(1)), .pause(.milliseconds(1500)), .pause(.milliseconds(1500))]
        )
    }

    @Test(arguments: [(0.0, 750), (0.5, 875), (1.0, 1000)])
    func aPartOfThePauseIsDrawn(chance: Double, milliseconds: Int64) {
        var call = MachineFixture { $0.jitter = 0.25 }
        expectNoDifference(call.fail(chance: chance), .pause(.milliseconds(milliseconds)))
    }

    @Test func aServerIsLeftAloneAsLongAsItAsks() {
        var busy = Self.down
        busy.retryAfter = .seconds(30)
        var call = MachineFixture { $0.jitter = 0.5 }
        // With jitter, clients that were refused at the same time do not come back at the same time.
        expectNoDifference(call.fail(busy, chance: 0.5), .pause(.milliseconds(30_250)))
        busy.retryAfter = .zero
        expectNoDifference(call.fail(busy, chance: 0.5), .pause(.milliseconds(1500)))
    }

    // MARK: Ends

    @Test func noAttemptBeginsAfterTheDeadline() {
        var call = MachineFixture { $0.deadline = .seconds(3) }
        expectNoDifference(call.fail(), .pause(.seconds(1)))
        expectNoDifference(call.fail(), .pause(.seconds(2)))
        expectNoDifference(call.fail(), .giveUp(.time))
    }

    @Test func noPauseGoesBeyondTheEndOfTheCall() {
        var call = MachineFixture { $0.deadline = nil }
        call.end = call.now + .seconds(3)
        expectNoDifference(call.fail(), .pause(.seconds(1)))
        // The pause would end together with the call.
        expectNoDifference(call.fail(), .giveUp(.time))
    }

    @Test func aServerThatAsksForTooMuchIsNotWaitedFor() {
        var busy = Self.down
        busy.retryAfter = .seconds(3600)
        var call = MachineFixture()
        let budget = call.bucket
        expectNoDifference(call.fail(busy), .giveUp(.time))
        // A pause that does not take place is not paid for.
        expectNoDifference(call.bucket, budget)
        var patient = MachineFixture { $0.deadline = nil }
        expectNoDifference(patient.fail(busy), .pause(.seconds(3600)))
    }

    @Test func withoutABudgetThereIsNoOtherAttempt() {
        var call = MachineFixture()
        call.bucket = RetryBucket(share: 0, burst: 1)
        expectNoDifference(call.fail(), .pause(.seconds(1)))
        expectNoDifference(call.fail(), .giveUp(.budget))
    }

    // MARK: What is retried

    @Test func aWriteThatMayHaveBeenCarriedOutIsNever() {
        var call = MachineFixture()
        expectNoDifference(
            call.fail(FMRest.APIError(.network, reason: "broke", outcomeIsUnknown: true)),
            .giveUp(.notRepeatable)
        )
    }

    @Test(arguments: [
        FMRest.APIError(.fileMaker, reason: "Missing", fileMakerCode: 101),
        FMRest.APIError(.script, reason: "Script", fileMakerCode: 301),
        FMRest.APIError(.decoding, reason: "Shape"), FMRest.APIError(.shutdown, reason: "Over"),
    ])
    func whatWouldEndTheSameWayIsNot(error: FMRest.APIError) {
        var call = MachineFixture()
        expectNoDifference(call.fail(error), .giveUp(.notRepeatable))
    }

    @Test func whatTheCallItselfForbidsIsNot() {
        var call = MachineFixture()
        expectNoDifference(call.fail(isRepeatable: false), .giveUp(.notRepeatable))
    }

    @Test func aPolicyMayChoose() {
        var locks = MachineFixture {
            $0.codes = [.fileMaker]
            $0.fileMakerCodes = [.recordInUse]
        }
        expectNoDifference(locks.fail(Self.locked), .pause(.seconds(1)))
        expectNoDifference(locks.fail(Self.down), .giveUp(.notSelected))
        let full = FMRest.APIError(.fileMaker, reason: "Full", fileMakerCode: 812)
        expectNoDifference(locks.fail(full), .giveUp(.notSelected))
        // A selection of FileMaker codes does not apply to failures without a code.
        var others = MachineFixture { $0.fileMakerCodes = [] }
        expectNoDifference(others.fail(Self.down), .pause(.seconds(1)))
        expectNoDifference(others.fail(Self.locked), .giveUp(.notSelected))
        // Selected errors still have to be safe to retry.
        var missing = MachineFixture { $0.fileMakerCodes = [.recordMissing] }
        let error = FMRest.APIError(.fileMaker, reason: "Missing", fileMakerCode: 101)
        expectNoDifference(missing.fail(error), .giveUp(.notRepeatable))
    }

    // MARK: Invalid numbers

    @Test(arguments: [0, -1, .min])
    func fewerAttemptsThanOneAreOne(attempts: Int) {
        var call = MachineFixture { $0.maximumAttempts = attempts }
        expectNoDifference(call.fail(), .giveUp(.attempts))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e300])
    func anyNumberWillDo(number: Double) {
        var call = MachineFixture {
            $0.maximumAttempts = 2000
            $0.multiplier = number
            $0.jitter = number
            $0.deadline = nil
        }
        call.bucket = RetryBucket(share: 1, burst: .max)
        for _ in 1..<2000 {
            guard case .pause(let pause) = call.fail(chance: 0.5) else {
                Issue.record("there was no pause")
                return
            }
            #expect(pause >= .zero && pause <= .seconds(10))
        }
        expectNoDifference(call.fail(), .giveUp(.attempts))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero])
    func anySpanWillDo(span: Duration) {
        var asking = Self.down
        asking.retryAfter = span
        for deadline in [Duration?.none, span] {
            var call = MachineFixture {
                $0.firstPause = span
                $0.maximumPause = span
                $0.deadline = deadline
            }
            if case .pause(let pause) = call.fail(asking, chance: 1) { #expect(pause >= .zero) }
        }
    }
}
