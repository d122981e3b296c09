import CustomDump
import Testing

@testable import FMData

/// Which of several sequences of requests a find becomes, into how many calls it is divided, and when it is refused. A
/// request is shown as its criteria, an omit request with a minus sign.
@Suite struct FindCompilerTests {
    private let a = flag("a")
    private let b = flag("b")
    private let x = DataAPI.FindField(named: "x")
    private let name = DataAPI.FindField(named: "name")
    private let marks = DataAPI.FindField(named: "marks").anyRepetition

    /// The parts of the plan, whose answers are united; in each part the calls, of whose answers the common records
    /// count; in each call the requests.
    private func parts(_ find: DataAPI.Find, requests: Int = 1_000, calls: Int = 1) throws -> [[[String]]] {
        let compiler = FindCompiler(maximumRequests: requests, maximumCalls: calls)
        return try compiler.compile(find.expression).parts.map { calls in
            calls.map { requests in
                requests.map { ($0.isOmit ? "-" : "") + Self.text($0.criteria) }
            }
        }
    }

    private func refusal(_ find: DataAPI.Find, requests: Int = 1_000, calls: Int = 1) -> DataAPI.FindError? {
        do throws(DataAPI.FindError) {
            _ = try FindCompiler(maximumRequests: requests, maximumCalls: calls).compile(find.expression)
            return nil
        } catch {
            return error
        }
    }

    private static func text(_ criteria: [FindCriterion]) -> String {
        criteria.map { $0.field + $0.test.text }.joined(separator: " ")
    }

    // MARK: One call

    /// The alternatives exclude different records, so written one by one they would be six requests.
    @Test func ofSeveralSequencesTheShortestIsUsed() throws {
        expectNoDifference(try parts((a && !b) || (!a && b)), [[["a==1", "b==1", "-a==1 b==1"]]])
    }

    /// The results of 13 tests can combine in 8,192 ways, which is as many as are compared. With more tests, only the
    /// written form is looked at.
    @Test func theShortestSequenceOfUpTo13TestsIsFound() throws {
        func requestCount(_ tests: Int) throws -> Int {
            let others = (3...tests).map { flag("f\($0)") }
            let find = others.reduce((a && !b) || (!a && b)) { $0 || $1 }
            return try parts(find).joined().joined().count - others.count
        }
        expectNoDifference(try requestCount(13), 3)
        expectNoDifference(try requestCount(14), 6)
    }

    @Test func severalCallsAreUsedOnlyWhereOneIsNotEnough() throws {
        expectNoDifference(try parts(x.isOneOf(1...3), requests: 3, calls: 9), [[["x==1", "x==2", "x==3"]]])
    }

    @Test func whatNoRecordCanBeNeedsNoCall() throws {
        expectNoDifference(try parts(a && !a), [])
        expectNoDifference(try parts(x < 3 && x > 5, calls: 9), [])
        expectNoDifference(try parts(DataAPI.Find(.or([]))), [])
    }

    /// Every field of the layout's own table is empty or not; there may be no related record at all.
    @Test func whatEveryRecordIsAsksForAFieldOfTheOwnTable() throws {
        let item = DataAPI.FindField(named: "Lines::item")
        expectNoDifference(try parts(item == "A" || !(item == "A") || a), [[["a=", "a*"]]])
        expectNoDifference(refusal(item == "A" || !(item == "A"))?.code, .matchesEverything)
        expectNoDifference(refusal(.everything)?.code, .matchesEverything)
    }

    // MARK: Several calls

    @Test func alternativesBeyondTheLimitGoIntoFurtherCalls() throws {
        expectNoDifference(
            try parts(x.isOneOf(1...5), requests: 2, calls: 3),
            [[["x==1", "x==2"]], [["x==3", "x==4"]], [["x==5"]]]
        )
    }

    @Test func eachCallOmitsWhatItsAlternativesExclude() throws {
        expectNoDifference(
            try parts(x.isOneOf(1...4) && !b, requests: 3, calls: 2),
            [[["x==1", "x==2", "-b==1"]], [["x==3", "x==4", "-b==1"]]]
        )
    }

    /// A record belongs to the result if none of the calls omits it, so these answers are intersected.
    @Test func omitsBeyondTheLimitAreDividedAmongCalls() throws {
        expectNoDifference(
            try parts(a && !x.isOneOf(1...5), requests: 3, calls: 3),
            [[["a==1", "-x==1", "-x==2"], ["a==1", "-x==3", "-x==4"], ["a==1", "-x==5"]]]
        )
    }

    @Test func testsThatOneRequestCannotHoldAreCallsOfTheirOwn() throws {
        let find = name.begins(with: "A") && name.hasWords("z")
        expectNoDifference(try parts(find, calls: 2), [[["name==A*"], ["name=z"]]])
        // The other alternative needs no intersection, so it is a part of its own.
        expectNoDifference(try parts(a || find, calls: 3), [[["a==1"]], [["name==A*"], ["name=z"]]])
    }

    // MARK: Refusals

    @Test func aRefusalSaysWhatTheFindNeedsAndWhatIsAllowed() {
        let long = x.isOneOf(1...5)
        expectNoDifference(
            refusal(long, requests: 2)?.description,
            """
            The find takes 5 requests, and maximumRequests is 2. 3 calls can ask for it, whose answers are put \
            together: calls(upTo: 3) of a found set allows them, or maximumCalls of a FindQuery.
            """
        )
        expectNoDifference(
            refusal(long, requests: 2, calls: 2)?.description,
            "The find takes 5 requests, and maximumRequests is 2. It takes 3 calls, and 2 are allowed."
        )
    }

    @Test func aRefusalTellsALimitFromWhatOneCallCannotSay() {
        expectNoDifference(refusal(x.isOneOf(1...5), requests: 4)?.code, .tooManyRequests)
        expectNoDifference(refusal(name.begins(with: "A") && name.hasWords("z"))?.code, .sameField)
        let pairs = (0..<3).map { flag("a\($0)") && !flag("b\($0)") }
        expectNoDifference(refusal(pairs[0] || pairs[1] || pairs[2], requests: 5)?.code, .tooComplex)
        expectNoDifference(refusal(pairs[0] || pairs[1] || pairs[2], requests: 14)?.code, nil)
    }

    /// An example is looked for by compiling many smaller finds, for which the search itself has no use.
    @Test func onlyAPlanIsRefusedWithAnExample() {
        let find = a && name.begins(with: "A") && name.hasWords("z")
        expectNoDifference(refusal(find)?.example, nil)
        let error = #expect(throws: DataAPI.FindError.self) {
            try FindCompiler(maximumRequests: 9, maximumCalls: 1).plan(find.expression)
        }
        expectNoDifference(error?.example, "name begins with … and name has the words …")
    }

    @Test(arguments: [(Int.min, 1), (0, 1), (1, 1), (7, 7), (1_000_000, 1_000_000), (1_000_001, 1_000_000)])
    func theLimitOfRequestsIsItselfLimited(given: Int, used: Int) {
        expectNoDifference(FindCompiler(maximumRequests: given, maximumCalls: 1).maximumRequests, used)
    }

    // MARK: Alternatives in a form that requests can express

    @Test func alternativesHaveOneTestPerFieldWhereThatIsPossible() throws {
        func sayable(_ find: DataAPI.Find) throws -> [String] {
            var form = try FindNormalForm(FindFormula(find.expression), limit: 100)
            let alternatives = form.sayable()
            return alternatives.map { alternative in
                let conjunctions = alternative.conjunctions.map { "(\(Self.text(form.criteria($0))))" }
                let exclusions = FindSequences.inOrder(alternative.exclusions)
                return (conjunctions + exclusions.map { "-(\(Self.text(form.criteria($0))))" }).joined(separator: " ")
            }
        }
        expectNoDifference(try sayable(a && x >= 1 && x <= 5), ["(a==1 x1...5)"])
        expectNoDifference(try sayable(x > 1 && x <= 5), ["(x>1) -(x>5)"])
        expectNoDifference(try sayable(marks >= 1 && marks <= 5), ["(marks>=1) (marks<=5)"])
        expectNoDifference(try sayable(!a), ["() -(a==1)"])
        expectNoDifference(
            try sayable(name.begins(with: "aba") && name.ends(with: "ba")),
            ["(name==aba)", "(name==aba*ba)"]
        )
        expectNoDifference(
            try sayable(name.begins(with: "A") && name.hasWords("z") && !b),
            ["(name==A*) (name=z) -(b==1)"]
        )
    }
}

/// A find with one test, that the field is 1.
private func flag(_ name: String) -> DataAPI.Find { DataAPI.FindField(named: name) == 1 }
