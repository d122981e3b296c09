import FMData

@testable import FMSandbox

/// Compares the results of calls with the records of the host.
///
/// Every write has its own effect: a record with the step's number, or one more modification of the record that belongs
/// to the step alone. So the number of its executions can be counted.
struct Ledger {
    private var copies: [String: Int] = [:]
    private var modifications: [Int: Int] = [:]

    init(_ host: SimulatedHost) {
        for record in host.engine.world.tables[0].records {
            copies[record.values[0].text, default: 0] += 1
            modifications[record.id] = record.modId
        }
    }

    /// The number of executions of a step's write; `nil` for one of several rows.
    private func executions(of write: Verb.Write, step id: Int) -> Int? {
        switch write {
        case .newRecord(let letter): copies["\(letter)\(id)", default: 0]
        case .copy: copies["r\(id)", default: 0] - 1
        case .newVersion: modifications[id + 1] ?? 0
        case .removal: modifications[id + 1] == nil ? 1 : 0
        case .newRecords, .newVersions: nil
        }
    }

    func check(_ calls: some Sequence<Call>, _ complain: (String) -> Void) {
        for call in calls.sorted(by: { $0.step.id < $1.step.id }) {
            guard let write = call.step.verb.write, let end = call.end else { continue }
            let name = "call \(call.step.id) \(call.step.verb)"
            guard let count = executions(of: write, step: call.step.id) else {
                checkRows(of: call, write) { complain("\(name): \($0)") }
                continue
            }
            if count > 1 { complain("\(name): executed \(count) times") }
            switch end {
            case .finished where count == 0: complain("\(name): acknowledged, and not executed")
            case .failed(let error) where !error.outcomeIsUnknown && count > 0:
                complain("\(name): executed, and told as not executed: \(error)")
            case .failed(let error) where error.outcomeIsUnknown && error.isRetryable:
                complain("\(name): may have been executed, and is said to be retryable: \(error)")
            case .cancelled where call.step.cancel == .beforeDemand && count > 0:
                complain("\(name): executed though nobody asked")
            case .cancelled where !call.values.isEmpty && count == 0:
                complain("\(name): acknowledged before it was cancelled, and not executed")
            default: break
            }
        }
    }

    /// Checks a call with several rows: each must be executed at most once, and as often as reported.
    private func checkRows(of call: Call, _ write: Verb.Write, _ complain: (String) -> Void) {
        let told = Dictionary(
            call.values.compactMap { value in
                if case .row(let index, let outcome) = value { (index, outcome) } else { nil }
            }
        ) { first, _ in first }
        switch write {
        case .newRecords(let letter, let isAtomic):
            let counts = (0..<Verb.rows).map { copies["\(letter)\(call.step.id)x\($0)", default: 0] }
            for (row, count) in counts.enumerated() {
                if count > 1 { complain("row \(row) was executed \(count) times") }
                switch told[row] {
                case .done where count == 0: complain("row \(row) was acknowledged, and not executed")
                case .failed where count > 0, .skipped where count > 0:
                    complain("row \(row) was executed, and told as not executed")
                case nil where call.step.cancel == .beforeDemand && count > 0:
                    complain("row \(row) was executed though nobody asked")
                default: break
                }
            }
            if isAtomic, Set(counts).count > 1 { complain("rows of one commit were executed \(counts) times") }
        case .newVersions:
            let count = modifications[call.step.id + 1] ?? 0
            let done = told.values.count { $0 == .done }
            let open = told.values.count { $0 == .unknown } + Verb.rows - told.count
            if count < done { complain("\(done) rows were acknowledged, and \(count) executed") }
            if count > done + open { complain("\(count) rows were executed, \(done) acknowledged, \(open) left open") }
        case .newRecord, .copy, .newVersion, .removal: break
        }
    }
}
