/// Host and port as written in a URL ([RFC 3986 §3.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2)), a header or
/// an environment variable.
package struct Authority: Hashable, Sendable {
    /// The host as `HostGrammar` normalizes it; empty if there is none (`file:///etc/hosts`).
    package let host: String
    /// From 1 to 65535, if one is given.
    package let port: Int?

    /// Parses `host`, `host:port`, `[IPv6]` or `[IPv6]:port`; `nil` for anything else, including a user before the
    /// host.
    package init?(_ text: Substring) {
        var host = text
        var port: Int?
        // The colons of an IPv6 address are inside its brackets.
        let end = text.lastIndex(of: "]") ?? text.startIndex
        if let colon = text[end...].firstIndex(of: ":") {
            guard let number = text[text.index(after: colon)...].utf8.decimalNumber, (1...65_535).contains(number)
            else {
                return nil
            }
            port = number
            host = text[..<colon]
        }
        let name = HostGrammar.normalized(String(host))
        // Brackets must surround an IPv6 address, and nothing else.
        guard host.hasPrefix("[") == name.contains(":"), name.isEmpty || HostGrammar.isValid(name) else { return nil }
        self.host = name
        self.port = port
    }
}
