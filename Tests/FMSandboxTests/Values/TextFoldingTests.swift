import Testing

@testable import FMSandbox

@Suite struct TextFoldingTests {
    private func words(_ text: String) -> [String] {
        TextFolding.words(in: TextFolding.fold(text)).map { word in
            String(String.UnicodeScalarView(word.compactMap(Unicode.Scalar.init)))
        }
    }

    @Test func caseAndAccentsAreFolded() {
        for (one, other) in [("ÁDA", "ada"), ("Straße", "STRASSE"), ("e\u{301}", "É"), ("Ⅳ", "iv"), ("Ω", "ω")] {
            #expect(TextFolding.fold(one) == TextFolding.fold(other))
        }
        #expect(TextFolding.fold("a") != TextFolding.fold("b"))
    }

    @Test(
        arguments: [
            ("Franklin Street", ["franklin", "street"]), ("joey@abc.net", ["joey", "abc.net"]),
            ("O'Hara's", ["o'hara's"]),
            ("3.14 and 12:30", ["3.14", "and", "12:30"]), ("well-known", ["well", "known"]), ("1-2", ["1-2"]),
            ("a\rb\tc", ["a", "b", "c"]), ("end.", ["end"]), ("", []), ("…", []), ("日本", ["日本"]),
        ]
    )
    func textFallsIntoWords(_ text: String, _ expected: [String]) {
        #expect(words(text) == expected)
    }
}
