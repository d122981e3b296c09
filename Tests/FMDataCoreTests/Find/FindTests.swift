import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore

@Suite struct FindTests {
    private enum Keys: String, CodingKey {
        case city, age, status, name
        case item = "Lines::item"
        case quantity = "Lines::quantity"
    }

    private typealias Request = FindRequest

    private static func find(_ condition: (DataAPI.FindFields<Keys>) -> DataAPI.Find) -> DataAPI.Find {
        DataAPI.Find(Keys.self, condition)
    }

    private static func omit(_ criteria: [String: String]) -> Request { Request(criteria: criteria, isOmit: true) }

    private func compile(_ condition: (DataAPI.FindFields<Keys>) -> DataAPI.Find) throws -> [Request] {
        try Self.find(condition).requests()
    }

    private func refusal(
        _ condition: (DataAPI.FindFields<Keys>) -> DataAPI.Find,
        limit: Int = 1_000
    ) -> DataAPI.FindError.Code? {
        do throws(DataAPI.FindError) {
            _ = try Self.find(condition).requests(limit: limit)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func theExampleOfTheDocumentation() throws {
        expectNoDifference(
            try compile { field in field(.city) == "Calgary" && field(.age) >= 18 && !(field(.status) == "retired") },
            [Request(criteria: ["city": "==Calgary", "age": ">=18"]), Self.omit(["status": "==retired"])]
        )
    }

    @Test func everyTestHasItsCriterion() throws {
        let field = DataAPI.FindField(Keys.name)
        let expected: [(DataAPI.Find, String)] = [
            (field == "A b", "==A b"), (field == "", "="), (field == 18, "==18"), (field == 0.5, "==0.5"),
            (field == true, "==1"),
            (field < 5, "<5"), (field <= 5, "<=5"), (field > -5, ">-5"), (field >= "m", ">=m"),
            (field.isIn(18...65), "18...65"), (field.isIn("a"..."m."), "a...m\\."),
            (field.begins(with: "A*"), "==A\\**"),
            (field.contains("@"), "==*\\@*"), (field.ends(with: "son"), "==*son"),
            (field.hasWords("John Smith"), "=John =Smith"),
            (field.hasWords(beginningWith: "jo sm"), "jo sm"), (field.isEmpty, "="), (field.isNotEmpty, "*"),
            (field.isDuplicated, "!"),
            (field.isToday, "//"), (field.raw("*/21/*"), "*/21/*"),
        ]
        for (find, criterion) in expected {
            expectNoDifference(try find.requests(), [Request(criteria: ["name": criterion])])
        }
    }

    @Test func fieldsOfOtherTablesAndRepetitions() throws {
        expectNoDifference(
            try compile { $0(.item) == "rope" && $0(.name).repetition(2) == "x" && $0(.city).related("Vendor") == "y" },
            [Request(criteria: ["Lines::item": "==rope", "name(2)": "==x", "Vendor::city": "==y"])]
        )
        expectNoDifference(
            try (DataAPI.FindField(named: "Größe") == 1).requests(),
            [Request(criteria: ["Größe": "==1"])]
        )
    }

    @Test func alternativesAreRequestsOfTheirOwn() throws {
        expectNoDifference(
            try compile { ($0(.city) == "A" || $0(.city) == "B") && ($0(.age) < 5 || $0(.status) == "x") },
            [
                Request(criteria: ["city": "==A", "age": "<5"]), Request(criteria: ["city": "==A", "status": "==x"]),
                Request(criteria: ["city": "==B", "age": "<5"]), Request(criteria: ["city": "==B", "status": "==x"]),
            ]
        )
        expectNoDifference(
            try compile { $0(.city).isOneOf(["A", "B", "A"]) },
            [Request(criteria: ["city": "==A"]), Request(criteria: ["city": "==B"])]
        )
    }

    @Test func aLongListOfAlternativesWithAnExclusion() throws {
        let requests = try compile { $0(.age).isOneOf(0..<150) && !($0(.city) == "A" && $0(.status) == "x") }
        expectNoDifference(requests.count, 151)
        expectNoDifference(requests.last, Self.omit(["city": "==A", "status": "==x"]))
    }

    @Test func anOmitNeverHarmsWhatComesAfterIt() throws {
        expectNoDifference(
            try compile { ($0(.city) == "A" && !($0(.status) == "x")) || $0(.name) == "C" },
            [Request(criteria: ["city": "==A"]), Self.omit(["status": "==x"]), Request(criteria: ["name": "==C"])]
        )
        // The same find with its alternatives in another order.
        expectNoDifference(
            try compile { $0(.name) == "C" || ($0(.city) == "A" && !($0(.status) == "x")) },
            [Request(criteria: ["city": "==A"]), Self.omit(["status": "==x"]), Request(criteria: ["name": "==C"])]
        )
    }

    @Test func alternativesAreSortedByWhatTheyExclude() throws {
        let many = try compile { field in
            field(.age).isOneOf(0..<9) || (field(.city) == "A" && !(field(.status) == "x"))
                || (field(.name) == "C" && !(field(.status) == "x") && !(field(.item) == "y"))
        }
        expectNoDifference(
            Array(many.prefix(5)),
            [
                Request(criteria: ["name": "==C"]), Self.omit(["Lines::item": "==y"]),
                Request(criteria: ["city": "==A"]),
                Self.omit(["status": "==x"]), Request(criteria: ["age": "==0"]),
            ]
        )
        expectNoDifference(many.count, 13)
    }

    @Test func omitsComeLastWhereThatIsTheSame() throws {
        expectNoDifference(
            try compile { !($0(.status) == "x") && ($0(.city) == "A" || $0(.name) == "B") },
            [Request(criteria: ["city": "==A"]), Request(criteria: ["name": "==B"]), Self.omit(["status": "==x"])]
        )
    }

    @Test func negationAloneStartsFromAllRecords() throws {
        expectNoDifference(try compile { $0(.city) != "A" }, [Self.omit(["city": "==A"])])
        expectNoDifference(
            try compile { !($0(.city) == "A" && $0(.age) > 5) },
            [Self.omit(["city": "==A", "age": ">5"])]
        )
        expectNoDifference(
            try compile { !($0(.city) == "A" || $0(.age) > 5) },
            [Self.omit(["city": "==A"]), Self.omit(["age": ">5"])]
        )
        expectNoDifference(
            try compile { !($0(.city) == "A") || $0(.age) > 5 },
            [Self.omit(["city": "==A"]), Request(criteria: ["age": ">5"])]
        )
    }

    @Test func twoNegationsAreNone() throws {
        expectNoDifference(try compile { !(!($0(.city) == "A")) }, [Request(criteria: ["city": "==A"])])
    }

    @Test func whatAddsNothingIsLeftOut() throws {
        expectNoDifference(try compile { $0(.city) == "A" && $0(.city) == "A" }, [Request(criteria: ["city": "==A"])])
        expectNoDifference(
            try compile { $0(.city) == "A" || ($0(.city) == "A" && $0(.age) > 5) },
            [Request(criteria: ["city": "==A"])]
        )
        expectNoDifference(
            try compile { $0(.name).isNotEmpty && $0(.name).begins(with: "A") },
            [Request(criteria: ["name": "==A*"])]
        )
    }

    @Test func twoComparisonsOfOneFieldGoTogether() throws {
        expectNoDifference(try compile { $0(.age) >= 18 && $0(.age) <= 65 }, [Request(criteria: ["age": "18...65"])])
        expectNoDifference(
            try compile { $0(.age) > 18 && $0(.age) <= 65 },
            [Request(criteria: ["age": ">18"]), Self.omit(["age": ">65"])]
        )
        expectNoDifference(
            try compile { $0(.age) >= 18 && $0(.age) != 20 },
            [Request(criteria: ["age": ">=18"]), Self.omit(["age": "==20"])]
        )
        expectNoDifference(
            try compile { !($0(.age) > 18 && $0(.age) < 65) },
            [Self.omit(["age": ">18"]), Request(criteria: ["age": ">=65"])]
        )
    }

    @Test func whatOneRequestCannotHoldIsRefused() {
        #expect(refusal { $0(.name).begins(with: "A") && $0(.name).hasWords("z") } == .sameField)
        #expect(refusal { $0(.name).begins(with: "A") && $0(.name).ends(with: "z") } == .sameField)
        #expect(refusal { $0(.item).begins(with: "A") && $0(.item).ends(with: "z") } == .sameField)
        #expect(refusal { $0(.name) >= "a" && $0(.name) <= "m" } == .sameField)
        #expect(refusal { $0(.quantity) >= 1 && $0(.quantity) <= 5 } == .sameField)
        #expect(refusal { $0(.name).raw("a") && $0(.name).hasWords("b") } == .sameField)
        // The same conditions can be combined where they need not hold at once.
        #expect(refusal { $0(.name).begins(with: "A") && !$0(.name).ends(with: "z") } == nil)
        #expect(refusal { $0(.quantity).isIn(1...5) } == nil)
    }

    /// An omit removes its records from all that were found before it, so alternatives have to leave out the same, or
    /// one of them more than the other.
    @Test func alternativesThatLeaveOutDifferentRecordsAreRefused() {
        #expect(
            refusal { ($0(.city) == "A" && !($0(.age) == 1)) || ($0(.city) == "B" && !($0(.age) == 2)) } == .tooComplex
        )
        #expect(
            refusal { ($0(.city) == "A" && !($0(.age) == 1)) || (!($0(.city) == "A") && $0(.age) == 1) } == .tooComplex
        )
        #expect(
            refusal { ($0(.city) == "A" && !($0(.age) == 1)) || ($0(.city) == "B" && !($0(.age) == 1)) } == nil
        )
        #expect(refusal { ($0(.city) == "A" && !($0(.age) == 1)) || $0(.city) == "B" } == nil)
    }

    @Test func whatContradictsItselfMatchesNothing() {
        #expect(refusal { $0(.city) == "A" && !($0(.city) == "A") } == .matchesNothing)
        #expect(refusal { $0(.city).isOneOf([String]()) } == .matchesNothing)
        #expect(refusal { $0(.name).isEmpty && $0(.name) == "A" } == .matchesNothing)
        #expect(refusal { $0(.city) == "A" && $0(.city) == "B" } == .matchesNothing)
        #expect(refusal { $0(.age) == 5 && $0(.age) == 5.5 } == .matchesNothing)
        // Some fields may treat these texts as equal, so the find is not known to match nothing.
        #expect(refusal { $0(.city) == "5" && $0(.city) == "5.0" } == .sameField)
        #expect(refusal { $0(.city) == "Zürich" && $0(.city) == "Zurich" } == .sameField)
    }

    /// A list within another one, such as of what a user may see.
    @Test func alternativesThatContradictThemselvesAreLeftOut() throws {
        expectNoDifference(
            try compile { $0(.city).isOneOf(["A", "B", "C"]) && $0(.city).isOneOf(["B", "D"]) },
            [Request(criteria: ["city": "==B"])]
        )
        expectNoDifference(
            try compile { $0(.age).isOneOf(1...3) && $0(.age) == 2 },
            [Request(criteria: ["age": "==2"])]
        )
        // The host answers this one: no number is below its lower bound.
        expectNoDifference(
            try compile { $0(.age) >= 5 && $0(.age) <= 1 },
            [Request(criteria: ["age": ">=5"]), Self.omit(["age": ">1"])]
        )
    }

    /// FileMaker has no request for all records.
    @Test func everyRecordIsFoundByOmittingAndAdding() throws {
        let all = [Self.omit(["city": "==A"]), Request(criteria: ["city": "==A"])]
        expectNoDifference(try compile { $0(.city) == "A" || !($0(.city) == "A") }, all)
        expectNoDifference(
            try compile { !$0(.city).isOneOf([String]()) },
            [Self.omit(["city": "="]), Request(criteria: ["city": "="])]
        )
        #expect(refusal { _ in .everything } == .matchesEverything)
        #expect(refusal { $0(.city) == "A" || .everything } == .matchesEverything)
    }

    @Test func valuesWithoutATextFormAreRefused() {
        #expect(refusal { $0(.age) == Double.nan } == .invalidValue)
        #expect(refusal { $0(.city) == "A" && !($0(.age) < Double.infinity) } == .invalidValue)
        #expect(refusal { $0(.name).begins(with: "") } == .invalidValue)
        #expect(refusal { $0(.name).hasWords("?!") } == .invalidValue)
        #expect(refusal { $0(.name) > "" } == .invalidValue)
        #expect(refusal { $0(.name).isIn(""..."b") } == .invalidValue)
        #expect(refusal { $0(.name).raw(" ") } == .invalidValue)
        #expect(refusal { _ in DataAPI.FindField(named: "omit") == "x" } == .invalidField)
        #expect(refusal { _ in DataAPI.FindField(named: "") == "x" } == .invalidField)
    }

    @Test func sizeIsBoundedByALimitThatCanBeSet() throws {
        #expect(refusal({ $0(.age).isOneOf(0..<11) }, limit: 10) == .tooManyRequests)
        #expect(refusal({ $0(.age).isOneOf(0..<10) }, limit: 10) == nil)
        for limit in [Int.min, 0, 1] { #expect(refusal({ $0(.age).isOneOf(0..<2) }, limit: limit) == .tooManyRequests) }
        #expect(refusal({ $0(.age).isOneOf(0..<2) && !($0(.city) == "A") }, limit: .max) == nil)
        #expect(refusal { $0(.age).isOneOf(0..<1_000) } == nil)
        #expect(refusal { $0(.age).isOneOf(0..<1_001) } == .tooManyRequests)
        let count = Effort.of(6_000, brief: 300)
        let many = Self.find { $0(.age).isOneOf(0..<count) && $0(.city) == "A" && !$0(.name).isOneOf(["B", "C"]) }
        expectNoDifference(try many.requests(limit: count + 2).count, count + 2)
        expectNoDifference(FindQuery(many, maximumRequests: count + 2).query.count, count + 2)
        let side = Effort.of(40, brief: 8)
        let twoLists = Self.find { $0(.age).isOneOf(0..<side) && $0(.city).isOneOf((0..<side).map { "\($0)" }) }
        expectNoDifference(try twoLists.requests(limit: 1_600).count, side * side)
        // Finding this out takes seconds in a debug build.
        if Effort.isThorough {
            #expect(refusal { $0(.age).isOneOf(0..<80) && $0(.city).isOneOf((0..<80).map { "\($0)" }) } == .tooComplex)
        }
    }

    @Test func wordsOfOneFieldGoTogether() throws {
        expectNoDifference(
            try compile {
                $0(.name).hasWords("a") && $0(.name).hasWords("b a") && $0(.name).hasWords(beginningWith: "c")
            },
            [Request(criteria: ["name": "=a =b c"])]
        )
        // Two related records may have one word each.
        #expect(refusal { $0(.item).hasWords("a") && $0(.item).hasWords("b") } == .sameField)
        #expect(refusal { $0(.name).anyRepetition.hasWords("a") && $0(.name).hasWords("b") } == .sameField)
    }

    @Test func aPieceBesideAWordOfOneFieldGoesTogether() throws {
        expectNoDifference(
            try compile { $0(.name).contains("ed f") && $0(.name).hasWords("fox") },
            [Request(criteria: ["name": "*\"ed f\" =fox"])]
        )
        // A number field would read a whole value with digits as a number.
        #expect(refusal { $0(.name).contains("5") && $0(.name).hasWords("5") } == .sameField)
    }

    /// A condition on a repeating field applies to any of its repetitions, wherever the find names it.
    @Test func conditionsOnRepetitionsAreNotJoined() throws {
        #expect(refusal { $0(.age).anyRepetition > 1 && $0(.age) < 5 } == .sameField)
        #expect(refusal { $0(.age).anyRepetition < 5 && $0(.age).anyRepetition == 5 } == .sameField)
        expectNoDifference(
            try compile { $0(.age).anyRepetition.isIn(1...5) },
            [Request(criteria: ["age": "1...5"])]
        )
        expectNoDifference(
            try compile { $0(.age).anyRepetition > 1 && !($0(.age).anyRepetition > 5) },
            [Request(criteria: ["age": ">1"]), Self.omit(["age": ">5"])]
        )
    }

    @Test(arguments: [
        (
            find { ($0(.city) == "A" || $0(.status) == "x") && $0(.name).begins(with: "A") && $0(.name).hasWords("z") },
            """
            FileMaker cannot find by "name begins with …" and "name has the words …" together, as a request has one \
            criterion for each field. Find by the one that matches fewer records, and filter those by the other.
            """
        ),
        (
            find { $0(.age).anyRepetition > 1 && $0(.age).anyRepetition < 5 },
            """
            FileMaker cannot find by "age is greater than …" and "age is less than …" together, as a request has one \
            criterion for each field. Find by the one that matches fewer records, and filter those by the other. \
            Different values of age may fulfil its conditions; isIn(_:) asks for one between two.
            """
        ),
        (
            find { ($0(.city) == "A" && !($0(.age) == 1)) || ($0(.city) == "B" && !$0(.name).isEmpty) },
            """
            "city is … and not (age is …)" and "city is … and not (name is empty)" leave out different records, and an \
            omit request removes its records from all that were found before it. Make a find of each, and put the \
            answers together.
            """
        ),
        (
            find { $0(.age).isOneOf(0..<1_001) },
            """
            The find takes 1001 requests, and maximumRequests is 1000. Divide its longest list, and put the answers \
            together.
            """
        ),
    ])
    func aRefusalNamesTheConditionsAndSaysHowToDivideTheFind(find: DataAPI.Find, text: String) {
        let error = #expect(throws: DataAPI.FindError.self) { try find.requests() }
        expectNoDifference(error?.description, text)
    }

    @Test func errorsNameFieldsAndNeverValues() {
        do {
            _ = try Self.find { $0(.name).begins(with: "secret") && $0(.name).hasWords("hidden") }.requests()
            Issue.record("Two patterns on one field went through.")
        } catch {
            #expect(error.description.contains("name"))
            #expect(!error.description.contains("secret") && !error.description.contains("hidden"))
        }
    }

    @Test func anOmitIsSaidAsText() {
        expectNoDifference(Self.omit(["city": "A"]).dictionary, ["city": "A", "omit": "true"])
        expectNoDifference(Request(criteria: ["city": "A"]).dictionary, ["city": "A"])
    }

    @Test func findsAreNamedAndCombined() throws {
        let adults = Self.find { $0(.age) >= 18 }
        let retired = Self.find { $0(.status) == "retired" }
        expectNoDifference(
            try (adults && !retired).requests(),
            [Request(criteria: ["age": ">=18"]), Self.omit(["status": "==retired"])]
        )
        #expect(adults == Self.find { $0(.age) >= 18 })
        #expect(adults != retired)
    }

    @Test func theExplanationShowsTheJSONAndTheWords() throws {
        let find = Self.find { field in
            (field(.city) == "A \"B\"" && field(.age).isIn(18...65) && !field(.item).contains("x/y"))
                || field(.name).isEmpty
        }
        expectNoDifference(
            try find.explain(),
            #"""
            [
                {"age":"18...65","city":"==A \\\"B\\\""},
                {"Lines::item":"==*x/y*","omit":"true"},
                {"name":"="}
            ]

            1. Find the records where city is "A "B"" and age is from "18" to "65".
            2. Leave out those where Lines::item contains "x/y".
            3. Add the records where name is empty.
            """#
        )
        expectNoDifference(
            try Self.find { $0(.city) != "A" }.explain(),
            """
            [
                {"city":"==A","omit":"true"}
            ]

            1. Find all records but those where city is "A".
            """
        )
    }
}
