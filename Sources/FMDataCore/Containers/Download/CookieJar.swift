import FMHTTP
import Foundation

/// The cookies of one download: the part of [RFC 6265](https://www.rfc-editor.org/rfc/rfc6265) that is needed to
/// download containers. Each download has its own jar, so the session cookies of two downloads never mix.
///
/// It is stricter than the RFC in one point: a cookie is sent only to the very host it came from, whatever its `Domain`
/// says. A cookie with a foreign `Domain` is refused, as the RFC requires.
struct CookieJar: Hashable, Sendable {
    private var cookies: [Cookie] = []

    /// Limits what a server can make the client keep and send: browsers allow 50 cookies of 4 KiB per host.
    static let maximumCookieCount = 50
    static let maximumCookieBytes = 4096

    var isEmpty: Bool { cookies.isEmpty }

    /// Stores the value of one `Set-Cookie` header of an answer from `url`. An invalid cookie, or one that this host
    /// may not set, is ignored, as RFC 6265 §5.2 requires.
    mutating func store(setCookie header: String, from url: URLReference, now: Date) {
        guard header.utf8.count <= Self.maximumCookieBytes, let cookie = Cookie(header, from: url, now: now) else {
            return
        }
        cookies.removeAll { $0.isSameCookie(as: cookie) || $0.isExpired(at: now) }
        guard !cookie.isExpired(at: now), cookies.count < Self.maximumCookieCount else { return }
        cookies.append(cookie)
    }

    /// The value of the `Cookie` header for a request to `url`, `nil` when there is nothing to send (RFC 6265 §5.4).
    func header(for url: URLReference, now: Date) -> String? {
        let matching = cookies.filter { $0.matches(url) && !$0.isExpired(at: now) }
        // Longer paths first; among equal ones, the earlier cookie. Swift's sort is stable.
        let ordered = matching.sorted { $0.path.utf8.count > $1.path.utf8.count }
        return ordered.isEmpty ? nil : ordered.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}

private struct Cookie: Hashable, Sendable {
    let name: String
    let value: String
    let host: String
    let path: String
    let isSecure: Bool
    /// `nil` if it does not expire before the jar is released.
    let expiry: Date?

    /// Parses the value by RFC 6265 §5.2. It is split by scalars, as servers split by bytes: as a `Character`, a
    /// semicolon followed by a combining accent is not a semicolon.
    init?(_ header: String, from url: URLReference, now: Date) {
        // Header values contain no control characters; such a cookie would break the header that sends it back.
        guard let origin = url.origin, header.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            return nil
        }
        let parts = header.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false)
        guard let equals = parts[0].firstIndex(of: "=") else { return nil }
        name = parts[0][..<equals].trimmingWhitespace
        value = parts[0][parts[0].index(after: equals)...].trimmingWhitespace
        guard !name.isEmpty else { return nil }

        var path: String?
        var isSecure = false
        var expires: Date?
        var maximumAge: Date?
        for attribute in parts.dropFirst() {
            let halves = attribute.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let content = halves.count == 2 ? halves[1].trimmingWhitespace : ""
            switch halves[0].trimmingWhitespace.lowercased() {
            case "path":
                path = content.utf8.first == UInt8(ascii: "/") ? content : nil
            case "secure":
                isSecure = true
            case "domain":
                guard origin.host.isDomain(content) else { return nil }
            case "expires":
                expires = HTTPDate.parse(content)
            case "max-age":
                // An attribute that is not a number is ignored; zero or less means that the cookie has expired already.
                if let seconds = Int(content) {
                    maximumAge = seconds <= 0 ? .distantPast : now.addingTimeInterval(TimeInterval(seconds))
                }
            default:
                // HttpOnly, SameSite and others do not concern a client that runs no scripts.
                break
            }
        }
        // An insecure answer must not set a cookie for the secure site.
        guard !isSecure || origin.scheme == .https else { return nil }
        self.host = origin.host
        self.path = path ?? url.defaultCookiePath
        self.isSecure = isSecure
        self.expiry = maximumAge ?? expires
    }

    func isSameCookie(as other: Cookie) -> Bool {
        name == other.name && host == other.host && path == other.path
    }

    func isExpired(at now: Date) -> Bool {
        expiry.map { $0 <= now } ?? false
    }

    func matches(_ url: URLReference) -> Bool {
        guard let origin = url.origin else { return false }
        return origin.host == host && (!isSecure || origin.scheme == .https) && url.isBelow(cookiePath: path)
    }
}

extension URLReference {
    /// The default path by RFC 6265 §5.1.4: the path up to its last slash.
    fileprivate var defaultCookiePath: String {
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether the path matches by RFC 6265 §5.1.4: equal, or below it at the border of a segment.
    fileprivate func isBelow(cookiePath: String) -> Bool {
        let path = path.isEmpty ? "/" : path
        return path == cookiePath || path.hasPrefix(cookiePath.hasSuffix("/") ? cookiePath : cookiePath + "/")
    }
}

extension String {
    /// Whether this host may set a cookie for a domain (RFC 6265 §5.1.3): the host itself, or a parent domain that is
    /// more than a top-level one. An empty domain is ignored.
    fileprivate func isDomain(_ domain: String) -> Bool {
        let domain = (domain.hasPrefix(".") ? String(domain.dropFirst()) : domain).lowercased()
        return domain.isEmpty || self == domain || (domain.contains(".") && HostGrammar.isDomain(domain, of: self))
    }
}

extension Substring.UnicodeScalarView {
    fileprivate var trimmingWhitespace: String {
        let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
        let start = drop(while: isSpace)
        return start.lastIndex { !isSpace($0) }.map { String(start[...$0]) } ?? ""
    }
}
