extension ModelBuilder {
    /// The maximum number of seconds that one step can wait.
    static let longestWait = 86_400.0

    mutating func addScripts(_ index: Int) throws {
        for script in solutions[index].scripts.flatMap(\.scripts) where script.name != "-" {
            let place = Place(solution: index)["scripts", script.name]
            let steps = try steps(script.steps, "steps", place)
            // Of several scripts with one name, the first one runs; the Data API cannot choose between them.
            guard model.databases[index].scripts[script.name] == nil else { continue }
            model.databases[index].scripts[script.name] = ScriptModel(
                name: script.name,
                steps: steps,
                handler: solutions[index].handlers[script.name]
            )
        }
    }

    /// The models of a list of steps. The steps of a transaction become one.
    private func steps(_ steps: [Solution.Step], _ key: String, _ place: Place) throws -> [StepModel] {
        var models: [StepModel] = []
        var opened: (Place, [StepModel])?
        for (number, step) in steps.enumerated() {
            let place = place[key, number]
            switch step.kind {
            case .openTransaction:
                guard opened == nil else { throw failure(place, "a transaction in a transaction of the same script") }
                opened = (place, models)
                models = []
            case .commitTransaction:
                guard let (_, before) = opened else { throw failure(place, "no openTransaction before it") }
                models = before + [.transaction(models)]
                opened = nil
            default:
                models.append(try self.step(step, place))
            }
        }
        if let (place, _) = opened { throw failure(place, "no commitTransaction after it") }
        return models
    }

    private func step(_ step: Solution.Step, _ place: Place) throws -> StepModel {
        switch step.kind {
        case .set(let target, let value): return .set(target, try formula(value, place["to"]))
        case .setFieldByName(let name, let value):
            return .setByName(try formula(name, place["setFieldByName"]), try formula(value, place["to"]))
        case .exit(let result, let code):
            return .exit(try formula(result, place["exit"]), error: try code.map { try errorCode($0, place) })
        case .template(let text, let code):
            return .exit(try template(text, place["template"]), error: try code.map { try errorCode($0, place) })
        case .error(let code): return .error(try errorCode(code, place))
        case .loop(let body): return .loop(try steps(body, "loop", place))
        case .repeating(let body): return .repeating(try steps(body, "repeat", place))
        case .exitLoopIf(let condition): return .exitLoop(try formula(condition, place["exitLoopIf"]))
        case .branch(let condition, let then, let otherwise):
            return .branch(
                try formula(condition, place["if"]),
                then: try steps(then, "then", place),
                else: try steps(otherwise, "else", place)
            )
        case .performScript(let name, let parameter):
            guard solutions[place.solution].scripts.contains(where: { $0.contains(name: name) }) else {
                throw failure(place["performScript"], "no script \(name)")
            }
            return .performScript(name, parameter: try parameter.map { try formula($0, place["parameter"]) })
        case .openTransaction, .commitTransaction: preconditionFailure("they are read with the list that they stand in")
        case .revertTransaction(let condition, let code):
            return .revertTransaction(
                try condition.map { try formula($0, place["revertTransaction"]) },
                error: try code.map { try errorCode($0, place) }
            )
        case .setRevertTransactionOnError(let isOn): return .setRevertTransactionOnError(isOn)
        case .commitRecords: return .commitRecords
        case .goToLayout(let name):
            let formula = try template(name, place["goToLayout"])
            if case .literal(let name) = formula, model.databases[place.solution].layouts[name] == nil {
                throw failure(place["goToLayout"], "no layout \(name)")
            }
            return .goToLayout(formula)
        case .goToListOfRecords(let list): return .goToListOfRecords(try formula(list, place["goToListOfRecords"]))
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

    /// Parses a text with formulas between `<<` and `>>` into one formula.
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
