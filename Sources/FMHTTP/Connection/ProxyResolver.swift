#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Finds the proxy for an origin, if there is one.
struct ProxyResolver: Sendable {
    private let options: ProxyOptions
    private let variable: @Sendable (String) -> String?

    init(_ options: ProxyOptions, variable: @escaping @Sendable (String) -> String? = Self.environmentVariable) {
        self.options = options
        self.variable = variable
    }

    /// Returns the proxy to use, `nil` for a direct connection. Throws if the environment names a proxy that cannot be
    /// used.
    func proxy(for origin: Origin) throws(HTTPClientError) -> HTTPProxy? {
        if origin.isLoopback { return nil }
        switch options {
        case .none: return nil
        case .proxy(let proxy): return proxy
        case .environment:
            guard !isExcluded(origin), let (name, value) = first(names(for: origin.scheme)) else { return nil }
            if let proxy = HTTPProxy(url: value) { return proxy }
            throw HTTPClientError(
                .unusableProxy,
                .notSent,
                origin: origin,
                detail: "\(name) names \(Self.kind(of: value))"
            )
        }
    }

    /// Describes an unusable proxy URL without showing it: it may contain a password.
    private static func kind(of value: String) -> String {
        let scheme = value.lowercased().split(separator: ":").first.map(String.init) ?? ""
        switch scheme {
        case "socks", "socks4", "socks4a", "socks5", "socks5h": return "a SOCKS proxy, and only HTTP proxies are known"
        case "https": return "a proxy that is reached by HTTPS, and only plain HTTP proxies are known"
        default: return "no HTTP proxy"
        }
    }

    /// The environment variables for a scheme. `HTTP_PROXY` in capitals is not among them: in a CGI program it is a
    /// header of the request.
    private func names(for scheme: Origin.Scheme) -> [String] {
        switch scheme {
        case .https: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        case .http: ["http_proxy", "all_proxy", "ALL_PROXY"]
        }
    }

    private func first(_ names: [String]) -> (name: String, value: String)? {
        names.lazy.compactMap { name in variable(name).map { (name, $0) } }.first { !$0.1.isEmpty }
    }

    /// Whether `no_proxy` excludes the origin. It is a list of hosts; each entry covers the names below it too and may
    /// have a port; `*` covers all.
    private func isExcluded(_ origin: Origin) -> Bool {
        guard let list = first(["no_proxy", "NO_PROXY"])?.value else { return false }
        return list.split(whereSeparator: { $0 == "," || $0 == " " }).contains { entry in
            if entry == "*" { return true }
            var name = entry
            if name.hasPrefix("*") { name.removeFirst() }
            if name.hasPrefix(".") { name.removeFirst() }
            // An IPv6 address may stand here without brackets.
            guard let named = Authority(name) else { return origin.host == HostGrammar.normalized(String(name)) }
            return !named.host.isEmpty && named.port ?? origin.port == origin.port
                && HostGrammar.isDomain(named.host, of: origin.host)
        }
    }

    private static func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension HTTPProxy {
    /// Parses `[http://][user[:password]@]host[:port][/]`; `nil` for anything else, also for kinds of proxy that are
    /// not supported.
    init?(url: String) {
        var rest = url[...]
        if let scheme = rest.range(of: "://") {
            guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
            rest = rest[scheme.upperBound...]
        }
        if let slash = rest.firstIndex(of: "/") { rest = rest[..<slash] }

        var credentials: Credentials?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let user = parts[0].percentDecoded, let password = (parts.count > 1 ? parts[1] : "").percentDecoded
            else {
                return nil
            }
            credentials = Credentials(user: user, password: password)
            rest = rest[rest.index(after: at)...]
        }

        guard let authority = Authority(rest), !authority.host.isEmpty else { return nil }
        self.init(host: authority.host, port: authority.port ?? 8080, credentials: credentials)
    }

    /// The value of `Proxy-Authorization`: `Basic …`.
    var authorization: String? {
        credentials.map { "Basic " + Array("\($0.user):\($0.password)".utf8).base64 }
    }
}

extension Substring {
    fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }

    /// `nil` when a percent sign is not followed by two digits, or the bytes are not UTF-8.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
