import FMDataCore
import FMDataRecords
import Foundation
import NIOCore

/// A poll under way: its strategy's current question and what has been received so far. A pure value that maps answers
/// to questions.
struct PollRun<R: RecordFields> {
    typealias Attempt = RecordAttempt<R, R.Portals>

    /// A page of an answer, in the form that the question needs.
    struct AnswerPage {
        var page = PollPage()
        /// The records, if the question asks for whole ones.
        var attempts: [Attempt] = []
        /// One per row, if the question asks for keys; `nil` if the layout does not show the key.
        var keys: [PageKey?]? = []
    }

    private(set) var strategy: any PollStrategy
    private let held: any HeldVersions
    /// Whether records that are read again are compared by their contents, not by their modId alone.
    private let comparesContents: Bool

    private(set) var question: PollQuestion
    /// The ids of the last complete list.
    private var listed: [Int] = []
    /// How many records of the last list of whole records cannot be decoded, and the first of them.
    private var unreadable: (count: Int, first: DataAPI.UnreadableRecord)?
    /// How many records the host had counted when the list began.
    private var total: Int?
    private var isInconsistent = false
    /// The modIds of the records that this poll has read, by record id.
    private var read: [Int: Int] = [:]
    /// The changed records, by record id, and those to be read again.
    private var changed: [Int: ChangedRecord] = [:]
    /// The known records that could not be decoded and were not asked for since. Whether they can be decoded depends
    /// on more than their versions: on fields of the layout, and on calculations. So each poll reads them again.
    private var undecodable: Set<Int>
    /// The field whose values came with the list of versions.
    private var key: String?
    /// Set when the strategy is done, and the poll reads undecodable records again.
    private var scope: PollScope?

    init(
        _ strategy: any PollStrategy,
        _ held: any HeldVersions,
        isWholeTable: Bool,
        isSorted: Bool,
        comparesContents: Bool
    ) {
        var strategy = strategy
        self.held = held
        self.comparesContents = comparesContents
        undecodable = held.undecodable
        let question = strategy.begin(
            PollKnowledge(
                isBlank: held.isBlank,
                count: held.count,
                isWholeTable: isWholeTable,
                isSorted: isSorted
            )
        )
        self.strategy = strategy
        self.question = question
    }

    /// Receives a page.
    ///
    /// - Returns: the new records: those not held in this version, or to be compared by contents.
    mutating func received(_ answer: AnswerPage) throws -> [Attempt] {
        guard let keys = answer.keys else {
            guard case .versions(let layout, let key?) = question else { return [] }
            throw PollFailure.noKey(key, layout: layout)
        }
        var page = answer.page
        var news: [Attempt] = []
        if question.isList {
            total = total ?? page.foundCount
            isInconsistent = isInconsistent || page.isInMotion
        }
        switch question {
        case .records, .record, .modifiedRecords:
            for (attempt, row) in zip(answer.attempts, page.rows) {
                let isChanged = note(row, near: listed.count, &page)
                let isAgain = undecodable.remove(row.recordId) != nil
                if question.isList { listed.append(row.recordId) }
                if case .unreadable(let record) = attempt {
                    unreadable = ((unreadable?.count ?? 0) + 1, unreadable?.first ?? record)
                    news.append(attempt)
                } else if isChanged || comparesContents || isAgain {
                    news.append(attempt)
                }
                // After a list of whole records nothing more is read, so these need no note.
                if !question.isList { read[row.recordId] = row.modId }
            }
        case .changes:
            for (attempt, row) in zip(answer.attempts, page.rows) where changed[row.recordId] != nil {
                guard read[row.recordId] != row.modId else { continue }
                read[row.recordId] = row.modId
                news.append(attempt)
            }
        case .versions, .script, .modified:
            for (index, row) in page.rows.enumerated() {
                let isChanged = note(row, near: listed.count, &page)
                if question.isList { listed.append(row.recordId) }
                guard isChanged || undecodable.contains(row.recordId) else { continue }
                changed[row.recordId] = ChangedRecord(
                    id: row.recordId,
                    place: question.isList ? listed.count : nil,
                    key: keys.isEmpty ? nil : keys[index]
                )
            }
        case .newest, .count, .entries, .related: break
        }
        if case .versions(_, let key) = question { self.key = key }
        if scope == nil { try strategy.received(page) }
        return news
    }

    /// The answer is complete.
    ///
    /// - Returns: the scope of the findings when the poll is done; `nil` when there is another question.
    mutating func answered() throws -> PollScope? {
        try checkUnreadable()
        if let scope { return scope }
        switch strategy.answered() {
        case .done(let scope):
            changed = changed.filter { undecodable.contains($0.key) }
            if scope == .changes {
                // Of those that no list has shown, as many as are read one by one.
                let others = undecodable.filter { changed[$0] == nil }.sorted()
                for id in others.prefix(ReadPlan.mostSingles) { changed[id] = ChangedRecord(id: id) }
            }
            guard !changed.isEmpty else { return scope }
            self.scope = scope
            question = .changes(key: key)
            return nil
        case .ask(let next):
            question = next
            if case .changes = question { undecodable.subtract(changed.keys) }
            if question.isList {
                listed = []
                total = nil
                unreadable = nil
            }
            return nil
        }
    }

    /// Throws if no record at all can be decoded: then the type or the layout is wrong, not the records.
    private func checkUnreadable() throws {
        guard let unreadable, unreadable.count == listed.count else { return }
        switch question {
        case .records where listed.count > 1, .record: throw FMRest.APIError(wrapping: unreadable.first.failure)
        default: break
        }
    }

    /// The changed records that were not read yet, and those to be read again, in the order of their ids.
    var unread: [ChangedRecord] { changed.values.filter { read[$0.id] == nil }.sorted { $0.id < $1.id } }

    /// Whether the version is new. If so, counts it for the strategy.
    private func note(_ row: DataAPI.RecordVersion, near place: Int, _ page: inout PollPage) -> Bool {
        guard read[row.recordId] != row.modId else { return false }
        let known = held.modId(of: row.recordId, near: place)
        guard known != row.modId else { return false }
        page.changed += 1
        if known == nil { page.arrivals += 1 }
        return true
    }

    /// The findings of the complete poll.
    func findings(_ scope: PollScope, _ read: [Attempt]) -> PollFindings<R> {
        let isWhole = scope == .all
        return PollFindings(
            order: isWhole ? listed : nil,
            read: read,
            isInconsistent: isInconsistent,
            isShort: isWhole && (total.map { listed.count < $0 } ?? false),
            strategy: strategy
        )
    }
}

extension PollQuestion {
    /// Whether the answer is a list of all of the query's records.
    fileprivate var isList: Bool {
        switch self {
        case .records, .versions, .script, .record: true
        case .modified, .modifiedRecords, .newest, .count, .entries, .changes, .related: false
        }
    }
}

/// The findings of a poll.
struct PollFindings<R: RecordFields>: Sendable {
    typealias Attempt = RecordAttempt<R, R.Portals>

    /// The ids of the query's records, in its order; `nil` when records that were not read are unchanged.
    var order: [Int]?
    /// The records that were read. All others are unchanged.
    var read: [Attempt] = []
    /// Whether the findings are inconsistent: the table changed while it was read.
    var isInconsistent = false
    /// Whether fewer records came than the host had counted.
    var isShort = false
    /// Whether the host has another file than the known one; all records are then from the new file.
    var isOfOtherFile = false
    /// The strategy for the next poll.
    var strategy: any PollStrategy
}

/// The versions of the records that are known when a poll begins.
protocol HeldVersions: Sendable {
    var isBlank: Bool { get }
    var count: Int { get }
    /// The ids of those that could not be decoded.
    var undecodable: Set<Int> { get }

    /// The modId of a record; `nil` for one that is not known.
    ///
    /// - Parameter place: where it probably stands among the known records, from 0.
    func modId(of id: Int, near place: Int) -> Int?
}
