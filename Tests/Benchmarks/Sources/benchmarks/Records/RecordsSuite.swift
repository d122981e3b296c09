import FMData
import Foundation
import NIOPosix
import OpenCombine

/// 100,000 records through `all()` beside a loop over offsets written by hand, and 5,000 creates as a batch over one session and
/// over eight.
///
/// Figures: `records.page.<per_second|peak_bytes|by_hand_per_second|ratio>`,
/// `records.batch.<rows_s_1|rows_s_8|ratio|logins|requests_per_1000>`. The server is a process of its own, with 5 ms of latency for
/// the batches.
enum RecordsSuite: Suite {
    static let name = "records"

    private static let recordCount = 100_000
    private static let rowCount = 5_000

    static func run(_ report: inout Report, _ options: Options) async throws {
        if options.measures("page") { try await pages(&report, options) }
        if options.measures("batch") { try await batches(&report, options) }
    }

    // MARK: Pages

    private static func pages(_ report: inout Report, _ options: Options) async throws {
        let server = try FleetServer(records: recordCount)
        let vessels = server.vessels()
        // A first, small call, so that what any takes once does not count.
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

    /// Returns how much memory it took at the peak.
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
        // @unchecked: records come one after the other.
        private(set) var records = 0
        private(set) var peak = 0

        func count() {
            records += 1
            if records.isMultiple(of: 5_000) { peak = max(peak, processFootprint().memory) }
        }
    }

    /// What a user would write without it: pages of 1,000, streamed.
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
                    summary = try await rows.publisher.create(in: vessels, options: options).summary.firstValue()
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
}
