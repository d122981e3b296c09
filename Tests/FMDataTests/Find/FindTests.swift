import CustomDump
import FMTestSupport
import Testing

@testable import FMData

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
        // There are too many conditions to try all their combinations.
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
        #expect(refusal { $0(.name).begins(with: "A") && $0(.name).hasWords("z") } == .sameField)
        #expect(refusal { $0(.item).begins(with: "A") && $0(.item).ends(with: "z") } == .sameField)
        #expect(refusal { $0(.name) >= "a" && $0(.name) <= "m" } == .sameField)
        #expect(refusal { $0(.quantity) >= 1 && $0(.quantity) <= 5 } == .sameField)
        #expect(refusal { $0(.name).raw("a") && $0(.name).hasWords("b") } == .sameField)
        // The same conditions can be combined where they need not hold at once.
        #expect(refusal { $0(.name).begins(with: "A") && !$0(.name).ends(with: "z") } == nil)
        #expect(refusal { $0(.quantity).isIn(1...5) } == nil)
    }

    @Test func noRequestSaysThatNothingMatches() {
        #expect(refusal { $0(.city) == "A" && !($0(.city) == "A") } == .matchesNothing)
        #expect(refusal { $0(.city).isOneOf([String]()) } == .matchesNothing)
        #expect(refusal { $0(.name).isEmpty && $0(.name) == "A" } == .matchesNothing)
        #expect(refusal { $0(.age) < 5 && $0(.age) == 5 } == .matchesNothing)
        #expect(refusal { $0(.age) < 5 && $0(.age) > 10.5 } == .matchesNothing)
        #expect(refusal { $0(.city) == "A" && $0(.city) == "B" } == .matchesNothing)
        // Some fields may treat these texts as equal, so the find is not known to match nothing.
        #expect(refusal { $0(.city) == "5" && $0(.city) == "5.0" } == .sameField)
        #expect(refusal { $0(.city) == "Zürich" && $0(.city) == "Zurich" } == .sameField)
    }

    /// FileMaker has no request for all records, but a field of each record is either empty or not.
    @Test func everyRecordHasAFieldThatIsEmptyOrNot() throws {
        let all = [Request(criteria: ["city": "="]), Request(criteria: ["city": "*"])]
        expectNoDifference(try compile { $0(.city) == "A" || !($0(.city) == "A") }, all)
        expectNoDifference(try compile { !$0(.city).isOneOf([String]()) }, all)
        // There may be no related record, so this does not match every record.
        #expect(refusal { $0(.item) == "A" || !($0(.item) == "A") } == .matchesEverything)
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

    /// Alternatives that exclude different records need `a, omit b` for each of them, and then for what two of them
    /// have in common.
    @Test(.thorough, arguments: [2, 3, 4, 5, 6, 8])
    func alternativesThatExcludeDifferentRecords(count: Int) throws {
        let parts = (0..<count).map { index in
            DataAPI.FindField(named: "a\(index)") == 1 && !(DataAPI.FindField(named: "b\(index)") == 1)
        }
        let requests = try parts.dropFirst().reduce(parts[0]) { $0 || $1 }.requests()
        expectNoDifference(requests.count, 2 * ((1 << count) - 1))
        var generator = SeededRandom(seed: UInt64(count))
        let names = (0..<count).flatMap { ["a\($0)", "b\($0)"] }
        let table: [FindMatcher.Record] = (0..<200).map { _ in
            Dictionary(uniqueKeysWithValues: names.map { ($0, .number(Bool.random(using: &generator) ? 1 : 2)) })
        }
        let expected = table.indices.filter { row in
            (0..<count).contains { table[row]["a\($0)"] == .number(1) && table[row]["b\($0)"] == .number(2) }
        }
        expectNoDifference(FindMatcher(table: table).find(requests).sorted(), expected)
    }

    @Test func wordsOfOneFieldGoTogether() throws {
        expectNoDifference(
            try compile {
                $0(.name).hasWords("a") && $0(.name).hasWords("b a") && $0(.name).hasWords(beginningWith: "c")
            },
            [Request(criteria: ["name": "=b =a c"])]
        )
        // Two related records may have one word each.
        #expect(refusal { $0(.item).hasWords("a") && $0(.item).hasWords("b") } == .sameField)
        #expect(refusal { $0(.name).anyRepetition.hasWords("a") && $0(.name).hasWords("b") } == .sameField)
    }

    /// A value that fits both patterns fits one of a few others, each in its own request; the two texts may overlap.
    @Test func patternsOfOneFieldGoTogether() throws {
        func criteria(_ condition: (DataAPI.FindFields<Keys>) -> DataAPI.Find) throws -> [String?] {
            try compile(condition).map { $0.criteria["name"] }
        }
        expectNoDifference(try criteria { $0(.name).begins(with: "A*") && $0(.name).ends(with: "z") }, ["==A\\**z"])
        expectNoDifference(
            try criteria { $0(.name).begins(with: "aba") && $0(.name).ends(with: "ba") },
            ["==aba", "==aba*ba"]
        )
        expectNoDifference(
            try criteria { $0(.name).contains("a") && $0(.name).contains("b") },
            ["==*a*b*", "==*b*a*"]
        )
        expectNoDifference(
            try criteria { $0(.name).contains("ed f") && $0(.name).hasWords("fox") },
            ["*\"ed f\" =fox"]
        )
        // The host decides whether these overlap: an index may distinguish case and accents.
        #expect(refusal { $0(.name).begins(with: "ab") && $0(.name).ends(with: "Ba") } == .sameField)
        #expect(refusal { $0(.name).begins(with: "é") && $0(.name).ends(with: "e") } == .sameField)
        // A number field would read a whole value with digits as a number.
        #expect(refusal { $0(.name).begins(with: "5") && $0(.name).ends(with: "5") } == .sameField)
    }

    /// A condition on a repeating field applies to any of its repetitions, wherever the find names it.
    @Test func conditionsOnRepetitionsAreNotJoined() throws {
        #expect(refusal { $0(.age).anyRepetition > 1 && $0(.age) < 5 } == .sameField)
        #expect(refusal { $0(.age).anyRepetition < 5 && $0(.age).anyRepetition == 5 } == .sameField)
        expectNoDifference(
            try compile { $0(.age).anyRepetition.isIn(1...5) },
            [Request(criteria: ["age": "1...5"])]
        )
        // 7 is greater than 5, so no other repetition is needed.
        expectNoDifference(
            try compile { $0(.age).anyRepetition > 5 && $0(.age).anyRepetition == 7 },
            [Request(criteria: ["age": "==7"])]
        )
        expectNoDifference(
            try compile { $0(.age).anyRepetition > 1 && !($0(.age).anyRepetition > 5) },
            [Request(criteria: ["age": ">1"]), Self.omit(["age": ">5"])]
        )
    }

    /// Each refusal shows only the part that cannot be expressed, without values.
    @Test(.thorough) func refusalsShowTheSmallestExample() {
        func example(_ condition: (DataAPI.FindFields<Keys>) -> DataAPI.Find, limit: Int = 1_000) -> String? {
            do throws(DataAPI.FindError) {
                _ = try Self.find(condition).requests(limit: limit)
                return nil
            } catch {
                #expect(error.description.contains(error.example ?? "?"))
                #expect(error.description.contains("calls(upTo: "))
                return error.example
            }
        }
        expectNoDifference(
            example { field in
                (field(.city) == "A" || field(.status) == "x") && !(field(.age) < 7)
                    && (field(.name).begins(with: "A") && (field(.name).hasWords("z") || field(.city) == "B"))
            },
            "name begins with … and name has the words …"
        )
        expectNoDifference(
            example { $0(.age).anyRepetition > 1 && $0(.city) == "A" && $0(.age).anyRepetition < 5 },
            "age is greater than … and age is less than …"
        )
        expectNoDifference(
            example({ $0(.city) == "A" && $0(.age).isOneOf(0..<30) }, limit: 10),
            "age is … (11 such)"
        )
        let pairs = (0..<9).map { index in
            DataAPI.FindField(named: "a\(index)") == 1 && !(DataAPI.FindField(named: "b\(index)") == 1)
        }
        #expect(example { _ in pairs.dropFirst().reduce(pairs[0]) { $0 || $1 } }?.contains("b8 is …") == true)
    }

    @Test func refusalsOfRepetitionsSayWhatElseThereIs() {
        let error = #expect(throws: DataAPI.FindError.self) {
            try Self.find { $0(.age).anyRepetition > 1 && $0(.age).anyRepetition < 5 }.requests()
        }
        expectNoDifference(
            error?.description,
            """
            One call cannot say the find, as a request has one criterion for each field. 2 calls can ask for it, whose \
            answers are put together: calls(upTo: 2) of a found set allows them, or maximumCalls of a FindQuery. The \
            smallest example: age is greater than … and age is less than …. Different values of age may fulfil its \
            conditions; isIn(_:) asks for one between two.
            """
        )
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
