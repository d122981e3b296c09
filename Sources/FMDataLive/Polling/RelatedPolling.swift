import FMDataCore
import FMDataRecords

/// Reads all records again after a number of polls, or when a related table has changed, and uses another strategy in
/// between.
struct RelatedPolling: PollStrategy {
    let related: DataAPI.LiveRelated
    private var strategy: any PollStrategy
    /// How many polls there were since all records were read because of related data.
    private var polls = 0
    /// A digest of the related records' ids and modIds; `nil` before the first poll.
    private var digest: UInt64?

    private enum Stage: Hashable {
        case related, records, strategy
    }

    // State of the poll under way.
    private var stage = Stage.strategy
    private var known = PollKnowledge(isBlank: true, count: 0, isWholeTable: true, isSorted: false)
    private var found = VersionDigest()

    init(_ related: DataAPI.LiveRelated, _ strategy: any PollStrategy) {
        self.related = related
        self.strategy = strategy
    }

    var watch: DataAPI.LiveWatch { strategy.watch }

    var memory: PollMemory {
        var memory = strategy.memory
        memory.related = digest
        return memory
    }

    mutating func resume(_ memory: PollMemory) {
        digest = memory.related
        strategy.resume(memory)
    }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion {
        self.known = known
        found = VersionDigest()
        switch related {
        case .reread(let count) where polls + 1 >= max(1, count) && !known.isBlank:
            polls = 0
            stage = .records
            return .records
        case .watch(let layout):
            stage = .related
            return .related(layout: layout)
        case .ignore, .reread:
            polls = known.isBlank ? 0 : polls + 1
            stage = .strategy
            return strategy.begin(known)
        }
    }

    mutating func received(_ page: PollPage) throws(PollFailure) {
        switch stage {
        case .strategy: try strategy.received(page)
        case .related: for row in page.rows { found.add(row) }
        case .records: break
        }
    }

    mutating func answered() -> PollStep {
        switch stage {
        case .strategy: return strategy.answered()
        case .records: return .done(.all)
        case .related:
            let isSame = found.value == digest
            digest = found.value
            // If nothing is known yet, the strategy reads all records anyway.
            stage = isSame || known.isBlank ? .strategy : .records
            return .ask(stage == .records ? .records : strategy.begin(known))
        }
    }
}

/// A digest of ids and modIds. It changes when any of them changes.
struct VersionDigest: Hashable, Sendable {
    private(set) var value = EmptyCollection<UInt8>().fnv1a()

    mutating func add(_ version: DataAPI.RecordVersion) {
        for number in [version.recordId, version.modId] {
            value = withUnsafeBytes(of: number.littleEndian) { $0.fnv1a(from: value) }
        }
    }
}
