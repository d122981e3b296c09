import CustomDump
import Testing

@testable import FMWebhooks

/// Which connection is closed when there are too many.
@Suite struct ConnectionRosterTests {
    private typealias Roster = ConnectionRoster<Int, String>

    /// The result of an admission: "in", "out", or the connection it replaced.
    private func admit(_ id: Int, to roster: inout Roster) -> String {
        switch roster.admit(id, "c\(id)") {
        case .admitted: "in"
        case .admittedInsteadOf(let other): other
        case .turnedAway: "out"
        }
    }

    @Test func theStrangerWhoWasHereFirstMakesRoom() {
        var roster = Roster(limit: 3)
        expectNoDifference((1...3).map { admit($0, to: &roster) }, ["in", "in", "in"])
        roster.provedItself(1)
        expectNoDifference((4...9).map { admit($0, to: &roster) }, ["c2", "c3", "c4", "c5", "c6", "c7"])
        expectNoDifference(roster.all.sorted(), ["c1", "c8", "c9"])
    }

    @Test func nobodyWhoHasProvedItselfMakesRoom() {
        var roster = Roster(limit: 2)
        for id in 1...2 {
            _ = admit(id, to: &roster)
            roster.provedItself(id)
        }
        expectNoDifference(admit(3, to: &roster), "out")
        expectNoDifference(roster.count, 2)
        roster.left(1)
        expectNoDifference(admit(4, to: &roster), "in")
        expectNoDifference(admit(5, to: &roster), "c4")
    }

    @Test func whoHasGoneIsNoMatter() {
        var roster = Roster(limit: 1)
        _ = admit(1, to: &roster)
        expectNoDifference(admit(2, to: &roster), "c1")
        // Later events of the replaced connection have no effect.
        roster.provedItself(1)
        roster.left(1)
        expectNoDifference(roster.all, ["c2"])
        expectNoDifference(admit(3, to: &roster), "c2")
    }

    @Test(arguments: [0, -1]) func aLimitOfNoneAdmitsNobody(limit: Int) {
        var roster = Roster(limit: limit)
        expectNoDifference(admit(1, to: &roster), "out")
    }

    /// For any number of connections.
    @Test func aFloodTakesNoMoreThanItsPlaces() {
        var roster = Roster(limit: 64)
        for id in 1...10_000 { _ = admit(id, to: &roster) }
        expectNoDifference(roster.count, 64)
        expectNoDifference(roster.all.count, 64)
    }
}
