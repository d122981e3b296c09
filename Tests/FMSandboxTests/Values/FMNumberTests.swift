import Testing

@testable import FMSandbox

@Suite struct FMNumberTests {
    @Test(
        arguments: [
            ("12", "12"), ("-12.50", "-12.5"), (".5", "0.5"), ("5.", "5"), ("+7", "7"), ("007", "7"), ("1.5e3", "1500"),
            ("1.5E-3", "0.0015"), ("0.000", "0"), ("-0", "0"), (" 3 ", "3"), ("100", "100"),
            (
                "12345678901234567890123456789012345678901234567890.12345678",
                "12345678901234567890123456789012345678901234567890.12345678"
            ),
        ]
    )
    func literalsAreReadAndWritten(_ text: String, _ written: String) throws {
        #expect(FMNumber(literal: text)?.text == written)
    }

    @Test(arguments: ["", "-", "25abc", "1.2.3", "1e", "1e9999", "0x10", "1 2", "."])
    func othersAreNoLiterals(_ text: String) {
        #expect(FMNumber(literal: text) == nil)
    }

    /// FileMaker's rule: the digits, the first sign before them, one decimal point.
    @Test(
        arguments: [
            ("7-14/71.5", "71471.5"), ("foo1bar2", "12"), ("$20.00", "20"), ("-", "0"), ("a-5", "-5"), ("25abc", "25"),
            ("1.2.3", "1.23"),
        ]
    )
    func numbersAreReadOutOfText(_ text: String, _ number: String) {
        #expect(FMNumber(reading: text)?.text == number)
    }

    @Test(arguments: ["", "abc"])
    func textWithoutDigitsIsNoNumber(_ text: String) {
        #expect(FMNumber(reading: text) == nil)
    }

    @Test func theyCompareByValueToTheLastDigit() throws {
        let texts = [
            "-1000", "-12.5", "-12.49", "-0.001", "0", "0.001", "0.01", "1", "9.99", "10", "99", "100", "1e20",
        ]
        let numbers = try texts.map { try #require(FMNumber(literal: $0)) }
        #expect(numbers.shuffled().sorted() == numbers)
        let one = try #require(FMNumber(literal: "1234567890123456789012345678901234567890123456789012345671"))
        let other = try #require(FMNumber(literal: "1234567890123456789012345678901234567890123456789012345672"))
        #expect(one < other)
        #expect(one != other)
        #expect(FMNumber(literal: "1.0") == FMNumber(literal: "1"))
    }
}
