import FMData
import Foundation

/// `benchmarks decode`: typed records out of JSON by FMData, by Foundation's JSONDecoder and, untyped, by
/// JSONSerialization; the same bytes, one after the other in the same run.
///
/// Figures are megabytes of JSON a second, the best of several rounds, under
/// `decode.<wide|narrow|portals>.<1|100|100000>.<fmdata_mb_s|foundation_mb_s|serialization_mb_s>`.
enum DecodeBenchmark {
    static let counts = [1, 100, 100_000]

    /// One line of the table.
    struct Figure {
        var shape: String
        var count: Int
        var fmdata: Double
        var foundation: Double
        var serialization: Double
        /// By the name in the output: `decode.wide.100.fmdata_mb_s`.
        var values: [(name: String, value: Double)] {
            let prefix = "decode.\(shape).\(count)."
            return [
                (prefix + "fmdata_mb_s", fmdata), (prefix + "foundation_mb_s", foundation),
                (prefix + "serialization_mb_s", serialization),
            ]
        }
    }

    /// Measures everything; `seconds` is the time for each of the figures.
    static func run(seconds: Double = 1, counts: [Int] = counts) throws -> [Figure] {
        var figures: [Figure] = []
        for count in counts {
            figures.append(
                try measure("wide", count, DecodeAnswers.wide(count), seconds) {
                    try fmdata(DecodeModels.Wide.self, DecodeModels.NoPortals.self, $0)
                } foundation: {
                    try foundation(DecodeModels.PlainWide.self, DecodeModels.NoPortals.self, $0)
                }
            )
            figures.append(
                try measure("narrow", count, DecodeAnswers.narrow(count), seconds) {
                    try fmdata(DecodeModels.Narrow.self, DecodeModels.NoPortals.self, $0)
                } foundation: {
                    try foundation(DecodeModels.Narrow.self, DecodeModels.NoPortals.self, $0)
                }
            )
            figures.append(
                try measure("portals", count, DecodeAnswers.portals(count), seconds) {
                    try fmdata(DecodeModels.Narrow.self, DecodeModels.Portals.self, $0)
                } foundation: {
                    try foundation(DecodeModels.Narrow.self, DecodeModels.Portals.self, $0)
                }
            )
        }
        return figures
    }

    /// The figures as a table with ratios.
    static func table(_ figures: [Figure]) -> String {
        var lines = ["records               FMData  JSONDecoder  ratio  JSONSerialization   (MB/s)"]
        for figure in figures {
            let name = "\(figure.count) \(figure.shape)"
            lines.append(
                name.padding(toLength: 16, withPad: " ", startingAt: 0)
                    + String(
                        format: "%12.1f %12.1f %6.1f %18.1f",
                        figure.fmdata,
                        figure.foundation,
                        figure.fmdata / figure.foundation,
                        figure.serialization
                    )
            )
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Contestants

    private static func fmdata<R: Decodable, P: Decodable>(_ r: R.Type, _ p: P.Type, _ json: Data) throws -> Int {
        try FMDecoder().decodeAnswer(DataAPI.RecordResponse<R, P>.self, from: json).data.count
    }

    private static func foundation<R: Decodable, P: Decodable>(_ r: R.Type, _ p: P.Type, _ json: Data) throws -> Int {
        try JSONDecoder().decode(DecodeModels.Answer<R, P>.self, from: json).response.data.count
    }

    private static func serialization(_ json: Data) throws -> Int {
        let answer = try JSONSerialization.jsonObject(with: json) as? [String: Any]
        let response = answer?["response"] as? [String: Any]
        return (response?["data"] as? [Any])?.count ?? 0
    }

    // MARK: Measuring

    struct WrongCount: Error {}

    private static func measure(
        _ shape: String,
        _ count: Int,
        _ json: Data,
        _ seconds: Double,
        fmdata: (Data) throws -> Int,
        foundation: (Data) throws -> Int
    ) throws -> Figure {
        Figure(
            shape: shape,
            count: count,
            fmdata: try megabytesPerSecond(json, count, seconds, fmdata),
            foundation: try megabytesPerSecond(json, count, seconds, foundation),
            serialization: try megabytesPerSecond(json, count, seconds, serialization)
        )
    }

    /// The best of many rounds, at least three: everything else on the machine only makes it slower.
    private static func megabytesPerSecond(
        _ json: Data,
        _ count: Int,
        _ seconds: Double,
        _ body: (Data) throws -> Int
    ) throws -> Double {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        // Short answers are decoded several times in a round, so that reading the clock does not count.
        let repetitions = max(1, 200_000 / json.count)
        var best = Duration.seconds(1_000_000)
        var rounds = 0
        while rounds < 3 || clock.now < deadline {
            let time = try clock.measure {
                for _ in 0..<repetitions {
                    guard try body(json) == count else { throw WrongCount() }
                }
            }
            best = min(best, time)
            rounds += 1
        }
        let (whole, fraction) = best.components
        return Double(json.count * repetitions) / 1e6 / (Double(whole) + Double(fraction) / 1e18)
    }
}
