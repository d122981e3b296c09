public import NIOSSL

/// Where the store of a fleet is, and how to log in there.
public struct StoreAddress: Sendable {
    /// A place to connect to.
    enum Place: Equatable, Sendable {
        case host(String, port: Int)
        case socket(path: String)
    }

    /// How the place of the store is known.
    enum Location: Equatable, Sendable {
        case place(Place)
        /// It is wherever the Sentinels say.
        case master(String, sentinels: [Sentinel])
    }

    let location: Location
    /// The account; `nil` for the store's default account.
    public var user: String?
    /// The password; `nil` if the store asks for none.
    public var password: String?
    /// The account at the Sentinels; `nil` for their default account.
    public var sentinelUser: String?
    /// The password at the Sentinels; `nil` if they ask for none.
    public var sentinelPassword: String?
    /// How connections are encrypted, those to Sentinels too; `nil` if they are not.
    public var tls: TLSConfiguration?

    /// A store at a host.
    ///
    /// - Parameters:
    ///   - host: its name or address.
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
        location = .place(.host(host, port: port))
        self.user = user
        self.password = password
        self.tls = tls
    }

    /// A store at a socket of this machine.
    public init(socketPath: String, user: String? = nil, password: String? = nil) {
        location = .place(.socket(path: socketPath))
        self.user = user
        self.password = password
    }

    /// A store that Sentinels watch: whichever of its processes is the master.
    ///
    /// Before each connection the Sentinels are asked for the master, one after the other, and the process that they
    /// name has to say that it is one (`ROLE`). Their passwords are ``sentinelUser`` and ``sentinelPassword``.
    ///
    /// - Parameters:
    ///   - master: the name that the Sentinels know the store by.
    ///   - sentinels: where they are. Without any, there is no master.
    ///   - user: the account in the store; `nil` for its default account.
    ///   - password: the password; `nil` if the store asks for none.
    ///   - tls: how connections are encrypted; `nil`, the default, if they are not. The names that are verified are
    ///     those of the Sentinels, and what they call the master.
    public init(
        master: String,
        sentinels: [Sentinel],
        user: String? = nil,
        password: String? = nil,
        tls: TLSConfiguration? = nil
    ) {
        location = .master(master, sentinels: sentinels)
        self.user = user
        self.password = password
        self.tls = tls
    }

    /// Where a Sentinel is.
    public struct Sentinel: Hashable, Sendable {
        /// The host's name or address.
        public var host: String
        /// The port.
        public var port: Int

        /// A Sentinel at a host; the default port is 26379.
        public init(host: String, port: Int = 26379) {
            self.host = host
            self.port = port
        }
    }
}

extension StoreAddress: CustomStringConvertible, CustomReflectable {
    /// The place, without the login.
    public var description: String {
        let scheme = tls == nil ? "redis" : "rediss"
        switch location {
        case .place(.host(let host, let port)): return "\(scheme)://\(host):\(port)"
        case .place(.socket(let path)): return "unix://\(path)"
        case .master(let name, let sentinels):
            return "\(scheme)-sentinel://\(sentinels.map { "\($0.host):\($0.port)" }.joined(separator: ","))#\(name)"
        }
    }

    /// The place alone.
    public var customMirror: Mirror { Mirror(self, children: ["place": description]) }
}
