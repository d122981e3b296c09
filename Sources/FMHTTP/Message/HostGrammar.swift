internal import NIOCore

/// What the text of a host says, without asking anybody: hosts are read, written and compared here and nowhere else
/// ([RFC 3986 §3.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2)).
///
/// A host is kept in lower case, and an address of IPv6 without its brackets.
package enum HostGrammar {
    /// As it is kept; the text need not be valid.
    static func normalized(_ host: String) -> String {
        // Beyond ASCII there are letters whose lower case is within it, such as the sign for kelvin.
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return host }
        let lowercased = host.lowercased()
        guard lowercased.hasPrefix("["), lowercased.hasSuffix("]"), lowercased.count > 2 else { return lowercased }
        return String(lowercased.dropFirst().dropLast())
    }

    /// As it stands in URLs and headers, where a port may follow.
    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// Whether it is a name or an address. Letters beyond ASCII and percent-escapes are refused: two readers may see two
    /// hosts in them, and the name system and certificates write international names in ASCII ("xn--…").
    static func isValid(_ host: String) -> Bool {
        let bytes = host.utf8
        if bytes.contains(UInt8(ascii: ":")) {
            return bytes.allSatisfy { $0.hexDigit != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        }
        return !bytes.isEmpty && bytes.allSatisfy(\.isNameByte)
    }

    /// Its address, if it is one.
    static func address(_ host: String, port: Int = 0) -> SocketAddress? {
        try? SocketAddress(ipAddress: host, port: port)
    }

    /// `localhost` and the names below it, which never lead elsewhere
    /// ([RFC 6761 §6.3](https://www.rfc-editor.org/rfc/rfc6761#section-6.3)).
    static func isLocalhost(_ host: String) -> Bool { isDomain("localhost", of: host) }

    /// Whether it can only be this machine: `localhost`, `127.0.0.0/8` or `::1`.
    static func isLoopback(_ host: String) -> Bool {
        if isLocalhost(host) || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "127" else { return false }
        return parts.allSatisfy { UInt8($0) != nil && $0.allSatisfy(\.isNumber) }
    }

    /// Whether the domain is the host itself or one above it. Both as they are kept.
    package static func isDomain(_ domain: String, of host: String) -> Bool {
        host == domain || host.hasSuffix("." + domain)
    }

    /// The name without the dot at its end, which is the root of the name system and says nothing.
    static func withoutRoot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }
}

extension UInt8 {
    /// Of a name or an address of IPv4, in lower case. An underscore is no part of a host's name, but of many that exist.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
