import FMData
import NIOCore
import NIOPosix
import OpenCombine

/// 100,000 records from one answer, each published once it is complete: the time from the first byte to the first
/// record, the peak memory of all of them, and the records per second.
///
/// Figures are under `api.stream100000.<firstRecordMs|extraMB|recordsPerSecond>`. The server is a process of its own:
/// its memory is not counted, and it reports when it sent the first byte.
enum StreamedRecordsSuite: Suite {
    static let name = "streamed"

    private static let count = 100_000

    static func run(_ report: inout Report, _ options: Options) async throws {
        let server = try ServerProcess(recordsPerPage: count, tellsOfPages: true)
        let contestant = FMDataContestant("fmdata", base: server.base, delivery: .background)
        // A first, small call, so that one-time costs do not count.
        try await contestant.run(.record, count: 100, concurrency: 1)
        let before = processFootprint().memory
        var peak = before
        var waits: [Double] = []
        var rates: [Double] = []
        for _ in 0..<options.rounds {
            var outcome = Stream.Outcome()
            let time = try await seconds { outcome = try await Stream.run(contestant.layout, count) }
            guard outcome.count == count else { throw WrongRecordCount(expected: count, received: outcome.count) }
            waits.append(Double((outcome.first - server.pageSent()).nanoseconds) / 1e6)
            rates.append(Double(count) / time)
            peak = max(peak, outcome.peak)
        }
        try await contestant.stop()
        server.stop()
        let extra = Double(peak - before) / 1e6
        report["api.stream100000.firstRecordMs"] = waits.median
        report["api.stream100000.extraMB"] = extra
        report["api.stream100000.recordsPerSecond"] = rates.median
        print(
            """

            \(count) records streamed: the first \(waits.median) ms after the first byte, \(Int(rates.median)) in a second, \
            \(extra) MB of extra memory at the peak
            """
        )
    }

    private final class Stream: Subscriber {
        struct Outcome {
            var first = NIODeadline.distantPast
            var count = 0
            var peak = 0
        }

        typealias Input = DataAPI.Record<DecodeModels.Wide, DecodeModels.NoPortals>
        typealias Failure = FMRest.APIError

        private let done: EventLoopPromise<Outcome>
        private var outcome = Outcome()

        static func run(_ layout: DataAPI.Layout, _ count: Int) async throws -> Outcome {
            let done = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Outcome.self)
            layout.records(DecodeModels.Wide.self, DecodeModels.NoPortals.self, recordQuery: RecordQuery(limit: count))
                .subscribe(Stream(done))
            return try await done.futureResult.get()
        }

        private init(_ done: EventLoopPromise<Outcome>) { self.done = done }

        func receive(subscription: any Subscription) { subscription.request(.unlimited) }

        func receive(_ record: Input) -> Subscribers.Demand {
            if outcome.count == 0 { outcome.first = .now() }
            outcome.count += 1
            if outcome.count.isMultiple(of: 1000) { outcome.peak = max(outcome.peak, processFootprint().memory) }
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            switch completion {
            case .finished: done.succeed(outcome)
            case .failure(let error): done.fail(error)
            }
        }
    }
}
