internal import NIOCore

/// Parses, writes and compares host texts, without any look-up. All such code is here ([RFC 3986
/// §3.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2)).
///
/// The normalized form of a host is in lower case, and an IPv6 address in it has no brackets.
package enum HostGrammar {
    /// The normalized form; the text need not be valid.
    static func normalized(_ host: String) -> String {
        // Some letters beyond ASCII have an ASCII letter as lower case, such as the sign for kelvin.
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return host }
        let lowercased = host.lowercased()
        guard lowercased.hasPrefix("["), lowercased.hasSuffix("]"), lowercased.count > 2 else { return lowercased }
        return String(lowercased.dropFirst().dropLast())
    }

    /// The form in URLs and headers, where a port may follow.
    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// Whether it is a name or an address. Letters beyond ASCII and percent-escapes are rejected: two parsers may see
    /// two different hosts in them, and DNS and certificates write international names in ASCII ("xn--…").
    static func isValid(_ host: String) -> Bool {
        let bytes = host.utf8
        if bytes.contains(UInt8(ascii: ":")) {
            return bytes.allSatisfy { $0.hexDigit != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        }
        return !bytes.isEmpty && bytes.allSatisfy(\.isNameByte)
    }

    /// The address, if the host is one.
    static func address(_ host: String, port: Int = 0) -> SocketAddress? {
        try? SocketAddress(ipAddress: host, port: port)
    }

    /// Whether it is `localhost` or a name below it, which must never resolve to another machine ([RFC 6761
    /// §6.3](https://www.rfc-editor.org/rfc/rfc6761#section-6.3)).
    static func isLocalhost(_ host: String) -> Bool { isDomain("localhost", of: host) }

    /// Whether it can only be this machine: `localhost`, `127.0.0.0/8` or `::1`.
    static func isLoopback(_ host: String) -> Bool {
        if isLocalhost(host) || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "127" else { return false }
        return parts.allSatisfy { UInt8($0) != nil && $0.allSatisfy(\.isNumber) }
    }

    /// Whether the domain is the host itself or one above it. Both must be normalized.
    package static func isDomain(_ domain: String, of host: String) -> Bool {
        host == domain || host.hasSuffix("." + domain)
    }

    /// The name without a final dot, which stands for the root of DNS and changes nothing.
    static func withoutRoot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }
}

extension UInt8 {
    /// Whether it may stand in a lower-case name or an IPv4 address. Underscores are not allowed in host names, but
    /// many existing names have them.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
