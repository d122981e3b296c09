import CustomDump
import NIOCore
import Testing

@testable import FMData

/// How often the live queries of a server may look.
@Suite struct LookBudgetTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test func tenAtOnceAndThenOneASecondTheLongestWaitingFirst() {
        var budget = LookBudget(now: start)
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
        var budget = LookBudget(now: start)
        for id in 1...10 { _ = budget.ask(id, start) }
        let later = start + .hours(1)
        for id in 11...20 { expectNoDifference(budget.ask(id, later), [id]) }
        expectNoDifference(budget.ask(21, later), [])
    }

    @Test func aClockThatIsSetBackBringsNothingAndHoldsNobodyForEver() {
        var budget = LookBudget(now: start)
        for id in 1...10 { _ = budget.ask(id, start) }
        let earlier = start - .hours(1)
        expectNoDifference(budget.ask(11, earlier), [])
        expectNoDifference(budget.granted(earlier + .seconds(2)), [11])
    }
}
