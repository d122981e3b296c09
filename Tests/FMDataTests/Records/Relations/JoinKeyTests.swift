import CustomDump
import Testing

@testable import FMData

/// Which keys a host might take for the same, and how they are looked for.
@Suite struct JoinKeyTests {
    private func areAlike(_ one: String, _ other: String) -> Bool {
        JoinKey(.text(one))?.likeness == JoinKey(.text(other))?.likeness
    }

    @Test(arguments: [
        ("Ada", "ada"), ("Zoë", "zoe"), ("Straße", "STRASSE"), (" A1 ", "a1"), ("ＡＢ", "ab"), ("7", "007"),
        ("7", " 7.0"), ("-0", "0"),
    ])
    func alike(one: String, other: String) {
        #expect(areAlike(one, other))
    }

    @Test(arguments: [("Ada", "Adam"), ("A1", "B1"), ("7", "A7"), ("1e", "1"), ("1.5", "15"), ("a b", "ab")])
    func apart(one: String, other: String) {
        #expect(!areAlike(one, other))
    }

    @Test func aNumberAndItsTextAreAlike() {
        #expect(JoinKey(.literal("7"))?.likeness == JoinKey(.text("7"))?.likeness)
    }

    @Test(arguments: [WireValue.text(""), .text(" \r"), .literal("null"), .array([]), nil])
    func whatHoldsNothingIsNoKey(value: WireValue?) {
        expectNoDifference(JoinKey(value), nil)
    }

    private func rounds(_ keys: [String?]) -> [(keys: [String], owners: [[Int]])] {
        JoinKeys(keys.map { key in key.flatMap { key in JoinKey(.text(key)).map { (key, $0) } } }).rounds
            .map { round in (round.keys, round.keys.map { round.owners[JoinKey(.text($0))!.likeness] ?? [] }) }
    }

    @Test func aKeyIsLookedForOnceForAllWhoHaveIt() {
        let rounds = rounds(["1", "2", nil, "1", ""])
        expectNoDifference(rounds.map(\.keys), [["1", "2"]])
        expectNoDifference(rounds.map(\.owners), [[[0, 3], [1]]])
    }

    @Test func keysThatAreAlikeAreLookedForApart() {
        let rounds = rounds(["ada", "Ada", "bob", "ADA", "ada"])
        expectNoDifference(rounds.map(\.keys), [["ada", "bob"], ["Ada"], ["ADA"]])
        expectNoDifference(rounds.map(\.owners), [[[0, 4], [2]], [[1]], [[3]]])
    }

    @Test func noKeysAreNoFind() {
        #expect(rounds([nil, ""]).isEmpty)
    }
}
