import CustomDump
import Testing

@testable import FMData

/// The combinations of test results that a record can have in one field. A case is shown as its bits: the first test is
/// the lowest.
@Suite struct FindFieldCasesTests {
    private static func cases(
        _ tests: [FindTest],
        _ values: FindFieldValues = .one,
        unitesPatterns: Bool = true
    ) -> FindFieldCases? {
        FindFieldCases(
            field: "x",
            tests: Array(tests.indices),
            in: tests.map { FindCriterion(field: "x", values: values, test: $0) },
            unitesPatterns: unitesPatterns
        )
    }

    /// The criteria that a request can have, with the cases that each finds.
    private static func choices(_ cases: FindFieldCases?) -> [String: [UInt64]] {
        guard let cases else { return [:] }
        var found: [String: [UInt64]] = [:]
        for choice in cases.choices {
            let places = cases.cases.indices.filter { choice.cases >> UInt64($0) & 1 == 1 }
            found[choice.criterion.test.text] = places.map { cases.cases[$0] }
        }
        return found
    }

    // MARK: Which cases there are

    @Test(
        arguments: [
            ([.compares(.greater, .number(5))], [0b0, 0b1]),
            // No value is on both sides.
            ([.compares(.less, .number(5)), .compares(.greater, .number(8))], [0b00, 0b01, 0b10]),
            ([.compares(.lessOrEqual, .number(5)), .compares(.greaterOrEqual, .number(5))], [0b00, 0b01, 0b10, 0b11]),
            // What is 5 is greater than 3.
            ([.equals(.number(5)), .compares(.greater, .number(3))], [0b00, 0b10, 0b11]),
            ([.equals(.number(5)), .equals(.number(6))], [0b00, 0b01, 0b10]),
            // No value is in a range whose start is after its end.
            ([.range(.number(8), .number(3))], [0b0]),
            // An empty value passes no comparison, and neither does one that cannot be compared.
            (
                [.compares(.less, .number(5)), .compares(.greaterOrEqual, .number(5)), .isEmpty],
                [0b000, 0b001, 0b010, 0b100]
            ),
            ([.isEmpty, .isNotEmpty], [0b01, 0b10]),
        ] as [([FindTest], [UInt64])]
    )
    func ofNumbersTheyAreExact(tests: [FindTest], cases: [UInt64]) {
        expectNoDifference(Self.cases(tests)?.cases, cases)
    }

    @Test(
        arguments: [
            ([.matches(.begins, "ab"), .matches(.begins, "a")], [0b00, 0b10, 0b11]),
            ([.matches(.ends, "ba"), .matches(.ends, "a")], [0b00, 0b10, 0b11]),
            ([.matches(.ends, "ab"), .matches(.ends, "a")], [0b00, 0b01, 0b10]),
            ([.equals(.text("A")), .equals(.text("B"))], [0b00, 0b01, 0b10]),
            // A number field reads both texts as the same number.
            ([.equals(.text("5")), .equals(.text("5.0"))], [0b00, 0b01, 0b10, 0b11]),
            // A number and a date have no order between them.
            ([.equals(.number(5)), .equals(.date)], [0b00, 0b01, 0b10, 0b11]),
            ([.raw("a"), .isDuplicated], [0b00, 0b01, 0b10, 0b11]),
        ] as [([FindTest], [UInt64])]
    )
    func ofOtherTestsThoseAreLeftOutThatAreKnownToBeImpossible(tests: [FindTest], cases: [UInt64]) {
        expectNoDifference(Self.cases(tests)?.cases, cases)
    }

    /// Each of several values may pass another test, but what one test implies is true of each of them.
    @Test func severalValuesPassTestsThatOneValueCannot() {
        let apart: [FindTest] = [.compares(.less, .number(5)), .compares(.greater, .number(8))]
        expectNoDifference(Self.cases(apart, .any)?.cases, [0b00, 0b01, 0b10, 0b11])
        let nested: [FindTest] = [.compares(.greater, .number(8)), .compares(.greater, .number(5))]
        expectNoDifference(Self.cases(nested, .any)?.cases, [0b00, 0b10, 0b11])
    }

    @Test func theTestsOfTheFieldAreThoseOfItsNumbers() {
        let criteria = [3, 7, 5].map {
            FindCriterion(field: "x", values: .one, test: .compares(.less, .number($0)))
        }
        let cases = FindFieldCases(field: "x", tests: [1, 2], in: criteria, unitesPatterns: true)
        expectNoDifference(cases?.tests, [1, 2])
        // What is less than 5, the second of the two, is less than 7.
        expectNoDifference(cases?.cases, [0b00, 0b01, 0b11])
    }

    // MARK: What a request can say

    @Test func aComparisonThatSeparatesTheSameCasesIsAChoice() {
        let ages = Self.cases([.compares(.greaterOrEqual, .number(3)), .compares(.lessOrEqual, .number(8))])
        expectNoDifference(ages?.cases, [0b00, 0b01, 0b10, 0b11])
        expectNoDifference(
            Self.choices(ages),
            [">=3": [0b01, 0b11], "<=8": [0b10, 0b11], "<3": [0b10], "3...8": [0b11], ">8": [0b01]]
        )
    }

    /// `*` finds values that cannot be compared, and separates them from the empty ones if a test does.
    @Test func notEmptyIsAChoiceWhereTheEmptyAreACaseOfTheirOwn() {
        let compared = Self.cases([.compares(.less, .number(5)), .isEmpty])
        expectNoDifference(Self.choices(compared), ["<5": [0b01], "=": [0b10], "*": [0b00, 0b01]])
        expectNoDifference(Self.choices(Self.cases([.compares(.less, .number(5))])), ["<5": [0b1]])
    }

    @Test func ofSeveralValuesNothingIsDerived() {
        let tests: [FindTest] = [.compares(.greaterOrEqual, .number(3)), .compares(.lessOrEqual, .number(8))]
        expectNoDifference(Self.choices(Self.cases(tests, .any)), [">=3": [0b01, 0b11], "<=8": [0b10, 0b11]])
    }

    @Test func wordsAreOneCriterionTogether() {
        let words = ["red", "fox"].map { FindTest.words([FindWord(text: $0, extent: .whole)]) }
        expectNoDifference(
            Self.choices(Self.cases(words)),
            ["=red": [0b01, 0b11], "=fox": [0b10, 0b11], "=red =fox": [0b11]]
        )
    }

    /// The bits above those of the tests say in which ways both patterns hold.
    @Test func patternsThatHoldTogetherHaveACaseForEachWay() {
        let apart: [FindTest] = [.matches(.begins, "ab"), .matches(.ends, "yz")]
        expectNoDifference(
            Self.choices(Self.cases(apart)),
            ["==ab*": [0b001, 0b111], "==*yz": [0b010, 0b111], "==ab*yz": [0b111]]
        )
        let overlapping: [FindTest] = [.matches(.begins, "aba"), .matches(.ends, "ba")]
        expectNoDifference(
            Self.choices(Self.cases(overlapping)),
            [
                "==aba*": [0b0001, 0b0111, 0b1011, 0b1111], "==*ba": [0b0010, 0b0111, 0b1011, 0b1111],
                "==aba": [0b0111, 0b1111], "==aba*ba": [0b1011, 0b1111],
            ]
        )
        expectNoDifference(
            Self.choices(Self.cases(apart, unitesPatterns: false)),
            ["==ab*": [0b01, 0b11], "==*yz": [0b10, 0b11]]
        )
    }

    // MARK: The limits

    @Test func thereAreNoMoreCasesThanBits() {
        let letters = "abcdefg".map { FindTest.matches(.contains, String($0)) }
        expectNoDifference(Self.cases(Array(letters.prefix(6)), unitesPatterns: false)?.cases.count, 64)
        expectNoDifference(Self.cases(letters, unitesPatterns: false)?.cases.count, nil)
        // A case has a bit for each test, also where they give few cases.
        let same = FindTest.compares(.less, .number(5))
        expectNoDifference(Self.cases(Array(repeating: same, count: 64))?.cases, [0, .max])
        expectNoDifference(Self.cases(Array(repeating: same, count: 65))?.cases, nil)
    }

    // MARK: The order of the operands

    /// Two operands make five places: the gaps are at the even ones.
    @Test func operandsDivideTheirOrderIntoPlaces() {
        let tests: [FindTest] = [
            .compares(.greater, .number(8)), .compares(.lessOrEqual, .number(5)), .equals(.number(8)),
            .range(.number(5), .number(8)), .range(.number(8), .number(5)), .compares(.less, .number(5)),
        ]
        let order = FindOperandOrder(tests)
        expectNoDifference(order?.places, 0...4)
        expectNoDifference(tests.map { order?.places(of: $0) }, [4...4, 0...1, 3...3, 1...3, 5...5, 0...0])
        expectNoDifference(order?.places(of: .isEmpty), nil)
        expectNoDifference(FindOperandOrder([.equals(.number(5)), .equals(.date)])?.places, nil)
        expectNoDifference(FindOperandOrder([.isEmpty, .matches(.begins, "a")])?.places, nil)
    }
}

extension FindOperand {
    fileprivate static let date = FindOperand(text: "01/05/2024", isOrdered: true)

    fileprivate static func number(_ number: Int) -> FindOperand { FindOperand(text: "\(number)", isOrdered: true) }
    fileprivate static func text(_ text: String) -> FindOperand { FindOperand(text: text, isOrdered: false) }
}
