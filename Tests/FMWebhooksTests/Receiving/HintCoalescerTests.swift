import CustomDump
import FMData
import Foundation
import NIOCore
import Testing

@testable import FMWebhooks

@Suite struct HintCoalescerTests {
    private let start = NIODeadline.uptimeNanoseconds(0)

    private func hint(
        _ table: String?,
        _ rowIDs: [Int]?,
        at second: Int = 0,
        isSchema: Bool = false
    ) -> DataAPI.ChangeHint {
        DataAPI.ChangeHint(
            database: "Harbor",
            table: table,
            rowIDs: rowIDs,
            isSchema: isSchema,
            receivedAt: Date(timeIntervalSince1970: Double(second))
        )
    }

    @Test func theFirstHintOfATableStartsItsWindowAndTheOthersJoinIt() {
        var coalescer = HintCoalescer(window: .milliseconds(100))
        let vessels = HintCoalescer.Subject(hint("Vessels", nil))
        expectNoDifference(
            coalescer.received(hint("Vessels", [3]), now: start),
            .schedule(vessels, at: start + .milliseconds(100))
        )
        expectNoDifference(coalescer.received(hint("Vessels", [1, 3], at: 2), now: start + .milliseconds(60)), .none)
        expectNoDifference(coalescer.received(hint("Vessels", [2], at: 1), now: start + .milliseconds(90)), .none)
        expectNoDifference(coalescer.due(vessels), hint("Vessels", [1, 2, 3], at: 2))
        expectNoDifference(coalescer.due(vessels), nil)
        expectNoDifference(
            coalescer.received(hint("Vessels", [4]), now: start + .milliseconds(100)),
            .schedule(vessels, at: start + .milliseconds(200))
        )
    }

    @Test func whatIsNotKnownOfOneIsNotKnownOfAll() {
        expectNoDifference(hint("Vessels", [1]).joined(with: hint("Vessels", nil)).rowIDs, nil)
        expectNoDifference(hint("Vessels", nil).joined(with: hint("Vessels", [1])).rowIDs, nil)
        let many = hint("Vessels", Array(1...1_000))
        expectNoDifference(many.joined(with: hint("Vessels", [7])).rowIDs?.count, 1_000)
        expectNoDifference(many.joined(with: hint("Vessels", [1_001])).rowIDs, nil)
    }

    @Test func tablesAndDefinitionsStayApart() {
        var coalescer = HintCoalescer(window: .milliseconds(100))
        for hint in [
            hint("Vessels", [1]), hint("Crew", [1], at: 1), hint(nil, nil, at: 2),
            hint(nil, nil, at: 3, isSchema: true),
        ] {
            #expect(coalescer.received(hint, now: start) != .none)
        }
        expectNoDifference(coalescer.all().map(\.table), ["Vessels", "Crew", nil, nil])
        expectNoDifference(coalescer.all(), [])
    }
}
