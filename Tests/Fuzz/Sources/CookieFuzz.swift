import FMData
import FMHTTP
import Foundation

@testable import FMDataCore

/// The first line of an input is the URL of an answer, the last that of the next request, and each line between them a
/// `Set-Cookie` header of the answer. Only cookies that were set may be sent, in a header that servers parse as the jar
/// meant it, and none may go to another host.
enum CookieFuzz {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static func test(_ input: UnsafeRawBufferPointer) {
        let lines = lines(input)
        guard lines.count >= 3, let source = URLReference(lines[0]), let target = URLReference(lines[lines.count - 1])
        else { return }
        let headers = lines[1..<(lines.count - 1)]
        let jar = jar(of: headers, from: source)
        guard let sent = jar.header(for: target, now: now) else { return }

        require(sent.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, "a control character is sent: \(sent)")
        require(target.origin?.host == source.origin?.host, "cookies of \(lines[0]) go to \(target)")
        let pairs = pairs(of: sent)
        require(pairs.count <= CookieJar.maximumCookieCount, "\(pairs.count) cookies")
        let isDowngrade = target.origin?.scheme == .http
        for pair in pairs {
            require(pair.contains(UInt8(ascii: "=")) && pair.first != UInt8(ascii: "="), "no cookie: \(sent)")
            // A header that begins with exactly this pair, and that may be sent there.
            let isKnown = headers.contains { header in
                let parts = header.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                let isSecure = parts.dropFirst().contains {
                    String(decoding: trimmed($0), as: UTF8.self).lowercased() == "secure"
                }
                return trimmed(parts[0]).elementsEqual(pair) || halvesTrimmed(parts[0]).elementsEqual(pair)
                    ? !(isSecure && isDowngrade) : false
            }
            require(isKnown, "nobody has set this: \(String(decoding: pair, as: UTF8.self))")
        }

        // Storing the same headers again changes nothing but the order.
        var again = jar
        for header in headers { again.store(setCookie: header, from: source, now: now) }
        let sentAgain = again.header(for: target, now: now).map(self.pairs) ?? []
        require(Set(sentAgain) == Set(pairs), "\(sent) becomes \(sentAgain)")

        // A year later there are no additional cookies.
        let later = jar.header(for: target, now: now + 31_536_000).map(self.pairs) ?? []
        require(Set(later).isSubset(of: pairs), "\(sent) becomes \(later)")
    }

    private static func jar(of headers: ArraySlice<String>, from source: URLReference) -> CookieJar {
        var jar = CookieJar()
        for header in headers { jar.store(setCookie: header, from: source, now: now) }
        return jar
    }

    /// The cookies as a server parses a `Cookie` header: by bytes.
    private static func pairs(of header: String) -> [[UInt8]] {
        header.utf8.split(separator: UInt8(ascii: ";")).map { Array(trimmed($0)) }
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let start = text.drop(while: isBlank)
        return start[..<(start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.startIndex)]
    }

    /// `a = b` is the cookie `a=b`.
    private static func halvesTrimmed(_ pair: Substring.UTF8View) -> [UInt8] {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
        return trimmed(pair[..<equals]) + [UInt8(ascii: "=")] + trimmed(pair[pair.index(after: equals)...])
    }
}
