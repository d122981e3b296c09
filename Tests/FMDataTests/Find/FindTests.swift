import CustomDump
import FMData
import Testing

@Suite struct FindTests {
    private enum Keys: String, CodingKey {
        case city, age, status, name
        case item = "Lines::item"
        case quantity = "Lines::quantity"
    }

    private typealias Request = DataAPI.FindRequest

    private static func find(_ condition: (DataAPI.FindFields<Keys>) -> DataAPI.Find) -> DataAPI.Find {
        DataAPI.Find(Keys.self, condition)
    }

    private static func omit(_ criteria: [String: String]) -> Request { Request(criteria: criteria, isOmit: true) }

    private func compile(_ condition: (DataAPI.FindFields<Keys>) -> DataAPI.Find) throws -> [Request] {
        try Self.find(condition).requests()
    }

    private func refusal(
        _ condition: (DataAPI.FindFields<Keys>) -> DataAPI.Find,
        limit: Int = 200
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
        // Written the other way round, it is the same find.
        expectNoDifference(
            try compile { $0(.name) == "C" || ($0(.city) == "A" && !($0(.status) == "x")) },
            [Request(criteria: ["city": "==A"]), Self.omit(["status": "==x"]), Request(criteria: ["name": "==C"])]
        )
    }

    @Test func alternativesAreSortedByWhatTheyExclude() throws {
        // Too many tests to look at all their combinations.
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
            try compile { ($0(.city) == "A" && !($0(.age) > 5)) || $0(.age) > 5 },
            [Request(criteria: ["city": "==A"]), Request(criteria: ["age": ">5"])]
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
        #expect(refusal { $0(.name).begins(with: "A") && $0(.name).ends(with: "z") } == .sameField)
        #expect(refusal { $0(.name) >= "a" && $0(.name) <= "m" } == .sameField)
        #expect(refusal { $0(.quantity) >= 1 && $0(.quantity) <= 5 } == .sameField)
        #expect(refusal { $0(.name).isEmpty && $0(.name) == "A" } == .sameField)
        #expect(refusal { $0(.name).raw("a") && $0(.name).isNotEmpty } == .sameField)
        // The same tests do go together when they need not hold at once.
        #expect(refusal { $0(.name).begins(with: "A") && !$0(.name).ends(with: "z") } == nil)
        #expect(refusal { $0(.quantity).isIn(1...5) } == nil)
    }

    @Test func findsThatNeedNoRecordsAreRefused() {
        #expect(refusal { $0(.city) == "A" && !($0(.city) == "A") } == .matchesNothing)
        #expect(refusal { $0(.city).isOneOf([String]()) } == .matchesNothing)
        #expect(refusal { $0(.city) == "A" || !($0(.city) == "A") } == .matchesEverything)
        #expect(refusal { !$0(.city).isOneOf([String]()) } == .matchesEverything)
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

    @Test func sizeIsBounded() {
        #expect(refusal({ $0(.age).isOneOf(0..<11) }, limit: 10) == .tooManyRequests)
        #expect(refusal({ $0(.age).isOneOf(0..<10) }, limit: 10) == nil)
        #expect(
            refusal { $0(.age).isOneOf(0..<40) && $0(.city).isOneOf((0..<40).map { "\($0)" }) } == .tooComplex
        )
    }

    @Test func errorsNameFieldsAndNeverValues() {
        do {
            _ = try Self.find { $0(.name).begins(with: "secret") && $0(.name).ends(with: "hidden") }.requests()
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
