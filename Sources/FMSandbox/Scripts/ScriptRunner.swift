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
    static func run(
        _ script: ScriptModel,
        parameter: String,
        _ context: Context,
        _ state: inout ScriptState
    ) async throws -> ScriptResult {
        context.engine.withState { $0.counters.scriptRuns += 1 }
        state.variables = context.session.state.withLockedValue { $0.variables }
        state.lastError = 0
        state.scriptResult = ""
        let before = state
        let scriptContext = ScriptContext(context, parameter: parameter, state: state)
        defer {
            // A script that was cancelled, or forgot it, leaves no record locked.
            if scriptContext.isInTransaction { try? scriptContext.revertTransaction() }
            state = scriptContext.finalState
            leave(state, before, context)
        }
        do {
            if let handler = script.handler { return try await handler(scriptContext) }
            var run = StepRun(context: scriptContext)
            try await run.perform(script.steps)
            return ScriptResult(result: run.result, error: scriptContext.lastError)
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
