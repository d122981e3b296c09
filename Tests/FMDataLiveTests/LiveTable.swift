import FMData
import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// A table in memory with a poller and a clock that the test advances: everything happens on the test's own thread, and
/// no server is involved.
///
/// It contains no logic of polls. It answers as a host would, page by page, late, wrongly or not at all.
final class LiveTable: @unchecked Sendable {
    // @unchecked: only the test's thread uses it.

    typealias Fields = FieldData
    typealias Findings = PollFindings<Fields>

    struct Row: Equatable {
        var id: Int
        var modId = 0
        var text: String
        /// Whether the query finds it.
        var isFound = true
    }

    let time: TestClock
    let layout: DataAPI.TypedLayout<Fields>
    let options: DataAPI.LiveOptions
    private(set) var rows: [Row] = []
    private var lastID = 0

    /// The number of polls that were begun; below, of those under way, and of the most that were under way at once.
    private(set) var polls = 0
    private(set) var underWay = 0
    private(set) var mostAtOnce = 0
    /// The number of coming answers that fail.
    var failures = 0
    /// Whether a poll's answer waits for `release(cut:)` after its first page.
    var holds = false
    private var held: [(findings: [Row], promise: PassthroughSubject<Findings, FMRest.APIError>)] = []
    /// Whether the table has changed since the first page of the held answers.
    private var hasMoved = false
    /// Whether the held answers report such a change.
    var noticesMoves = true

    private weak var lastPoller: LivePoller<Fields>?

    init(
        _ time: TestClock,
        _ layout: DataAPI.TypedLayout<Fields>,
        options: DataAPI.LiveOptions = DataAPI.LiveOptions()
    ) {
        self.time = time
        self.layout = layout
        self.options = options
    }

    /// A tree whose clock stands still and whose random numbers are all 0.5.
    static func makeTimeAndLayout() -> (time: TestClock, layout: DataAPI.TypedLayout<Fields>) {
        let time = TestClock()
        var runtime = Runtime()
        runtime.random = { 0.5 }
        let server = DataAPI.Server(
            host: "localhost",
            config: DataAPI.Config(),
            runtime: runtime,
            wallClock: { time.date },
            time: time.sessionTime
        )
        return (time, server.addDatabase("Database").addLayout("Rows").of(Fields.self))
    }

    // MARK: Changes of the table

    @discardableResult
    func insert(_ text: String, isFound: Bool = true) -> Int {
        lastID += 1
        rows.append(Row(id: lastID, text: text, isFound: isFound))
        hasMoved = true
        return lastID
    }

    func edit(_ id: Int, _ change: (inout Row) -> Void) {
        guard let place = rows.firstIndex(where: { $0.id == id }) else { return }
        let wasFound = rows[place].isFound
        change(&rows[place])
        rows[place].modId += 1
        if rows[place].isFound != wasFound { hasMoved = true }
    }

    func delete(_ id: Int) {
        rows.removeAll { $0.id == id }
        hasMoved = true
    }

    /// The rows that the query should show.
    var found: [Row] { rows.filter(\.isFound) }

    // MARK: The poller

    /// The one poller; a new one if the last one has ended or was released.
    var poller: LivePoller<Fields> {
        if let lastPoller, !lastPoller.hasEnded { return lastPoller }
        let poller = LivePoller(poll, options, of: layout.layout)
        lastPoller = poller
        return poller
    }

    /// Whether there is a poller.
    var hasPoller: Bool { lastPoller != nil }

    var values: AnyPublisher<DataAPI.LiveValue<Fields>, FMRest.APIError> {
        LiveValues(poller: { self.poller }) { [time] in
            var before = LiveState<Fields>()
            return { state in
                defer { before = state }
                return [
                    DataAPI.LiveValue(
                        records: state.records,
                        unreadable: state.unreadable,
                        changes: state.changes(since: before),
                        freshness: DataAPI.Freshness(state, since: before, time.sessionTime)
                    )
                ]
            }
        }
        .asLongAsItHolds()
    }

    func events(since cursor: DataAPI.LiveCursor?) -> AnyPublisher<DataAPI.LiveEvent<Fields>, FMRest.APIError> {
        let found = DataAPI.FoundSet(layout: layout)
        return LiveValues(poller: { self.poller }, expected: cursor?.versions.map(\.recordId) ?? []) {
            var copy = LiveCopy(of: found, since: cursor)
            return { copy.events(of: $0) }
        }
        .asLongAsItHolds()
    }

    /// Lets time pass until the next poll is due.
    func toNextLook() {
        if let next = time.timers.first { time.advance(by: next) }
    }

    // MARK: Polls

    var poll: Poll<Fields> {
        Poll(
            strategy: Self.strategy,
            perform: { _, _, _ in self.answer() },
            isThere: { id, _ in self.isThere(id) },
            isOfOtherFile: { _, _ in Just(false).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher() }
        )
    }

    private static var strategy: any PollStrategy { RereadPolling(maximum: .max) }

    private func answer() -> AnyPublisher<Findings, FMRest.APIError> {
        Deferred { () -> AnyPublisher<Findings, FMRest.APIError> in
            self.polls += 1
            self.underWay += 1
            self.mostAtOnce = max(self.mostAtOnce, self.underWay)
            if self.failures > 0 {
                self.failures -= 1
                return Fail(error: Self.broken).eraseToAnyPublisher()
            }
            guard self.holds else {
                return Just(Self.findings(self.found)).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
            let promise = PassthroughSubject<Findings, FMRest.APIError>()
            // The first half of the rows is read now, the other half when the answer is released.
            self.held.append((Array(self.found.prefix(self.found.count / 2)), promise))
            self.hasMoved = false
            return promise.eraseToAnyPublisher()
        }
        .handleEvents(
            receiveCompletion: { _ in self.underWay -= 1 },
            receiveCancel: { self.underWay -= 1 }
        )
        .eraseToAnyPublisher()
    }

    /// Sends the held answers, which end with the rows after the first half, by their current places. With `cut` they
    /// fail.
    func release(cut: Bool = false) {
        let (released, hasMoved) = (held, hasMoved)
        held = []
        for (first, promise) in released {
            if cut {
                promise.send(completion: .failure(Self.broken))
                continue
            }
            var seen = Set(first.map(\.id))
            let others = found.dropFirst(first.count).filter { seen.insert($0.id).inserted }
            var findings = Self.findings(first + others)
            findings.isInconsistent = hasMoved && noticesMoves
            promise.send(findings)
            promise.send(completion: .finished)
        }
    }

    private func isThere(_ id: Int) -> AnyPublisher<Bool, FMRest.APIError> {
        Deferred { () -> AnyPublisher<Bool, FMRest.APIError> in
            if self.failures > 0 {
                self.failures -= 1
                return Fail(error: Self.broken).eraseToAnyPublisher()
            }
            return Just(self.rows.contains { $0.id == id }).setFailureType(to: FMRest.APIError.self)
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    private static let broken = FMRest.APIError(.network, reason: "The connection broke.")

    private static func findings(_ rows: [Row]) -> Findings {
        PollFindings(order: rows.map(\.id), read: rows.map { .record(record($0)) }, strategy: strategy)
    }

    private static func record(_ row: Row) -> DataAPI.TypedLayout<Fields>.Record {
        DataAPI.TypedLayout<Fields>.Record(
            fieldData: ["Text": .text(row.text)],
            recordId: row.id,
            modId: row.modId
        )
    }
}

extension LiveTable.Row {
    init(_ record: DataAPI.TypedLayout<LiveTable.Fields>.Record) {
        self.init(id: record.recordId, modId: record.modId, text: record.fieldData["Text"]?.description ?? "")
        if case .text(let text)? = record.fieldData["Text"] { self.text = text }
    }
}
