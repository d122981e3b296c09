import FMDataCore
import FMDataRecords

/// Compares the ids and modIds that a script returns, and reads the changed records.
struct ScriptPolling: PollStrategy {
    let name: String
    let parameter: String?
    private var hasChanges = false
    /// Whether the changed records are being read.
    private var isReading = false

    init(name: String, parameter: String?) {
        self.name = name
        self.parameter = parameter
    }

    var watch: DataAPI.LiveWatch { .script(name, parameter: parameter) }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion {
        hasChanges = false
        isReading = false
        return .script(name: name, parameter: parameter)
    }

    mutating func received(_ page: PollPage) { hasChanges = hasChanges || page.changed > 0 }

    mutating func answered() -> PollStep {
        guard hasChanges, !isReading else { return .done(.all) }
        isReading = true
        return .ask(.changes(key: nil))
    }
}
