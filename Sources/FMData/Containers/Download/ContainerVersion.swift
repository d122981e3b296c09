import FMHTTP
import Foundation

/// Which version of a container's content a host has begun to send, so that the rest of this very version can be asked for:
/// `Range` and `If-Range` of [RFC 9110 §13 and §14](https://www.rfc-editor.org/rfc/rfc9110#section-14).
struct ContainerVersion: Hashable, Sendable {
    /// What names the version: an entity tag, or the time of its last change.
    private let validator: String
    private let byteCount: Int?

    /// `nil` when the host does not name the version in a way that tells any two apart, or takes no ranges.
    init?(_ head: HTTPResponseHead) {
        let headers = head.headers
        guard head.status == .ok, !headers.contains(name: "Content-Encoding"),
            headers.first(name: "Accept-Ranges")?.lowercased() != "none", let validator = Self.validator(in: headers)
        else { return nil }
        self.validator = validator
        byteCount = headers.first(name: "Content-Length").flatMap(\.utf8.decimalNumber)
    }

    /// The headers that ask for the rest: the server answers 206, or by the whole if that is another version now.
    func headers(forRestFrom position: Int) -> HTTPHeaders {
        ["Range": "bytes=\(position)-", "If-Range": validator]
    }

    /// How many bytes the whole has, when an answer is all of the rest; `nil` for any other answer.
    func byteCount(ofWholeWith head: HTTPResponseHead, from position: Int) -> Int? {
        let headers = head.headers
        guard head.status == .partialContent, !headers.contains(name: "Content-Encoding"),
            let range = headers.first(name: "Content-Range").flatMap(ContentRange.init),
            range.first == position, range.last == range.byteCount - 1, range.byteCount == byteCount ?? range.byteCount
        else { return nil }
        // A host that answers 206 has compared; one that did so wrongly may still tell.
        if let tag = headers.first(name: "ETag"), validator.hasPrefix("\""), tag != validator { return nil }
        return range.byteCount
    }

    /// A weak tag may name several versions. A time tells them apart when the last change was some while before the answer,
    /// and so no other can have the same (§8.8.2.2).
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

/// `bytes 100-199/200`, as the header of an answer says which part it is.
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
