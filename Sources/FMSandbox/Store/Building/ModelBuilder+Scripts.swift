extension ModelBuilder {
    /// No script waits longer than this in one step.
    static let longestWait = 86_400.0

    mutating func addScripts(_ index: Int) throws {
        for script in solutions[index].scripts.flatMap(\.scripts) where script.name != "-" {
            let place = Place(solution: index)["scripts", script.name]
            let steps = try steps(script.steps, "steps", place)
            // Of two scripts of one name the first one runs: the Data API gives no way to choose.
            guard model.databases[index].scripts[script.name] == nil else { continue }
            model.databases[index].scripts[script.name] = ScriptModel(
                name: script.name,
                steps: steps,
                handler: solutions[index].handlers[script.name]
            )
        }
    }

    private func steps(_ steps: [Solution.Step], _ key: String, _ place: Place) throws -> [StepModel] {
        try steps.enumerated().map { try step($1, place[key, $0]) }
    }

    private func step(_ step: Solution.Step, _ place: Place) throws -> StepModel {
        switch step {
        case .set(let target, let value): return .set(target, try formula(value, place["to"]))
        case .exit(let result, let code):
            return .exit(try formula(result, place["exit"]), error: try code.map { try errorCode($0, place) })
        case .template(let text, let code):
            return .exit(try template(text, place["template"]), error: try code.map { try errorCode($0, place) })
        case .error(let code): return .error(try errorCode(code, place))
        case .loop(let body): return .loop(try steps(body, "loop", place))
        case .branch(let condition, let then, let otherwise):
            return .branch(
                try formula(condition, place["if"]),
                then: try steps(then, "then", place),
                else: try steps(otherwise, "else", place)
            )
        case .goToLayout(let name):
            guard model.databases[place.solution].layouts[name] != nil else {
                throw failure(place["goToLayout"], "no layout \(name)")
            }
            return .goToLayout(name)
        case .constrain(let condition): return .constrain(try formula(condition, place["constrain"]))
        case .find(let requests):
            return .find(
                try requests.enumerated().map { number, request in
                    let place = place["find", number]
                    var formulas: [String: Formula] = [:]
                    for (name, text) in request { formulas[name] = try template(text, place[name]) }
                    return formulas
                }
            )
        case .omitRecord: return .omitRecord
        case .closeWindow: return .closeWindow
        case .showAll: return .showAll
        case .newRecord: return .newRecord
        case .deleteRecord: return .deleteRecord
        case .wait(let seconds):
            if case .number(let seconds) = seconds, !(0...Self.longestWait).contains(seconds) {
                throw failure(place["wait"], "expected 0 to 86400 seconds")
            }
            return .wait(try quantity(seconds, place["wait"]))
        }
    }

    private func errorCode(_ code: Solution.Quantity, _ place: Place) throws -> Formula {
        if case .number(let number) = code, Int32(exactly: number) == nil {
            throw failure(place["error"], "expected a whole number of up to ten digits")
        }
        return try quantity(code, place["error"])
    }

    private func quantity(_ quantity: Solution.Quantity, _ place: Place) throws -> Formula {
        switch quantity {
        case .number(let number): .literal(FMNumber(literal: "\(number)")?.text ?? "?")
        case .formula(let text): try formula(text, place)
        }
    }

    /// A text with formulas between `<<` and `>>`, as one formula.
    private func template(_ text: String, _ place: Place) throws -> Formula {
        var whole = Formula.literal("")
        func append(_ part: Formula) { whole = whole == .literal("") ? part : .binary(.concatenate, whole, part) }
        var rest = text[...]
        while let start = rest.firstRange(of: "<<") {
            if start.lowerBound > rest.startIndex { append(.literal(String(rest[..<start.lowerBound]))) }
            rest = rest[start.upperBound...]
            guard let end = rest.firstRange(of: ">>") else { throw failure(place, "missing >>") }
            append(try formula(String(rest[..<end.lowerBound]), place))
            rest = rest[end.upperBound...]
        }
        if !rest.isEmpty { append(.literal(String(rest))) }
        return whole
    }
}
