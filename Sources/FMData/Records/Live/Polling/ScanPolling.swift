/// Compares the ids and modIds of all records with those that are known, and reads what has changed.
struct ScanPolling: PollStrategy {
    /// Through which layout ids and modIds are read; `nil` is the query's own.
    let layout: String?
    /// By which field of that layout changed records are read.
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

/// Reads a small set again, and compares the ids and modIds of a larger one, through its own layout.
struct AutomaticPolling: PollStrategy {
    /// The most records that are read again: a page of them is one request.
    static let mostReread = 500

    private var way: any PollStrategy = RereadPolling(maximum: .max)

    var watch: DataAPI.LiveWatch { way.watch }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion {
        way = known.count > Self.mostReread ? ScanPolling(layout: nil) : RereadPolling(maximum: .max)
        return way.begin(known)
    }

    mutating func received(_ page: PollPage) throws(PollFailure) { try way.received(page) }

    mutating func answered() -> PollStep { way.answered() }
}
