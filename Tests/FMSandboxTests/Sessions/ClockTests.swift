import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import FMSandbox

/// `ManualClock` advances only when a test calls `advance`, so no test sleeps.
@Suite(.timeLimit(.minutes(15))) struct ClockTests {
    @Test func waitersWakeWhenTheirTimeHasCome() async throws {
        let clock = ManualClock()
        async let short: Void = clock.wait(for: .seconds(1))
        async let long: Void = clock.wait(for: .seconds(10))
        await clock.untilWaiting(2)
        clock.advance(by: .seconds(5))
        try await short
        #expect(clock.waitingCount == 1)
        clock.advance(by: .seconds(5))
        try await long
        #expect(clock.waitingCount == 0)
    }

    @Test func aCancelledWaiterLeaves() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.wait(for: .seconds(1)) }
        await clock.untilWaiting()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.waitingCount == 0)
    }

    @Test func nobodyWaitsForNothing() async throws {
        let clock = ManualClock()
        try await clock.wait(for: .zero)
        #expect(clock.waitingCount == 0)
    }

    @Test func theGateLetsOneInAtATimeInOrder() {
        var queue = GateQueue()
        let entries = (1...3).map { queue.enter($0) }
        #expect(entries == [true, false, false])
        let second = queue.leave()
        let late = queue.enter(4)
        #expect(!late)
        let rest = [second, queue.leave(), queue.leave()]
        #expect(rest == [2, 3, 4])
        #expect(queue.isBusy)
        let nobody = queue.leave()
        #expect(nobody == nil)
        #expect(!queue.isBusy)
        let next = queue.enter(5)
        #expect(next)
    }

    @Test func nobodyIsInTheGateTogether() async {
        let gate = Gate()
        let inside = NIOLockedValueBox(0)
        let together = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    await gate.run {
                        let isAlone = inside.withLockedValue { count in
                            count += 1
                            return count == 1
                        }
                        await Task.yield()
                        inside.withLockedValue { $0 -= 1 }
                        return !isAlone
                    }
                }
            }
            return await group.contains(true)
        }
        #expect(!together)
        #expect(!gate.isBusy)
    }
}
