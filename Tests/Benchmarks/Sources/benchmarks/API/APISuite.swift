import FMData
import NIOCore

/// End to end, one call after the other: one record and a page of 1,000 records as typed values, through FMData's
/// publishers and through what a user would pick instead, all in turn, several rounds, medians.
///
/// Figures are calls a second, under `api.<record|thousand>.<fmdata|ahc_json|urlsession_json>`; `fmdata_eventloop` is FMData
/// with the other delivery, `ahc_futures_json` AsyncHTTPClient by the other of its forms. The records are the wide ones of
/// `benchmarks decode`; FMData makes dates of those that stay text for the others.
enum APISuite: Suite {
    static let name = "api"

    private static let secondsPerTurn = 0.5

    static func run(_ report: inout Report, _ options: Options) async throws {
        let server = try await CannedDataAPI(
            record: ByteBuffer(bytes: DecodeAnswers.wide(APICall.record.recordCount)),
            page: ByteBuffer(bytes: DecodeAnswers.wide(APICall.thousand.recordCount))
        )
        let all: [any APIContestant] = [
            FMDataContestant("fmdata", base: server.base, delivery: .background),
            FMDataContestant("fmdata_eventloop", base: server.base, delivery: .eventLoop),
            AHCJSONContestant(base: server.base),
            AHCFuturesJSONContestant(base: server.base),
            URLSessionJSONContestant(base: server.base),
        ]
        for call in APICall.allCases {
            let competitors = all.filter { options.only == nil || options.only == $0.name }.map { contestant in
                Competitor(contestant.name) { count in try await contestant.run(call, count: count) }
            }
            let figures = try await compare(
                competitors,
                sample: max(1, 200 / call.recordCount),
                rounds: options.rounds,
                secondsPerTurn: secondsPerTurn
            )
            for (name, figure) in figures { report["api.\(call.rawValue).\(name)"] = figure }
            printTable(
                "typed records end to end, \(call.recordCount) a call",
                unit: "calls/s",
                rows: figures,
                baseline: ["ahc_json", "ahc_futures_json"]
            )
        }
        for contestant in all { try await contestant.stop() }
        try await server.stop()
    }
}
