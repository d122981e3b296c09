import Foundation

/// A FileMaker-like formula, for calculation fields, portal filters, validation and the values of script steps.
///
/// The language is a small part of FileMaker's: texts in quotes (`\"`, `¶`), numbers, fields (`Name`, `Orders::Total`,
/// `${Any Name}`), `$variables`, the operators `+ - * / & = ≠ <> < ≤ <= > ≥ >= and or not`, and functions with
/// arguments separated by `;`. Every value is text. Arithmetic parses numbers from it as FileMaker does, and two values
/// are compared as numbers if both are numbers.
indirect enum Formula: Equatable, Sendable {
    case literal(String)
    case field(String)
    case variable(String)
    case get(String)
    case call(Function, [Formula])
    /// `Let`: names with their values, each of which may use the names before it, and the result.
    case bind([Binding], Formula)
    /// `JSONSetElement`: a JSON text and the elements to set in it.
    case setJSON(Formula, [JSONElement])
    case binary(Operator, Formula, Formula)
    case negative(Formula)
    case not(Formula)

    struct Binding: Equatable, Sendable {
        var name: String
        var value: Formula
    }

    struct JSONElement: Equatable, Sendable {
        var path: Formula
        var value: Formula
        var kind: Formula
    }

    enum Operator: String, Sendable {
        case add = "+"
        case subtract = "-"
        case multiply = "*"
        case divide = "/"
        case concatenate = "&"
        case equal = "="
        case notEqual = "≠"
        case less = "<"
        case lessOrEqual = "≤"
        case greater = ">"
        case greaterOrEqual = "≥"
        case and
        case or
    }

    enum Function: String, Sendable, CaseIterable {
        case `if`, `case`, upper, lower, trim, length, left, right, round, int, isempty, count, sum, min, max, list
        case substitute, valuecount, getvalue
        case jsongetelement, jsongetelementtype, jsonlistkeys, jsonlistvalues, jsondeleteelement, jsonformatelements

        var argumentCounts: ClosedRange<Int> {
            switch self {
            case .if: 2...3
            case .upper, .lower, .trim, .length, .int, .isempty, .count, .sum, .list, .valuecount, .jsonformatelements:
                1...1
            case .left, .right, .round, .getvalue, .jsongetelement, .jsongetelementtype, .jsonlistkeys,
                .jsonlistvalues, .jsondeleteelement:
                2...2
            case .case: 2...64
            case .min, .max: 1...16
            case .substitute: 3...3
            }
        }
    }
}

/// The fields, variables and functions that a formula can use.
protocol FormulaContext {
    /// The value of a field as text; nil if there is no such field.
    func value(ofField name: String) -> String?
    /// The values of a field of all related records, for the aggregate functions.
    func values(ofField name: String) -> [String]
    func value(ofVariable name: String) -> String
    /// The value of `Get ( name )`; nil if there is no such function.
    func get(_ name: String) -> String?
}

extension Formula {
    /// The value of the formula as text. It is `?`, as in FileMaker, if there is none.
    func evaluate(in context: some FormulaContext) -> String {
        switch self {
        case .literal(let text): text
        case .field(let name): context.value(ofField: name) ?? "?"
        case .variable(let name): context.value(ofVariable: name)
        case .get(let name): context.get(name) ?? "?"
        case .call(let function, let arguments): Self.call(function, arguments, context)
        case .bind(let bindings, let result): Self.bind(bindings, result, context)
        case .setJSON(let json, let elements): Self.set(elements, in: json, context)
        case .binary(let operation, let left, let right): Self.apply(operation, left, right, context)
        case .negative(let operand): FMNumber(reading: operand.evaluate(in: context))?.negated.text ?? ""
        case .not(let operand): operand.isTrue(in: context) ? "0" : "1"
        }
    }

    /// Whether the value is a number other than zero.
    func isTrue(in context: some FormulaContext) -> Bool {
        FMNumber(reading: evaluate(in: context)).map { !$0.isZero } ?? false
    }

    /// The maximum length of a text in bytes; a longer one becomes `?`. Without it, a loop that doubles a variable
    /// would fill the memory.
    private static let longestText = 1 << 24

    private static func apply(
        _ operation: Operator,
        _ left: Formula,
        _ right: Formula,
        _ context: some FormulaContext
    ) -> String {
        switch operation {
        case .and: return left.isTrue(in: context) && right.isTrue(in: context) ? "1" : "0"
        case .or: return left.isTrue(in: context) || right.isTrue(in: context) ? "1" : "0"
        case .concatenate:
            let (left, right) = (left.evaluate(in: context), right.evaluate(in: context))
            return left.utf8.count + right.utf8.count <= longestText ? left + right : "?"
        case .add, .subtract, .multiply, .divide:
            return calculate(operation, left.evaluate(in: context), right.evaluate(in: context))
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            let order = compare(left.evaluate(in: context), right.evaluate(in: context))
            let holds =
                switch operation {
                case .equal: order == 0
                case .notEqual: order != 0
                case .less: order < 0
                case .lessOrEqual: order <= 0
                case .greater: order > 0
                default: order >= 0
                }
            return holds ? "1" : "0"
        }
    }

    private static func calculate(_ operation: Operator, _ left: String, _ right: String) -> String {
        let (left, right) = (decimal(left), decimal(right))
        switch operation {
        case .add: return text(left + right)
        case .subtract: return text(left - right)
        case .multiply: return text(left * right)
        default: return right == 0 ? "?" : text(left / right)
        }
    }

    static func compare(_ left: String, _ right: String) -> Int {
        if let one = FMNumber(literal: left), let other = FMNumber(literal: right) {
            return one == other ? 0 : (one < other ? -1 : 1)
        }
        if let one = DateNotation.us.timestamp(from: left), let other = DateNotation.us.timestamp(from: right) {
            return one == other ? 0 : (one < other ? -1 : 1)
        }
        return TextFolding.compare(TextFolding.fold(left), TextFolding.fold(right))
    }

    static func decimal(_ text: String) -> Decimal {
        FMNumber(reading: text).flatMap { Decimal(string: $0.text, locale: Locale(identifier: "en_US_POSIX")) } ?? 0
    }

    static func text(_ number: Decimal) -> String {
        number.isNaN ? "?" : FMNumber(literal: "\(number)")?.text ?? "\(number)"
    }

    private static func call(
        _ function: Function,
        _ arguments: [Formula],
        _ context: some FormulaContext
    ) -> String {
        func argument(_ index: Int) -> String { arguments[index].evaluate(in: context) }
        func count(_ index: Int) -> Int { max(0, FMNumber(reading: argument(index))?.int ?? 0) }
        switch function {
        case .if:
            if arguments[0].isTrue(in: context) { return argument(1) }
            return arguments.count == 3 ? argument(2) : ""
        case .case:
            for index in stride(from: 0, to: arguments.count - 1, by: 2) where arguments[index].isTrue(in: context) {
                return argument(index + 1)
            }
            // An argument left over is the default result.
            return arguments.count.isMultiple(of: 2) ? "" : argument(arguments.count - 1)
        case .jsongetelement: return JSONPath(argument(1)).text(in: argument(0))
        case .jsongetelementtype: return JSONPath(argument(1)).kind(in: argument(0))
        case .jsonlistkeys: return JSONPath(argument(1)).keys(in: argument(0))
        case .jsonlistvalues: return JSONPath(argument(1)).values(in: argument(0))
        case .jsondeleteelement: return JSONPath(argument(1)).text(deletingIn: argument(0))
        case .jsonformatelements: return JSONPath("").text(in: argument(0))
        case .valuecount: return String(lines(argument(0)).count)
        case .getvalue:
            let (values, number) = (lines(argument(0)), count(1))
            return values.indices.contains(number - 1) ? values[number - 1] : ""
        case .upper: return argument(0).uppercased()
        case .lower: return argument(0).lowercased()
        case .trim: return argument(0).trimmed
        case .length: return String(argument(0).count)
        case .left: return String(argument(0).prefix(count(1)))
        case .right: return String(argument(0).suffix(count(1)))
        case .substitute: return substitute(argument(0), argument(1), argument(2))
        case .isempty: return argument(0).isEmpty ? "1" : "0"
        case .int: return rounded(decimal(argument(0)), places: 0, mode: decimal(argument(0)) < 0 ? .up : .down)
        case .round: return rounded(decimal(argument(0)), places: count(1), mode: .plain)
        case .count: return String(values(arguments, context).count)
        case .sum: return text(values(arguments, context).map(decimal).reduce(0, +))
        case .list: return values(arguments, context).joined(separator: "\r")
        case .min: return values(arguments, context).min { compare($0, $1) < 0 } ?? ""
        case .max: return values(arguments, context).max { compare($0, $1) < 0 } ?? ""
        }
    }

    /// The values of a list, one per line. A line break at the end starts no further value.
    private static func lines(_ text: String) -> [String] {
        var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    private static func bind(_ bindings: [Binding], _ result: Formula, _ context: some FormulaContext) -> String {
        var scope = Scope(outer: context)
        for binding in bindings { scope.values[binding.name] = binding.value.evaluate(in: scope) }
        return result.evaluate(in: scope)
    }

    /// The context of the formulas in a `Let`: its own names, then those of the context around it.
    private struct Scope: FormulaContext {
        let outer: any FormulaContext
        var values: [String: String] = [:]

        func value(ofField name: String) -> String? { outer.value(ofField: name) }
        func values(ofField name: String) -> [String] { outer.values(ofField: name) }
        func value(ofVariable name: String) -> String { values[name] ?? outer.value(ofVariable: name) }
        func get(_ name: String) -> String? { outer.get(name) }
    }

    private static func set(_ elements: [JSONElement], in json: Formula, _ context: some FormulaContext) -> String {
        elements.reduce(json.evaluate(in: context)) { json, element in
            let result = JSONPath(element.path.evaluate(in: context)).text(
                setting: element.value.evaluate(in: context),
                kind: element.kind.evaluate(in: context),
                in: json
            )
            return result.utf8.count <= longestText ? result : "?"
        }
    }

    private static func substitute(_ text: String, _ search: String, _ replacement: String) -> String {
        guard !search.isEmpty else { return text }
        let most = (text.utf8.count / search.utf8.count).multipliedReportingOverflow(by: replacement.utf8.count)
        guard !most.overflow, most.partialValue <= longestText else { return "?" }
        return text.replacingOccurrences(of: search, with: replacement)
    }

    /// The values of the arguments that are not empty. A field stands for its values in all related records.
    private static func values(_ arguments: [Formula], _ context: some FormulaContext) -> [String] {
        arguments.flatMap { argument -> [String] in
            if case .field(let name) = argument { return context.values(ofField: name) }
            return [argument.evaluate(in: context)]
        }
        .filter { !$0.isEmpty }
    }

    private static func rounded(_ number: Decimal, places: Int, mode: Decimal.RoundingMode) -> String {
        var (number, result) = (number, Decimal())
        NSDecimalRound(&result, &number, min(places, 100), mode)
        return text(result)
    }
}

extension Formula {
    /// The names of the fields that the formula uses.
    var fieldNames: Set<String> {
        switch self {
        case .field(let name): [FieldName(name).qualified]
        case .literal, .variable, .get: []
        case .call(_, let arguments): arguments.reduce(into: []) { $0.formUnion($1.fieldNames) }
        case .binary(_, let left, let right): left.fieldNames.union(right.fieldNames)
        case .negative(let operand), .not(let operand): operand.fieldNames
        case .bind(let bindings, let result):
            bindings.reduce(into: result.fieldNames) { $0.formUnion($1.value.fieldNames) }
        case .setJSON(let json, let elements):
            elements.reduce(into: json.fieldNames) { names, element in
                names.formUnion(element.path.fieldNames.union(element.value.fieldNames).union(element.kind.fieldNames))
            }
        }
    }
}
