import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore

/// A find as alternatives. Each is shown as a text: `a b -(c d)` stands for "a and b, and not both c and d", `all` for
/// an alternative without tests.
@Suite struct FindNormalFormTests {
    private let a = flag("a")
    private let b = flag("b")
    private let c = flag("c")
    private let d = flag("d")
    private let x = DataAPI.FindField(named: "x")
    private let marks = DataAPI.FindField(named: "marks").anyRepetition

    private func alternatives(_ find: DataAPI.Find, limit: Int = 100) throws -> [String] {
        let form = try FindNormalForm(FindFormula(find.expression), limit: limit)
        func text(_ numbers: [Int]) -> String {
            form.criteria(numbers).map { $0.test.text == "==1" ? $0.field : $0.field + $0.test.text }
                .joined(separator: " ")
        }
        return form.alternatives.map { alternative in
            let tests = alternative.tests.isEmpty ? "all" : text(alternative.tests)
            let exclusions = alternative.exclusions.sorted { $0.lexicographicallyPrecedes($1) }.map { "-(\(text($0)))" }
            return ([tests] + exclusions).joined(separator: " ")
        }
    }

    private func refusal(_ find: DataAPI.Find, limit: Int) -> DataAPI.FindError.Code? {
        do throws(DataAPI.FindError) {
            _ = try FindNormalForm(FindFormula(find.expression), limit: limit)
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: Multiplying out

    @Test func conjunctionsOfAlternativesMultiplyOut() throws {
        expectNoDifference(try alternatives((a || b) && (c || d)), ["a c", "a d", "b c", "b d"])
        expectNoDifference(try alternatives(a && (b || c) && d), ["a b d", "a c d"])
        expectNoDifference(try alternatives(a && (b || !c)), ["a b", "a -(c)"])
        // What has one alternative only is joined first, wherever it is written.
        expectNoDifference(try alternatives((b || c) && !d && a), ["b a -(d)", "c a -(d)"])
    }

    @Test func testsAreNumberedInTheOrderOfTheirFirstAppearance() throws {
        let form = try FindNormalForm(FindFormula(((b && a) || (c && b)).expression), limit: 100)
        expectNoDifference(form.formula.criteria.map(\.field), ["b", "a", "c"])
        expectNoDifference(form.alternatives.map(\.tests), [[0, 1], [0, 2]])
    }

    /// An omit request is a conjunction, so a negated conjunction of tests is one exclusion, not an alternative for
    /// each of its tests.
    @Test func aNegatedConjunctionOfTestsIsOneExclusion() throws {
        expectNoDifference(try alternatives(!(a && b && c)), ["all -(a b c)"])
        expectNoDifference(try alternatives(!(a || b)), ["all -(a) -(b)"])
        expectNoDifference(try alternatives(!(a && (b || c))), ["all -(a)", "all -(b) -(c)"])
        expectNoDifference(try alternatives(!(a && !b)), ["all -(a)", "b"])
        expectNoDifference(try alternatives(!(!(a && b))), ["a b"])
    }

    /// A request has one criterion per field, so tests of one field are joined before they become an exclusion.
    @Test func anExclusionHasOneTestPerField() throws {
        expectNoDifference(try alternatives(!(x >= 18 && x <= 65)), ["all -(x18...65)"])
        // The value is greater than 18, and is not 65 or more.
        expectNoDifference(try alternatives(!(x > 18 && x < 65)), ["all -(x>18)", "x>=65"])
        // Two repetitions may fulfil one test each, which one omit request cannot say.
        expectNoDifference(refusal(!(marks >= 18 && marks <= 65), limit: 100), .sameField)
    }

    // MARK: Simplifying

    @Test func testsThatOthersImplyAreDropped() throws {
        expectNoDifference(try alternatives(x > 5 && x.isNotEmpty), ["x>5"])
        expectNoDifference(try alternatives(marks.isNotEmpty && marks > 5), ["marks>5"])
        expectNoDifference(try alternatives(a && !(a && b)), ["a -(b)"])
        expectNoDifference(try alternatives(!a && !(a && b)), ["all -(a)"])
    }

    @Test func contradictionsAreNoAlternatives() throws {
        expectNoDifference(try alternatives(a && !a), [])
        expectNoDifference(try alternatives(x == 3 && x == 5), [])
        expectNoDifference(try alternatives(x > 5 && !x.isNotEmpty), [])
        expectNoDifference(try alternatives((a && !a) || b), ["b"])
        expectNoDifference(try alternatives((x == 3 || b) && x.isEmpty), ["b x="])
        // Of several values, each may pass another test.
        expectNoDifference(try alternatives(marks == 3 && marks == 5), ["marks==3 marks==5"])
    }

    @Test func anExclusionOfWhatCannotBeIsDropped() throws {
        expectNoDifference(try alternatives(x == 3 && !(x == 5)), ["x==3"])
        expectNoDifference(try alternatives(x == 3 && !(x == 5 && a)), ["x==3"])
        expectNoDifference(try alternatives(marks == 3 && !(marks == 5)), ["marks==3 -(marks==5)"])
    }

    @Test func anAlternativeThatAddsNothingIsAbsorbed() throws {
        expectNoDifference(try alternatives(a || (a && b)), ["a"])
        expectNoDifference(try alternatives((a && b) || a), ["a"])
        expectNoDifference(try alternatives((a && b) || c || (b && a)), ["a b", "c"])
        // Excluding less finds more.
        expectNoDifference(try alternatives((a && !b) || (a && !(b && c))), ["a -(b c)"])
        expectNoDifference(try alternatives((a && !b) || a), ["a"])
        expectNoDifference(try alternatives((a && b) || !c), ["a b", "all -(c)"])
        // There are too many subsets of seven tests, so all alternatives are compared instead.
        let flags = (0..<7).map { flag("f\($0)") }
        let all = flags.dropFirst().reduce(flags[0]) { $0 && $1 }
        expectNoDifference(try alternatives(all || flags[3]), ["f3"])
        expectNoDifference(try alternatives(flags[3] || all || a), ["f3", "a"])
    }

    // MARK: The limit

    @Test func thereAreNoMoreAlternativesThanTheLimit() throws {
        let product = (a || b) && (c || d)
        expectNoDifference(try alternatives(product, limit: 4).count, 4)
        expectNoDifference(refusal(product, limit: 3), .tooComplex)
        expectNoDifference(refusal(x.isOneOf(1...5), limit: 4), .tooComplex)
        expectNoDifference(refusal(x.isOneOf(1...5), limit: 5), nil)
        // What is absorbed does not count.
        expectNoDifference(try alternatives(a || (a && b) || (a && c) || (a && d), limit: 1), ["a"])
        expectNoDifference(try alternatives((a || b) && (a || c), limit: 2), ["a", "b c"])
    }

    // MARK: All of it

    /// For every combination of results, an alternative holds exactly if the find does.
    @Test(arguments: 1...UInt64(Effort.of(300, brief: 40)))
    func itSaysWhatTheFindSays(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let expression = Self.expression(depth: 3, using: &random)
        let form = try FindNormalForm(FindFormula(expression), limit: 10_000)
        func hold(_ numbers: [Int], _ record: Int) -> Bool {
            form.criteria(numbers).allSatisfy { Self.holds(.test($0), record) }
        }
        let found = (0..<16).filter { record in
            form.alternatives.contains { alternative in
                hold(alternative.tests, record) && !alternative.exclusions.contains { hold($0, record) }
            }
        }
        expectNoDifference(found, (0..<16).filter { Self.holds(expression, $0) })
        for alternative in form.alternatives { expectNoDifference(alternative.tests, alternative.tests.sorted()) }
    }

    /// A random find over four fields, named `0` to `3`.
    private static func expression(depth: Int, using random: inout SeededRandom) -> FindExpression {
        if depth == 0 || Int.random(in: 0..<6, using: &random) == 0 {
            return flag("\(Int.random(in: 0..<4, using: &random))").expression
        }
        var parts: [FindExpression] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            parts.append(expression(depth: depth - 1, using: &random))
        }
        let isNegated = Int.random(in: 0..<3, using: &random) == 0
        let joined: FindExpression = Bool.random(using: &random) ? .and(parts) : .or(parts)
        return isNegated ? .not(joined) : joined
    }

    /// Whether the find holds for a record, whose bits are the results of the tests.
    private static func holds(_ expression: FindExpression, _ record: Int) -> Bool {
        switch expression {
        case .test(let criterion): record >> (Int(criterion.field) ?? 0) & 1 == 1
        case .not(let inner): !holds(inner, record)
        case .and(let parts): parts.allSatisfy { holds($0, record) }
        case .or(let parts): parts.contains { holds($0, record) }
        case .unusable: false
        }
    }
}

/// A find with one test, that the field is 1.
private func flag(_ name: String) -> DataAPI.Find { DataAPI.FindField(named: name) == 1 }
