import FMData
import FMTestSupport

@testable import FMDataCore

/// A random find, and a closure that says which records it matches.
struct FindSample {
    var find: DataAPI.Find
    var holds: (FindMatcher.Record) -> Bool
}

/// Random records with two text fields, two number fields, a repeating number field and a related text field, and
/// random finds over them.
struct FindSamples {
    static let texts = ["", "red", "red fox", "redwood", "fox", "blue fox"]

    /// Whether finds also use the fields with several values.
    var withSeveralValues: Bool

    static func record(using generator: inout SeededRandom) -> FindMatcher.Record {
        func text() -> FindMatcher.Value { .text(texts.randomElement(using: &generator) ?? "") }
        func number() -> FindMatcher.Value {
            .number(Double?.some(Double(Int.random(in: 0...9, using: &generator))).flatMap { $0 == 9 ? nil : $0 / 2 })
        }
        var record: FindMatcher.Record = ["t1": text(), "t2": text(), "n1": number(), "n2": number()]
        record["marks"] = .several((0..<3).map { _ in number() })
        record["Notes::text"] = .several((0..<Int.random(in: 0...3, using: &generator)).map { _ in text() })
        return record
    }

    func sample(depth: Int, using generator: inout SeededRandom) -> FindSample {
        guard depth > 0, Int.random(in: 0..<5, using: &generator) > 0 else { return test(using: &generator) }
        let left = sample(depth: depth - 1, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
            return FindSample(find: !left.find, holds: { !left.holds($0) })
        case 1:
            let right = sample(depth: depth - 1, using: &generator)
            return FindSample(find: left.find && right.find, holds: { left.holds($0) && right.holds($0) })
        default:
            let right = sample(depth: depth - 1, using: &generator)
            return FindSample(find: left.find || right.find, holds: { left.holds($0) || right.holds($0) })
        }
    }

    private func test(using generator: inout SeededRandom) -> FindSample {
        if Bool.random(using: &generator) {
            let names = withSeveralValues ? ["t1", "t2", "Notes::text"] : ["t1", "t2"]
            let name = names.randomElement(using: &generator) ?? "t1"
            return Self.textTest(DataAPI.FindField(named: name), using: &generator)
        }
        let names = withSeveralValues ? ["n1", "n2", "marks"] : ["n1", "n2"]
        let field = DataAPI.FindField(named: names.randomElement(using: &generator) ?? "n1")
        return Self.numberTest(field.name == "marks" ? field.anyRepetition : field, using: &generator)
    }

    private static func value(of field: DataAPI.FindField, in record: FindMatcher.Record) -> FindMatcher.Value {
        guard let value = record[field.name] else { preconditionFailure("the records have all fields of the finds") }
        return value
    }

    private static func textTest(_ field: DataAPI.FindField, using generator: inout SeededRandom) -> FindSample {
        let value = texts.dropFirst().randomElement(using: &generator) ?? "red"
        func sample(_ find: DataAPI.Find, _ holds: @escaping (String) -> Bool) -> FindSample {
            FindSample(find: find) { record in
                Self.value(of: field, in: record).anySatisfies {
                    if case .text(let text) = $0 { holds(text) } else { false }
                }
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

    private static func numberTest(_ field: DataAPI.FindField, using generator: inout SeededRandom) -> FindSample {
        let value = Double(Int.random(in: 0...8, using: &generator)) / 2
        let upper = value + Double(Int.random(in: 0...4, using: &generator)) / 2
        func sample(_ find: DataAPI.Find, _ holds: @escaping (Double) -> Bool) -> FindSample {
            FindSample(find: find) { record in
                Self.value(of: field, in: record).anySatisfies {
                    if case .number(let number?) = $0 { holds(number) } else { false }
                }
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
