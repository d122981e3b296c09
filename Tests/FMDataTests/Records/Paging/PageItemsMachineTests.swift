import CustomDump
import OpenCombine
import Testing

@testable import FMData

/// Pages are split into their items, and the next page is asked for in time.
@Suite struct PageItemsMachineTests {
    /// The steps until the machine rests, as texts.
    private func steps(_ machine: inout PageItemsMachine<Int>, mayDeliver: Bool = true) -> [String] {
        var steps: [String] = []
        while true {
            switch machine.next(mayDeliver: mayDeliver) {
            case .value(let value): steps.append("\(value)")
            case .ask: steps.append("ask")
            case .end(.finished): steps.append("finished")
            case .end(.failure(let error)): steps.append("failed \(error.code)")
            case .deliverElsewhere: return steps + ["elsewhere"]
            case .rest: return steps
            }
        }
    }

    private func page(_ items: [Int]) -> ItemPage<Int> { ItemPage(items: items, progress: .init(delivered: 0)) }

    @Test func theNextPageIsAskedForWhenLessThanHalfIsLeft() {
        var machine = PageItemsMachine<Int>()
        expectNoDifference(steps(&machine), [])
        machine.requested(.max(1))
        expectNoDifference(steps(&machine), ["ask"])
        machine.received(page([1, 2, 3, 4]), from: 0)
        expectNoDifference(steps(&machine), ["1"])
        machine.requested(.max(1))
        expectNoDifference(steps(&machine), ["2"])
        machine.requested(.max(1))
        expectNoDifference(steps(&machine), ["3", "ask"])
        // Only one page is read ahead.
        machine.received(page([5, 6]), from: 0)
        expectNoDifference(steps(&machine), [])
        machine.requested(.max(1))
        expectNoDifference(steps(&machine), ["4"])
        machine.requested(.max(2))
        expectNoDifference(steps(&machine), ["5", "6", "ask"])
        machine.finished(.finished, from: 0)
        expectNoDifference(steps(&machine), ["finished"])
        expectNoDifference(steps(&machine), [])
    }

    @Test func aPageWithoutItemsIsPassedOver() {
        var machine = PageItemsMachine<Int>()
        machine.requested(.max(1))
        _ = steps(&machine)
        machine.received(page([]), from: 0)
        expectNoDifference(steps(&machine), ["ask"])
    }

    @Test func aFailureComesAfterTheItemsBeforeIt() {
        var machine = PageItemsMachine<Int>()
        machine.requested(.max(2))
        _ = steps(&machine)
        machine.received(page([1, 2, 3]), from: 0)
        expectNoDifference(steps(&machine), ["1", "2", "ask"])
        machine.finished(.failure(.init(.network, reason: "broke")), from: 0)
        expectNoDifference(steps(&machine), [])
        machine.requested(.max(1))
        expectNoDifference(steps(&machine), ["3", "failed network"])
    }

    @Test func anEndNeedsNoDemand() {
        var machine = PageItemsMachine<Int>()
        machine.requested(.max(1))
        _ = steps(&machine)
        machine.received(page([1]), from: 0)
        machine.finished(.finished, from: 0)
        expectNoDifference(steps(&machine), ["1", "finished"])
    }

    @Test func whereItMayNotDeliverItSaysSo() {
        var machine = PageItemsMachine<Int>()
        machine.requested(.max(1))
        expectNoDifference(steps(&machine, mayDeliver: false), ["ask"])
        machine.received(page([1]), from: 0)
        expectNoDifference(steps(&machine, mayDeliver: false), ["elsewhere"])
        expectNoDifference(steps(&machine), ["1", "ask"])
    }
}
