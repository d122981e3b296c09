import NIOConcurrencyHelpers

/// The scripts of one request: which, with what parameters, and what they answered so far.
///
/// Source: Claris FileMaker Data API Guide, "Run a script with another request".
struct ScriptPlan: Sendable {
    enum Phase: String, CaseIterable, Sendable {
        case prerequest = ".prerequest"
        case presort = ".presort"
        case after = ""
    }

    private var scripts: [Phase: (script: ScriptModel, parameter: String)] = [:]
    /// The result keys in the order of the phases.
    private(set) var results: [(key: String, value: String)] = []

    /// Looks up every script before anything runs: 104 for one that does not exist. A script and its parameter may stand
    /// in the query or in the body.
    init(_ context: Context) throws {
        for phase in Phase.allCases {
            let key = "script\(phase.rawValue)"
            guard let name = try context.call.bodyText(key) ?? context.call.query[key], !name.isEmpty else { continue }
            scripts[phase] = (
                try context.script(named: name),
                try context.call.bodyText("\(key).param") ?? context.call.query["\(key).param"] ?? ""
            )
        }
    }

    /// Runs the script before the request, if there is one, on the found set that the session has on the layout. What it
    /// leaves reaches the request through the session.
    mutating func runPrerequest(_ context: Context, on layout: LayoutModel) async throws {
        guard scripts[.prerequest] != nil else { return }
        var state = ScriptState(layout: layout, foundSet: context.foundSet(in: layout.table))
        try await run(.prerequest, context, &state)
    }

    /// Runs the script of a phase, if there is one, and keeps its result.
    mutating func run(_ phase: Phase, _ context: Context, _ state: inout ScriptState) async throws {
        guard let (script, parameter) = scripts[phase] else { return }
        let result = try await ScriptRunner.run(script, parameter: parameter, context, &state)
        if let text = result.result { results.append(("scriptResult\(phase.rawValue)", text)) }
        results.append(("scriptError\(phase.rawValue)", String(result.error)))
    }

    /// Writes the results, which come before everything else in `response`.
    func write(to writer: inout JSONWriter) {
        for (key, value) in results {
            writer.key(key)
            writer.string(value)
        }
    }
}

/// Runs scripts, those in Swift and those in steps.
enum ScriptRunner {
    /// No script goes on for longer than this many steps and turns of its loops.
    private static let maximumSteps = 1_000_000

    static func run(
        _ script: ScriptModel,
        parameter: String,
        _ context: Context,
        _ state: inout ScriptState
    ) async throws -> ScriptResult {
        context.engine.withState { $0.counters.scriptRuns += 1 }
        state.variables = context.session.state.withLockedValue { $0.variables }
        let before = state
        let scriptContext = ScriptContext(context, parameter: parameter, state: state)
        defer {
            state = scriptContext.finalState
            leave(state, before, context)
        }
        do {
            if let handler = script.handler { return try await handler(scriptContext) }
            var run = StepRun(context: scriptContext, budget: maximumSteps)
            try await run.perform(script.steps)
            return ScriptResult(result: run.result, error: run.error)
        } catch let error as FileMakerError {
            return .error(error.code)
        } catch let error as CancellationError {
            throw error
        } catch {
            return .error(-1)
        }
    }

    /// What a script leaves to its session: a found set that it made, and `$$variables`.
    private static func leave(_ state: ScriptState, _ before: ScriptState, _ context: Context) {
        if state.foundSet != before.foundSet { context.keep(state.foundSet, in: state.layout.table) }
        let variables = state.variables.filter { $0.key.hasPrefix("$$") }
        context.session.state.withLockedValue { $0.variables = variables }
    }
}

/// One run of a script declared in steps.
private struct StepRun {
    let context: ScriptContext
    var budget: Int
    var result: String?
    var error = 0
    private var isOver = false

    init(context: ScriptContext, budget: Int) {
        self.context = context
        self.budget = budget
    }

    mutating func perform(_ steps: [StepModel]) async throws {
        for step in steps {
            guard !isOver else { return }
            try spend()
            try await perform(step)
        }
    }

    /// A script that goes on forever ends with error 3.
    private mutating func spend() throws {
        budget -= 1
        guard budget > 0 else { throw FileMakerError(3) }
    }

    private mutating func perform(_ step: StepModel) async throws {
        switch step {
        case .set(let target, let formula):
            let value = context.evaluate(formula)
            if target.hasPrefix("$") {
                context.setVariable(target, to: value)
            } else {
                error = try code { [context] in try context.set(target, to: value) }
            }
        case .exit(let formula, let code):
            // FileMaker does not tell an empty result from none.
            let text = context.evaluate(formula)
            result = text.isEmpty ? nil : text
            if let code { error = number(code) }
            isOver = true
        case .error(let code):
            error = number(code)
            isOver = true
        case .loop(let steps):
            for recordId in context.foundSet {
                guard !isOver else { return }
                try spend()
                context.currentRecord = recordId
                try await perform(steps)
            }
            // A loop ends by going past the last record, which leaves 101 behind.
            if !isOver { error = 101 }
        case .branch(let condition, let then, let otherwise):
            let holds = FMNumber(reading: context.evaluate(condition)).map { !$0.isZero } ?? false
            try await perform(holds ? then : otherwise)
        case .goToLayout(let name): error = try code { [context] in try context.goToLayout(name) }
        case .constrain(let condition):
            context.foundSet = context.foundSet.filter { context.isTrue(condition, of: $0) }
            error = context.foundSet.isEmpty ? 401 : 0
        case .find(let requests):
            let requests = requests.map { $0.mapValues(context.evaluate) }
            error = try code { [context] in try context.find(requests) }
        case .omitRecord: error = try code { [context] in try context.omitRecord() }
        case .closeWindow:
            context.closeWindow()
            error = 0
        case .showAll:
            context.showAllRecords()
            error = 0
        case .newRecord: error = try code { [context] in try context.createRecord() }
        case .deleteRecord: error = try code { [context] in try context.deleteRecord() }
        case .wait(let formula):
            let seconds = FMNumber(reading: context.evaluate(formula)).flatMap { Double($0.text) } ?? 0
            try await context.wait(for: .seconds(min(max(0, seconds), ModelBuilder.longestWait)))
        }
    }

    private func number(_ code: Formula) -> Int { FMNumber(reading: context.evaluate(code))?.int ?? -1 }

    /// The last error after a step: one that fails leaves its code, and the script goes on.
    private func code(_ step: () throws -> some Any) throws -> Int {
        do {
            _ = try step()
            return 0
        } catch let failure as FileMakerError {
            return failure.code
        }
    }
}
