import CustomDump
import FMData
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// Random histories of a table and of its followers. After each, the followers show what the table contains.
///
/// The oracle is the table itself, with a list and a dictionary to which changes are applied as their documentation
/// says; it shares nothing with the poller.
@Suite(.timeLimit(.minutes(15))) struct LiveHistoryTests {
    @Test(arguments: 0..<10) func afterRandomHistoriesTheLiveValueEqualsTheTable(block: UInt64) {
        let (time, layout) = LiveTable.makeTimeAndLayout()
        for seed in (block * 100)..<(block * 100 + UInt64(Effort.of(100, brief: 2))) {
            var history = History(seed: seed, LiveTable(time, layout, options: DataAPI.LiveOptions(retryTimeout: nil)))
            history.run()
            if let complaint = history.complaint {
                Issue.record("seed \(seed): \(complaint)\n\(history.told.joined(separator: "\n"))")
                return
            }
            // Refills the poll rate limit, and lets the grace periods end.
            time.advance(by: .hours(1))
        }
    }
}

private struct History {
    private let table: LiveTable
    private var random: SeededRandom
    /// What has happened so far, for the message of a failure.
    private(set) var told: [String] = []
    private(set) var complaint: String?

    private let screen: Screen
    private let copy: Copy

    init(seed: UInt64, _ table: LiveTable) {
        self.table = table
        random = SeededRandom(seed: seed)
        screen = Screen(table)
        copy = Copy(table)
    }

    mutating func run() {
        for number in 0..<Int.random(in: 0...8, using: &random) { table.insert("begin \(number)") }
        screen.subscribe()
        copy.start()
        for _ in 0..<30 { step() }
        settle()
        check()
        screen.cancel()
        copy.stop()
    }

    private mutating func tell(_ words: String) { told.append(words) }

    private mutating func step() {
        let row = table.rows.randomElement(using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1: tell("insert \(table.insert("new \(told.count)", isFound: Bool.random(using: &random)))")
        case 2, 3:
            guard let row else { return }
            tell("edit \(row.id)")
            table.edit(row.id) { $0.text = "edited \($0.modId + 1)" }
        case 4, 5:
            guard let row else { return }
            tell("\(row.isFound ? "leave" : "return") \(row.id)")
            table.edit(row.id) { $0.isFound.toggle() }
        case 6:
            guard let row else { return }
            tell("delete \(row.id)")
            table.delete(row.id)
        case 7:
            // All rows at once.
            guard Int.random(in: 0..<4, using: &random) == 0 else { return }
            tell("delete all")
            for row in table.rows { table.delete(row.id) }
        case 8:
            guard let row else { return }
            tell("own write of \(row.id)")
            table.edit(row.id) { $0.text = "own \($0.modId + 1)" }
            if table.hasPoller { table.poller.written(row.id) }
        case 9:
            table.failures += Int.random(in: 1...3, using: &random)
            tell("failures to come: \(table.failures)")
        case 10:
            table.holds = true
            table.noticesMoves = Int.random(in: 0..<4, using: &random) > 0
            tell("answers are held, moves are \(table.noticesMoves ? "" : "not ")noticed")
        case 11:
            table.holds = false
            let isCut = Bool.random(using: &random)
            tell("answers are \(isCut ? "cut" : "released")")
            table.release(cut: isCut)
        case 12:
            tell("refresh")
            if table.hasPoller { table.poller.wake(.refresh) }
        case 13:
            tell("clock jumps")
            table.time.advance(by: .minutes(Int64.random(in: 1...30, using: &random)))
        case 14:
            tell("restart of the copy")
            copy.stop()
            copy.start()
        case 15:
            tell("the copy stops")
            copy.stop()
        case 16:
            tell("somebody else looks at the screen")
            screen.cancel()
            screen.subscribe()
        default:
            tell("time passes")
            table.time.advance(by: .milliseconds(Int64.random(in: 1...20_000, using: &random)))
        }
        screen.ask(Int.random(in: 0...1, using: &random))
        copy.ask(Int.random(in: 0...2, using: &random))
        if table.mostAtOnce > 1 { complaint = "two polls at once" }
    }

    /// Ends all faults, and gives every subscriber enough demand.
    private mutating func settle() {
        table.failures = 0
        table.holds = false
        table.release()
        copy.start()
        for _ in 0..<4 {
            screen.ask(100)
            copy.ask(100)
            table.poller.wake(.refresh)
            table.time.advance(by: .seconds(20))
        }
        screen.ask(0)
        copy.ask(0)
    }

    private mutating func check() {
        let found = table.found
        if let wrong = screen.complaint ?? copy.complaint { complaint = wrong }
        if screen.rows.map(\.oracle) != found.map(\.oracle) {
            complaint = "the screen shows \(screen.rows.map(\.oracle)), the table holds \(found.map(\.oracle))"
        }
        if copy.rows.values.map(\.oracle).sorted() != found.map(\.oracle).sorted() {
            complaint = "the copy holds \(copy.rows.values.map(\.oracle).sorted()), the table \(found.map(\.oracle))"
        }
    }
}

extension LiveTable.Row {
    fileprivate var oracle: String { "\(id) in version \(modId): \(text)" }
}

/// A list on a screen. It applies the index sets, and compares the result with the whole value each time.
private final class Screen {
    private let table: LiveTable
    private var subscriber: TrackingSubscriber<DataAPI.LiveValue<LiveTable.Fields>, FMRest.APIError>?
    private(set) var rows: [LiveTable.Row] = []
    private(set) var complaint: String?
    private var dealtWith = 0

    init(_ table: LiveTable) { self.table = table }

    func subscribe() {
        rows = []
        dealtWith = 0
        let subscriber = TrackingSubscriber<DataAPI.LiveValue<LiveTable.Fields>, FMRest.APIError>(
            initialDemand: .max(1)
        )
        self.subscriber = subscriber
        table.values.subscribe(subscriber)
        update()
    }

    func cancel() {
        update()
        subscriber?.cancel()
        subscriber = nil
    }

    func ask(_ count: Int) {
        if count > 0 { subscriber?.request(.max(count)) }
        update()
    }

    private func update() {
        guard let values = subscriber?.values else { return }
        for value in values[dealtWith...] { take(value) }
        dealtWith = values.count
        if subscriber?.completionIfAny != nil { complaint = "the query has ended" }
    }

    private func take(_ value: DataAPI.LiveValue<LiveTable.Fields>) {
        let whole = value.records.map(LiveTable.Row.init)
        let old = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.modId) })
        for row in whole where old[row.id].map({ $0 > row.modId }) == true { complaint = "\(row.id) went back" }
        for place in value.changes.deletions.reversed() { rows.remove(at: place) }
        for place in value.changes.insertions { rows.insert(whole[place], at: place) }
        for place in value.changes.modifications { rows[place] = whole[place] }
        if rows != whole { complaint = "the index sets lead to \(rows), the value is \(whole)" }
        let ids =
            value.changes.inserted.map(\.recordId) + value.changes.updated.map(\.record.recordId)
            + value.changes.removed.map(\.recordId)
        if Set(ids).count != ids.count { complaint = "two events of one record: \(ids)" }
    }
}

/// A copy in another database. It applies changes by ids, and resumes from its cursor after a restart.
private final class Copy {
    private let table: LiveTable
    private var subscriber: TrackingSubscriber<DataAPI.LiveEvent<LiveTable.Fields>, FMRest.APIError>?
    private(set) var rows: [Int: LiveTable.Row] = [:]
    private(set) var complaint: String?
    private var cursor: Data?
    private var dealtWith = 0
    private var isInSnapshot = false

    init(_ table: LiveTable) { self.table = table }

    func start() {
        guard subscriber == nil else { return }
        let cursor = self.cursor.flatMap { try? JSONDecoder().decode(DataAPI.LiveCursor.self, from: $0) }
        if cursor == nil { rows = [:] }
        dealtWith = 0
        isInSnapshot = false
        let subscriber = TrackingSubscriber<DataAPI.LiveEvent<LiveTable.Fields>, FMRest.APIError>(
            initialDemand: .max(1)
        )
        self.subscriber = subscriber
        table.events(since: cursor).subscribe(subscriber)
        update()
    }

    func stop() {
        update()
        subscriber?.cancel()
        subscriber = nil
    }

    func ask(_ count: Int) {
        if count > 0 { subscriber?.request(.max(count)) }
        update()
    }

    private func update() {
        guard let events = subscriber?.values else { return }
        for event in events[dealtWith...] { take(event) }
        dealtWith = events.count
        if subscriber?.completionIfAny != nil { complaint = "the query has ended" }
    }

    private func take(_ event: DataAPI.LiveEvent<LiveTable.Fields>) {
        switch event {
        case .snapshot(let records, let isLast):
            if !isInSnapshot { rows = [:] }
            isInSnapshot = !isLast
            for record in records { rows[record.recordId] = LiveTable.Row(record) }
        case .ready(let cursor): keep(cursor)
        case .changed(let changes, _, let cursor):
            for record in changes.inserted + changes.updated.map(\.record) {
                rows[record.recordId] = LiveTable.Row(record)
            }
            for removal in changes.removed { rows[removal.recordId] = nil }
            keep(cursor)
        case .unreadable(let records): Issue.record("\(records) cannot be decoded")
        case .reset(let reason): complaint = "reset for \(reason)"
        }
    }

    /// As a program would: the cursor covers the events that were handled; later ones are lost at a restart.
    private func keep(_ cursor: DataAPI.LiveCursor) {
        self.cursor = try? JSONEncoder().encode(cursor)
        if cursor.count != rows.count { complaint = "the cursor knows \(cursor.count) records, the copy \(rows.count)" }
    }
}
