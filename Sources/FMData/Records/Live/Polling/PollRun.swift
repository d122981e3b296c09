import Foundation

/// One poll under way: what its strategy asks, and what has come so far. A pure value: answers in, questions out.
struct PollRun<R: RecordFields> {
    typealias Attempt = RecordAttempt<R, R.Portals>

    /// A page of an answer, in the terms of what was asked.
    struct Answer {
        var page = PollPage()
        /// The records, where whole ones were asked for.
        var attempts: [Attempt] = []
        /// Beside the rows, where keys were asked for; `nil` where the layout shows none.
        var keys: [PageKey?]? = []
    }

    private(set) var strategy: any PollStrategy
    private let held: any HeldVersions
    /// Whether what is read again is compared by its contents, not by its modId alone.
    private let comparesContents: Bool

    private(set) var question: PollQuestion
    /// The ids of the last list.
    private var listed: [Int] = []
    /// Of the last list of whole records: those that cannot be decoded, and one of them.
    private var unreadable: (count: Int, first: DataAPI.UnreadableRecord)?
    /// How many the host had counted when the list began.
    private var total: Int?
    private var isTorn = false
    /// The versions that this poll has read.
    private var read: [Int: Int] = [:]
    /// What has changed, by its id.
    private var changed: [Int: ChangedRecord] = [:]

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

    /// Takes in a page.
    ///
    /// - Returns: the records that are news: not held in this version, or to be compared.
    mutating func received(_ answer: Answer) throws -> [Attempt] {
        guard let keys = answer.keys else {
            guard case .versions(let layout, let key?) = question else { return [] }
            throw PollFailure.noKey(key, layout: layout)
        }
        var page = answer.page
        var news: [Attempt] = []
        if question.isList {
            total = total ?? page.foundCount
            isTorn = isTorn || page.isInMotion
        }
        switch question {
        case .records, .record, .modifiedRecords:
            for (attempt, row) in zip(answer.attempts, page.rows) {
                let isChanged = note(row, near: listed.count, &page)
                if question.isList { listed.append(row.recordId) }
                if case .unreadable(let record) = attempt {
                    unreadable = ((unreadable?.count ?? 0) + 1, unreadable?.first ?? record)
                    news.append(attempt)
                } else if isChanged || comparesContents {
                    news.append(attempt)
                }
                // Behind a list of whole records nothing more is read.
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
                guard isChanged else { continue }
                changed[row.recordId] = ChangedRecord(
                    id: row.recordId,
                    place: question.isList ? listed.count : nil,
                    key: keys.isEmpty ? nil : keys[index]
                )
            }
        case .newest, .count, .entries, .related: break
        }
        try strategy.received(page)
        return news
    }

    /// The answer is complete.
    ///
    /// - Returns: what it has come to, or `nil` when there is another question.
    mutating func answered() throws -> PollScope? {
        try checkUnreadable()
        switch strategy.answered() {
        case .done(let scope): return scope
        case .ask(let next):
            question = next
            if question.isList {
                listed = []
                total = nil
                unreadable = nil
            }
            return nil
        }
    }

    /// When no record at all can be decoded, the type or the layout is wrong, and not the records.
    private func checkUnreadable() throws {
        guard let unreadable, unreadable.count == listed.count else { return }
        switch question {
        case .records where listed.count > 1, .record: throw FMRest.APIError(wrapping: unreadable.first.failure)
        default: break
        }
    }

    /// The records that have changed and were not read, in the order of their ids.
    var unread: [ChangedRecord] { changed.values.filter { read[$0.id] == nil }.sorted { $0.id < $1.id } }

    /// Whether the version is news, and counts it for the strategy.
    private func note(_ row: DataAPI.RecordVersion, near place: Int, _ page: inout PollPage) -> Bool {
        guard read[row.recordId] != row.modId else { return false }
        let known = held.modId(of: row.recordId, near: place)
        guard known != row.modId else { return false }
        page.changed += 1
        if known == nil { page.arrivals += 1 }
        return true
    }

    /// What it has come to.
    func findings(_ scope: PollScope, _ read: [Attempt]) -> PollFindings<R> {
        let isWhole = scope == .all
        return PollFindings(
            order: isWhole ? listed : nil,
            read: read,
            isTorn: isTorn,
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
