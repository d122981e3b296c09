import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

@Suite struct FindTextTests {
    @Test(arguments: [
        ("joey@abc.net", "joey\\@abc.net"), ("100% *sure*?", "100% \\*sure\\*\\?"), ("a=b<c>d!", "a\\=b\\<c\\>d\\!"),
        ("say \"hi\"", "say \\\"hi\\\""), ("C:\\dir", "C:\\\\dir"), ("#1 ~ {x}", "\\#1 \\~ \\{x\\}"),
        ("≤≥…", "\\≤\\≥\\…"),
        ("06/30/2024", "06/30/2024"), ("http://x", "http:\\/\\/x"), ("a//b///c/d", "a\\/\\/b\\/\\/\\/c/d"),
        ("3.14", "3.14"), ("1..2", "1\\.\\.2"), (".5", "\\.5"), ("end.", "end\\."), (" padded ", "\\ padded\\ "),
        ("", ""),
        ("O'Hara-Smith & Søn", "O'Hara-Smith & Søn"), ("\n", "\\\n"),
    ])
    func operatorsLoseTheirMeaning(text: String, escaped: String) {
        #expect(FindText.escaped(text) == escaped)
        #expect(FindText.unescaped(escaped) == text)
    }

    @Test func anyTextIsFoundLiterallyAndNothingElseIs() {
        var generator = SeededRandom(seed: 21)
        for _ in 0..<3000 {
            let text = String.random(length: 1...10, using: &generator)
            let other = String.random(length: 0...10, using: &generator)
            let (before, after) = ("prefix ", " suffix")
            let escaped = FindText.escaped(text)
            #expect(FindMatcher.matches(text: text, "==\(escaped)"), "\(text.debugDescription)")
            #expect(FindMatcher.matches(text: text + after, "==\(escaped)*"), "\(text.debugDescription)")
            #expect(FindMatcher.matches(text: before + text + after, "==*\(escaped)*"), "\(text.debugDescription)")
            #expect(FindMatcher.matches(text: before + text, "==*\(escaped)"), "\(text.debugDescription)")
            let isEqual = Array(text.lowercased().unicodeScalars) == Array(other.lowercased().unicodeScalars)
            #expect(FindMatcher.matches(text: other, "==\(escaped)") == isEqual, "\(text.debugDescription)")
        }
    }

    @Test(
        arguments: [
            ("John Smith", ["John", "Smith"]), ("joey@abc.net", ["joey", "abc.net"]),
            ("O'Hara-Smith", ["O'Hara", "Smith"]),
            ("3.14 at 12:30", ["3.14", "at", "12:30"]), ("a.1", ["a", "1"]), ("(x) [y]\tz\r", ["x", "y", "z"]),
            ("!?", []),
            ("", []), ("Grüße, 世界", ["Grüße", "世界"]), ("1-2 a-b", ["1-2", "a", "b"]), ("'quoted'", ["quoted"]),
        ] as [(String, [String])]
    )
    func wordsAsTheIndexCutsThem(text: String, words: [String]) {
        #expect(FindText.words(of: text) == words)
    }

    @Test func datesAndTimesAreInUSFormat() {
        #expect(FindText.date(year: 2024, month: 6, day: 3) == "06/03/2024")
        #expect(FindText.date(year: 1, month: 12, day: 31) == "12/31/0001")
        #expect(FindText.time(hours: 9, minutes: 5, seconds: 0) == "09:05:00")
        #expect(FindText.time(hours: 125, minutes: 0, seconds: 7, nanoseconds: 250_000_000) == "125:00:07.25")
        #expect(FindText.time(isNegative: true, hours: 0, minutes: 30, seconds: 0) == "-00:30:00")
        #expect(FindText.time(hours: 0, minutes: 0, seconds: 0, nanoseconds: 1) == "00:00:00.000000001")
        #expect(FindText.timestamp(date: "06/03/2024", time: "09:05:00") == "06/03/2024 09:05:00")
        #expect(FindText.escaped("06/03/2024 09:05:00") == "06/03/2024 09:05:00")
    }

    @Test(
        arguments: [
            (0.5, "0.5"), (20, "20"), (-1.25, "-1.25"), (1e21, "1000000000000000000000"), (1.5e16, "15000000000000000"),
            (1e-7, "0.0000001"), (-2.5e-10, "-0.00000000025"), (123456.789, "123456.789"), (.nan, nil),
            (.infinity, nil),
        ] as [(Double, String?)]
    )
    func numbersHaveNoExponent(number: Double, text: String?) {
        #expect(number.findText == text)
    }

    @Test func anyFiniteDoubleReadsBack() {
        var generator = SeededRandom(seed: 22)
        for _ in 0..<2000 {
            let number = Double(bitPattern: generator.next())
            guard let text = number.findText else { continue }
            #expect(Double(text) == number)
            #expect(!text.contains("e"))
        }
    }

    @Test func otherValues() throws {
        enum Status: String, DataAPI.FindValue { case active }
        enum Level: Int, DataAPI.FindValue { case high = 3 }
        #expect(Status.active.findText == "active")
        #expect(!Status.isOrderedInFinds)
        #expect(Level.high.findText == "3")
        #expect(Level.isOrderedInFinds)
        #expect(true.findText == "1")
        #expect(false.findText == "0")
        #expect(Int.min.findText == "-9223372036854775808")
        let digits = "12345678901234567890123456789.5"
        #expect(try #require(Decimal(string: digits)).findText == digits)
        #expect(Decimal.nan.findText == nil)
        #expect(Substring("x").findText == "x")
        #expect(
            UUID(uuidString: "00000000-0000-0000-0000-00000000000A")?.findText == "00000000-0000-0000-0000-00000000000A"
        )
    }
}
