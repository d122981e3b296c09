/// One run of a script declared in steps.
struct StepRun {
    /// The maximum number of steps and loop iterations, including those of the scripts that it performs.
    private static let maximumSteps = 1_000_000
    /// The maximum depth to which scripts perform each other.
    private static let maximumDepth = 50

    private let context: ScriptContext
    private(set) var result: String?
    private var budget: Int
    private let depth: Int
    private var isOver = false
    /// The number of loops around the current step; `leavesLoop` says whether it leaves the innermost.
    private var loops = 0
    private var leavesLoop = false

    /// A transaction was reverted. The remaining steps are skipped, up to the Commit Transaction of the script that
    /// opened it.
    private struct Reverted: Error {}

    init(context: ScriptContext) {
        self.init(context: context, budget: Self.maximumSteps, depth: 0)
    }

    private init(context: ScriptContext, budget: Int, depth: Int) {
        self.context = context
        self.budget = budget
        self.depth = depth
    }

    private var error: Int {
        get { context.lastError }
        nonmutating set { context.lastError = newValue }
    }

    mutating func perform(_ steps: [StepModel]) async throws {
        for step in steps {
            guard !isOver, !leavesLoop else { return }
            try spend()
            try await perform(step)
        }
    }

    /// Counts a step. Throws 3 at the maximum, which ends an endless script.
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
                error = try code { try $0.set(target, to: value) }
            }
        case .setByName(let name, let formula):
            let (name, value) = (context.evaluate(name), context.evaluate(formula))
            error = try code { try $0.set(name, to: value) }
        case .exit(let formula, let code):
            // FileMaker does not distinguish an empty result from none.
            let text = context.evaluate(formula)
            result = text.isEmpty ? nil : text
            if let code { error = number(code) }
            isOver = true
        case .error(let code):
            error = number(code)
            isOver = true
        case .loop(let steps): try await goThroughRecords(steps)
        case .repeating(let steps): try await goOn(steps)
        case .exitLoop(let condition): if loops > 0, isTrue(condition) { leavesLoop = true }
        case .branch(let condition, let then, let otherwise):
            try await perform(isTrue(condition) ? then : otherwise)
        case .performScript(let name, let parameter):
            try await performScript(name, with: parameter.map(context.evaluate) ?? "")
        case .transaction(let steps): try await transact(steps)
        case .revertTransaction(let condition, let code): try revert(if: condition, code)
        case .setRevertTransactionOnError(let isOn):
            context.revertsOnError = isOn
            error = 0
        case .commitRecords: error = try code { try $0.commitRecords() }
        case .goToLayout(let name):
            let name = context.evaluate(name)
            error = try code { try $0.goToLayout(name) }
        case .goToListOfRecords(let list):
            let recordIds = Self.recordIds(in: context.evaluate(list))
            error = try code { try $0.goToRecords(recordIds) }
        case .constrain(let condition):
            context.foundSet = context.foundSet.filter { context.isTrue(condition, of: $0) }
            error = context.foundSet.isEmpty ? 401 : 0
        case .find(let requests):
            let requests = requests.map { $0.mapValues(context.evaluate) }
            error = try code { try $0.find(requests) }
        case .omitRecord: error = try code { try $0.omitRecord() }
        case .closeWindow: error = try code { try $0.endWindow() }
        case .showAll:
            error = try code { context in
                try context.commitRecords()
                context.showAllRecords()
            }
        case .newRecord: error = try code { try $0.createRecord() }
        case .deleteRecord: error = try code { try $0.deleteRecord() }
        case .wait(let formula):
            let seconds = FMNumber(reading: context.evaluate(formula)).flatMap { Double($0.text) } ?? 0
            try await context.wait(for: .seconds(min(max(0, seconds), ModelBuilder.longestWait)))
        }
    }

    // MARK: Loops

    private mutating func goThroughRecords(_ steps: [StepModel]) async throws {
        for recordId in context.foundSet {
            guard !isOver else { return }
            try spend()
            let failure = try code { try $0.commitRecords() }
            if failure != 0 {
                error = failure
                return
            }
            context.currentRecord = recordId
            if try await turn(steps) { return }
        }
        // The loop ended by going past the last record, which leaves error 101.
        if !isOver { error = 101 }
    }

    private mutating func goOn(_ steps: [StepModel]) async throws {
        while !isOver {
            try spend()
            if try await turn(steps) { return }
        }
    }

    /// Runs one iteration of a loop. Returns whether it was the last.
    private mutating func turn(_ steps: [StepModel]) async throws -> Bool {
        loops += 1
        defer {
            loops -= 1
            leavesLoop = false
        }
        try await perform(steps)
        return leavesLoop
    }

    // MARK: Other scripts

    private mutating func performScript(_ name: String, with parameter: String) async throws {
        guard depth < Self.maximumDepth else { throw FileMakerError(3) }
        let found: (script: ScriptModel, context: ScriptContext)
        do {
            found = try context.performing(name, parameter: parameter)
        } catch let failure as FileMakerError {
            error = failure.code
            return
        }
        var run = StepRun(context: found.context, budget: budget, depth: depth + 1)
        var result: String?
        defer {
            budget = run.budget
            context.goOn(after: found.context, result: result ?? "")
        }
        guard let handler = found.script.handler else {
            try await run.perform(found.script.steps)
            result = run.result
            return
        }
        do {
            let answer = try await handler(found.context)
            result = answer.result
            found.context.lastError = answer.error
        } catch let failure as FileMakerError {
            found.context.lastError = failure.code
        }
        // A script in Swift ended the transaction in which it was performed.
        if context.isInTransaction, !found.context.isInTransaction { throw Reverted() }
    }

    // MARK: Transactions

    /// Runs Open Transaction, the steps and Commit Transaction. If a script that performs this one has opened a
    /// transaction, the steps join it, and opening and committing are error 3, as in FileMaker.
    private mutating func transact(_ steps: [StepModel]) async throws {
        guard !context.isInTransaction else {
            error = 3
            try await perform(steps)
            if !isOver { error = 3 }
            return
        }
        error = try code { try $0.openTransaction() }
        do {
            try await perform(steps)
        } catch is Reverted {
            return
        }
        if isOver || leavesLoop {
            // Commit Transaction is not reached.
            if context.isInTransaction { try context.revertTransaction() }
        } else {
            error = try code { try $0.commitTransaction() }
        }
    }

    /// Runs Revert Transaction, which skips the rest of the transaction. A custom code must be 5000 to 5499; otherwise
    /// the last error stays.
    private func revert(if condition: Formula?, _ code: Formula?) throws {
        guard condition.map(isTrue) ?? true else { return }
        guard context.isInTransaction else {
            error = 3
            return
        }
        if let code {
            let code = number(code)
            if (5000...5499).contains(code) { error = code }
        }
        try context.revertTransaction()
        throw Reverted()
    }

    // MARK: Values

    private func isTrue(_ condition: Formula) -> Bool {
        FMNumber(reading: context.evaluate(condition)).map { !$0.isZero } ?? false
    }

    private func number(_ code: Formula) -> Int { FMNumber(reading: context.evaluate(code))?.int ?? -1 }

    /// The record ids in a text, one per line or in a JSON array.
    private static func recordIds(in text: String) -> [Int] {
        if let elements = (try? JSONParser.parse(Array(text.utf8)))?.array {
            return elements.compactMap { $0.scalarText.flatMap { Int($0) } }
        }
        return text.split { $0.isNewline }.compactMap { Int(String($0).trimmed) }
    }

    /// Runs a step and returns its error code, 0 if it succeeds; the script goes on after an error. But in a
    /// transaction a write that fails because of privileges (200 to 204) or validation (500 to 513) reverts the
    /// transaction.
    private func code(_ step: (ScriptContext) throws -> some Any) throws -> Int {
        do {
            _ = try step(context)
            return 0
        } catch let failure as FileMakerError {
            let reverts = (200...204).contains(failure.code) || (500...513).contains(failure.code)
            guard reverts, context.revertsOnError, context.isInTransaction else { return failure.code }
            error = failure.code
            try context.revertTransaction()
            throw Reverted()
        }
    }
}
