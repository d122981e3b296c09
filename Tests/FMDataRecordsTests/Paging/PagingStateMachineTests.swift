import CustomDump
import FMData
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Events in, actions out: when a page is asked for, how large it is, and what of it is published.
@Suite struct PagingStateMachineTests {
    private typealias Action = PagingStateMachine.Action

    private func actions(_ machine: inout PagingStateMachine) -> [Action] {
        var actions: [Action] = []
        while let action = machine.next() { actions.append(action) }
        return actions
    }

    private func machine(_ size: PageSize = PageSize(fixed: 10)) -> PagingStateMachine {
        PagingStateMachine(OffsetPaging(), size: size)
    }

    private func ask(_ offset: Int, _ limit: Int) -> Action {
        .ask(.init(selection: .records(offset: offset), limit: limit))
    }

    private func answer(_ ids: ClosedRange<Int>, of count: Int = 25) -> PageAnswer {
        PageAnswer(ids: Array(ids), foundCount: count)
    }

    /// Receives an answer that took no time.
    private func receive(_ answer: PageAnswer, _ machine: inout PagingStateMachine) {
        machine.received(answer, bytes: 0, took: .zero)
    }

    @Test func nothingIsAskedBeforeDemand() {
        var machine = machine()
        expectNoDifference(actions(&machine), [])
    }

    @Test func eachPageIsAskedForWhenItIsWanted() {
        var machine = machine()
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), [ask(1, 10)])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), [])
        receive(answer(1...10), &machine)
        expectNoDifference(
            actions(&machine),
            [
                .publish(rows: Array(0..<10), .init(delivered: 10, total: 25)), ask(10, 11),
            ]
        )
        receive(answer(10...20), &machine)
        expectNoDifference(actions(&machine), [.publish(rows: Array(1...10), .init(delivered: 20, total: 25))])
        machine.requested(.unlimited)
        expectNoDifference(actions(&machine), [ask(20, 11)])
        receive(answer(20...25), &machine)
        expectNoDifference(
            actions(&machine),
            [
                .publish(rows: Array(1...5), .init(delivered: 25, total: 25)), .end(.finished),
            ]
        )
        machine.requested(.unlimited)
        expectNoDifference(actions(&machine), [])
    }

    @Test func anEmptySetIsOnePageWithoutRecords() {
        var machine = machine()
        machine.requested(.max(1))
        _ = actions(&machine)
        receive(PageAnswer(foundCount: 0), &machine)
        expectNoDifference(actions(&machine), [.publish(rows: [], .init(delivered: 0, total: 0)), .end(.finished)])
    }

    @Test func aStepBackIsNoPageAndItsFindingGoesWithTheNext() {
        var machine = machine()
        machine.requested(.max(2))
        _ = actions(&machine)
        receive(answer(1...10), &machine)
        _ = actions(&machine)
        // Row 3 was deleted.
        receive(answer(11...21, of: 24), &machine)
        expectNoDifference(actions(&machine), [ask(8, 11)])
        receive(answer(9...19, of: 24), &machine)
        expectNoDifference(
            actions(&machine),
            [
                .publish(
                    rows: Array(2...10),
                    .init(delivered: 19, total: 25, drift: [.init(.moved, places: -1)], driftCount: 1)
                )
            ]
        )
    }

    @Test func whatIsFoundAtTheEndIsAPageOfItsOwn() {
        var machine = machine()
        machine.requested(.unlimited)
        _ = actions(&machine)
        receive(answer(1...10), &machine)
        _ = actions(&machine)
        receive(PageAnswer(foundCount: 0), &machine)
        expectNoDifference(actions(&machine), [ask(8, 11)])
        receive(PageAnswer(foundCount: 0), &machine)
        expectNoDifference(actions(&machine), [ask(2, 11)])
        receive(PageAnswer(foundCount: 0), &machine)
        expectNoDifference(actions(&machine), [ask(1, 11)])
        receive(PageAnswer(foundCount: 0), &machine)
        expectNoDifference(
            actions(&machine),
            [
                .publish(
                    rows: [],
                    .init(delivered: 10, total: 25, drift: [.init(.moved, places: -10)], driftCount: 1)
                ),
                .end(.finished),
            ]
        )
    }

    /// Each page has the count of its own answer; none if the answer had none.
    @Test func aPageSaysHowManyRecordsTheTableHas() {
        var machine = machine()
        machine.requested(.unlimited)
        _ = actions(&machine)
        receive(PageAnswer(ids: Array(1...10), foundCount: 25, tableCount: 70), &machine)
        expectNoDifference(
            actions(&machine).first,
            .publish(rows: Array(0..<10), .init(delivered: 10, total: 25, tableCount: 70))
        )
        receive(PageAnswer(ids: Array(10...20), foundCount: 25, tableCount: 69), &machine)
        expectNoDifference(
            actions(&machine).first,
            .publish(rows: Array(1...10), .init(delivered: 20, total: 25, tableCount: 69))
        )
        receive(PageAnswer(ids: Array(20...25)), &machine)
        expectNoDifference(actions(&machine).first, .publish(rows: Array(1...5), .init(delivered: 25, total: 25)))
    }

    @Test func aFailureEndsIt() {
        var machine = machine(PageSize())
        machine.requested(.unlimited)
        _ = actions(&machine)
        machine.failed(isTooMuch: false)
        expectNoDifference(actions(&machine), [.end(.failed)])
        expectNoDifference(actions(&machine), [])
    }

    @Test func whatIsImpossibleEndsIt() {
        var machine = PagingStateMachine(WindowPaging(), size: PageSize())
        machine.requested(.unlimited)
        _ = actions(&machine)
        receive(PageAnswer(ids: [1], foundCount: 3), &machine)
        _ = actions(&machine)
        receive(PageAnswer(ids: [1], keys: [.text("A")], foundCount: 3), &machine)
        expectNoDifference(actions(&machine), [.end(.impossible(.serialNotWhole))])
    }

    @Test func aPageThatIsTooMuchIsAskedForAgainAtHalfTheSizeDownToTheSmallest() {
        var machine = machine(PageSize())
        machine.requested(.unlimited)
        var limits: [Int] = []
        while case .ask(let question) = machine.next() {
            limits.append(question.limit)
            machine.failed(isTooMuch: true)
        }
        expectNoDifference(limits, [100, 50, 25, 12, 10])
        expectNoDifference(actions(&machine), [])
    }

    @Test func aSizeOfTheCallersIsNotChanged() {
        var machine = machine(PageSize(fixed: 500))
        machine.requested(.unlimited)
        expectNoDifference(actions(&machine), [ask(1, 500)])
        machine.failed(isTooMuch: true)
        expectNoDifference(actions(&machine), [.end(.failed)])
    }

    @Test func recordsByIDAreAskedForInSmallerChunks() {
        var machine = PagingStateMachine(IDPaging(), size: PageSize(current: 1_000))
        machine.requested(.unlimited)
        _ = actions(&machine)
        let keys = (1...80).map { PageKey.number(FMNumber($0)) }
        receive(PageAnswer(ids: Array(1...80), keys: keys, foundCount: 80), &machine)
        expectNoDifference(actions(&machine), [.ask(.init(selection: .having(Array(keys.prefix(50))), limit: 50))])
        machine.failed(isTooMuch: true)
        expectNoDifference(actions(&machine), [.ask(.init(selection: .having(Array(keys.prefix(25))), limit: 25))])
        // The server may send them in any order.
        receive(PageAnswer(ids: (1...25).reversed(), foundCount: 25), &machine)
        expectNoDifference(
            machine.next(),
            .publish(rows: (0..<25).reversed(), .init(delivered: 25, total: 80, withoutKey: 0))
        )
    }

    @Test func whatComesUnaskedIsNothing() {
        var machine = machine()
        receive(answer(1...10), &machine)
        machine.failed(isTooMuch: false)
        expectNoDifference(actions(&machine), [])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), [ask(1, 10)])
    }
}
