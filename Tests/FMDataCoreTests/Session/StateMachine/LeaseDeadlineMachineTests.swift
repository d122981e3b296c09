import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// Requests with a time limit of their own in a queue with those that have only the pool's limit.
@Suite struct LeaseDeadlineMachineTests {
    @Test func aCallsOwnLimitStrikesBeforeThePools() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        expectNoDifference(pool.request(within: .seconds(2)).actions, [.alarm(.seconds(2))])
        expectNoDifference(pool.request(within: .seconds(1)).actions, [.alarm(.seconds(1))])
        expectNoDifference(pool.wake(after: .seconds(1)), [.refuse(3, .callDeadlinePassed), .alarm(.seconds(2))])
        expectNoDifference(pool.wake(after: .seconds(1)), [.refuse(2, .callDeadlinePassed), .alarm(.seconds(30))])
        expectNoDifference(pool.loggedIn(1).last, .grant(1, session: 1, token: 1))
    }

    @Test func thePoolsLimitStrikesBeforeALongerOneOfTheCall() {
        var pool = SessionMachineFixture()
        _ = pool.request(within: .seconds(31))
        expectNoDifference(pool.wake(after: .seconds(30)).first, .refuse(1, .deadlinePassed))
    }

    @Test func aCallWhoseTimeIsOverGetsNoSessionEvenIfOneIsFree() {
        var pool = SessionMachineFixture()
        pool.open(1)
        expectNoDifference(pool.request(within: .zero).answer, .refused(.callDeadlinePassed))
        expectNoDifference(pool.machine.idle, [.of(1)])
    }

    @Test func whoIsServedInTimeHearsNothingOfItsLimit() {
        var pool = SessionMachineFixture()
        _ = pool.request(within: .seconds(2))
        _ = pool.loggedIn(1)
        // The alarm was set for its limit.
        expectNoDifference(pool.wake(after: .seconds(2)).filter { if case .refuse = $0 { true } else { false } }, [])
    }

    @Test func theLastOneThatGivesUpLeavesTheLoginAlone() {
        var pool = SessionMachineFixture()
        _ = pool.request(within: .seconds(1))
        expectNoDifference(
            pool.wake(after: .seconds(1)),
            [.refuse(1, .callDeadlinePassed), .alarm(.seconds(6))]
        )
        // A new request takes the login over.
        _ = pool.request()
        expectNoDifference(pool.loggedIn(1).last, .grant(2, session: 1, token: 1))
    }

    @Test func aQueueOfManyLimitsRefusesEachAtItsTime() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        let limits = [7, 3, 9, 1, 5].map(Int64.init)
        for limit in limits { _ = pool.request(within: .seconds(limit)) }
        var refused: [Int: Int64] = [:]
        for second in 1...10 as ClosedRange<Int64> {
            for case .refuse(let lease, .callDeadlinePassed) in pool.wake(after: .seconds(1)) {
                refused[lease.number] = second
            }
        }
        expectNoDifference(refused, [2: 7, 3: 3, 4: 9, 5: 1, 6: 5])
        expectNoDifference(pool.machine.status.waiting, 1)
    }
}
