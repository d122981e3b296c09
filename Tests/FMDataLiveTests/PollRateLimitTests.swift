import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// How often the live queries of a server may poll.
@Suite struct PollRateLimitTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test func tenAtOnceAndThenOneASecondTheLongestWaitingFirst() {
        var budget = PollTokenQueue(now: start)
        for id in 1...10 { expectNoDifference(budget.ask(id, start), [id]) }
        for id in 11...13 { expectNoDifference(budget.ask(id, start), []) }
        budget.giveUp(12)
        guard let next = budget.next else {
            Issue.record("nobody is woken")
            return
        }
        expectNoDifference((next - start).nanoseconds / 1_000_000, 1_000)
        expectNoDifference(budget.granted(next), [11])
        expectNoDifference(budget.granted(start + .seconds(2)), [13])
        expectNoDifference(budget.next, nil)
    }

    @Test func whatIsNotUsedIsKeptUpToTen() {
        var budget = PollTokenQueue(now: start)
        for id in 1...10 { _ = budget.ask(id, start) }
        let later = start + .hours(1)
        for id in 11...20 { expectNoDifference(budget.ask(id, later), [id]) }
        expectNoDifference(budget.ask(21, later), [])
    }

    @Test func theLimitIsTheServersAndWhatIsNoneCountsAsOne() {
        func grants(_ limit: DataAPI.PollRateLimit, after passed: TimeAmount) -> (atOnce: Int, later: Int) {
            var budget = PollTokenQueue(limit, now: start)
            let atOnce = (1...100).flatMap { budget.ask($0, start) }.count
            return (atOnce, budget.granted(start + passed).count)
        }
        let quick = grants(.init(perMinute: 240, burst: 40), after: .seconds(5))
        expectNoDifference([quick.atOnce, quick.later], [40, 20])
        let slow = grants(.init(perMinute: 2, burst: 1), after: .seconds(29))
        expectNoDifference([slow.atOnce, slow.later], [1, 0])
        for limit in [DataAPI.PollRateLimit(perMinute: 0, burst: 0), .init(perMinute: .min, burst: .min)] {
            let least = grants(limit, after: .minutes(1))
            expectNoDifference([least.atOnce, least.later], [1, 1])
        }
        let most = grants(.init(perMinute: .max, burst: .max), after: .hours(24 * 365))
        expectNoDifference([most.atOnce, most.later], [100, 0])
        var budget = PollTokenQueue(.init(perMinute: .max, burst: 1), now: start)
        for id in 1...2 { _ = budget.ask(id, start) }
        expectNoDifference(budget.next.map { $0 - start < .milliseconds(1) }, true)
    }

    @Test func aServerPollsAsItsConfigurationSays() {
        expectNoDifference(DataAPI.Config().pollRateLimit, .init(perMinute: 60, burst: 10))
        var config = DataAPI.Config()
        config.pollRateLimit = .init(perMinute: 30, burst: 2)
        let time = TestClock()
        let server = DataAPI.Server(host: "localhost", config: config, clock: time)
        let turns = Locked<[Int]>([])
        for number in 1...4 { _ = server.pollRateLimiter.ask { turns.change { $0.append(number) } } }
        expectNoDifference(turns.value, [1, 2])
        time.advance(by: .seconds(1))
        expectNoDifference(turns.value, [1, 2])
        // A view of the server has the same poll rate limit.
        expectNoDifference(server.tagged("nightly").pollRateLimiter === server.pollRateLimiter, true)
        time.advance(by: .seconds(2))
        expectNoDifference(turns.value, [1, 2, 3])
        time.advance(by: .seconds(2))
        expectNoDifference(turns.value, [1, 2, 3, 4])
    }

    @Test func aClockThatIsSetBackBringsNothingAndHoldsNobodyForEver() {
        var budget = PollTokenQueue(now: start)
        for id in 1...10 { _ = budget.ask(id, start) }
        let earlier = start - .hours(1)
        expectNoDifference(budget.ask(11, earlier), [])
        expectNoDifference(budget.granted(earlier + .seconds(2)), [11])
    }
}
