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
        for candidate in [DataAPI.Scheme.http, .https] {
            let prefix = candidate.rawValue + "://"
            if rest.lowercased().hasPrefix(prefix) {
                scheme = candidate
                rest = rest.dropFirst(prefix.count)
            }
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }

        var port: Int?
        let name: Substring
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            name = rest[rest.index(after: rest.startIndex)..<end]
            let tail = rest[rest.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { throw invalid(host) }
            if !tail.isEmpty { port = try self.port(tail.dropFirst(), of: host) }
        } else {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { throw invalid(host) }
            name = parts[0]
            if parts.count == 2 { port = try self.port(parts[1], of: host) }
        }
        guard !name.isEmpty, name.utf8.allSatisfy(isHostByte) else { throw invalid(host) }
        return Origin(scheme: scheme == .http ? .http : .https, host: String(name), port: port)
    }

    /// The text as it may be printed: what stands before an "@" is replaced.
    static func withoutUserInfo(_ host: String) -> String {
        guard let at = host.lastIndex(of: "@") else { return host }
        let scheme = ["https://", "http://"].first { host.lowercased().hasPrefix($0) }
        return (scheme ?? "") + "••••" + host[at...]
    }

    private static func port(_ text: Substring, of host: String) throws(FMRest.APIError) -> Int {
        guard let port = Int(text), (1...65_535).contains(port) else { throw invalid(host) }
        return port
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: ":"):
            true
        default:
            byte >= 0x80
        }
    }

    private static func invalid(_ host: String) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: "\"\(host)\" is not a host.",
            hint: "Write it as \"fms.example.com\" or \"fms.example.com:443\", without a path."
        )
    }
}
