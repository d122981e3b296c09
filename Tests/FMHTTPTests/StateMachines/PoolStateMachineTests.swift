import CustomDump
import FMTestSupport
import NIOCore
import Testing

@testable import FMHTTP

struct PoolStateMachineTests {
    private typealias Machine = PoolStateMachine
    private typealias Actions = PoolStateMachine.Actions

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func at(_ milliseconds: Int64) -> NIODeadline { Self.start + .milliseconds(milliseconds) }
    private func connection(_ number: Int) -> ConnectionID { ConnectionID(number: number) }
    private func request(_ number: Int) -> RequestID { RequestID(number: number) }

    private func run(_ request: Int, on connection: Int) -> Machine.Assignment {
        Machine.Assignment(request: self.request(request), connection: self.connection(connection))
    }

    private func machine(maximum: Int = 2) -> Machine {
        Machine(settings: .init(maximumConnections: maximum))
    }

    /// A machine with one idle connection, parked at 0.
    private func machineWithIdle(lifetime: Int? = nil, maximum: Int = 2) -> Machine {
        var machine = machine(maximum: maximum)
        _ = machine.submitted(request(0), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connected(connection(1), now: at(0))
        _ = machine.released(connection(1), lifetime: lifetime, now: at(0))
        return machine
    }

    // MARK: Requests and connections

    @Test func theFirstRequestConnectsAndRuns() {
        var machine = machine()
        expectNoDifference(
            machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0)),
            Actions(connect: [connection(1)])
        )
        expectNoDifference(machine.connected(connection(1), now: at(1)), Actions(run: run(1, on: 1)))
        expectNoDifference(machine.counts, PoolCounts(leased: 1))
    }

    @Test func anIdleConnectionIsUsedAtOnce() {
        var machine = machineWithIdle()
        expectNoDifference(
            machine.submitted(request(1), reuse: .recent, deadline: nil, now: at(10)),
            Actions(run: run(1, on: 1))
        )
    }

    @Test func theConnectionParkedLastIsUsedFirst() {
        var machine = machine()
        for number in 1...2 { _ = machine.submitted(request(number), reuse: .any, deadline: nil, now: at(0)) }
        for number in 1...2 { _ = machine.connected(connection(number), now: at(0)) }
        for number in 1...2 { _ = machine.released(connection(number), lifetime: nil, now: at(Int64(number))) }
        #expect(machine.submitted(request(3), reuse: .any, deadline: nil, now: at(5)).run == run(3, on: 2))
    }

    @Test func requestsBeyondTheMaximumWaitInOrder() {
        var machine = machine(maximum: 1)
        #expect(machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0)).connect == [connection(1)])
        for number in 2...3 {
            expectNoDifference(machine.submitted(request(number), reuse: .any, deadline: nil, now: at(0)), Actions())
        }
        expectNoDifference(machine.connected(connection(1), now: at(1)), Actions(run: run(1, on: 1)))
        expectNoDifference(machine.released(connection(1), lifetime: nil, now: at(2)), Actions(run: run(2, on: 1)))
        expectNoDifference(machine.released(connection(1), lifetime: nil, now: at(3)), Actions(run: run(3, on: 1)))
    }

    @Test func aConnectionThatComesTooLateIsKeptWarm() {
        var machine = machineWithIdle()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        #expect(machine.submitted(request(2), reuse: .any, deadline: nil, now: at(0)).connect == [connection(2)])
        // The busy one is free before the new one is ready.
        expectNoDifference(machine.released(connection(1), lifetime: nil, now: at(1)), Actions(run: run(2, on: 1)))
        _ = machine.connected(connection(2), now: at(2))
        expectNoDifference(machine.counts, PoolCounts(idle: 1, leased: 1))
    }

    @Test func aCancelledRequestLeavesTheQueueAndItsConnectionComesAnyway() {
        var machine = machine()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        machine.cancelled(request(1))
        expectNoDifference(machine.counts, PoolCounts(connecting: 1))
        _ = machine.connected(connection(1), now: at(1))
        expectNoDifference(machine.counts, PoolCounts(idle: 1))
    }

    @Test func aClosedConnectionMakesRoom() {
        var machine = machine(maximum: 1)
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connected(connection(1), now: at(0))
        _ = machine.submitted(request(2), reuse: .any, deadline: nil, now: at(0))
        expectNoDifference(machine.closed(connection(1), now: at(1)), Actions(connect: [connection(2)]))
    }

    // MARK: Which requests may use which connections

    @Test func aRequestThatMustNotRunTwiceTakesNoOldConnection() {
        var machine = machineWithIdle()
        #expect(machine.submitted(request(1), reuse: .recent, deadline: nil, now: at(2001)).connect == [connection(2)])
        expectNoDifference(machine.counts, PoolCounts(idle: 1, connecting: 1, waiting: 1))
    }

    @Test func aSecondAttemptTakesNoUsedConnection() {
        var machine = machineWithIdle()
        #expect(machine.submitted(request(1), reuse: .never, deadline: nil, now: at(0)).connect == [connection(2)])
        #expect(machine.connected(connection(2), now: at(1)).run == run(1, on: 2))
    }

    @Test func aSecondAttemptIsNotRunOnAConnectionThatWasJustReleased() {
        var machine = machine(maximum: 1)
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connected(connection(1), now: at(0))
        _ = machine.submitted(request(2), reuse: .never, deadline: nil, now: at(0))
        // It is parked, and then closed at once to make room for a new one.
        let actions = machine.released(connection(1), lifetime: nil, now: at(1))
        expectNoDifference(actions.run, nil)
        expectNoDifference(actions.close, [connection(1)])
        expectNoDifference(actions.connect, [connection(2)])
    }

    @Test func theOldestIdleConnectionMakesRoom() {
        var machine = machineWithIdle(maximum: 1)
        expectNoDifference(
            machine.submitted(request(1), reuse: .never, deadline: nil, now: at(0)),
            Actions(connect: [connection(2)], close: [connection(1)])
        )
        expectNoDifference(machine.counts, PoolCounts(connecting: 1, closing: 1, waiting: 1))
        expectNoDifference(machine.closed(connection(1), now: at(1)), Actions())
        expectNoDifference(machine.counts, PoolCounts(connecting: 1, waiting: 1))
    }

    // MARK: Time

    @Test func anIdleConnectionIsClosedWhenItsTimeIsOver() {
        var machine = machine()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connected(connection(1), now: at(0))
        let actions = machine.released(connection(1), lifetime: nil, now: at(0))
        expectNoDifference(actions, Actions(wakeAt: at(60_000)))
        expectNoDifference(machine.timePassed(now: at(59_999)), Actions(wakeAt: at(60_000)))
        expectNoDifference(machine.timePassed(now: at(60_000)), Actions(close: [connection(1)]))
    }

    @Test(arguments: [(5, 4000), (2, 1000), (1, 500), (100_000, 60_000)] as [(Int, Int64)])
    func theServersTimeIsHonouredWithSomethingToSpare(announced: Int, kept: Int64) {
        var machine = machineWithIdle(lifetime: announced)
        expectNoDifference(machine.timePassed(now: at(kept - 1)).close, [])
        expectNoDifference(machine.timePassed(now: at(kept)).close, [connection(1)])
    }

    @Test func anExpiredConnectionIsNotUsedEvenWhenTheTimerIsLate() {
        var machine = machineWithIdle()
        expectNoDifference(
            machine.submitted(request(1), reuse: .any, deadline: nil, now: at(60_000)),
            Actions(connect: [connection(2)], close: [connection(1)])
        )
    }

    @Test func aRequestThatWaitsTooLongFails() {
        var machine = machine(maximum: 1)
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        let deadlines: [Machine.QueueDeadline] = [
            .init(deadline: at(200), code: .totalTimeout), .init(deadline: at(100), code: .queueTimeout),
        ]
        #expect(machine.submitted(request(2), reuse: .any, deadline: deadlines[0], now: at(0)).wakeAt == at(200))
        #expect(machine.submitted(request(3), reuse: .any, deadline: deadlines[1], now: at(0)).wakeAt == at(100))
        expectNoDifference(
            machine.timePassed(now: at(100)),
            Actions(fail: [.init(id: request(3), reason: .deadline(.queueTimeout))], wakeAt: at(200))
        )
        expectNoDifference(
            machine.timePassed(now: at(200)),
            Actions(fail: [.init(id: request(2), reason: .deadline(.totalTimeout))])
        )
        expectNoDifference(machine.counts, PoolCounts(connecting: 1, waiting: 1))
    }

    @Test func ofTwoDeadlinesTheEarlierAndThenTheFirstCounts() {
        let queue = Machine.QueueDeadline(deadline: at(100), code: .queueTimeout)
        let total = Machine.QueueDeadline(deadline: at(100), code: .totalTimeout)
        let connect = Machine.QueueDeadline(deadline: at(99), code: .connectTimeout)
        expectNoDifference(Machine.QueueDeadline.earliest(queue, total), queue)
        expectNoDifference(Machine.QueueDeadline.earliest(total, queue), total)
        expectNoDifference(Machine.QueueDeadline.earliest(queue, connect), connect)
        expectNoDifference(Machine.QueueDeadline.earliest(connect, queue), connect)
        expectNoDifference(Machine.QueueDeadline.earliest(nil, total), total)
        expectNoDifference(Machine.QueueDeadline.earliest(nil, nil), nil)
    }

    // MARK: Failing to connect

    @Test func whenNothingIsLeftToWaitForAllFail() {
        var machine = machine(maximum: 2)
        for number in 1...3 { _ = machine.submitted(request(number), reuse: .any, deadline: nil, now: at(0)) }
        // Another attempt is still in progress.
        expectNoDifference(machine.connectFailed(connection(1), now: at(1), jitter: 0).fail, [])
        expectNoDifference(
            machine.connectFailed(connection(2), now: at(2), jitter: 0).fail,
            (1...3).map { .init(id: request($0), reason: .connectFailed) }
        )
        expectNoDifference(machine.counts, PoolCounts())
    }

    @Test func aRequestGoesOnWaitingForABusyConnection() {
        var machine = machineWithIdle()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.submitted(request(2), reuse: .any, deadline: nil, now: at(0))
        expectNoDifference(machine.connectFailed(connection(2), now: at(0), jitter: 0), Actions(wakeAt: at(50)))
        #expect(machine.released(connection(1), lifetime: nil, now: at(1)).run == run(2, on: 1))
    }

    @Test func anIdleConnectionIsNoHopeForWhoMayNotTakeIt() {
        var machine = machineWithIdle()
        _ = machine.submitted(request(1), reuse: .recent, deadline: nil, now: at(3000))
        expectNoDifference(
            machine.connectFailed(connection(2), now: at(3000), jitter: 0).fail,
            [.init(id: request(1), reason: .connectFailed)]
        )
        expectNoDifference(machine.counts, PoolCounts(idle: 1))
    }

    @Test func aSecondAttemptDoesNotWaitForABusyConnection() {
        var machine = machineWithIdle()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.submitted(request(2), reuse: .never, deadline: nil, now: at(0))
        expectNoDifference(
            machine.connectFailed(connection(2), now: at(0), jitter: 0),
            Actions(fail: [.init(id: request(2), reason: .connectFailed)])
        )
    }

    @Test func afterTheFirstFailureTheNextRequestTriesAtOnce() {
        var machine = machine()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connectFailed(connection(1), now: at(0), jitter: 0.9)
        expectNoDifference(
            machine.submitted(request(2), reuse: .any, deadline: nil, now: at(0)),
            Actions(connect: [connection(2)])
        )
    }

    @Test func attemptsThatWereUnderWayTogetherAreOneFailure() {
        var machine = machine(maximum: 8)
        for number in 1...8 { _ = machine.submitted(request(number), reuse: .any, deadline: nil, now: at(0)) }
        for number in 1...8 { _ = machine.connectFailed(connection(number), now: at(1), jitter: 0) }
        #expect(machine.submitted(request(9), reuse: .any, deadline: nil, now: at(1)).connect == [connection(9)])
        _ = machine.connectFailed(connection(9), now: at(1), jitter: 0)
        #expect(machine.submitted(request(10), reuse: .any, deadline: nil, now: at(1)).connect == [])
        #expect(machine.timePassed(now: at(100)).connect == [])
        #expect(machine.timePassed(now: at(101)).connect == [connection(10)])
    }

    /// A machine whose attempts have failed once: the next failure is the first with a wait.
    private func machineThatFailedOnce() -> Machine {
        var machine = machine(maximum: 1)
        _ = machine.submitted(request(0), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connectFailed(connection(1), now: at(0), jitter: 0)
        return machine
    }

    @Test func eachFurtherFailureDoublesTheWait() {
        var machine = machineThatFailedOnce()
        var now: Int64 = 0
        for (number, wait) in [200, 400, 800, 1000, 1000].enumerated() {
            _ = machine.submitted(request(number), reuse: .any, deadline: nil, now: at(now))
            _ = machine.connectFailed(connection(number + 2), now: at(now), jitter: 0)
            // With no jitter, half of it.
            let end = now + Int64(wait) / 2
            expectNoDifference(
                machine.submitted(request(100 + number), reuse: .any, deadline: nil, now: at(end - 1)).connect,
                []
            )
            machine.cancelled(request(100 + number))
            now = end
        }
    }

    @Test func jitterIsHalfOfTheWait() {
        var machine = machineThatFailedOnce()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connectFailed(connection(2), now: at(0), jitter: 0.5)
        _ = machine.submitted(request(2), reuse: .any, deadline: nil, now: at(0))
        #expect(machine.timePassed(now: at(149)).connect == [])
        #expect(machine.timePassed(now: at(150)).connect == [connection(3)])
    }

    @Test func successEndsTheBackOff() {
        var machine = machineWithIdle()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.submitted(request(2), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connectFailed(connection(2), now: at(0), jitter: 0)
        #expect(machine.timePassed(now: at(50)).connect == [connection(3)])
        _ = machine.connectFailed(connection(3), now: at(50), jitter: 0)
        #expect(machine.timePassed(now: at(150)).connect == [connection(4)])
        #expect(machine.connected(connection(4), now: at(151)).run == run(2, on: 4))
        _ = machine.closed(connection(4), now: at(152))
        #expect(machine.submitted(request(3), reuse: .any, deadline: nil, now: at(152)).connect == [connection(5)])
        // And the next failure counts as the first again.
        _ = machine.connectFailed(connection(5), now: at(153), jitter: 0)
        #expect(machine.submitted(request(4), reuse: .any, deadline: nil, now: at(153)).connect == [connection(6)])
    }

    @Test func afterALongPauseTheBackOffStartsAnew() {
        var machine = machine(maximum: 1)
        for number in 1...5 {
            let now = at(Int64(number) * 1000)
            _ = machine.submitted(request(number), reuse: .any, deadline: nil, now: now)
            _ = machine.connectFailed(connection(number), now: now, jitter: 0)
        }
        #expect(machine.submitted(request(6), reuse: .any, deadline: nil, now: at(5000)).wakeAt == at(5500))
        #expect(machine.timePassed(now: at(60_000)).connect == [connection(6)])
        _ = machine.connectFailed(connection(6), now: at(60_000), jitter: 0)
        #expect(machine.submitted(request(7), reuse: .any, deadline: nil, now: at(60_000)).connect == [connection(7)])
    }

    // MARK: Connections returned unused

    @Test func aConnectionThatComesBackUnusedCountsAsOld() {
        var machine = machineWithIdle(maximum: 3)
        #expect(machine.submitted(request(1), reuse: .any, deadline: nil, now: at(1000)).run == run(1, on: 1))
        expectNoDifference(machine.returned(connection(1), lifetime: 5, now: at(1001)), Actions(wakeAt: at(5001)))
        expectNoDifference(machine.counts, PoolCounts(idle: 1))
        // Its idle time is unknown.
        #expect(machine.submitted(request(2), reuse: .recent, deadline: nil, now: at(1002)).connect == [connection(2)])
        #expect(machine.submitted(request(3), reuse: .any, deadline: nil, now: at(1002)).run == run(3, on: 1))
    }

    @Test func aConnectionThatComesBackUnusedDoesNotHideTheOthers() {
        var machine = machine()
        for number in 1...2 { _ = machine.submitted(request(number), reuse: .any, deadline: nil, now: at(0)) }
        for number in 1...2 { _ = machine.connected(connection(number), now: at(0)) }
        _ = machine.released(connection(1), lifetime: nil, now: at(0))
        _ = machine.returned(connection(2), lifetime: nil, now: at(0))
        #expect(machine.submitted(request(3), reuse: .recent, deadline: nil, now: at(1)).run == run(3, on: 1))
    }

    @Test func aConnectionThatComesBackUnusedServesWhoMayTakeAny() {
        var machine = machine(maximum: 1)
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.connected(connection(1), now: at(0))
        _ = machine.submitted(request(2), reuse: .recent, deadline: nil, now: at(0))
        _ = machine.submitted(request(3), reuse: .any, deadline: nil, now: at(0))
        expectNoDifference(machine.returned(connection(1), lifetime: nil, now: at(0)), Actions(run: run(3, on: 1)))
        // The other waiting request may not use it, so it is closed to make room.
        let actions = machine.returned(connection(1), lifetime: nil, now: at(0))
        expectNoDifference(actions.close, [connection(1)])
        expectNoDifference(actions.connect, [connection(2)])
        expectNoDifference(machine.returned(connection(1), lifetime: nil, now: at(0)), Actions())
    }

    // MARK: Shutdown

    @Test func whatIsBeingConnectedIsGivenUp() {
        var machine = machine()
        for number in 1...2 { _ = machine.submitted(request(number), reuse: .any, deadline: nil, now: at(0)) }
        expectNoDifference(
            machine.shutDown(),
            Actions(
                abandon: [connection(1), connection(2)],
                fail: (1...2).map { .init(id: request($0), reason: .shutdown) }
            )
        )
        expectNoDifference(machine.connectFailed(connection(1), now: at(1), jitter: 0), Actions())
        expectNoDifference(machine.connectFailed(connection(2), now: at(1), jitter: 0), Actions(isDrained: true))
    }

    @Test func aShutdownEndsEverythingInOrder() {
        var machine = machineWithIdle()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        _ = machine.submitted(request(2), reuse: .any, deadline: nil, now: at(0))
        _ = machine.submitted(request(3), reuse: .any, deadline: nil, now: at(0))
        expectNoDifference(
            machine.shutDown(),
            Actions(
                abandon: [connection(2)],
                fail: [2, 3].map { .init(id: request($0), reason: .shutdown) }
            )
        )
        expectNoDifference(
            machine.submitted(request(4), reuse: .any, deadline: nil, now: at(1)),
            Actions(fail: [.init(id: request(4), reason: .shutdown)])
        )
        expectNoDifference(machine.connected(connection(2), now: at(2)), Actions(close: [connection(2)]))
        expectNoDifference(machine.closed(connection(2), now: at(3)), Actions())
        expectNoDifference(machine.released(connection(1), lifetime: nil, now: at(4)), Actions(close: [connection(1)]))
        expectNoDifference(machine.closed(connection(1), now: at(5)), Actions(isDrained: true))
        expectNoDifference(machine.shutDown(), Actions(isDrained: true))
    }

    @Test func aShutdownWithoutPatienceClosesWhatRuns() {
        var machine = machineWithIdle()
        _ = machine.submitted(request(1), reuse: .any, deadline: nil, now: at(0))
        expectNoDifference(machine.shutDown(), Actions())
        expectNoDifference(machine.closeAll(), Actions(close: [connection(1)]))
        expectNoDifference(machine.closed(connection(1), now: at(1)), Actions(isDrained: true))
    }

    @Test func anIdlePoolIsDrainedWhenItsConnectionsAreClosed() {
        var machine = machineWithIdle()
        expectNoDifference(machine.shutDown(), Actions(close: [connection(1)]))
        expectNoDifference(machine.closed(connection(1), now: at(1)), Actions(isDrained: true))
        var empty = self.machine()
        expectNoDifference(empty.shutDown(), Actions(isDrained: true))
    }
}
