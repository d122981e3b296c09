import FMHTTP

/// The origin that a host text names: `fms.example.com`, `fms.example.com:8443`, `[::1]:3000`, `http://127.0.0.1:3000`.
enum HostAddress {
    static func origin(of host: String, scheme: DataAPI.Scheme) throws(FMRest.APIError) -> Origin {
        // Unicode scalars are searched: an "@" before a combining accent is no `Character` of its own.
        guard !host.unicodeScalars.contains("@") else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "The server's host holds a user or a password: \"\(shown(host))\".",
                hint: "Write the host alone, and give the account to addDatabase(_:credentials:)."
            )
        }
        var (given, rest) = parts(of: host)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let authority = Authority(rest), !authority.host.isEmpty else { throw invalid(host) }
        let givenScheme = given.flatMap { DataAPI.Scheme(rawValue: $0.lowercased()) }
        return Origin(scheme: givenScheme ?? scheme, host: authority.host, port: authority.port)
    }

    /// The host text as it may be printed: scheme, name, port and path, and what surrounds them, such as quotation
    /// marks. A mark replaces a user and a password, and everything from the first character on that none of those
    /// parts can have, such as a query's.
    static func shown(_ host: String) -> String {
        let (scheme, rest) = parts(of: host)
        let start = scheme.map { "\($0)://" } ?? ""
        guard let at = rest.unicodeScalars.lastIndex(of: "@") else { return start + upToSecrets(rest) }
        // When a query begins before the "@", either a password contains that character or the "@" belongs to the
        // query: the text does not tell which.
        let isAccount = !rest[..<at].contains { $0 == "?" || $0 == "#" }
        return start + Redacted.mark + (isAccount ? "@" + upToSecrets(rest[rest.index(after: at)...]) : "")
    }

    /// The scheme, if it is a known one, and the rest of the text.
    private static func parts(of host: String) -> (scheme: Substring?, rest: Substring) {
        guard let end = host.firstRange(of: "://"),
            DataAPI.Scheme(rawValue: host[..<end.lowerBound].lowercased()) != nil
        else { return (nil, host[...]) }
        return (host[..<end.lowerBound], host[end.upperBound...])
    }

    private static func upToSecrets(_ text: Substring) -> String {
        let start = text.firstIndex { isShown($0) || $0 == "?" || $0 == "#" } ?? text.endIndex
        let before = String(text[..<start]).readable
        if let end = endOfPort(in: name(in: text[start...])) { return before + text[start..<end] + Redacted.mark }
        let parts = text[start...].prefix(while: isShown)
        let rest = text[parts.endIndex...]
        return before + parts + (rest.contains(where: isShown) ? Redacted.mark : String(rest).readable)
    }

    private static func name(in text: Substring) -> Substring { text.prefix { $0 != "/" } }

    /// The index behind the colon of a name when no port follows; `nil` when a port follows or there is no colon.
    private static func endOfPort(in name: Substring) -> String.Index? {
        guard !name.hasPrefix("["), let colon = name.firstIndex(of: ":") else { return nil }
        guard name[..<colon].allSatisfy(isShown), !isAddress(name) else { return nil }
        let port = name[name.index(after: colon)...]
        return port.allSatisfy { $0.isASCII && $0.isNumber } ? nil : port.startIndex
    }

    /// Whether the name is an IPv6 address without its brackets.
    private static func isAddress(_ name: Substring) -> Bool {
        name.count { $0 == ":" } > 1 && name.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }

    /// Letters of all languages are shown: a name that is not valid is printed so that it can be corrected.
    private static func isShown(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "-._~%:[]/".contains(character)
    }

    private static func invalid(_ host: String) -> FMRest.APIError {
        let rest = parts(of: host).rest
        var flaw = ""
        if endOfPort(in: name(in: rest)) != nil {
            flaw = #": what follows ":" is no port"#
        } else if let character = rest.first(where: { !isShown($0) }) {
            flaw = ": no host has \(String(character).quoted) in it"
        }
        return FMRest.APIError(
            .invalidRequest,
            reason: "\"\(shown(host))\" is not a host\(flaw).",
            hint: "Write it as \"fms.example.com\" or \"fms.example.com:443\", without a path."
        )
    }
}
