import FMData

@testable import FMSandbox

/// Compares what the calls were told with what is in the records of the host.
///
/// Every write leaves a mark of its own: a record with the step's number, or one more modification of the record that belongs to
/// the step alone. So it shows how often each was carried out.
struct Ledger {
    private var copies: [String: Int] = [:]
    private var modifications: [Int: Int] = [:]

    init(_ host: SimulatedHost) {
        for record in host.engine.world.tables[0].records {
            copies[record.values[0].text, default: 0] += 1
            modifications[record.id] = record.modId
        }
    }

    /// How often the write of a step was carried out.
    func executions(of write: Verb.Write, step id: Int) -> Int {
        switch write {
        case .newRecord(let letter): copies["\(letter)\(id)", default: 0]
        case .copy: copies["r\(id)", default: 0] - 1
        case .newVersion: modifications[id + 1] ?? 0
        case .removal: modifications[id + 1] == nil ? 1 : 0
        }
    }

    func check(_ calls: some Sequence<Call>, _ complain: (String) -> Void) {
        for call in calls.sorted(by: { $0.step.id < $1.step.id }) {
            guard let write = call.step.verb.write, let end = call.end else { continue }
            let count = executions(of: write, step: call.step.id)
            let name = "call \(call.step.id) \(call.step.verb)"
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
}
