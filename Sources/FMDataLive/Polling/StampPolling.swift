import FMDataCore
import FMDataRecords
import Foundation

/// Finds recently modified records by a timestamp field. The mark from which it searches comes from the data, never
/// from the client's clock.
///
/// Deleted records have no timestamp. A deletion shows in the record count; a list of all ids shows which records were
/// deleted.
struct StampPolling: PollStrategy {
    /// At least this many of the newest timestamps stay at or after the mark: a few records with timestamps in the
    /// future must not hide what is written later.
    static let support = 50
    private static let mostSupport = 3_200

    let field: String
    /// The layout through which ids, modIds and timestamps are read; `nil` is the query's own.
    let layout: String?
    let overlap: Duration
    /// After how many polls all ids are compared.
    let reconcile: Int

    private enum Stage: Hashable {
        case newest, filling
        case modified(since: FMTimestamp)
        case reading, counting, listing, readingListed
    }

    /// The timestamp from which the next poll searches, before the overlap is subtracted.
    private(set) var mark: FMTimestamp?
    private var support = Self.support
    /// How many polls there were since all ids were compared.
    private var polls = 0
    /// How many records of the table the account may not see.
    private var unseen = 0

    // State of the poll under way.
    private var stage = Stage.newest
    private var known = PollKnowledge(isBlank: true, count: 0, isWholeTable: true, isSorted: false)
    private var stamps: [FMTimestamp] = []
    private var changed = 0
    /// How many of the changed records were not read yet.
    private var unread = 0
    private var arrivals = 0
    private var listed = 0
    private var listedChanged = 0
    private var tableCount: Int?
    private var foundCount: Int?
    private var isInMotion = false

    init(field: String, layout: String?, overlap: Duration, reconcile: Int) {
        self.field = field
        self.layout = layout
        self.overlap = overlap
        self.reconcile = max(1, reconcile)
    }

    var watch: DataAPI.LiveWatch { .stamp(field, scan: layout, overlap: overlap, reconcile: reconcile) }

    var memory: PollMemory { PollMemory(stamp: mark?.description, unseen: unseen) }

    mutating func resume(_ memory: PollMemory) {
        mark = memory.stamp.flatMap(FMTimestamp.init)
        unseen = memory.unseen ?? 0
    }

    mutating func begin(_ known: PollKnowledge) -> PollQuestion {
        self.known = known
        stamps = []
        changed = 0
        unread = 0
        arrivals = 0
        listed = 0
        listedChanged = 0
        tableCount = nil
        foundCount = nil
        isInMotion = false
        guard let mark, !known.isBlank else {
            // The timestamps are read before the records, so that no change falls between the mark and the records.
            stage = .newest
            return .newest(support, field: field, layout: layout)
        }
        polls += 1
        let since = mark.moved(by: .zero - overlap)
        stage = .modified(since: since)
        return .modified(field: field, since: since, layout: layout)
    }

    mutating func answered() -> PollStep {
        switch stage {
        case .newest:
            mark = stamps.last
            stamps = []
            polls = 0
            if known.isBlank {
                stage = .filling
                return .ask(.records)
            }
            return list()
        case .modified(let since):
            moveMark()
            if polls >= reconcile { return list() }
            guard changed > 0 else { return counted() }
            stage = .reading
            return .ask(
                changed > ReadPlan.mostSingles ? .modifiedRecords(field: field, since: since) : .changes(key: nil)
            )
        case .reading:
            unread = 0
            return counted()
        case .counting: return compared(to: foundCount)
        case .filling:
            noteUnseen()
            return .done(.all)
        case .listing:
            noteUnseen()
            learn()
            polls = 0
            stage = .readingListed
            return listedChanged > 0 ? .ask(.changes(key: nil)) : .done(.all)
        case .readingListed: return .done(.all)
        }
    }

    mutating func received(_ page: PollPage) {
        switch stage {
        case .newest, .modified:
            // A timestamp later than every time zone's clock is invalid: ignore it.
            let latest = page.date.flatMap(FMTimestamp.init(latestAt:))
            stamps += page.stamps.compactMap(\.self).filter { stamp in latest.map { stamp <= $0 } ?? true }
            isInMotion = isInMotion || page.isInMotion
            if stage != .newest {
                changed += page.changed
                unread += page.changed
                arrivals += page.arrivals
            }
        case .filling: listed += page.rows.count
        case .listing:
            listed += page.rows.count
            listedChanged += page.changed
        case .counting: foundCount = page.foundCount
        case .reading, .readingListed: break
        }
        tableCount = page.tableCount ?? tableCount
    }

    /// Moves the mark forward to the newest timestamps, never back. If records moved while they were read, some may
    /// have been missed: the mark stays.
    private mutating func moveMark() {
        guard !isInMotion else { return }
        let newest = stamps.sorted(by: >)
        guard let last = newest.prefix(support).last, newest.count >= support, let mark, last > mark else { return }
        self.mark = last
    }

    /// Compares counts: if the table has as many records as are known plus those that were added, none was deleted.
    private mutating func counted() -> PollStep {
        if known.isSorted, changed > 0 { return list() }
        if known.isWholeTable, let tableCount { return compared(to: tableCount - unseen) }
        stage = .counting
        return .ask(.count)
    }

    private mutating func compared(to count: Int?) -> PollStep {
        count == known.count + arrivals ? .done(.changes) : list()
    }

    private mutating func list() -> PollStep {
        stage = .listing
        return .ask(.versions(layout: layout, key: nil))
    }

    /// Adapts the support. If the list of all ids shows changes that the timestamps did not, timestamps in the future
    /// have hidden them: four times as many stay after the mark from now on, else half as many, within the limits.
    private mutating func learn() {
        guard polls > 0 else { return }
        support =
            listedChanged > unread ? min(Self.mostSupport, 4 * support) : max(Self.support, support / 2)
    }

    private mutating func noteUnseen() {
        guard known.isWholeTable, let tableCount else { return }
        unseen = tableCount - listed
    }
}

extension FMTimestamp {
    /// The latest local time in any time zone at an instant: that of a zone 14 hours ahead of GMT.
    fileprivate init?(latestAt instant: Date) {
        self.init(instant.addingTimeInterval(14 * 3_600), in: .gmt)
    }
}
