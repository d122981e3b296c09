import FMHTTP
import NIOCore
import NIOPosix

/// Small requests at three concurrencies and a body of 12 MB, all clients in turn, several rounds, medians.
enum HTTPSuite: Suite {
    static let name = "http"

    /// How long one contestant runs in one round, roughly.
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
        let contestants = all.filter { options.only == nil || options.only == $0.name }

        for concurrency in [1, 16, 64] {
            let figures = try await compare(contestants, "/s", concurrency: concurrency, rounds: options.rounds)
            for (name, figure) in figures { report["http.small.\(concurrency).\(name)"] = figure }
            printTable(
                "small GET, \(concurrency) at a time",
                unit: "requests/s",
                rows: figures,
                baseline: ["ahc_futures", "ahc_async"]
            )
        }

        let megabytes = Double(LocalServer.bodyBytes) / 1e6
        let figures = try await compare(contestants, "/b", concurrency: 1, rounds: options.rounds).map {
            ($0.name, $0.figure * megabytes)
        }
        for (name, figure) in figures { report["http.body12MB.\(name)"] = figure }
        printTable("12 MB body", unit: "MB/s", rows: figures, baseline: ["ahc_futures", "ahc_async"])

        for contestant in all { try await contestant.stop() }
        try await server.stop()
        try await group.shutdownGracefully()
    }

    /// Requests a second: the median of interleaved rounds.
    private static func compare(
        _ contestants: [any Contestant],
        _ target: String,
        concurrency: Int,
        rounds: Int
    ) async throws -> [(name: String, figure: Double)] {
        var counts: [Int] = []
        for contestant in contestants {
            // The first run opens connections and warms caches; its end tells how many requests make a turn.
            let sample = target == "/s" ? 200 * concurrency : 4
            try await contestant.run(target, count: sample, concurrency: concurrency)
            let time = try await seconds { try await contestant.run(target, count: sample, concurrency: concurrency) }
            counts.append(max(sample, Int(Double(sample) / time * secondsPerTurn)))
        }
        var samples = [[Double]](repeating: [], count: contestants.count)
        for _ in 0..<rounds {
            for (index, contestant) in contestants.enumerated() {
                let count = counts[index]
                let time = try await seconds {
                    try await contestant.run(target, count: count, concurrency: concurrency)
                }
                samples[index].append(Double(count) / time)
            }
        }
        return zip(contestants, samples).map { ($0.name, $1.median) }
    }
}
