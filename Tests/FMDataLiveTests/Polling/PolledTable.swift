import FMData
import Foundation

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// A table in memory that answers the questions of polls page by page, as a host would: without publishers and without
/// time.
struct PolledTable {
    struct Row: Equatable {
        var id: Int
        var modId = 0
        var stamp: FMTimestamp?
        /// Whether the query finds it.
        var isFound = true
        /// Whether it can be decoded.
        var isReadable = true
    }

    var rows: [Row] = []
    var pageSize = 100
    /// The number of records that the account cannot see.
    var unseen = 0
    var date: Date?
    /// The serial numbers of the log.
    var log: [Int] = []
    var related: [DataAPI.RecordVersion] = []
    /// Whether every page after the first shows that the table has changed since.
    var isInMotion = false

    var found: [Row] { rows.filter(\.isFound) }

    /// Makes this many records, the first of them modified at midnight and each further one a second later.
    init(_ count: Int) {
        rows = (0..<count).map { Row(id: $0 + 1, stamp: Self.stamp($0)) }
    }

    /// The instant this many seconds after midnight of a day.
    static func stamp(_ second: Int) -> FMTimestamp {
        guard let midnight = FMTimestamp("2026-05-04T00:00:00") else { preconditionFailure("a day") }
        return midnight.moved(by: .seconds(second))
    }

    mutating func edit(_ id: Int, at stamp: FMTimestamp?, _ change: (inout Row) -> Void = { _ in }) {
        guard let place = rows.firstIndex(where: { $0.id == id }) else { return }
        rows[place].modId += 1
        rows[place].stamp = stamp
        change(&rows[place])
    }

    mutating func delete(_ id: Int) { rows.removeAll { $0.id == id } }

    /// Answers a question, in pages.
    func answer(_ question: PollQuestion, _ run: PollRun<FieldData>) -> [PollRun<FieldData>.AnswerPage] {
        switch question {
        case .records: pages(found, isWhole: true)
        case .versions(_, let key): pages(found, hasKeys: key != nil)
        case .modified(_, let since, _): pages(found.filter { $0.stamp.map { $0 >= since } ?? false })
        case .modifiedRecords(_, let since):
            pages(found.filter { $0.stamp.map { $0 >= since } ?? false }, isWhole: true)
        case .newest(let count, _, _):
            pages(Array(newest.prefix(count)))
        case .count: pages(Array(found.prefix(1)), foundCount: found.count)
        case .entries(_, _, let last):
            [PollRun.AnswerPage(page: serials(last.map { last in log.filter { $0 > last } } ?? Array(log.suffix(1))))]
        case .script: pages(found)
        case .changes:
            pages(run.unread.compactMap { record in rows.first { $0.id == record.id } }, isWhole: true)
        case .related: [PollRun.AnswerPage(page: PollPage(rows: related))]
        case .record(let id): pages(rows.filter { $0.id == id }, isWhole: true)
        }
    }

    /// The rows with a stamp, those modified last first.
    private var newest: [Row] {
        rows.compactMap { row in row.stamp.map { (row: row, stamp: $0) } }
            .sorted { $0.stamp > $1.stamp }
            .map { $0.row }
    }

    private func serials(_ serials: [Int]) -> PollPage {
        PollPage(rows: serials.map { DataAPI.RecordVersion(recordId: $0, modId: 0) }, serials: serials)
    }

    private func pages(
        _ rows: [Row],
        isWhole: Bool = false,
        hasKeys: Bool = false,
        foundCount: Int? = nil
    ) -> [PollRun<FieldData>.AnswerPage] {
        stride(from: 0, to: rows.count, by: pageSize).map { start in
            let rows = rows[start..<min(start + pageSize, rows.count)]
            return PollRun.AnswerPage(
                page: PollPage(
                    rows: rows.map { DataAPI.RecordVersion(recordId: $0.id, modId: $0.modId) },
                    stamps: rows.map(\.stamp),
                    foundCount: foundCount ?? rows.count,
                    tableCount: self.rows.count + unseen,
                    date: date,
                    isInMotion: isInMotion && start > 0
                ),
                attempts: isWhole ? rows.map(Self.attempt) : [],
                keys: hasKeys ? rows.map { PageKey(text: "key \($0.id)") } : []
            )
        }
    }

    private static func attempt(_ row: Row) -> RecordAttempt<FieldData, DataAPI.EmptyPortal> {
        row.isReadable
            ? .record(DataAPI.Record(fieldData: [:], recordId: row.id, modId: row.modId))
            : .unreadable(
                DataAPI.UnreadableRecord(
                    recordId: row.id,
                    modId: row.modId,
                    failure: DecodingFailure(missing: DecodingKey("Name"), in: DecodingKey("fieldData"))
                )
            )
    }
}

/// The known modIds, by record id.
struct HeldTable: HeldVersions {
    var isBlank = false
    let versions: [Int: Int]
    var undecodable: Set<Int> = []
    var count: Int { versions.count }

    func modId(of id: Int, near place: Int) -> Int? { versions[id] }
}

/// Polls a ``PolledTable`` with a strategy, and records what every poll asked for and found.
struct RecordedPolls {
    private(set) var strategy: any PollStrategy
    private(set) var held: [Int: Int] = [:]
    private var undecodable: Set<Int> = []
    private var isBlank = true
    var isWholeTable = true
    var isSorted = false
    var comparesContents = false

    init(_ strategy: any PollStrategy) {
        self.strategy = strategy
    }

    struct Poll: Equatable {
        var asked: [String] = []
        /// The number of rows that were transferred.
        var rows = 0
        /// The ids of the records that were new or changed.
        var news: [Int] = []
        /// The ids of the known records that the poll has not found; `nil` if it does not tell.
        var missing: [Int]?
    }

    /// Makes one poll and accepts its findings.
    mutating func poll(_ table: PolledTable) throws -> Poll {
        var poll = Poll()
        var run = PollRun<FieldData>(
            strategy,
            HeldTable(isBlank: isBlank, versions: held, undecodable: undecodable),
            isWholeTable: isWholeTable,
            isSorted: isSorted,
            comparesContents: comparesContents
        )
        var read: [PollRun<FieldData>.Attempt] = []
        var scope: PollScope?
        repeat {
            poll.asked.append(run.question.name)
            for answer in table.answer(run.question, run) {
                poll.rows += answer.page.rows.count
                read += try run.received(answer)
            }
            scope = try run.answered()
        } while scope == nil
        let findings = run.findings(scope ?? .all, read)
        strategy = findings.strategy
        isBlank = false
        poll.news = findings.read.map(\.version.recordId)
        if let order = findings.order {
            let missing = Set(held.keys).subtracting(order).sorted()
            for id in missing { held[id] = nil }
            poll.missing = missing
        }
        for attempt in findings.read {
            held[attempt.version.recordId] = attempt.version.modId
            undecodable.remove(attempt.version.recordId)
            if let unreadable = attempt.unreadable { undecodable.insert(unreadable.recordId) }
        }
        return poll
    }
}

extension PollQuestion {
    fileprivate var name: String {
        switch self {
        case .records: "records"
        case .versions: "versions"
        case .modified: "modified"
        case .modifiedRecords: "modified records"
        case .newest: "newest"
        case .count: "count"
        case .entries: "entries"
        case .script: "script"
        case .changes: "changes"
        case .related: "related"
        case .record: "record"
        }
    }
}
