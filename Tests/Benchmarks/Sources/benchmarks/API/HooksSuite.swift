import FMData
import FMDataMetrics
import FMDataTracing
import Foundation
import Logging
import Metrics
import Tracing

/// What hooks cost: the processor time of a call for one record with each of them, divided by that of the same call
/// without, in the same round. The server, in a process of its own, answers at once.
///
/// Figures are under `hooks.<row>`: the median of the ratios of all rounds, 1.02 for 2 % more. `hooks.none` is the
/// microseconds of a call without hooks. It is compared with `hooks.again`, the same once more: how far that is from 1
/// is the error of the measurement.
///
/// A server that was made later is up to 2 % slower, whatever its hooks, so there are two for each row: the first ones
/// in this order, the second ones in the opposite one.
///
/// `metrics` and `tracing` drop what they are given, so that only this library's part counts. The traits that they need
/// are on for all rows; they add two modules, which the other rows do not call.
enum HooksSuite: Suite {
    static let name = "hooks"

    /// A hook, and how much more processor time it may take: 0.03 is 3 %.
    private struct Hook {
        var name: String
        var goal: Double?
        var install: (inout DataAPI.Config) -> Void
    }

    private static var hooks: [Hook] {
        [
            Hook(name: "none") { _ in },
            Hook(name: "again") { _ in },
            Hook(name: "header", goal: 0.03) { $0.middleware = [.headers(["X-Gateway-Key": "4711"])] },
            Hook(name: "observer") { config in
                config.observers = [DataAPI.CallObserver { _ in DataAPI.CallObservation { _ in } }]
            },
            Hook(name: "log_off", goal: 0.005) { $0.logger = logger(.info) },
            Hook(name: "log_on") { $0.logger = logger(.debug) },
            Hook(name: "metrics", goal: 0.05) { DataAPIMetrics(factory: NOOPMetricsHandler.instance).install(in: &$0) },
            Hook(name: "tracing", goal: 0.03) { DataAPITracing(tracer: NoOpTracer()).install(in: &$0) },
        ]
    }

    static func run(_ report: inout Report, _ options: Options) async throws {
        let server = try ServerProcess(recordsPerPage: 1)
        let measured = hooks.filter { $0.name == "none" || options.measures(contestant: $0.name) }
        let contestants = (measured + measured.reversed()).map {
            FMDataContestant($0.name, base: server.base, delivery: .background, configure: $0.install)
        }
        let samples = try await measure(
            contestants.map { Competitor($0, .record) },
            sample: 500,
            // The differences are small, compared to the calls and to what the rest of the machine does meanwhile. In
            // short turns it does the same to all of them.
            rounds: 60 * options.rounds,
            secondsPerTurn: 0.025,
            figure: { $0.processorMicroseconds }
        )
        // The processor time of both servers of a row in each round.
        let pairs = zip(samples, samples.reversed()).prefix(measured.count).map { zip($0, $1).map { ($0 + $1) / 2 } }
        let without = pairs[0]
        report["hooks.none"] = without.median
        print(String(format: "\nprocessor time of a call for one record without hooks: %.1f µs; with", without.median))
        for (hook, figures) in zip(measured, pairs).dropFirst() {
            let ratio = zip(figures, without).map { $0 / $1 }.median
            report["hooks.\(hook.name)"] = ratio
            let goal = hook.goal.map { String(format: ", at most %.1f %% is the goal", $0 * 100) } ?? ""
            let name = hook.name.padding(toLength: 10, withPad: " ", startingAt: 0)
            print(String(format: "  %@ %+6.1f %%%@", name, (ratio - 1) * 100, goal))
        }
        for contestant in contestants { try await contestant.stop() }
        server.stop()
    }

    /// A logger whose handler drops its lines, so that the cost of writing them does not count.
    private static func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "benchmarks") { _ in DroppingHandler() }
        logger.logLevel = level
        return logger
    }
}

private struct DroppingHandler: LogHandler {
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {}
}
