import FMData
import Foundation

/// Typed records from JSON by FMData, by Foundation's JSONDecoder and, untyped, by JSONSerialization, from the same
/// bytes. All take turns in several rounds; the figures are medians.
///
/// Figures are megabytes of JSON a second, under
/// `decode.<wide|narrow|portals>.<1|100|100000>.<fmdata_mb_s|rows_mb_s|foundation_mb_s|serialization_mb_s>`, where
/// `rows` is FMData with types that read their fields by position, as generated ones do. If there is Python 3, the
/// figures of its parsers for 100 and for 100,000 wide records, untyped, are under `decode.python.<json|orjson>_mb_s`
/// and `decode.python.100000.<json|orjson>_mb_s`: an answer that fits into the processor's cache differs from a long
/// one.
///
/// `decode.lenient.<strict|lenient_good|lenient>_mb_s` is 10,000 wide records, strictly, leniently, and leniently with
/// one in a hundred that cannot be decoded.
enum DecodeSuite: Suite {
    static let name = "decode"

    private static let secondsPerTurn = 0.15

    static func run(_ report: inout Report, _ options: Options) async throws {
        for count in [1, 100, 100_000] {
            let assignments = [
                Assignment(
                    "wide",
                    DecodeAnswers.wide(count),
                    DecodeModels.Wide.self,
                    DecodeModels.WideRow.self,
                    DecodeModels.PlainWide.self
                ),
                Assignment(
                    "narrow",
                    DecodeAnswers.narrow(count),
                    DecodeModels.Narrow.self,
                    DecodeModels.NarrowRow.self,
                    DecodeModels.Narrow.self
                ),
                Assignment(
                    "portals",
                    DecodeAnswers.portals(count),
                    DecodeModels.Narrow.self,
                    DecodeModels.NarrowRow.self,
                    DecodeModels.Narrow.self,
                    portals: DecodeModels.Portals.self
                ),
            ]
            for assignment in assignments
            where options.measures(assignment.shape) || options.measures("\(assignment.shape).\(count)") {
                let figures = try await measure(assignment, count, options)
                for (name, figure) in figures { report["decode.\(assignment.shape).\(count).\(name)"] = figure }
                printTable(
                    "\(assignment.shape) records, \(count) of them",
                    unit: "MB/s",
                    rows: figures,
                    baseline: ["foundation_mb_s"]
                )
            }
        }
        if options.measures("lenient") { try await lenient(&report, options) }
        if options.only == nil { orientation(&report) }
    }

    /// Returns megabytes a second.
    private static func measure(
        _ assignment: Assignment,
        _ count: Int,
        _ options: Options
    ) async throws -> [(name: String, figure: Double)] {
        let competitors = assignment.decoders
            .filter { options.measures(contestant: $0.name) }
            .map { decoder in
                Competitor(decoder.name) { repetitions in
                    for _ in 0..<repetitions {
                        let decoded = try decoder.decode(assignment.json)
                        guard decoded == count else { throw WrongCount(expected: count, decoded: decoded) }
                    }
                }
            }
        let megabytes = Double(assignment.json.count) / 1e6
        return try await compare(
            competitors,
            // A short answer a few hundred times, a long one once.
            sample: max(1, 200_000 / assignment.json.count),
            rounds: options.rounds,
            secondsPerTurn: secondsPerTurn
        )
        .map { ($0.name, $0.figure * megabytes) }
    }

    private static func lenient(_ report: inout Report, _ options: Options) async throws {
        let count = 10_000
        let (good, mixed) = (DecodeAnswers.wide(count), DecodeAnswers.wide(count, unreadableEach: 100))
        let decoder = FMDecoder()
        let figures = try await compare(
            [
                Competitor("strict", repeating(count) { try decode(DecodeModels.WideRecord.self, good, decoder) }),
                Competitor(
                    "lenient_good",
                    repeating(count) { try decode(DataAPI.Lenient<DecodeModels.WideRecord>.self, good, decoder) }
                ),
                Competitor(
                    "lenient",
                    repeating(count) { try decode(DataAPI.Lenient<DecodeModels.WideRecord>.self, mixed, decoder) }
                ),
            ],
            sample: 1,
            rounds: 3 * options.rounds,
            secondsPerTurn: secondsPerTurn
        )
        .map { (name: "\($0.name)_mb_s", figure: $0.figure * Double(good.count) / 1e6) }
        for (name, figure) in figures { report["decode.lenient.\(name)"] = figure }
        printTable("wide records, \(count) of them", unit: "MB/s", rows: figures, baseline: ["strict_mb_s"])
    }

    private static func decode<R: Decodable>(_ type: R.Type, _ json: Data, _ decoder: FMDecoder) throws -> Int {
        try decoder.decodeAnswer(DataAPI.RecordResponse<R, DecodeModels.NoPortals>.self, from: json).data.count
    }

    private static func repeating(
        _ count: Int,
        _ decode: @escaping () throws -> Int
    ) -> (_ repetitions: Int) async throws -> Void {
        { repetitions in
            for _ in 0..<repetitions {
                let decoded = try decode()
                guard decoded == count else { throw WrongCount(expected: count, decoded: decoded) }
            }
        }
    }

    private static func orientation(_ report: inout Report) {
        for (count, group) in [(100, "decode.python"), (100_000, "decode.python.100000")] {
            let figures = DecodeOrientation.python(DecodeAnswers.wide(count)).map { ($0.name, $0.megabytesPerSecond) }
            guard !figures.isEmpty else { return }
            for (name, figure) in figures { report["\(group).\(name)_mb_s"] = figure }
            printTable(
                "wide records, \(count) of them, untyped, in Python",
                unit: "MB/s",
                rows: figures,
                baseline: ["json"]
            )
        }
    }

    private struct WrongCount: Error {
        var expected: Int
        var decoded: Int
    }
}

/// One answer, and the ways to decode it; each returns the number of records it found.
private struct Assignment {
    let shape: String
    let json: Data
    let decoders: [(name: String, decode: (Data) throws -> Int)]

    init<R: Decodable, Row: Decodable, Plain: Decodable>(
        _ shape: String,
        _ json: Data,
        _ fields: R.Type,
        _ row: Row.Type,
        _ plain: Plain.Type
    ) {
        self.init(shape, json, fields, row, plain, portals: DecodeModels.NoPortals.self)
    }

    /// - Parameters:
    ///   - row: the type of the fields that reads them by position.
    ///   - plain: the type of the fields for a decoder that does not know FileMaker's values.
    init<R: Decodable, Row: Decodable, Plain: Decodable, P: Decodable>(
        _ shape: String,
        _ json: Data,
        _ fields: R.Type,
        _ row: Row.Type,
        _ plain: Plain.Type,
        portals: P.Type
    ) {
        self.shape = shape
        self.json = json
        // Made once, as in a program that decodes repeatedly.
        let (fmdata, foundation) = (FMDecoder(), JSONDecoder())
        decoders = [
            (
                "fmdata_mb_s",
                { try fmdata.decodeAnswer(DataAPI.RecordResponse<R, P>.self, from: $0).data.count }
            ),
            (
                "rows_mb_s",
                { try fmdata.decodeAnswer(DataAPI.RecordResponse<Row, P>.self, from: $0).data.count }
            ),
            (
                "foundation_mb_s",
                { try foundation.decode(DecodeModels.Answer<Plain, P>.self, from: $0).response.data.count }
            ),
            ("serialization_mb_s", { try Self.countUntyped($0) }),
        ]
    }

    private static func countUntyped(_ json: Data) throws -> Int {
        let answer = try JSONSerialization.jsonObject(with: json) as? [String: Any]
        let response = answer?["response"] as? [String: Any]
        return (response?["data"] as? [Any])?.count ?? 0
    }
}
