import FMHTTP

/// The host of what `--host` takes, in one spelling.
struct HostName: Equatable {
    let scheme: String
    let name: String
    let port: Int?

    /// - Parameter text: a name, or a URL with scheme and port. Nil for anything else.
    init?(_ text: String) {
        let mark = text.firstRange(of: "://")
        let rest = mark.map { text[$0.upperBound...] } ?? text[...]
        guard let authority = Authority(rest.prefix { $0 != "/" }) else { return nil }
        scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "https"
        name = authority.host
        port = authority.port ?? (scheme == "https" ? 443 : nil)
    }
}
