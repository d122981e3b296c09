import NIOSSL

extension StoreAddress {
    /// A store by its URL, as services are given it in their environment. Returns `nil` for what is no such URL.
    ///
    /// - `redis://user:password@host:port`, or `rediss://…` for TLS. The port is 6379 unless it is named.
    /// - `redis-sentinel://user:password@host:port,host:port#master`, or `rediss-sentinel://…` for TLS: the hosts are
    ///   those of Sentinels, at port 26379 unless another is named, and the login is that of the store.
    /// - `unix:///path` for a socket of this machine.
    ///
    /// A number of a database is refused, since a fleet wants a store of its own.
    public init?(url: String) {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let scheme = url[..<mark.lowerBound]
        var rest = url[mark.upperBound...]
        if scheme == "unix" {
            guard rest.hasPrefix("/"), rest.count > 1 else { return nil }
            self.init(socketPath: String(rest))
            return
        }
        guard let login = Self.takeLogin(from: &rest) else { return nil }
        let tls = scheme.hasPrefix("rediss") ? TLSConfiguration.makeClientConfiguration() : nil
        switch scheme {
        case "redis", "rediss":
            guard let place = Self.host(Self.withoutPath(rest), port: 6379) else { return nil }
            self.init(host: place.host, port: place.port, tls: tls)
        case "redis-sentinel", "rediss-sentinel":
            guard let hash = rest.lastIndex(of: "#"), let name = Self.decoded(rest[rest.index(after: hash)...]),
                !name.isEmpty
            else { return nil }
            var sentinels: [Sentinel] = []
            for text in Self.withoutPath(rest[..<hash]).split(separator: ",", omittingEmptySubsequences: false) {
                guard let place = Self.host(text, port: 26379) else { return nil }
                sentinels.append(Sentinel(host: place.host, port: place.port))
            }
            self.init(master: name, sentinels: sentinels, tls: tls)
        default:
            return nil
        }
        user = login.user
        password = login.password
    }

    /// Takes `user:password@` from the beginning; `nil` if there is something else before the last `@`.
    private static func takeLogin(from rest: inout Substring) -> (user: String?, password: String?)? {
        guard let at = rest.lastIndex(of: "@") else { return (nil, nil) }
        let login = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        rest = rest[rest.index(after: at)...]
        guard login.count == 2, let user = decoded(login[0]), let password = decoded(login[1]) else { return nil }
        return (user.isEmpty ? nil : user, password)
    }

    /// Without a path that names the only database.
    private static func withoutPath(_ text: Substring) -> Substring {
        if text.hasSuffix("/0") { return text.dropLast(2) }
        return text.hasSuffix("/") ? text.dropLast() : text
    }

    /// Reads `host` or `host:port`.
    private static func host(_ text: Substring, port: Int) -> (host: String, port: Int)? {
        guard !text.contains(where: { "/?#,".contains($0) }) else { return nil }
        var (host, port) = (text, port)
        // The colons of an IPv6 address stand in brackets.
        let end = text.lastIndex(of: "]") ?? text.startIndex
        if let colon = text[end...].lastIndex(of: ":") {
            guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
            (host, port) = (text[..<colon], Int(number))
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }

    /// Percent-decoded; `nil` if that fails.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, let value = UInt8(String(Substring(digits)), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
