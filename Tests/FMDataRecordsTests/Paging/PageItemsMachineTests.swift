import CustomDump
import FMData
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Pages are split into their items, and the next page is asked for in time.
@Suite struct PageItemsMachineTests {
    /// The actions until the machine rests, as texts.
    private func actions(_ machine: inout PageItemsMachine<Int>) -> [String] {
        var actions: [String] = []
        while let action = machine.next() {
            switch action {
            case .value(let value): actions.append("\(value)")
            case .ask: actions.append("ask")
            case .end(.finished): actions.append("finished")
            case .end(.failure(let error)): actions.append("failed \(error.code)")
            }
        }
        return actions
    }

    private func page(_ items: [Int]) -> ItemPage<Int> { ItemPage(items: items, progress: .init(delivered: 0)) }

    @Test func theNextPageIsAskedForWhenLessThanHalfIsLeft() {
        var machine = PageItemsMachine<Int>()
        expectNoDifference(actions(&machine), [])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), ["ask"])
        machine.received(page([1, 2, 3, 4]))
        expectNoDifference(actions(&machine), ["1"])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), ["2"])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), ["3", "ask"])
        // Only one page is read ahead.
        machine.received(page([5, 6]))
        expectNoDifference(actions(&machine), [])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), ["4"])
        machine.requested(.max(2))
        expectNoDifference(actions(&machine), ["5", "6", "ask"])
        machine.finished(.finished)
        expectNoDifference(actions(&machine), ["finished"])
        expectNoDifference(actions(&machine), [])
    }

    @Test func aPageWithoutItemsIsPassedOver() {
        var machine = PageItemsMachine<Int>()
        machine.requested(.max(1))
        _ = actions(&machine)
        machine.received(page([]))
        expectNoDifference(actions(&machine), ["ask"])
    }

    @Test func aFailureComesAfterTheItemsBeforeIt() {
        var machine = PageItemsMachine<Int>()
        machine.requested(.max(2))
        _ = actions(&machine)
        machine.received(page([1, 2, 3]))
        expectNoDifference(actions(&machine), ["1", "2", "ask"])
        machine.finished(.failure(.init(.network, reason: "broke")))
        expectNoDifference(actions(&machine), [])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), ["3", "failed network"])
    }

    @Test func anEndNeedsNoDemand() {
        var machine = PageItemsMachine<Int>()
        machine.requested(.max(1))
        _ = actions(&machine)
        machine.received(page([1]))
        machine.finished(.finished)
        expectNoDifference(actions(&machine), ["1", "finished"])
    }
}
