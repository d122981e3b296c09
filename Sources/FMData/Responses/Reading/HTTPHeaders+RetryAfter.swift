import FMHTTP
import Foundation

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
