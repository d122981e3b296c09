import FMData
import Foundation
import NIOPosix
import OpenCombine

/// 100,000 records through `all()` compared to a hand-written loop over offsets, 5,000 creates as a batch over one
/// session and over eight, with and without a journal, and the time until a run of 100,000 rows continues after 99,000.
///
/// Figures: `records.page.<per_second|peak_bytes|by_hand_per_second|ratio>`,
/// `records.batch.<rows_s_1|rows_s_8|ratio|logins|requests_per_1000>`, `records.journal.<cost|resume_s>`. The server is
/// a process of its own, with 5 ms of latency for the batches.
enum RecordsSuite: Suite {
    static let name = "records"

    private static let recordCount = 100_000
    private static let rowCount = 5_000

    static func run(_ report: inout Report, _ options: Options) async throws {
        if options.measures("page") { try await pages(&report, options) }
        if options.measures("batch") { try await batches(&report, options) }
        if options.measures("journal") {
            try await journals(&report, options)
            try await resuming(&report)
        }
    }

    // MARK: Pages

    private static func pages(_ report: inout Report, _ options: Options) async throws {
        let server = try FleetServer(records: recordCount)
        let vessels = server.vessels()
        // A first, small call, so that one-time costs do not count.
        _ = try await vessels.count().firstValue()
        let before = processFootprint().memory
        var (all, byHand): ([Double], [Double]) = ([], [])
        var peak = before
        for _ in 0..<options.rounds {
            all.append(Double(recordCount) / (try await seconds { peak = max(peak, try await readAll(vessels)) }))
            byHand.append(Double(recordCount) / (try await seconds { try await readByHand(vessels) }))
        }
        server.stop()
        let ratio = zip(all, byHand).map { $0 / $1 }.median
        report["records.page.per_second"] = all.median
        report["records.page.by_hand_per_second"] = byHand.median
        report["records.page.ratio"] = ratio
        report["records.page.peak_bytes"] = Double(peak - before)
        print(
            """

            \(recordCount) records: \(Int(all.median)) a second by all(), \(Int(byHand.median)) by a loop over offsets \
            (\(String(format: "%.2f", ratio)) x), \(Double(peak - before) / 1e6) MB of extra memory at the peak
            """
        )
    }

    /// Returns the peak memory.
    private static func readAll(_ vessels: DataAPI.TypedLayout<Vessel>) async throws -> Int {
        let state = Counter()
        _ = try await vessels.all()
            .handleEvents(receiveOutput: { _ in state.count() })
            .reduce(0) { count, _ in count + 1 }
            .firstValue()
        guard state.records == recordCount else {
            throw WrongRecordCount(expected: recordCount, received: state.records)
        }
        return state.peak
    }

    private final class Counter: @unchecked Sendable {
        // @unchecked: records arrive one after the other.
        private(set) var records = 0
        private(set) var peak = 0

        func count() {
            records += 1
            if records.isMultiple(of: 5_000) { peak = max(peak, processFootprint().memory) }
        }
    }

    /// The code of a user without `all()`: pages of 1,000, streamed.
    private static func readByHand(_ vessels: DataAPI.TypedLayout<Vessel>) async throws {
        let pageSize = 1_000
        var count = 0
        for offset in stride(from: 1, through: recordCount, by: pageSize) {
            count += try await vessels.layout
                .records(Vessel.self, recordQuery: RecordQuery(portal: [], offset: offset, limit: pageSize))
                .reduce(0) { count, _ in count + 1 }
                .firstValue()
        }
        guard count == recordCount else { throw WrongRecordCount(expected: recordCount, received: count) }
    }

    // MARK: Batches

    private static func batches(_ report: inout Report, _ options: Options) async throws {
        var rates: [Int: Double] = [:]
        for sessions in [1, 8] {
            var figures: [Double] = []
            for _ in 0..<min(3, options.rounds) {
                let server = try FleetServer(records: 0, latency: 5)
                let vessels = server.vessels(sessions: sessions)
                let rows = (1...rowCount).map {
                    Vessel(number: $0, name: "Vessel \($0)", port: "Oslo", length: 12, notes: "")
                }
                var options = DataAPI.BatchOptions()
                options.concurrency = sessions
                var summary = DataAPI.BatchSummary()
                let time = try await seconds {
                    summary = try await vessels.writing(rows.map { .create($0) }, options: options).summary.firstValue()
                }
                guard summary.createdCount == rowCount else {
                    throw WrongRecordCount(expected: rowCount, received: summary.createdCount)
                }
                figures.append(Double(rowCount) / time)
                let counts = try server.counts()
                report["records.batch.logins_\(sessions)"] = Double(counts.logins)
                report["records.batch.requests_per_1000"] = Double(counts.requests) * 1_000 / Double(rowCount)
                server.stop()
            }
            rates[sessions] = figures.median
            report["records.batch.rows_s_\(sessions)"] = figures.median
        }
        let ratio = rates[8, default: 0] / rates[1, default: 1]
        report["records.batch.ratio"] = ratio
        print(
            """

            \(rowCount) creates at 5 ms: \(Int(rates[1, default: 0])) rows a second over one session, \
            \(Int(rates[8, default: 0])) over eight (\(String(format: "%.2f", ratio)) x)
            """
        )
    }

    // MARK: Journals

    /// The cost of a journal in a file, with 5 ms and eight sessions, in turns with runs without one.
    private static func journals(_ report: inout Report, _ options: Options) async throws {
        var figures: [Bool: [Double]] = [:]
        for _ in 0..<min(5, options.rounds) {
            for isJournalled in [false, true] {
                let server = try FleetServer(records: 0, latency: 5)
                let vessels = server.vessels(sessions: 8)
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).journal")
                let batch = vessels.writing(
                    writes(rowCount),
                    journal: isJournalled ? .file(file) : nil,
                    options: DataAPI.BatchOptions(concurrency: 8)
                )
                let time = try await seconds { _ = try await batch.summary.firstValue() }
                figures[isJournalled, default: []].append(Double(rowCount) / time)
                server.stop()
                try? FileManager.default.removeItem(at: file)
            }
        }
        let (without, with) = (figures[false, default: []].median, figures[true, default: []].median)
        report["records.journal.cost"] = 1 - with / without
        print(
            "\(Int(without)) rows a second without a journal, \(Int(with)) with one (\(percent(1 - with / without)) less)"
        )
    }

    /// The time until a run sends something, when 99 of 100 rows are done.
    private static func resuming(_ report: inout Report) async throws {
        let count = 100_000
        let server = try FleetServer(records: 0, latency: 0)
        defer { server.stop() }
        let vessels = server.vessels(sessions: 8)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).journal")
        defer { try? FileManager.default.removeItem(at: file) }
        let options = DataAPI.BatchOptions(concurrency: 8, idempotencyKey: "Name")
        let first = vessels.writing(writes(count), journal: .file(file), options: options)
        var done = 0
        for try await _ in first.values {
            done += 1
            // The rest is cancelled.
            if done == count / 100 * 99 { break }
        }
        let again = vessels.writing(writes(count), journal: .file(file), options: options)
        let arrivals = Arrivals()
        var run: AnyCancellable?
        let time = await seconds {
            run = again.sink(
                receiveCompletion: { _ in },
                receiveValue: { if !$0.isFromJournal, $0.result.kind == .created { arrivals.arrived() } }
            )
            await arrivals.untilCount(1)
        }
        run?.cancel()
        report["records.journal.resume_s"] = time
        print("\(count) rows, of which \(done) were done: the first new one after \(String(format: "%.2f", time)) s")
    }

    private static func writes(_ count: Int) -> [DataAPI.RecordWrite<Vessel>] {
        (1...count).map { .create(Vessel(number: $0, name: "Vessel \($0)", port: "Oslo", length: 12, notes: "")) }
    }

    private static func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }
}
