import FMDataCore
import FMDataRecords

/// Reads all records again in each poll.
struct RereadPolling: PollStrategy {
    /// The most records; a poll that finds more fails.
    let maximum: Int
    private var count = 0

    init(maximum: Int) {
        self.maximum = maximum
    }

    var watch: DataAPI.LiveWatch { .reread }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion {
        count = 0
        return .records
    }

    mutating func received(_ page: PollPage) throws(PollFailure) {
        count += page.rows.count
        guard count <= maximum else { throw .tooMany(maximum) }
    }

    mutating func answered() -> PollStep { .done(.all) }
}

/// Reads one record again in each poll.
struct RecordPolling: PollStrategy {
    let id: Int

    var watch: DataAPI.LiveWatch { .reread }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion { .record(id) }

    mutating func received(_ page: PollPage) {}

    mutating func answered() -> PollStep { .done(.all) }
}
