import FMDataCore
import FMDataRecords

/// Reads a log that the file keeps of its commits, and compares all ids and modIds when it has new entries: the log
/// shows that something was written, but not whether it concerns the query.
struct LogPolling: PollStrategy {
    let layout: String
    let serial: String
    /// After how many polls all ids are compared regardless of the log, as not every change is logged.
    let reconcile: Int

    private enum Stage: Hashable {
        case newest, filling, entries, listing, reading
    }

    /// The greatest serial number that was processed.
    private(set) var last: Int?
    /// How many polls there were since all ids were compared.
    private var polls = 0

    // State of the poll under way.
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
            // The log is read before the records, so that no change falls between the two.
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
            // If the log changed while it was read, an entry may have been missed: the mark stays.
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
