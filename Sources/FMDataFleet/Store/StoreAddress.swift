public import NIOSSL

/// Where the store of a fleet is, and how to log in there.
public struct StoreAddress: Sendable {
    /// A place to connect to.
    enum Place: Equatable, Sendable {
        case host(String, port: Int)
        case socket(path: String)
    }

    let place: Place
    /// The account; `nil` for the store's default account.
    public var user: String?
    /// The password; `nil` if the store asks for none.
    public var password: String?
    /// How connections are encrypted; `nil` if they are not.
    public var tls: TLSConfiguration?

    /// A store at a host.
    ///
    /// - Parameters:
    ///   - port: the default is 6379.
    ///   - user: the account; `nil` for the store's default account.
    ///   - password: the password; `nil` if the store asks for none.
    ///   - tls: how connections are encrypted; `nil`, the default, if they are not. The host's name is verified.
    public init(
        host: String,
        port: Int = 6379,
        user: String? = nil,
        password: String? = nil,
        tls: TLSConfiguration? = nil
    ) {
        place = .host(host, port: port)
        self.user = user
        self.password = password
        self.tls = tls
    }

    /// A store at a socket of this machine.
    public init(socketPath: String, user: String? = nil, password: String? = nil) {
        place = .socket(path: socketPath)
        self.user = user
        self.password = password
    }

    /// A store by its URL, as services are given it in their environment: `redis://user:password@host:port`,
    /// `rediss://…` for TLS, `unix:///path`. Returns `nil` for anything else. A number of a database is refused, since
    /// a fleet wants a store of its own.
    public init?(url: String) {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        var rest = url[scheme.upperBound...]
        if url[..<scheme.lowerBound] == "unix" {
            guard rest.hasPrefix("/"), rest.count > 1 else { return nil }
            self.init(socketPath: String(rest))
            return
        }
        guard ["redis", "rediss"].contains(url[..<scheme.lowerBound]) else { return nil }
        var user: String?
        var password: String?
        if let at = rest.lastIndex(of: "@") {
            let login = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            rest = rest[rest.index(after: at)...]
            guard login.count == 2, let name = Self.decoded(login[0]), let secret = Self.decoded(login[1]) else {
                return nil
            }
            user = name.isEmpty ? nil : name
            password = secret
        }
        if rest.hasSuffix("/0") { rest = rest.dropLast(2) }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains("/"), !rest.contains("?") else { return nil }
        var port = 6379
        // The colons of an IPv6 address stand in brackets.
        let end = rest.lastIndex(of: "]") ?? rest.startIndex
        if let colon = rest[end...].lastIndex(of: ":") {
            guard let number = UInt16(rest[rest.index(after: colon)...]) else { return nil }
            port = Int(number)
            rest = rest[..<colon]
        }
        if rest.hasPrefix("["), rest.hasSuffix("]") { rest = rest.dropFirst().dropLast() }
        guard !rest.isEmpty else { return nil }
        let tls = url.hasPrefix("rediss:") ? TLSConfiguration.makeClientConfiguration() : nil
        self.init(host: String(rest), port: port, user: user, password: password, tls: tls)
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

extension StoreAddress: CustomStringConvertible, CustomReflectable {
    /// The place, without the login.
    public var description: String {
        switch place {
        case .host(let host, let port): "\(tls == nil ? "redis" : "rediss")://\(host):\(port)"
        case .socket(let path): "unix://\(path)"
        }
    }

    /// The place alone.
    public var customMirror: Mirror { Mirror(self, children: ["place": description]) }
}
