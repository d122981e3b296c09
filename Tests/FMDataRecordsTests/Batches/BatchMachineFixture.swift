import FMData
import NIOCore
import OpenCombine

@testable import FMDataCore
@testable import FMDataRecords

/// A state machine with a clock and short methods for its events. Each returns the steps that the machine asks for,
/// except for the rows that it asks for and the alarm, which are kept apart.
struct BatchMachineFixture {
    typealias Machine = BatchStateMachine
    typealias Action = Machine.Action

    var machine: Machine
    var jitter = 1.0
    private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    /// The number of rows that were asked for in all.
    private(set) var asked = 0
    private(set) var alarm: NIODeadline?
    private var nextIndex = 0

    /// Allows four calls at once and has unlimited demand, unless something else is given.
    init(demand: Subscribers.Demand = .unlimited, _ change: (inout Machine.Settings) -> Void = { _ in }) {
        var settings = Machine.Settings()
        settings.concurrency = 4
        change(&settings)
        machine = Machine(settings: settings)
        if demand > .none { machine.requested(demand) }
        _ = steps()
    }

    /// Takes all steps that are due.
    mutating func steps() -> [Action] {
        var steps: [Action] = []
        while true {
            let step = machine.next()
            switch step {
            case .rest: return steps
            case .ask(let count): asked += count
            case .setAlarm(let instant): alarm = instant
            case .start, .note, .publish, .stop, .end: steps.append(step)
            }
        }
    }

    mutating func request(_ demand: Subscribers.Demand) -> [Action] {
        machine.requested(demand)
        return steps()
    }

    /// Lets rows arrive, numbered from 0.
    mutating func receive(_ tasks: Machine.RowTask...) -> [Action] {
        for task in tasks {
            machine.received(nextIndex, task)
            nextIndex += 1
        }
        return steps()
    }

    mutating func inputEnds(hasFailed: Bool = false) -> [Action] {
        machine.upstreamEnded(hasFailed: hasFailed)
        return steps()
    }

    /// Reports that the attempts of these rows are in the journal.
    mutating func noted(_ indexes: Int...) -> [Action] {
        for index in indexes { machine.noted(index) }
        return steps()
    }

    mutating func answer(_ index: Int, _ answer: Machine.CallResult) -> [Action] {
        machine.answered(index, answer, jitter: jitter, now: now)
        return steps()
    }

    mutating func trouble(_ index: Int, _ trouble: BatchTrouble) -> [Action] { answer(index, .trouble(trouble)) }

    mutating func created(_ index: Int) -> [Action] { answer(index, .created(recordId: 100 + index, modId: 0)) }

    /// Answers a lookup with one record.
    mutating func found(
        _ index: Int,
        _ outcome: WriteOutcome = .carriedOut,
        recordId: Int = 7,
        modId: Int
    ) -> [Action] {
        answer(index, .found(.one(recordId, modId: modId, outcome)))
    }

    mutating func foundNothing(_ index: Int) -> [Action] { answer(index, .found(.nothing)) }

    /// Advances the clock to the alarm and fires it.
    mutating func ring() -> [Action] {
        guard let alarm else { return [] }
        now = alarm
        self.alarm = nil
        machine.wakeUp(now: now)
        return steps()
    }

    /// The time until the alarm.
    var untilAlarm: TimeAmount? { alarm.map { $0 - now } }
}

extension BatchStateMachine.RowTask {
    static let create = Self(kind: .create(hasKey: false))
    static let createWithKey = Self(kind: .create(hasKey: true))

    static func edit(_ recordId: Int = 7, base: Int? = nil) -> Self {
        Self(kind: .edit(base: base), serialKey: .record(recordId))
    }

    static func delete(_ recordId: Int = 7) -> Self { Self(kind: .delete, serialKey: .record(recordId)) }
    static func upsert(_ key: String = "a") -> Self { Self(kind: .upsert, serialKey: .key(key)) }

    /// The same row in a later run, in which it may have been carried out already.
    var perhapsDone: Self {
        perhapsDone(until: .uptimeNanoseconds(1_000_000_000_000))
    }

    /// - Parameter end: the time at which the host can no longer be working on the row.
    func perhapsDone(until end: NIODeadline, over: WrittenVersion? = nil) -> Self {
        var task = self
        task.attempt = BatchStateMachine.OpenAttempt(over: over, isOverAt: end)
        return task
    }
}

extension BatchStateMachine.LookupResult {
    static func one(_ recordId: Int = 7, modId: Int, _ outcome: WriteOutcome = .carriedOut) -> Self {
        Self(outcome: outcome, record: WrittenVersion(recordId: recordId, modId: modId))
    }

    static let several = Self(outcome: .undecided(.severalRecords), isAmbiguous: true)
}

extension BatchStateMachine.Action {
    static func write(_ index: Int, over recordId: Int? = nil, modId: Int = 0) -> Self {
        .start(index, .write(over: recordId.map { WrittenVersion(recordId: $0, modId: modId) }))
    }

    static func view(_ index: Int) -> Self { .start(index, .lookUp) }
    static func failed(_ index: Int, _ failure: BatchStateMachine.Failure = .lastError) -> Self {
        .publish(index, .failed(failure))
    }
    static func unknown(_ index: Int, _ doubt: WriteOutcome.Doubt? = nil) -> Self { .publish(index, .unknown(doubt)) }
    static func stopped(by index: Int) -> Self { .stop(by: .row(index)) }
    static func skipped(_ index: Int) -> Self { .publish(index, .skipped) }
    static func made(_ index: Int) -> Self { .publish(index, .created(recordId: 100 + index, modId: 0)) }
}

extension BatchTrouble {
    static let answerLost = BatchTrouble.outcomeUnknown(isTimeout: false)
}
