import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Which keys a host may take for the same, and how they are looked up.
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
            .map { round in
                let owners = round.keys.map { key in JoinKey(.text(key)).flatMap { round.owners(of: $0) } ?? [] }
                return (keys: round.keys, owners: owners)
            }
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

    /// A number field takes "5 kg" for 5. Which record belongs to 5 must not depend on the other keys that are looked
    /// up.
    @Test func keysThatAFieldOfNumbersTakesForTheSameAreLookedForApart() {
        let rounds = rounds(["5", "5 kg", "5.0", "A5", "7 kg", "5 KG"])
        expectNoDifference(rounds.map(\.keys), [["5", "7 kg"], ["5 kg", "A5"], ["5.0"], ["5 KG"]])
    }

    /// A record's value in the field, and the keys that it belongs to.
    @Test(
        arguments: [
            (WireValue.literal("5"), [0]), (.text("5"), [0]), (.text("5 kg"), [0]), (.text("5 KG"), [0]),
            (.text("5 lb"), [0]), (.literal("7"), [1, 2]), (.text("7"), [1, 2]), (.text("A7"), [1]), (.text("B7"), [2]),
            (.text("C7"), [1, 2]), (.text("bob"), [3]), (.literal("9"), nil), (.text("eve"), nil),
        ] as [(WireValue, [Int]?)]
    )
    func owners(value: WireValue, expected: [Int]?) throws {
        let keys = ["5 kg", "A7", "B7", "Bob"].map { key in JoinKey(.text(key)).map { (key, $0) } }
        let rounds = JoinKeys(keys).rounds
        expectNoDifference(rounds.count, 1)
        expectNoDifference(rounds[0].owners(of: try #require(JoinKey(value))), expected)
    }

    @Test func noKeysAreNoFind() {
        #expect(rounds([nil, ""]).isEmpty)
    }
}
