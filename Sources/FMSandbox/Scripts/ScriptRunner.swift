import NIOConcurrencyHelpers

/// The scripts of one request with their parameters and the results so far.
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

    /// Finds every script before one of them runs; throws 104 for one that does not exist. A script and its parameter
    /// may be in the query or in the body.
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

    /// Runs the prerequest script, if there is one, on the session's found set in the layout's table. Its found set
    /// reaches the request through the session.
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

    /// Writes the results, which precede all other members of `response`.
    func write(to writer: inout JSONWriter) {
        for (key, value) in results {
            writer.key(key)
            writer.string(value)
        }
    }
}

/// Runs scripts, both in Swift and in steps.
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
            // If the script was cancelled or did not end its transaction, no record may stay locked.
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

    /// Keeps the found set that a script made, and the `$$variables`, in the session.
    private static func leave(_ state: ScriptState, _ before: ScriptState, _ context: Context) {
        if state.foundSet != before.foundSet { context.keep(state.foundSet, in: state.layout.table) }
        let variables = state.variables.filter { $0.key.hasPrefix("$$") }
        context.session.state.withLockedValue { $0.variables = variables }
    }
}
