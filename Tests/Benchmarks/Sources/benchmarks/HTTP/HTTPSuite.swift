import FMHTTP
import NIOCore
import NIOPosix

/// Small requests with three concurrencies, and a body of 12 MB. All clients take turns in several rounds; the figures
/// are medians.
enum HTTPSuite: Suite {
    static let name = "http"

    /// The approximate time of a contestant in one round.
    private static let secondsPerTurn = 0.6

    static func run(_ report: inout Report, _ options: Options) async throws {
        let server = try await LocalServer()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let base = "http://127.0.0.1:\(server.port)"
        let all: [any Contestant] = [
            FMHTTPContestant("fmhttp", delivery: .background, port: server.port, group: group),
            FMHTTPContestant("fmhttp_eventloop", delivery: .eventLoop, port: server.port, group: group),
            AHCFuturesContestant(base: base, group: group),
            AHCAsyncContestant(base: base, group: group),
            URLSessionContestant(base: base, group: group),
            RawContestant(port: server.port, group: group),
        ]
        for concurrency in [1, 16, 64] where options.measures("\(concurrency)") {
            let figures = try await compare(
                competitors(all, "/s", concurrency: concurrency, options),
                sample: 200 * concurrency,
                rounds: options.rounds,
                secondsPerTurn: secondsPerTurn
            )
            for (name, figure) in figures { report["http.small.\(concurrency).\(name)"] = figure }
            printTable(
                "small GET, \(concurrency) at a time",
                unit: "requests/s",
                rows: figures,
                baseline: ["ahc_futures", "ahc_async"]
            )
        }
        if options.measures("body12MB") {
            let megabytes = Double(LocalServer.bodyBytes) / 1e6
            let figures = try await compare(
                competitors(all, "/b", concurrency: 1, options),
                sample: 4,
                rounds: options.rounds,
                secondsPerTurn: secondsPerTurn
            )
            .map { ($0.name, $0.figure * megabytes) }
            for (name, figure) in figures { report["http.body12MB.\(name)"] = figure }
            printTable("12 MB body", unit: "MB/s", rows: figures, baseline: ["ahc_futures", "ahc_async"])
        }

        for contestant in all { try await contestant.stop() }
        try await server.stop()
        try await group.shutdownGracefully()
    }

    private static func competitors(
        _ contestants: [any Contestant],
        _ target: String,
        concurrency: Int,
        _ options: Options
    ) -> [Competitor] {
        contestants.filter { options.measures(contestant: $0.name) }.map { contestant in
            Competitor(contestant.name) { count in
                try await contestant.run(target, count: count, concurrency: concurrency)
            }
        }
    }
}
