/// Asks a log that the file keeps of its commits, and compares all ids and modIds when there are new entries: the log says that
/// something was touched, and only the query says what of it is its own.
struct LogPolling: PollStrategy {
    let layout: String
    let serial: String
    /// After how many polls all ids are compared whatever the log says: not everything that happens is logged.
    let reconcile: Int

    private enum Stage: Hashable {
        case newest, filling, entries, listing, reading
    }

    /// The greatest serial number that was dealt with.
    private(set) var last: Int?
    /// Since all ids were compared.
    private var polls = 0

    // Of the poll under way.
    private var stage = Stage.newest
    private var isBlank = true
    private var greatest: Int?
    private var hasEntries = false
    private var isInMotion = false
    private var hasChanges = false

    init(layout: String, serial: String, reconcile: Int) {
        self.layout = layout
        self.serial = serial
        self.reconcile = max(1, reconcile)
    }

    var watch: DataAPI.LiveWatch { .log(layout, serial: serial, reconcile: reconcile) }

    var memory: PollMemory { PollMemory(serial: last) }

    mutating func resume(_ memory: PollMemory) { last = memory.serial }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion {
        isBlank = known.isBlank
        greatest = nil
        hasEntries = false
        isInMotion = false
        hasChanges = false
        guard let last, !known.isBlank else {
            // Taken first, so that nothing falls between the mark and the records.
            stage = .newest
            return .entries(layout: layout, serial: serial, after: nil)
        }
        polls += 1
        stage = .entries
        return .entries(layout: layout, serial: serial, after: last)
    }

    mutating func received(_ page: PollPage) {
        switch stage {
        case .newest, .entries:
            greatest = (page.serials + [greatest]).compactMap(\.self).max()
            hasEntries = hasEntries || !page.rows.isEmpty
            isInMotion = isInMotion || page.isInMotion
        case .listing: hasChanges = hasChanges || page.changed > 0
        case .filling, .reading: break
        }
    }

    mutating func answered() -> PollStep {
        switch stage {
        case .newest:
            last = greatest ?? 0
            polls = 0
            guard isBlank else { return list() }
            stage = .filling
            return .ask(.records)
        case .entries:
            // What moved while the entries were read may have hidden one.
            if !isInMotion, let last, let greatest { self.last = max(last, greatest) }
            return hasEntries || polls >= reconcile ? list() : .done(.changes)
        case .listing:
            stage = .reading
            return hasChanges ? .ask(.changes(key: nil)) : .done(.all)
        case .filling, .reading: return .done(.all)
        }
    }

    private mutating func list() -> PollStep {
        polls = 0
        stage = .listing
        return .ask(.versions(layout: nil, key: nil))
    }
}
