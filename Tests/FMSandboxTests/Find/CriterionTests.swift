import FMTestSupport
import Testing

@testable import FMSandbox

@Suite struct CriterionTests {
    private let today: CivilDate

    init() throws {
        today = try #require(CivilDate(year: 2025, month: 1, day: 15))
    }

    /// The values that match the criterion.
    private func matches(_ criterion: String, _ type: Solution.FieldType, _ values: [String]) throws -> [String] {
        let criterion = try Criterion(criterion, type: type, today: today)
        var seen: Set<MatchKey> = []
        let duplicates = Set(values.map { Criterion.content($0, type) }.filter { !seen.insert($0).inserted })
        return values.filter { criterion.matches(FindContent(.text($0), of: type), duplicates: duplicates) }
    }

    private static let names = ["Ada Lovelace", "Adalbert", "lovelace", "ÁDA", ""]

    @Test(
        arguments: [
            ("ada", ["Ada Lovelace", "Adalbert", "ÁDA"]),
            ("=ada", ["Ada Lovelace", "ÁDA"]),
            ("==ada", ["ÁDA"]),
            ("==ada*", ["Ada Lovelace", "Adalbert", "ÁDA"]),
            ("==*lovelace", ["Ada Lovelace", "lovelace"]),
            ("==\"Ada Lovelace\"", ["Ada Lovelace"]),
            ("love ada", ["Ada Lovelace"]),
            ("\"ada l\"", ["Ada Lovelace"]),
            ("*\"bert\"", ["Adalbert"]),
            ("lace", []),
            ("*lace", ["Ada Lovelace", "lovelace"]),
            ("=", [""]),
            ("==", [""]),
            ("*", ["Ada Lovelace", "Adalbert", "lovelace", "ÁDA"]),
            ("@da", ["Ada Lovelace", "Adalbert", "ÁDA"]),
            ("\\\"ada\\\"", []),
            ("=@da", ["Ada Lovelace", "ÁDA"]),
            ("A...B", ["Ada Lovelace", "Adalbert", "ÁDA"]),
            ("<b", ["Ada Lovelace", "Adalbert", "ÁDA"]),
            ("≥lovelace", ["Ada Lovelace", "lovelace"]),
            ("  ada  ", ["Ada Lovelace", "Adalbert", "ÁDA"]),
            ("~ada", ["Ada Lovelace", "Adalbert", "ÁDA"]),
            ("!", []),
            ("?", []),
            ("//", []),
        ]
    )
    func text(_ criterion: String, _ expected: [String]) throws {
        #expect(try matches(criterion, .text, Self.names) == expected)
    }

    @Test(
        arguments: [
            ("S*n", ["Spoon", "Sn"]), ("*poo*", ["Spoon"]), ("##", ["30", "300", "53"]), ("=##", ["30", "53"]),
            ("=#3", ["53"]),
            ("joey\\@abc.net", ["joey@abc.net"]), ("joey@abc.net", []), ("=Market", ["Market Services"]),
            ("market", ["Market Services", "Marketing"]), ("==Market", []), ("a\\*b", ["a*b"]), ("O'Hara", ["O'Hara"]),
        ]
    )
    func textPatterns(_ criterion: String, _ expected: [String]) throws {
        let values = [
            "Spoon", "Sn", "30", "300", "53", "joey@abc.net", "Market Services", "Marketing", "a*b", "O'Hara",
        ]
        #expect(try matches(criterion, .text, values) == expected)
    }

    @Test(
        arguments: [
            ("20", ["20", "20.0", "$20.00"]), ("=20", ["20", "20.0", "$20.00"]), ("==20", ["20", "20.0", "$20.00"]),
            (">100", ["200", "112.34", "119.01"]), ("<=20", ["20", "20.0", "$20.00", "-5", "1A"]),
            ("110...119", ["112.34"]), ("110..119", ["112.34"]), ("110…119", ["112.34"]), ("...0", ["-5"]),
            ("119...", ["200", "119.01"]), ("1001..1000", []), ("##", ["20", "20.0", "$20.00"]),
            ("2*", ["20", "20.0", "$20.00", "200"]),
            ("==2*", ["20", "20.0", "$20.00", "200"]), ("?", ["A"]), ("A", ["A"]), ("1", ["1A"]), ("=", [""]),
            ("*", ["20", "20.0", "$20.00", "200", "112.34", "119.01", "-5", "A", "1A"]),
            ("\"20\"", ["20", "20.0", "$20.00"]),
            ("-5", ["-5"]),
        ]
    )
    func numbers(_ criterion: String, _ expected: [String]) throws {
        let values = ["20", "20.0", "$20.00", "200", "112.34", "119.01", "-5", "A", "1A", ""]
        #expect(try matches(criterion, .number, values) == expected)
    }

    @Test(
        arguments: [
            ("6/30/2024", ["06/30/2024"]), ("6/2024", ["06/30/2024", "06/01/2024"]),
            ("2024", ["06/30/2024", "06/01/2024", "12/31/2024"]),
            ("6/*", ["06/30/2024", "06/01/2024", "06/15/2023"]), ("*/15/*", ["06/15/2023", "01/15/2025"]),
            ("6/*/2023", ["06/15/2023"]), ("6/{1...15}/2024", ["06/01/2024"]),
            ("{6..12}/{15..31}/2024", ["06/30/2024", "12/31/2024"]),
            ("6/1/2024..12/2024", ["06/30/2024", "06/01/2024", "12/31/2024"]), ("Sunday", ["06/30/2024"]),
            ("=Tuesday", ["12/31/2024"]), ("Mon..Wed", ["12/31/2024", "01/15/2025"]), ("//", ["01/15/2025"]),
            ("<=//", ["06/30/2024", "06/01/2024", "12/31/2024", "06/15/2023", "01/15/2025"]),
            ("//...12/31/2030", ["01/15/2025"]),
            (">=6/2024", ["06/30/2024", "06/01/2024", "12/31/2024", "01/15/2025"]), ("<6/2024", ["06/15/2023"]),
            (">6/2024", ["12/31/2024", "01/15/2025"]), ("?", ["soon"]), ("=", [""]), ("12/31/24", ["12/31/2024"]),
        ]
    )
    func dates(_ criterion: String, _ expected: [String]) throws {
        let values = ["06/30/2024", "06/01/2024", "12/31/2024", "06/15/2023", "01/15/2025", "soon", ""]
        #expect(try matches(criterion, .date, values) == expected)
    }

    @Test(
        arguments: [
            ("4", ["04:00:00", "04:59:59"]), ("5pm", ["17:00:00", "17:30:00.5"]), ("05:00:00", ["05:00:00"]),
            ("17:30", ["17:30:00.5"]), ("4:30...17:00", ["04:59:59", "05:00:00", "17:00:00"]),
            ("{4...5}:00", ["04:00:00", "05:00:00"]), ("4:{30..59}", ["04:59:59"]), ("0:75", ["01:15:00"]),
            ("*:30", ["17:30:00.5"]), (">24", ["25:00:00"]), ("17:30:00.5", ["17:30:00.5"]),
        ]
    )
    func times(_ criterion: String, _ expected: [String]) throws {
        let values = ["04:00:00", "04:59:59", "05:00:00", "17:00:00", "17:30:00.5", "01:15:00", "25:00:00"]
        #expect(try matches(criterion, .time, values) == expected)
    }

    @Test(
        arguments: [
            ("6/30/2024", ["06/30/2024 09:15:00", "06/30/2024 23:59:59"]), ("6/30/2024 9", ["06/30/2024 09:15:00"]),
            ("2024 *:15 AM", ["06/30/2024 09:15:00"]),
            (">=6/30/2024 23:00", ["06/30/2024 23:59:59", "01/15/2025 00:00:00"]),
            ("//", ["01/15/2025 00:00:00"]), ("6/30/2024 12:00...//", ["06/30/2024 23:59:59", "01/15/2025 00:00:00"]),
            ("Sunday", ["06/30/2024 09:15:00", "06/30/2024 23:59:59"]), ("0:00", ["01/15/2025 00:00:00"]),
        ]
    )
    func timestamps(_ criterion: String, _ expected: [String]) throws {
        let values = ["06/30/2024 09:15:00", "06/30/2024 23:59:59", "01/15/2025 00:00:00"]
        #expect(try matches(criterion, .timestamp, values) == expected)
    }

    @Test func repeatedContentIsFoundByAnExclamationMark() throws {
        #expect(try matches("!", .text, ["a", "b", "A", "", ""]) == ["a", "A"])
        #expect(try matches("!", .number, ["1", "2", "1"]) == ["1", "1"])
    }

    @Test(
        arguments: [
            (Solution.FieldType.date, "31/12/2024", 500), (.date, "2/30/2024", 500), (.date, "soon", 500),
            (.date, "5", 500),
            (.date, "{9..1}/1/2024", 500), (.date, "1/2/3/4", 500), (.date, ">{1", 500), (.time, "x", 501),
            (.time, "13pm", 501),
            (.time, "{9..1}:00", 501), (.timestamp, "6/30/2024 x", 500), (.number, ">x", 502), (.number, "a...b", 502),
            (.container, "photo", 508),
        ]
    )
    func whatCannotBeReadIsAnError(_ type: Solution.FieldType, _ criterion: String, _ code: Int) {
        #expect(throws: FileMakerError(code)) { try Criterion(criterion, type: type, today: today) }
    }

    /// Any criterion is read or refused without a trap.
    @Test func noCriterionTraps() {
        let pieces = [
            "=", "<", ">", "...", "{", "}", "*", "\"", "\\", "/", ":", "9999", "0", "a", "am", "T", "!", "?", "-", " ",
            "ß",
        ]
        var generator = SeededRandom(seed: 7)
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                pieces.randomElement(using: &generator)!
            }
            for type in Solution.FieldType.allCases {
                let criterion: Criterion
                do {
                    criterion = try Criterion(text.joined(), type: type, today: today, dates: .usAndISO)
                } catch {
                    let code = (error as? FileMakerError)?.code ?? 0
                    #expect([400, 500, 501, 502, 508].contains(code), "\(text.joined()): \(error)")
                    continue
                }
                for value in ["", "a 1", "01/02/2024", "12:30:00", "01/02/2024 12:30:00"] {
                    _ = criterion.matches(FindContent(.text(value), of: type), duplicates: [])
                }
            }
        }
    }

    /// `*a*a*a…` against `aaaa…b`: a matcher that tries every split would not end.
    @Test func hostilePatternsEnd() throws {
        let pattern = TextPattern(
            elements: CriterionReader.wholePattern(String(repeating: "*a", count: 200) + "c").elements
        )
        let text = Array(repeating: UInt32(0x61), count: 5_000)
        #expect(!pattern.matches(text[...], whole: true))
    }
}
