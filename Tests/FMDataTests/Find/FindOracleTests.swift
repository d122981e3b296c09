import FMTestSupport
import Testing

@testable import FMData

/// Random finds over a small random table: the compiled requests, applied one after the other by a reader of criteria of
/// its own, must find the records for which the expression is true.
@Suite struct FindOracleTests {
    /// A find and its meaning, made side by side.
    private struct Sample {
        var find: DataAPI.Find
        var holds: (FindMatcher.Record) -> Bool
        var isNegated = false
    }

    @Test(arguments: 0..<20)
    func compiledFindsFindWhatTheirExpressionSays(seed: UInt64) {
        var generator = SeededRandom(seed: 1000 + seed)
        var compiledCount = 0
        for _ in 0..<150 {
            let table = (0..<24).map { _ in Self.record(using: &generator) }
            let sample = Self.sample(depth: 4, using: &generator)
            let expected = Set(table.indices.filter { sample.holds(table[$0]) })
            do throws(DataAPI.FindError) {
                let requests = try sample.find.requests()
                compiledCount += 1
                #expect(FindMatcher(table: table).find(requests) == expected, "seed \(seed): \(requests)")
                #expect(requests == (try? sample.find.requests()))
                #expect(Set(requests).count == requests.count || requests.count > 2)
            } catch {
                switch error.code {
                case .matchesNothing: #expect(expected.isEmpty)
                case .matchesEverything: #expect(expected == Set(table.indices))
                case .sameField, .tooComplex: break
                default: Issue.record("\(error)")
                }
            }
        }
        // An oracle that refuses everything would prove nothing.
        #expect(compiledCount > 75)
    }

    private static let texts = ["", "red", "red fox", "redwood", "fox", "blue fox"]

    private static func record(using generator: inout SeededRandom) -> FindMatcher.Record {
        func text() -> FindMatcher.Value { .text(texts.randomElement(using: &generator) ?? "") }
        func number() -> FindMatcher.Value {
            .number(Double?.some(Double(Int.random(in: 0...9, using: &generator))).flatMap { $0 == 9 ? nil : $0 / 2 })
        }
        return ["t1": text(), "t2": text(), "n1": number(), "n2": number()]
    }

    private static func sample(depth: Int, using generator: inout SeededRandom) -> Sample {
        guard depth > 0, Int.random(in: 0..<5, using: &generator) > 0 else { return test(using: &generator) }
        let left = sample(depth: depth - 1, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
            return Sample(find: !left.find, holds: { !left.holds($0) })
        case 1:
            let right = sample(depth: depth - 1, using: &generator)
            return Sample(find: left.find && right.find, holds: { left.holds($0) && right.holds($0) })
        default:
            let right = sample(depth: depth - 1, using: &generator)
            return Sample(find: left.find || right.find, holds: { left.holds($0) || right.holds($0) })
        }
    }

    private static func test(using generator: inout SeededRandom) -> Sample {
        Bool.random(using: &generator) ? textTest(using: &generator) : numberTest(using: &generator)
    }

    private static func textTest(using generator: inout SeededRandom) -> Sample {
        let name = ["t1", "t2"].randomElement(using: &generator) ?? "t1"
        let field = DataAPI.FindField(named: name)
        let value = texts.dropFirst().randomElement(using: &generator) ?? "red"
        func sample(_ find: DataAPI.Find, _ holds: @escaping (String) -> Bool) -> Sample {
            Sample(find: find) { record in
                if case .text(let text) = record[name] { holds(text) } else { false }
            }
        }
        return switch Int.random(in: 0..<7, using: &generator) {
        case 0: sample(field == value) { $0 == value }
        case 1: sample(field.begins(with: value)) { $0.hasPrefix(value) }
        case 2: sample(field.contains(value)) { $0.contains(value) }
        case 3: sample(field.ends(with: value)) { $0.hasSuffix(value) }
        case 4: sample(field.isEmpty) { $0.isEmpty }
        case 5: sample(field.isNotEmpty) { !$0.isEmpty }
        default:
            sample(field.hasWords(value)) { text in
                value.split(separator: " ").allSatisfy { text.split(separator: " ").contains($0) }
            }
        }
    }

    private static func numberTest(using generator: inout SeededRandom) -> Sample {
        let name = ["n1", "n2"].randomElement(using: &generator) ?? "n1"
        let field = DataAPI.FindField(named: name)
        let value = Double(Int.random(in: 0...8, using: &generator)) / 2
        let upper = value + Double(Int.random(in: 0...4, using: &generator)) / 2
        func sample(_ find: DataAPI.Find, _ holds: @escaping (Double) -> Bool) -> Sample {
            Sample(find: find) { record in
                if case .number(let number?) = record[name] { holds(number) } else { false }
            }
        }
        return switch Int.random(in: 0..<7, using: &generator) {
        case 0: sample(field == value) { $0 == value }
        case 1: sample(field < value) { $0 < value }
        case 2: sample(field <= value) { $0 <= value }
        case 3: sample(field > value) { $0 > value }
        case 4: sample(field >= value) { $0 >= value }
        case 5: sample(field.isIn(value...upper)) { (value...upper).contains($0) }
        default: sample(field.isOneOf([value, upper])) { $0 == value || $0 == upper }
        }
    }
}
