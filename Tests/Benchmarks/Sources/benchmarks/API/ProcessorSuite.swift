import FMData
import Foundation
import NIOCore
import NIOPosix
import OpenCombine

/// The processor time of a call, which matters with a server that needs milliseconds: user and system time of this
/// process, for one record and for 1,000, one call after the other; the server, in a process of its own, answers after
/// 5 ms.
///
/// Figures are microseconds for a call, under `api.cpu.<record|thousand>.<fmdata|ahc_json>`, with the other contestants
/// of `benchmarks api` beside them, and with `nio`: a handler on NIO's HTTP codec that sends the request and drops the
/// answer's bytes.
///
/// `api.cpu.lease` is the cost of leasing a session without competition and returning it: the difference between a call
/// and the same call in a session that is already leased. `api.cpu.cached` is a call that is answered from the cache.
enum ProcessorSuite: Suite {
    static let name = "cpu"

    static func run(_ report: inout Report, _ options: Options) async throws {
        try await compareCalls(&report, options)
        if options.measures("lease") { try await lease(&report, options) }
        if options.measures("cached") { try await cached(&report, options) }
    }

    private static func compareCalls(_ report: inout Report, _ options: Options) async throws {
        let server = try ServerProcess(recordsPerPage: APICall.thousand.recordCount, delay: .milliseconds(5))
        let all: [any APIContestant] = [
            FMDataContestant("fmdata", base: server.base, delivery: .background),
            FMDataContestant("fmdata_eventloop", base: server.base, delivery: .eventLoop),
            AHCJSONContestant(base: server.base),
            AHCFuturesJSONContestant(base: server.base),
            BareNIOContestant(base: server.base),
        ]
        for call in APICall.allCases where options.measures(call.rawValue) {
            let figures = try await compare(
                all.filter { options.measures(contestant: $0.name) }.map { Competitor($0, call) },
                sample: 10,
                rounds: options.rounds,
                secondsPerTurn: 1,
                figure: { $0.processorMicroseconds }
            )
            for (contestant, figure) in figures { report["api.cpu.\(call).\(contestant)"] = figure }
            printTable(
                "processor time of a call for typed records, \(call.recordCount) a call, answered after 5 ms",
                unit: "µs",
                rows: figures,
                baseline: ["ahc_json"],
                lessIsBetter: true
            )
        }
        for contestant in all { try await contestant.stop() }
        server.stop()
    }

    private static func cached(_ report: inout Report, _ options: Options) async throws {
        let server = try ServerProcess(recordsPerPage: 1)
        let contestant = FMDataContestant("cached", base: server.base, delivery: .eventLoop, isCached: true)
        try await contestant.run(.record, count: 1, concurrency: 1)
        let figures = try await compare(
            [Competitor("cached") { try contestant.runFromMemory(.record, count: $0) }],
            sample: 200,
            rounds: options.rounds,
            secondsPerTurn: 0.5,
            figure: { $0.processorMicroseconds }
        )
        report["api.cpu.cached"] = figures[0].figure
        print(String(format: "  a call for one record that was asked for before: %.1f µs", figures[0].figure))
        try await contestant.stop()
        server.stop()
    }

    private static func lease(_ report: inout Report, _ options: Options) async throws {
        let server = try ServerProcess(recordsPerPage: 1)
        let pooled = FMDataContestant("leased_each", base: server.base, delivery: .eventLoop)
        let (pinned, hold) = try await pooled.pinned("leased_once")
        let figures = try await compare(
            [Competitor(pooled, .record), Competitor(pinned, .record)],
            sample: 200,
            // The difference is small compared to both.
            rounds: 3 * options.rounds,
            secondsPerTurn: 0.5,
            figure: { $0.processorMicroseconds }
        )
        let lease = figures[0].figure - figures[1].figure
        report["api.cpu.lease"] = lease
        printTable("processor time of a call for one record", unit: "µs", rows: figures, lessIsBetter: true)
        print(String(format: "  an uncontended lease: %.1f µs", lease))
        hold.cancel()
        try await pooled.stop()
        server.stop()
    }
}

/// The least that any client needs: no pool, no time limits, no decoding.
private struct BareNIOContestant: APIContestant {
    let name = "nio"
    private let raw: RawContestant
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    init(base: String) {
        raw = RawContestant(port: URL(string: base)?.port ?? 0, group: group)
    }

    func run(_ call: APICall, count: Int, concurrency: Int) async throws {
        try await raw.run(call.target, count: count, concurrency: concurrency)
    }

    func stop() async throws { try await group.shutdownGracefully() }
}

extension Competitor {
    init(_ contestant: any APIContestant, _ call: APICall) {
        self.init(contestant.name) { try await contestant.run(call, count: $0, concurrency: 1) }
    }
}
