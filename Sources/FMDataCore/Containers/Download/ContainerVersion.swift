import FMHTTP
import Foundation

/// The version of the content that a host has begun to send, so that the rest of the same version can be requested:
/// `Range` and `If-Range` of [RFC 9110 §13 and §14](https://www.rfc-editor.org/rfc/rfc9110#section-14).
struct ContainerVersion: Hashable, Sendable {
    /// Identifies the version: an entity tag, or the time of the last change.
    private let validator: String
    private let byteCount: Int?

    /// `nil` if the host does not identify the version uniquely, or does not support ranges.
    init?(_ head: HTTPResponseHead) {
        let headers = head.headers
        guard head.status == .ok, !headers.contains(name: "Content-Encoding"),
            headers.first(name: "Accept-Ranges")?.lowercased() != "none", let validator = Self.validator(in: headers)
        else { return nil }
        self.validator = validator
        byteCount = headers.first(name: "Content-Length").flatMap(\.utf8.decimalNumber)
    }

    /// The headers that request the rest. The server answers 206, or sends the whole content if it is another version
    /// now.
    func headers(forRestFrom position: Int) -> HTTPHeaders {
        ["Range": "bytes=\(position)-", "If-Range": validator]
    }

    /// The number of bytes of the whole content, if an answer is exactly the rest; `nil` for any other answer.
    func byteCount(ofWholeWith head: HTTPResponseHead, from position: Int) -> Int? {
        let headers = head.headers
        guard head.status == .partialContent, !headers.contains(name: "Content-Encoding"),
            let range = headers.first(name: "Content-Range").flatMap(ContentRange.init),
            range.first == position, range.last == range.byteCount - 1, range.byteCount == byteCount ?? range.byteCount
        else { return nil }
        // A host that answers 206 should have compared the versions; if it did so wrongly, its tag may still show it.
        if let tag = headers.first(name: "ETag"), validator.hasPrefix("\""), tag != validator { return nil }
        return range.byteCount
    }

    /// A weak tag may stand for several versions. A time identifies a version only if the last change was at least a
    /// minute before the answer, so that no later change can have the same time (§8.8.2.2).
    private static func validator(in headers: HTTPHeaders) -> String? {
        if let tag = headers.first(name: "ETag") {
            return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count > 1 ? tag : nil
        }
        guard let text = headers.first(name: "Last-Modified"), let changed = HTTPDate.parse(text),
            let answered = headers.first(name: "Date").flatMap(HTTPDate.parse),
            answered.timeIntervalSince(changed) >= 60
        else { return nil }
        return text
    }
}

/// The header of a partial answer that says which part it is: `bytes 100-199/200`.
private struct ContentRange {
    let first: Int
    let last: Int
    let byteCount: Int

    init?(_ header: String) {
        let words = header.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard halves.count == 2, ends.count == 2, let first = ends[0].utf8.decimalNumber,
            let last = ends[1].utf8.decimalNumber, let byteCount = halves[1].utf8.decimalNumber, first <= last
        else { return nil }
        self.first = first
        self.last = last
        self.byteCount = byteCount
    }
}
