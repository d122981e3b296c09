import CustomDump
import Foundation
import Testing

@testable import FMSandbox

/// The sample's records agree with the tables from which they were made.
@Suite struct SampleTests {
    @Test func theCountriesAreThoseOfISO3166() throws {
        let expected = try rows(of: "iso3166.tab").map { ["Code": $0[0], "Name": $0[1]] }
        #expect(expected.count == 249)
        expectNoDifference(Solution.sample.tables[0].records.map(\.values), expected)
    }

    @Test func theZonesAreThoseOfTheTimeZoneDatabase() throws {
        let expected = try rows(of: "zone1970.tab").map { row in
            let codes = row[0].split(separator: ",").map(String.init)
            let place = Self.degrees(row[1])
            var values = [
                "Name": row[2], "CountryCode": codes[0], "Countries": codes.joined(separator: "\r"),
                "Latitude": place.latitude, "Longitude": place.longitude,
            ]
            if row.count > 3 { values["Comments"] = row[3] }
            return values
        }
        #expect(expected.count == 312)
        expectNoDifference(Solution.sample.tables[1].records.map(\.values), expected)
    }

    /// The rows of a table of the IANA time-zone database: columns separated by tabs, comments after `#`.
    private func rows(of file: String) throws -> [[String]] {
        let text = try String(contentsOf: Solution.resources.appendingPathComponent(file), encoding: .utf8)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// Decimal degrees from ISO 6709: `±DDMM±DDDMM` or `±DDMMSS±DDDMMSS`.
    private static func degrees(_ text: String) -> (latitude: String, longitude: String) {
        guard let middle = text.dropFirst().firstIndex(where: { $0 == "+" || $0 == "-" }) else { return ("", "") }
        return (decimal(text[..<middle], degreeDigits: 2), decimal(text[middle...], degreeDigits: 3))
    }

    private static func decimal(_ text: Substring, degreeDigits: Int) -> String {
        let digits = text.dropFirst()
        let degrees = Int(digits.prefix(degreeDigits)) ?? 0
        let minutes = Int(digits.dropFirst(degreeDigits).prefix(2)) ?? 0
        let seconds = Int(digits.dropFirst(degreeDigits + 2)) ?? 0
        // Rounded to four decimals, which is about ten metres; whole seconds are no more precise.
        let tenThousandths = ((degrees * 3600 + minutes * 60 + seconds) * 10_000 + 1800) / 3600
        let fraction = String(tenThousandths % 10_000)
        let sign = text.first == "-" && tenThousandths > 0 ? "-" : ""
        let padded = String(repeating: "0", count: 4 - fraction.count) + fraction
        return FMNumber(literal: "\(sign)\(tenThousandths / 10_000).\(padded)")?.text ?? ""
    }
}
