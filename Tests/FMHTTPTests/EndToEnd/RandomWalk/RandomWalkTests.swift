import FMHTTP
import FMTestSupport
import Foundation
import NIOCore
import NIOPosix
import OpenCombine
import Testing

/// Tens of thousands of requests against a server that misbehaves at random, some of them cancelled at random: every
/// request ends exactly once, with its own answer or a typed error; no write is executed twice, none is executed that
/// was reported as not sent, none is acknowledged that was not executed; and no timer, connection or subscription is
/// left.
///
/// `FMDATA_WALK` is the number of requests per walk, for a long one.
@Suite(.timeLimit(.minutes(20)))
struct RandomWalkTests {
    /// Two walks at a time: more would only slow each other down.
    @Test(.thorough, .serialized, arguments: RandomWalk.Plan.all.filter { $0.seed.isMultiple(of: 2) })
    func everyRequestEndsOnceAndNoWriteIsDoneTwice(plan: RandomWalk.Plan) async throws {
        try await walk(plan)
    }

    @Test(.thorough, .serialized, arguments: RandomWalk.Plan.all.filter { !$0.seed.isMultiple(of: 2) })
    func everyRequestEndsOnceAndNoWriteIsDoneTwiceInTheBackground(plan: RandomWalk.Plan) async throws {
        try await walk(plan)
    }

    private func walk(_ plan: RandomWalk.Plan) async throws {
        let (ledger, leftTimers) = try await RandomWalk.run(plan)

        expectSoundness(ledger, plan, leftTimers: leftTimers)

        let done = Set(ledger.executions.keys)
        #expect(ledger.executions.values.allSatisfy { $0 == 1 })
        #expect(ledger.acknowledged.isSubset(of: done))
        #expect(ledger.answered.isSubset(of: done))
        #expect(ledger.notSent.isDisjoint(with: done))
        // Executed = acknowledged + reported as unknown, if executed + cancelled by the caller.
        let accounted = ledger.acknowledged.union(ledger.answered).union(ledger.unknown).union(ledger.cancelled)
        #expect(done.isSubset(of: accounted))
        // A walk meets many kinds of ends, unless the machine is so busy that most requests reach their time limits.
        if ledger.codes["firstByteTimeout", default: 0] + ledger.codes["idleTimeout", default: 0] < plan.requestCount
            / 2
        {
            #expect(!ledger.acknowledged.isEmpty)
            #expect(ledger.codes.count >= 5, "\(ledger.codes)")
        }
        if ProcessInfo.processInfo.environment["FMDATA_WALK"] != nil {
            print("\(plan): \(ledger.summary), \(ledger.executions.count) writes executed")
        }
    }

    /// The client is shut down in the middle: running requests may complete or fail, but each one ends.
    @Test(.thorough, arguments: [Duration.zero, .milliseconds(30)])
    func aShutdownInTheMiddle(grace: Duration) async throws {
        var plan = RandomWalk.Plan(seed: 99, requestCount: 600, isEncrypted: false)
        plan.shutdown = RandomWalk.Shutdown(afterRequests: 200, grace: grace)
        let (ledger, leftTimers) = try await RandomWalk.run(plan)
        expectSoundness(ledger, plan, leftTimers: leftTimers)
        #expect(ledger.codes["shutdown", default: 0] > 300)
        #expect(ledger.notSent.isDisjoint(with: ledger.executions.keys))
        #expect(ledger.executions.values.allSatisfy { $0 == 1 })
    }

    /// Every request ended exactly once, cancelled ones at most once; and nothing is left.
    private func expectSoundness(_ ledger: RandomWalk.Ledger, _ plan: RandomWalk.Plan, leftTimers: [Int]) {
        #expect(ledger.problems == [])
        #expect(leftTimers == [], "milliseconds from now")
        #expect(ledger.ended + ledger.cancelled.count == plan.requestCount)
        let told = ledger.completions.filter { !ledger.cancelled.contains($0.key) }
        #expect(told.count == ledger.ended)
        #expect(ledger.completions.values.allSatisfy { $0 == 1 })
    }

    /// The walks rely on this to detect timers that are left.
    @Test func timersAreSeen() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let timers = (0..<2).map { _ in group.next().scheduleTask(in: .hours(1)) {} }
        #expect(try await group.timers().count == 2)
        for timer in timers { timer.cancel() }
        #expect(try await group.timers() == [])
        try await group.shutdownGracefully()
    }
}
