import FMDataCore
import FMDataRecords
import Foundation
import NIOCore
import OpenCombine

/// One poll of the records of a live query: makes a new publisher of its findings each time.
struct Poll<R: RecordFields>: Sendable {
    typealias Publisher = AnyPublisher<PollFindings<R>, FMRest.APIError>
    typealias Record = DataAPI.TypedLayout<R>.Record

    /// The strategy of the first poll.
    let strategy: any PollStrategy
    /// - Parameters:
    ///   - held: what is known so far.
    ///   - strategy: the strategy in the state in which the poll before left it.
    ///   - terms: as which account the poll asks, and how long it waits.
    let perform: @Sendable (_ held: LiveState<R>, _ strategy: any PollStrategy, _ context: PollContext) -> Publisher
    /// Whether a record that a poll has not found still exists.
    let isThere: @Sendable (Int, _ context: PollContext) -> AnyPublisher<Bool, FMRest.APIError>
    /// Whether the host has another file than the one the records are from.
    let isOfOtherFile: @Sendable (_ records: [Record], _ context: PollContext) -> AnyPublisher<Bool, FMRest.APIError>
}

extension Poll {
    /// A poll of one record, by its id. It reads the whole record whatever the options are.
    init(record id: Int, of layout: DataAPI.TypedLayout<R>, _ options: DataAPI.LiveOptions) {
        self.init(DataAPI.FoundSet(layout: layout), RecordPolling(id: id), options)
    }

    /// A poll of a found set, with these options.
    init(_ found: DataAPI.FoundSet<R>, _ options: DataAPI.LiveOptions) {
        self.init(found, options.strategy, options)
    }

    private init(_ found: DataAPI.FoundSet<R>, _ strategy: any PollStrategy, _ options: DataAPI.LiveOptions) {
        self.strategy = strategy
        let comparesContents = options.related != .ignore
        perform = { held, strategy, context in
            let found = found.callOptions(context.apply).bound(to: context.accountPeriod)
            return PollQuestions(found: found).findings {
                PollRun(
                    strategy,
                    LiveVersions(held),
                    isWholeTable: found.isWholeTable,
                    isSorted: !found.sort.isEmpty,
                    comparesContents: comparesContents
                )
            } keeping: {
                .of($0)
            }
        }
        isThere = { id, context in
            found.layout.layout.callOptions(context.apply).bound(to: context.accountPeriod).isThere(id)
        }
        isOfOtherFile = { records, context in
            // One record cannot tell whether the file is another one.
            if strategy is RecordPolling { return .of(false) }
            let found = found.callOptions(context.apply).bound(to: context.accountPeriod)
            // Only cursors are known. They are compared with the records that this poll reads, for which the layout's
            // metadata is needed.
            if records.isEmpty { return found.shownLayout.described { _ in .of(false) } }
            var sample = IdentitySample()
            sample.insert(records, found.layout.layout.encoder)
            return found.isOfOtherFile(than: sample, among: records.count)
        }
    }
}

extension DataAPI.LiveOptions {
    /// The strategy that the options name. This is the one place that knows all strategies.
    var strategy: any PollStrategy {
        let strategy: any PollStrategy =
            switch watch.method {
            case .automatic: AutomaticPolling()
            case .reread: RereadPolling(maximum: maximumRecords)
            case .scan(let layout, let key): ScanPolling(layout: layout, key: key)
            case .stamp(let field, let layout, let overlap, let reconcile):
                StampPolling(field: field, layout: layout, overlap: overlap, reconcile: reconcile)
            case .log(let layout, let serial, let reconcile):
                LogPolling(layout: layout, serial: serial, reconcile: reconcile)
            case .script(let name, let parameter): ScriptPolling(name: name, parameter: parameter)
            }
        return related == .ignore ? strategy : RelatedPolling(related, strategy)
    }
}

extension DataAPI.FoundSet {
    /// Whether it finds all records of the table.
    var isWholeTable: Bool { if case .range = request(limit: 1) { true } else { false } }
}

extension DataAPI.Layout {
    func isThere(_ id: Int) -> AnyPublisher<Bool, FMRest.APIError> {
        let record: AnyPublisher<DataAPI.RecordResponse<NoFields, DataAPI.EmptyPortal>, FMRest.APIError> =
            record(id: id, query: DataAPI.RecordQuery(portal: []), isolation: .insideACall)
        return record.map { _ in true }
            .replaceError(of: .recordMissing, with: false)
            // The record exists, but the account may not see it any more.
            .replaceError(of: .recordAccessDenied, with: true)
    }
}

/// Asks the host a poll's questions: the publishers around ``PollRun``.
struct PollQuestions<R: RecordFields>: Sendable {
    private typealias Run = PollRun<R>
    private typealias Answers = AnyPublisher<Run.AnswerPage, FMRest.APIError>

    /// Already bound to the account and the terms of the poll.
    let found: DataAPI.FoundSet<R>
    private var layout: DataAPI.Layout { found.layout.layout }

    /// Processes the new records of a page before the next page is requested. Publishes once, with those that the poll
    /// has to keep.
    typealias Keeping = ([RecordAttempt<R, R.Portals>]) -> AnyPublisher<[RecordAttempt<R, R.Portals>], FMRest.APIError>

    /// Performs a poll and publishes its findings once.
    func findings(
        _ begin: @escaping () -> PollRun<R>,
        keeping: @escaping Keeping
    ) -> AnyPublisher<PollFindings<R>, FMRest.APIError> {
        Deferred { self.findings(PollUnderWay(begin()), keeping) }.eraseToAnyPublisher()
    }

    /// Asks one question after the other, and reads its answer one page after the other.
    private func findings(
        _ poll: PollUnderWay<R>,
        _ keeping: @escaping Keeping
    ) -> AnyPublisher<PollFindings<R>, FMRest.APIError> {
        let failed = { (error: any Error) in
            (error as? PollFailure)?.error(of: self.layout) ?? FMRest.APIError(wrapping: error)
        }
        return answers(to: poll.run.question, poll.run)
            .orderedMap(concurrency: 1) { answer in
                do { return keeping(try poll.run.received(answer)) } catch { return .failing(failed(error)) }
            }
            .reduce(()) { _, attempt in poll.read.append(attempt) }
            .tryMap { try poll.run.answered() }
            .mapError(failed)
            .followed { scope in
                scope.map { .of(poll.run.findings($0, poll.read)) } ?? self.findings(poll, keeping)
            }
            .eraseToAnyPublisher()
    }

    private func answers(to question: PollQuestion, _ run: Run) -> Answers {
        switch question {
        case .records:
            return found.attemptPages().map(Run.AnswerPage.init).eraseToAnyPublisher()
        case .versions(let layout, nil):
            return skinny(NoFields.self, layout).attemptPages().map { Run.AnswerPage(any: $0) }.eraseToAnyPublisher()
        case .versions(let layout, let key?):
            return skinny(FieldData.self, layout).attemptPages().map { Run.AnswerPage($0, key: key) }
                .eraseToAnyPublisher()
        case .modified(let field, let since, let layout):
            return modified(field, since, of: found).of(FieldData.self).responseLayout(layout ?? self.layout.name)
                .attemptPages().map { Run.AnswerPage($0, stamp: field, format) }.eraseToAnyPublisher()
        case .modifiedRecords(let field, let since):
            return modified(field, since, of: found).attemptPages().map(Run.AnswerPage.init).eraseToAnyPublisher()
        case .newest(let count, let field, let layout):
            return DataAPI.FoundSet(layout: self.layout.of(FieldData.self))
                .sorted(by: [DataAPI.SortQuery(fieldName: field, sortOrder: .descend)])
                .responseLayout(layout ?? self.layout.name)
                .attempts(limit: count).map { Run.AnswerPage($0, stamp: field, format) }.eraseToAnyPublisher()
        case .count:
            return found.unsorted.of(NoFields.self).attempts(limit: 1).map { Run.AnswerPage(any: $0) }
                .eraseToAnyPublisher()
        case .entries(let name, let serial, let last):
            return entries(of: name, serial, after: last).map { Run.AnswerPage($0, serial: serial) }
                .eraseToAnyPublisher()
        case .script(let name, let parameter):
            return layout.runScript(
                name,
                parameter: parameter.map(DataAPI.ScriptParameter.text),
                isolation: .insideACall
            )
            .failOnScriptError()
            .tryMap { try Run.AnswerPage(script: $0.scriptResult ?? "") }
            .mapError(FMRest.APIError.init(wrapping:))
            .eraseToAnyPublisher()
        case .changes(let key):
            return changes(run.unread, by: key)
        case .related(let name):
            return DataAPI.FoundSet(layout: layout.database.addLayout(name).of(NoFields.self))
                .attemptPages().map { Run.AnswerPage(any: $0) }.eraseToAnyPublisher()
        case .record(let id):
            return record(id).map(Run.AnswerPage.init).eraseToAnyPublisher()
        }
    }

    private var format: ValueFormat { found.layout.server.encoding.values.format }

    /// The same records, through a layout with few fields.
    private func skinny<Fields: RecordFields>(_ fields: Fields.Type, _ layout: String?) -> DataAPI.FoundSet<Fields> {
        let records = found.of(fields)
        return layout.map { records.responseLayout($0) } ?? records
    }

    private func modified(
        _ field: String,
        _ since: FMTimestamp,
        of records: DataAPI.FoundSet<R>
    ) -> DataAPI.FoundSet<R> {
        records.unsorted.narrowed(to: DataAPI.FindField(named: field) >= since)
    }

    private func entries(
        of name: String,
        _ serial: String,
        after last: Int?
    ) -> AnyPublisher<AttemptPage<FieldData>, FMRest.APIError> {
        let log = layout.database.addLayout(name).of(FieldData.self)
        if let last {
            return DataAPI.FoundSet(layout: log, find: DataAPI.FindField(named: serial) > last)
                .attemptPages()
        }
        return DataAPI.FoundSet(layout: log)
            .sorted(by: [DataAPI.SortQuery(fieldName: serial, sortOrder: .descend)])
            .attempts(limit: 1)
    }

    // MARK: Reading the changed records

    private func record(_ id: Int) -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        found.layout.layout.attempt(id, as: R.self, DataAPI.RecordQuery(found.options.ofOneRecord))
    }

    /// Makes one call after the other, because a poll uses one session at most. Records that were deleted by then, or
    /// that the account may not see any more, are left out.
    private func changes(_ records: [ChangedRecord], by key: String?) -> Answers {
        let database = layout.database
        let pages = database.pageSize(of: found.subject(of: .offset), in: database.accountPeriod)
        return ReadPlan.parts(records, pageSize: pages.size.current).publisher
            .setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) { part in
                self.read(part, by: key).map { [Run.AnswerPage($0)] }.eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
    }

    private func read(_ part: ReadPlan.Part, by key: String?) -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        switch part {
        case .single(let id): return found.attempt(id)
        case .places(let places): return found.attempts(offset: places.lowerBound, limit: places.count)
        case .having(let keys):
            // By the keys alone: the list of versions has already shown that the records match the query.
            return found.others(DataAPI.FindField(named: key ?? "").isOneOf(keys.map(\.criterion)))
                .attempts(limit: PageSize.range.upperBound)
        }
    }
}

/// A poll under way, with the records that it keeps.
private final class PollUnderWay<R: RecordFields> {
    var run: PollRun<R>
    var read: [PollRun<R>.Attempt] = []

    init(_ run: PollRun<R>) {
        self.run = run
    }
}

extension PollFailure {
    fileprivate func error(of layout: DataAPI.Layout) -> FMRest.APIError {
        switch self {
        case .noKey(let key, let skinny): .noKey(key, on: skinny ?? layout.name)
        case .tooMany(let maximum):
            FMRest.APIError(
                .invalidRequest,
                reason: "The live query has more than \(maximum) records, too many to read them all each time.",
                hint:
                    "Watch by .automatic, or make a layout of the same table with one field and no portal, and watch by "
                    + ".scan(\"its name\"); or raise maximumRecords."
            )
        }
    }
}

// MARK: - Answers

extension PollRun.AnswerPage {
    fileprivate init(_ page: AttemptPage<R>) {
        self.init(any: page)
        attempts = page.attempts
    }

    /// An answer of which only ids and modIds matter.
    fileprivate init<Fields>(any page: AttemptPage<Fields>) {
        self.page = PollPage(
            rows: page.attempts.map(\.version),
            foundCount: page.foundCount,
            tableCount: page.tableCount,
            date: page.date,
            isInMotion: page.isInMotion
        )
    }

    /// With the key of each record.
    fileprivate init(_ page: AttemptPage<FieldData>, key: String) {
        self.init(any: page)
        let values = page.attempts.map { $0.record?.fieldData[key] }
        keys = values.allSatisfy { $0 != nil } ? values.map { $0.flatMap(PageKey.init) } : nil
    }

    /// With the timestamp of each record.
    fileprivate init(_ page: AttemptPage<FieldData>, stamp field: String, _ format: ValueFormat) {
        self.init(any: page)
        self.page.stamps = page.attempts.map { $0.record?.fieldData[field]?.timestamp(format) }
    }

    /// With the serial number of each entry.
    fileprivate init(_ page: AttemptPage<FieldData>, serial field: String) {
        self.init(any: page)
        self.page.serials = page.attempts.map { $0.record?.fieldData[field]?.int }
    }

    /// Parses `[[17, 3], [18, 0]]`; ids and modIds may be numbers or strings.
    fileprivate init(script json: String) throws {
        do {
            page.rows = try JSONDecoder().decode([[LooseInteger]].self, from: Data(json.utf8)).map { pair in
                guard pair.count == 2 else { throw NoPairs() }
                return DataAPI.RecordVersion(recordId: pair[0].value, modId: pair[1].value)
            }
        } catch {
            throw FMRest.APIError(
                .script,
                reason: "The script's result is no list of ids and modIds.",
                hint: "It has to be JSON, one pair for each record in the query's order: [[17, 3], [18, 0]]."
            )
        }
    }
}

private struct NoPairs: Error {}

private struct LooseInteger: Decodable {
    let value: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            value = number
        } else {
            guard let number = Int(try container.decode(String.self)) else { throw NoPairs() }
            value = number
        }
    }
}

extension Publisher where Failure == FMRest.APIError {
    /// Subscribes to the publisher that `next` makes of the value. Used instead of OpenCombine's `flatMap`, which never
    /// releases the first publisher when the second one fails.
    func followed<Result>(
        by next: @escaping (Output) -> AnyPublisher<Result, Failure>
    ) -> AnyPublisher<Result, Failure> {
        orderedMap(concurrency: 1) { next($0).map { [$0] }.eraseToAnyPublisher() }.eraseToAnyPublisher()
    }
}

/// The terms of one poll: as which account it asks, and how long it waits.
struct PollContext: Sendable {
    /// The account period of the poll.
    let accountPeriod: AccountPeriod
    /// How long a call waits for the first byte of its answer; `nil` for ever.
    let limit: TimeAmount?
    /// Measures how long the host works for the poll.
    let meter: PollMeter

    /// Applies the terms to the options of the poll's calls.
    func apply(to options: inout DataAPI.CallOptions) {
        options.pollMeter = meter
        options.cacheTime = nil
        if let limit { options.timeouts.firstByte = .nanoseconds(limit.nanoseconds) }
    }
}
