import NIOCore
import Testing

@testable import FMHTTP

struct BusyPollingTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private var polling = BusyPolling(limit: .microseconds(200))
    private var now = start
    private let row = BusyPolling.row.lowerBound

    private mutating func wait(_ microseconds: Int64) {
        polling.waitBegan(now: now)
        now = now + .microseconds(microseconds)
        polling.waitEnded(now: now)
    }

    /// Until when the wait that begins now is polled.
    private mutating func deadline() -> NIODeadline? {
        polling.waitBegan(now: now)
        return polling.deadline
    }

    @Test mutating func aRowOfQuickWaitsEarnsAPoll() {
        for _ in 0..<row {
            #expect(deadline() == nil)
            wait(50)
        }
        #expect(polling.deadline == nil, "nobody waits")
        #expect(deadline() == now + .microseconds(200))
    }

    @Test mutating func aSlowWaitEndsIt() {
        for _ in 1..<row { wait(50) }
        wait(200)
        for _ in 1..<row { wait(50) }
        #expect(deadline() == nil)
        wait(50)
        #expect(deadline() != nil)
    }

    @Test mutating func aPollInVainHasToBeEarnedTwice() {
        for vain in 0..<12 {
            let needed = min(row << vain, BusyPolling.row.upperBound)
            for _ in 0..<needed {
                #expect(deadline() == nil)
                wait(50)
            }
            #expect(deadline() != nil)
            wait(200)
        }
        // One that was not in vain mends it.
        for _ in 0...BusyPolling.row.upperBound { wait(50) }
        wait(200)
        for _ in 0..<2 * row { wait(50) }
        #expect(deadline() != nil)
    }

    @Test mutating func aWaitThatGoesOnKeepsItsDeadline() {
        for _ in 0..<row { wait(1) }
        let deadline = deadline()
        now = now + .microseconds(150)
        #expect(self.deadline() == deadline)
    }

    @Test mutating func whatIsForgottenIsEarnedAgain() {
        for _ in 0..<row { wait(1) }
        polling.forget()
        #expect(deadline() == nil)
    }

    @Test(arguments: [TimeAmount.zero, .nanoseconds(.max)]) mutating func anyLimitIsTaken(limit: TimeAmount) {
        polling = BusyPolling(limit: limit)
        for _ in 0..<10 { wait(0) }
        #expect(deadline() == (limit == .zero ? nil : .distantFuture))
    }

    @Test mutating func anEndWithoutAWaitIsNone() {
        for _ in 0..<10 { polling.waitEnded(now: now) }
        #expect(deadline() == nil)
    }
}
