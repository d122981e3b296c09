import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

/// Random finds over random tables: the found set equals that of a predicate that does not use the matcher.
@Suite struct FindOracleTests {
    private struct Row {
        var text: String
        var number: Int?
        /// The number of days after 1 January 2024.
        var day: Int
    }

    /// One criterion, as a client writes it and as a Swift predicate.
    private struct Probe {
        var field: String
        var criterion: String
        var holds: (Row) -> Bool
    }

    private static let words = ["alpha", "beta", "gamma", "alphabet", "Bé", "omega"]

    private static func date(_ day: Int) -> (text: String, month: Int) {
        var formatter = DateComponents()
        formatter.year = 2024
        formatter.month = 1
        formatter.day = 1 + day
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        guard let date = calendar.date(from: formatter) else { preconditionFailure("the calendar has every day") }
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        guard let year = parts.year, let month = parts.month, let dayOfMonth = parts.day else {
            preconditionFailure("the calendar gives all parts that it is asked for")
        }
        return (String(format: "%02d/%02d/%04d", month, dayOfMonth, year), month)
    }

    private static func row(_ generator: inout SeededRandom) -> Row {
        let count = Int.random(in: 0...3, using: &generator)
        let texts = (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }
        let separator = [" ", "\r", ", "].randomElement(using: &generator) ?? " "
        return Row(
            text: texts.joined(separator: separator),
            number: Bool.random(using: &generator) ? Int.random(in: -20...20, using: &generator) : nil,
            day: Int.random(in: 0..<366, using: &generator)
        )
    }

    private static func plain(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    private static func split(_ text: String) -> [String] {
        plain(text).components(separatedBy: CharacterSet.alphanumerics.inverted).filter { !$0.isEmpty }
    }

    private static func probe(_ generator: inout SeededRandom) -> Probe {
        let word = words.randomElement(using: &generator) ?? "alpha"
        let folded = plain(word)
        let number = Int.random(in: -20...20, using: &generator)
        let span = Int.random(in: 0...15, using: &generator)
        let day = Int.random(in: 0..<366, using: &generator)
        let (date, month) = date(day)
        let probes: [Probe] = [
            Probe(field: "Text", criterion: word) { split($0.text).contains { $0.hasPrefix(folded) } },
            Probe(field: "Text", criterion: "=\(word)") { split($0.text).contains(folded) },
            Probe(field: "Text", criterion: "==\(word)") { plain($0.text) == folded },
            Probe(field: "Text", criterion: "==*\(word)") { plain($0.text).hasSuffix(folded) },
            Probe(field: "Text", criterion: "=") { $0.text.isEmpty },
            Probe(field: "Text", criterion: "*") { !$0.text.isEmpty },
            Probe(field: "Text", criterion: "<\(word)") { split($0.text).contains { $0 < folded } },
            Probe(field: "Number", criterion: "\(number)") { $0.number == number },
            Probe(field: "Number", criterion: ">\(number)") { $0.number.map { $0 > number } ?? false },
            Probe(field: "Number", criterion: "≤\(number)") { $0.number.map { $0 <= number } ?? false },
            Probe(field: "Number", criterion: "\(number)...\(number + span)") { row in
                row.number.map { (number...number + span).contains($0) } ?? false
            },
            Probe(field: "Number", criterion: "=") { $0.number == nil },
            Probe(field: "Date", criterion: date) { $0.day == day },
            Probe(field: "Date", criterion: ">=\(date)") { $0.day >= day },
            Probe(field: "Date", criterion: "\(month)/2024") { Self.date($0.day).month == month },
            Probe(field: "Date", criterion: "...\(date)") { $0.day <= day },
        ]
        return probes.randomElement(using: &generator) ?? probes[0]
    }

    @Test(arguments: 1...UInt64(Effort.of(12, brief: 3)))
    func foundSetsEqualThePredicate(_ seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let rows = (0..<60).map { _ in Self.row(&generator) }
        let solution = Solution.oneTable(
            [.init("Text"), .init("Number", .number), .init("Date", .date)],
            rows.map { row in
                .init(["Text": row.text, "Number": row.number.map(String.init) ?? "", "Date": Self.date(row.day).text])
            }
        )
        let engine = try Engine([solution], configuration: Sandbox.Configuration { $0.clock = ManualClock() })
        let reader = Reader(model: engine.model, world: engine.world, viewpoint: Viewpoint(now: engine.now))
        let layout = try #require(engine.model.databases[0].layouts["L"])
        for round in 0..<60 {
            let requests = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                (
                    probes: (0..<Int.random(in: 1...2, using: &generator)).map { _ in Self.probe(&generator) },
                    isOmit: Int.random(in: 0..<4, using: &generator) == 0
                )
            }
            // The rule of the guide in Swift: requests add or remove records in their order, and all criteria of a
            // request must match.
            var expected = requests[0].isOmit ? Set(rows.indices) : []
            for request in requests {
                let hits = rows.indices.filter { place in request.probes.allSatisfy { $0.holds(rows[place]) } }
                if request.isOmit { expected.subtract(hits) } else { expected.formUnion(hits) }
            }
            let found = reader.find(
                try requests.map { request in
                    FindRequest(
                        conditions: try request.probes.map { probe in
                            let field = try #require(layout.field(named: probe.field))
                            let type = engine.model.tables[0].fields[field.reference.field].type
                            return FindRequest.Condition(
                                reference: field.reference,
                                repetitions: 1...1,
                                criterion: try Criterion(probe.criterion, type: type, today: engine.now.date)
                            )
                        },
                        isOmit: request.isOmit
                    )
                },
                table: 0,
                database: engine.model.databases[0]
            )
            let told = requests.map { "\($0.isOmit ? "omit " : "")\($0.probes.map { "\($0.field): \($0.criterion)" })" }
            #expect(found.map { $0.id - 1 } == expected.sorted(), "seed \(seed), round \(round): \(told)")
        }
    }
}
