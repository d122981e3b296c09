import FMHTTP
package import Foundation

/// Parses the date of a header. Servers write it in many forms, including the three of RFC 9110 §5.6.7, so the parts
/// are accepted in any order, as RFC 6265 §5.1.1 specifies for cookies.
package enum HTTPDate {
    package static func parse(_ text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == ":") }) {
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, token.count <= 2, let number = Int(token) {
                day = number
            } else if month == nil, let index = months.firstIndex(of: token.prefix(3).lowercased()) {
                month = index + 1
            } else if year == nil, (2...4).contains(token.count), let number = Int(token) {
                year = number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
            }
        }
        guard let time, let day, let month, let year, (1...31).contains(day), year >= 1601 else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(
            year: year,
            month: month,
            day: day,
            hour: time.hour,
            minute: time.minute,
            second: time.second
        )
        return calendar.date(from: components)
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func time(_ token: Substring) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard parts.count == 3, (0...23).contains(parts[0]), (0...59).contains(parts[1]), (0...59).contains(parts[2])
        else { return nil }
        return (parts[0], parts[1], parts[2])
    }
}

extension HTTPHeaders {
    /// The wait that the server asks for by `Retry-After`: a number of seconds, or the time until an instant, measured
    /// from the answer's `Date` if it has one. `nil` if the header is missing or is neither.
    ///
    /// Source: RFC 9110 §10.2.3.
    func retryAfter(now: Date) -> Duration? {
        guard let text = first(name: "Retry-After")?.trimmingCharacters(in: .whitespaces), !text.isEmpty else {
            return nil
        }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // Digits too large for an Int64 stand for an even larger number.
            return .seconds(Swift.min(Int64(text) ?? .max, 1_000_000_000))
        }
        guard let instant = HTTPDate.parse(text) else { return nil }
        let answered = first(name: "Date").flatMap(HTTPDate.parse) ?? now
        return .seconds(Swift.max(0, Int64(instant.timeIntervalSince(answered).rounded(.up))))
    }
}
