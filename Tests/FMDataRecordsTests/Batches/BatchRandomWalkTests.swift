import FMData
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The state machine against a model of its shell and its server: random rows, answers, losses and demand in random
/// order, with the rules checked after each. A failure names its seed.
@Suite struct BatchRandomWalkTests {
    @Test(arguments: 1...UInt64(Effort.of(200, brief: 40)))
    func everyRuleHoldsAfterEveryEvent(seed: UInt64) {
        var model = BatchModel(seed: seed)
        for _ in 0..<600 { model.step() }
        model.goOnToTheEnd()
    }
}

private struct BatchModel {
    private typealias Machine = BatchStateMachine

    private let seed: UInt64
    private var random: SeededRandom
    private var machine: Machine
    private var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private var alarm: NIODeadline?

    /// The server's records: record ids by key, and modIds by record id.
    private var recordsByKey: [Int: Int] = [:]
    private var modIds: [Int: Int] = [:]
    private var nextRecordId = 1_000
    /// How many times each row has changed something on the server.
    private var effects: [Int: Int] = [:]

    private var tasks: [Machine.RowTask] = []
    private var running: [Int: Machine.Work] = [:]
    private var outcomes: [Int: Machine.Outcome] = [:]
    private var published: [Int] = []
    private var lastOfLane: [Machine.SerialKey: Int] = [:]
    private var demand = 0
    private var demanded = 0
    private var asked = 0
    private var inputHasEnded = false
    private var end: Machine.End?
    private var stopper: Machine.StopCause?

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        var settings = Machine.Settings()
        settings.concurrency = Int.random(in: 1...5, using: &random)
        settings.window = Int.random(in: 0...20, using: &random)
        settings.order = Bool.random(using: &random) ? .input : .completion
        settings.failureLimit = Int.random(in: 0..<4, using: &random) == 0 ? 5 : nil
        machine = Machine(settings: settings)
        for id in 1...5 { modIds[id] = 0 }
        self.random = random
    }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10: request(Int.random(in: 1...8, using: &random))
        case 10..<45: receive()
        case 45..<85: if let index = running.keys.sorted().randomElement(using: &random) { answer(index) }
        case 85..<99: pass()
        default: if Int.random(in: 0..<10, using: &random) == 0 { endInput(hasFailed: Bool.random(using: &random)) }
        }
    }

    /// Answers whatever is open, asks for all that is left, and checks that every row has one outcome.
    mutating func goOnToTheEnd() {
        endInput(hasFailed: false)
        request(10_000)
        var rounds = 0
        while end == nil, rounds < 20_000 {
            rounds += 1
            if let index = running.keys.min() { answer(index) } else { pass() }
        }
        rule(end != nil, "it ends")
        rule(outcomes.count == tasks.count, "every row has an outcome")
        rule(running.isEmpty, "nothing runs after the end")
        rule(machine.rows.isEmpty, "nothing is kept after the end")
        rule((end == .stopped) == (stopper != nil), "it is said what stopped it")
        if machine.settings.order == .input { rule(published == published.sorted(), "in the order of the input") }
        for (index, outcome) in outcomes { check(outcome, of: index) }
    }

    /// Checks that the outcome agrees with what the row has done on the server.
    private func check(_ outcome: Machine.Outcome, of index: Int) {
        let count = effects[index] ?? 0
        let kind = tasks[index].kind
        switch (kind, outcome) {
        case (.create, .created), (.edit(base: .some), .edited): rule(count == 1, "\(index) was done once: \(count)")
        case (.create, .failed), (.create, .skipped): rule(count == 0, "\(index) was not done: \(outcome)")
        case (.edit(base: .some), .failed), (.edit(base: .some), .skipped): rule(count == 0, "\(index) was not done")
        case (.create, .unknown), (.edit(base: .some), _): rule(count <= 1, "\(index) was not done twice")
        case (.delete, .deleted(wasThere: true)): rule(count == 1, "\(index) deleted it")
        case (_, .skipped): rule(count == 0, "\(index) was not begun")
        default: break
        }
    }

    // MARK: Events

    private mutating func request(_ count: Int) {
        demand += count
        machine.requested(.max(count))
        obey()
    }

    private mutating func receive() {
        guard asked > 0, !inputHasEnded else { return }
        asked -= 1
        let id = Int.random(in: 1...5, using: &random)
        let task: Machine.RowTask =
            switch Int.random(in: 0..<8, using: &random) {
            case 0: .create
            case 1...2: .createWithKey
            case 3: .edit(id, base: modIds[id] ?? 0)
            case 4: .edit(id)
            case 5: .delete(id)
            case 6: .upsert("\(id)")
            default: Machine.RowTask(kind: .unusable)
            }
        machine.received(tasks.count, task)
        tasks.append(task)
        obey()
    }

    private mutating func endInput(hasFailed: Bool) {
        inputHasEnded = true
        machine.upstreamEnded(hasFailed: hasFailed)
        obey()
    }

    private mutating func pass() {
        guard let alarm else { return }
        now = max(now, alarm)
        self.alarm = nil
        machine.wakeUp(now: now)
        obey()
    }

    private mutating func answer(_ index: Int) {
        guard let work = running.removeValue(forKey: index) else { return }
        let answer: Machine.CallResult
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<2: answer = .trouble(.passing)
        case 2: answer = .trouble(.busy)
        case 3: answer = .trouble(.refused)
        case 4 where work != .lookUp: answer = .trouble(.outcomeUnknown(isTimeout: Bool.random(using: &random)))
        case 5..<8 where work != .lookUp:
            // The write is executed, if it can be, and its answer is lost.
            _ = execute(index, work)
            answer = .trouble(.answerLost)
        case 8: answer = Int.random(in: 0..<20, using: &random) == 0 ? .trouble(.hopeless) : .trouble(.passing)
        default: answer = execute(index, work)
        }
        machine.answered(index, answer, jitter: Double.random(in: 0...1, using: &random), now: now)
        obey()
    }

    // MARK: The server

    private mutating func execute(_ index: Int, _ work: Machine.Work) -> Machine.CallResult {
        let task = tasks[index]
        switch (task.kind, work) {
        case (.create, .lookUp):
            return .found(recordsByKey[index].map { .one($0, modId: 0) } ?? .nothing)
        case (.create, .write):
            return make(index, key: index)
        case (.edit, .lookUp):
            guard let id = task.recordId, let modId = modIds[id] else {
                return .found(.init(outcome: .undecided(.gone)))
            }
            guard case .edit(let base) = task.kind else { return .found(.nothing) }
            // The record has the fields of the row that wrote last.
            let outcome = WriteOutcome.ofEdit(base: base, found: (modId, lastWriter[id] == index))
            return .found(.one(id, modId: modId, outcome))
        case (.edit(let base), .write):
            return edit(index, task.recordId ?? 0, base: base)
        case (.upsert, .lookUp):
            let key = -(task.number ?? 0)
            guard let id = recordsByKey[key], let modId = modIds[id] else { return .found(.nothing) }
            return .found(.one(id, modId: modId, lastWriter[id] == index ? .carriedOut : .undecided(.otherValues)))
        case (.upsert, .write(let found)):
            if let found { return edit(index, found.recordId, base: found.modId) }
            return make(index, key: -(task.number ?? 0))
        case (.delete, _):
            guard let id = task.recordId, modIds.removeValue(forKey: id) != nil else { return .trouble(.recordMissing) }
            effects[index, default: 0] += 1
            return .deleted
        case (.unusable, _):
            rule(false, "\(index) cannot be sent")
            return .trouble(.refused)
        }
    }

    private var lastWriter: [Int: Int] = [:]

    private mutating func make(_ index: Int, key: Int) -> Machine.CallResult {
        nextRecordId += 1
        recordsByKey[key] = nextRecordId
        modIds[nextRecordId] = 0
        lastWriter[nextRecordId] = index
        effects[index, default: 0] += 1
        return .created(recordId: nextRecordId, modId: 0)
    }

    private mutating func edit(_ index: Int, _ id: Int, base: Int?) -> Machine.CallResult {
        guard let modId = modIds[id] else { return .trouble(.recordMissing) }
        guard base == nil || base == modId else { return .trouble(.modIdMismatch) }
        modIds[id] = modId + 1
        lastWriter[id] = index
        effects[index, default: 0] += 1
        return .edited(recordId: id, modId: modId + 1)
    }

    // MARK: Steps

    private mutating func obey() {
        while true {
            switch machine.next() {
            case .start(let index, let work):
                rule(running.count < machine.settings.concurrency, "no more calls than allowed")
                rule(outcomes[index] == nil, "\(index) has no outcome yet")
                if let serialKey = tasks[index].serialKey {
                    rule(lastOfLane[serialKey] ?? -1 <= index, "\(index) in the order of its serialKey")
                    rule(!running.keys.contains { tasks[$0].serialKey == serialKey }, "\(index) alone in its serialKey")
                    lastOfLane[serialKey] = index
                }
                running[index] = work
            case .ask(let count):
                rule(demand > 0, "nothing is asked for without demand")
                asked += count
                let open = tasks.count - published.count + asked
                let most = machine.settings.concurrency + min(demand, machine.settings.window)
                rule(open <= most, "\(open) rows under way, \(most) allowed")
            case .publish(let index, let outcome):
                rule(demand > 0, "nothing is published without demand")
                rule(outcomes[index] == nil, "\(index) is published once")
                demand -= 1
                outcomes[index] = outcome
                published.append(index)
            case .stop(by: let stopper):
                rule(self.stopper == nil, "it is stopped once")
                self.stopper = stopper
            case .note: rule(false, "there is no journal")
            case .setAlarm(let instant): alarm = instant
            case .end(let end):
                rule(self.end == nil, "it ends once")
                self.end = end
            case .rest: return
            }
        }
    }

    private func rule(_ holds: Bool, _ rule: String, sourceLocation: SourceLocation = #_sourceLocation) {
        if !holds { Issue.record("seed \(seed): \(rule)", sourceLocation: sourceLocation) }
    }
}

extension BatchStateMachine.RowTask {
    fileprivate var recordId: Int? { if case .record(let id) = serialKey { id } else { nil } }
    fileprivate var number: Int? { if case .key(let key) = serialKey { Int(key) } else { nil } }
}
