import FMData
import NIOCore

/// End to end, from the call to typed records: one record, in call after call and in many calls at a time, and a page
/// of 1,000 records, through FMData's publishers and through what a user would pick instead. All take turns in several
/// rounds; the figures are medians.
///
/// Figures are calls a second, under `api.<record|record_many|thousand>.<fmdata|ahc_json|urlsession_json>`;
/// `fmdata_eventloop` is FMData with the other delivery, `fmdata_ahc` FMData with AsyncHTTPClient as its transport,
/// `ahc_futures_json` AsyncHTTPClient with futures. The records are the wide ones of `benchmarks decode`; FMData
/// decodes dates, the others leave them as text.
enum APISuite: Suite {
    static let name = "api"

    static let manyAtATime = 16
    private static let secondsPerTurn = 0.5

    private static let cases: [(name: String, call: APICall, concurrency: Int)] = [
        ("record", .record, 1),
        ("record_many", .record, manyAtATime),
        ("thousand", .thousand, 1),
    ]

    static func run(_ report: inout Report, _ options: Options) async throws {
        let server = try await CannedDataAPI(
            record: ByteBuffer(bytes: DecodeAnswers.wide(APICall.record.recordCount)),
            page: ByteBuffer(bytes: DecodeAnswers.wide(APICall.thousand.recordCount))
        )
        let all: [any APIContestant] = [
            FMDataContestant("fmdata", base: server.base, delivery: .background),
            FMDataContestant("fmdata_eventloop", base: server.base, delivery: .eventLoop),
            FMDataContestant(
                "fmdata_ahc",
                base: server.base,
                delivery: .background,
                configure: { $0.transport = AHCTransport(.benchmark) }
            ),
            AHCJSONContestant(base: server.base),
            AHCFuturesJSONContestant(base: server.base),
            URLSessionJSONContestant(base: server.base),
        ]
        for (name, call, concurrency) in cases where options.measures(name) {
            let competitors = all.filter { options.measures(contestant: $0.name) }.map { contestant in
                Competitor(contestant.name) { count in
                    try await contestant.run(call, count: count, concurrency: concurrency)
                }
            }
            let figures = try await compare(
                competitors,
                sample: max(1, 200 * concurrency / call.recordCount),
                rounds: options.rounds,
                secondsPerTurn: secondsPerTurn
            )
            for (contestant, figure) in figures { report["api.\(name).\(contestant)"] = figure }
            printTable(
                "typed records end to end: \(call.recordCount) a call, \(concurrency) calls at a time",
                unit: "calls/s",
                rows: figures,
                baseline: ["ahc_json", "ahc_futures_json"]
            )
        }
        for contestant in all { try await contestant.stop() }
        try await server.stop()
    }
}
