import FMDataCore
import FMDataRecords

/// Compares the ids and modIds of all records with those that are known, and reads what has changed.
struct ScanPolling: PollStrategy {
    /// The layout through which ids and modIds are read; `nil` is the query's own.
    let layout: String?
    /// The field of that layout by which changed records are read; `nil` for none.
    let key: String?
    private var hasChanges = false
    /// Whether the records themselves are being read.
    private var isReading = false

    init(layout: String?, key: String? = nil) {
        self.layout = layout
        self.key = key
    }

    var watch: DataAPI.LiveWatch { layout.map { .scan($0, key: key) } ?? .automatic }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion {
        hasChanges = false
        isReading = known.isBlank
        return known.isBlank ? .records : .versions(layout: layout, key: key)
    }

    mutating func received(_ page: PollPage) { hasChanges = hasChanges || page.changed > 0 }

    mutating func answered() -> PollStep {
        guard hasChanges, !isReading else { return .done(.all) }
        isReading = true
        return .ask(.changes(key: key))
    }
}

/// Reads a small set again in each poll; of a larger one, compares the ids and modIds, through the query's own layout.
struct AutomaticPolling: PollStrategy {
    /// The most records that are read again in each poll; that takes a few requests, one per page.
    static let mostReread = 500

    private var strategy: any PollStrategy = RereadPolling(maximum: .max)

    var watch: DataAPI.LiveWatch { strategy.watch }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion {
        strategy = known.count > Self.mostReread ? ScanPolling(layout: nil) : RereadPolling(maximum: .max)
        return strategy.begin(known)
    }

    mutating func received(_ page: PollPage) throws(PollFailure) { try strategy.received(page) }

    mutating func answered() -> PollStep { strategy.answered() }
}
