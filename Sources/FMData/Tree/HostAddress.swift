import FMHTTP

/// The origin that a host text names: `fms.example.com`, `fms.example.com:8443`, `[::1]:3000`, `http://127.0.0.1:3000`.
enum HostAddress {
    static func origin(of host: String, scheme: DataAPI.Scheme) throws(FMRest.APIError) -> Origin {
        guard !host.contains("@") else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "The server's host holds a user or a password: \"\(withoutUserInfo(host))\".",
                hint: "Write the host alone, and give the account to addDatabase(_:credentials:)."
            )
        }
        var rest = Substring(host)
        var scheme = scheme
        if let end = rest.firstRange(of: "://"),
            let given = DataAPI.Scheme(rawValue: rest[..<end.lowerBound].lowercased())
        {
            scheme = given
            rest = rest[end.upperBound...]
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let authority = Authority(rest), !authority.host.isEmpty else { throw invalid(host) }
        return Origin(scheme: scheme, host: authority.host, port: authority.port)
    }

    /// The text as it may be printed: what stands before an "@" is replaced.
    static func withoutUserInfo(_ host: String) -> String {
        guard let at = host.lastIndex(of: "@") else { return host }
        let scheme = ["https://", "http://"].first { host.lowercased().hasPrefix($0) }
        return (scheme ?? "") + "••••" + host[at...]
    }

    private static func invalid(_ host: String) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: "\"\(host)\" is not a host.",
            hint: "Write it as \"fms.example.com\" or \"fms.example.com:443\", without a path."
        )
    }
}
