import FMData
import Foundation
import OpenCombine

/// Four callers that make one call after the other, over a pool of four sessions, to a host with a response time of 20
/// ms: whether the pool grows as it should, in each of 14 runs, and how fast.
///
/// Figures: `sessions.steady.<p50_ms|worst_p50_ms>` of the calls in the second of two seconds, the median over the runs
/// and the worst of them, `sessions.steady.grown_ms` until the last session was there, `sessions.steady.logins` of a
/// run, and `sessions.steady.short_runs`, in which the pool stayed below four.
enum SessionsSuite: Suite {
    static let name = "sessions"

    private static let (callers, runs) = (4, 14)

    static func run(_ report: inout Report, _ options: Options) async throws {
        guard options.measures("steady") else { return }
        let server = try FleetServer(records: 100, latency: 20)
        defer { server.stop() }
        var results: [Run] = []
        for _ in 0..<runs { results.append(try await steady(server)) }
        let worst = results.map(\.p50).max() ?? 0
        let short = results.count { $0.sessions < callers }
        report["sessions.steady.p50_ms"] = results.map(\.p50).median
        report["sessions.steady.worst_p50_ms"] = worst
        report["sessions.steady.grown_ms"] = results.map(\.grown).median
        report["sessions.steady.logins"] = results.map(\.logins).median
        report["sessions.steady.short_runs"] = Double(short)
        print(
            """

            \(callers) steady callers over a pool of \(callers), at 20 ms: p50 \(ms(results.map(\.p50).median)) ms, \
            \(ms(worst)) in the worst of \(runs) runs; \(callers) sessions after \(ms(results.map(\.grown).median)) ms, fewer in \
            \(short) runs; \(ms(results.map(\.logins).median)) logins
            """
        )
    }

    private struct Run {
        var p50: Double
        var sessions: Int
        var grown: Double
        var logins: Double
    }

    private static func steady(_ server: FleetServer) async throws -> Run {
        let before = try server.counts().logins
        let vessels = server.vessels(sessions: callers)
        let database = vessels.layout.database
        let clock = ContinuousClock()
        let start = clock.now
        let (half, end) = (start + .seconds(1), start + .seconds(2))
        let times = try await withThrowingTaskGroup(of: (times: [Double], grown: Double).self) { group in
            for number in 1...callers {
                group.addTask {
                    var times: [Double] = []
                    var (sessions, grown) = (0, 0.0)
                    while clock.now < end {
                        let asked = clock.now
                        _ = try await vessels.record(id: number).firstValue()
                        if asked >= half { times.append((clock.now - asked) / .milliseconds(1)) }
                        let open = database.sessionStatus.sessions
                        if open > sessions { (sessions, grown) = (open, (clock.now - start) / .milliseconds(1)) }
                    }
                    return (times, grown)
                }
            }
            return try await group.reduce(into: (all: [Double](), grown: 0.0)) { sum, next in
                sum.all += next.times
                sum.grown = max(sum.grown, next.grown)
            }
        }
        let sessions = database.sessionStatus.sessions
        try await database.logOut().firstValue()
        let logins = Double(try server.counts().logins - before)
        return Run(p50: times.all.median, sessions: sessions, grown: times.grown, logins: logins)
    }

    private static func ms(_ value: Double) -> String { String(format: "%.0f", value) }
}
