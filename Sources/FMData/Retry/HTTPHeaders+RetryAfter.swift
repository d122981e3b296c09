import FMHTTP
import Foundation

extension HTTPHeaders {
    /// How long the server asks to wait, by `Retry-After`: in seconds, or until an instant, which is told in the time of the
    /// server where that is known. `nil` for what is neither.
    ///
    /// Source: RFC 9110 §10.2.3.
    func retryAfter(now: Date) -> Duration? {
        guard let text = first(name: "Retry-After")?.trimmingCharacters(in: .whitespaces), !text.isEmpty else {
            return nil
        }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // Digits that are no Int64 stand for a number that is larger still.
            return .seconds(Swift.min(Int64(text) ?? .max, 1_000_000_000))
        }
        guard let instant = HTTPDate.parse(text) else { return nil }
        let answered = first(name: "Date").flatMap(HTTPDate.parse) ?? now
        return .seconds(Swift.max(0, Int64(instant.timeIntervalSince(answered).rounded(.up))))
    }
}
