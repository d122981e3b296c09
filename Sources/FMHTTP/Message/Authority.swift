/// Host and port as they stand in a URL ([RFC 3986 §3.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2)), a header or
/// a variable of the environment.
package struct Authority: Hashable, Sendable {
    /// As `HostGrammar` keeps it; empty where there is none (`file:///etc/hosts`).
    package let host: String
    /// From 1 to 65535, if one is given.
    package let port: Int?

    /// `host`, `host:port`, `[IPv6]`, `[IPv6]:port`; `nil` for anything else, a user before the host included.
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
        // Brackets belong around an address of IPv6, and around nothing else.
        guard host.hasPrefix("[") == name.contains(":"), name.isEmpty || HostGrammar.isValid(name) else { return nil }
        self.host = name
        self.port = port
    }
}
