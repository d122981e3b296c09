import FMHTTP
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
public import OpenCombine

extension DataAPI {
    /// A FileMaker Server: the root of the tree.
    ///
    /// ```swift
    /// let server = DataAPI.Server(host: "fms.example.com")
    /// let world = server.addDatabase("World", credentials: .init(user: "admin", password: secret))
    /// print(world.name)                                           // World
    /// ```
    ///
    /// Creating one sends nothing. A database keeps its server alive, a server holds its databases weakly: keep the
    /// layouts or databases that you use, and nothing else. When the last reference is released, open connections are
    /// closed.
    public final class Server: ObservableObject, Sendable {
        /// The host as it was given, with its port if it has one. A mark replaces the parts that no host can have: a
        /// user and a password, a query.
        public let host: String
        /// The configuration: how the server is reached and its answers are read.
        public let config: Config
        /// Publishes when the list of ``databases`` changes: on the main actor to subscribers there, to all others on
        /// the thread that changes it. Never finishes.
        public var objectWillChange: AnyPublisher<Void, Never> { changes.object.whereSubscribed() }
        private let changes: SelfGuarded<ObservableObjectPublisher>

        /// The origin of requests, or the error of a host text that names none.
        package let origin: Result<Origin, FMRest.APIError>
        let client: HTTPClient
        /// The clock and timers of everything above the HTTP client.
        package let time: SessionTime
        /// Returns a random number from `0..<1`, a new one with each call.
        package let random: @Sendable () -> Double
        /// The budget of further attempts of calls whose policy has none of its own.
        let retryBudget: RetryBudget
        /// Reads answers as the configuration says. ``reader`` is the one in use.
        let givenReader: AnswerReader
        let formats: ServerFormats
        package let attachments: Attachments
        /// How the exchanges with the host have ended.
        let exchanges: ExchangeRecord
        let blockedActorWatch: BlockedActorWatch
        /// `nil` if nothing is to be logged of the host's clock.
        let clockWatch: ClockWatch?
        /// The first part of the path of every Data API call: `/fmi/data/vLatest`.
        let apiRoot: String
        private let children: NIOLockedValueBox<DatabaseRegistry>
        /// The session pools of all databases and their siblings, for ``shutdown(isolation:)``.
        let pools: NIOLockedValueBox<ServerPools>
        /// The options of the server's calls, and of those of its databases.
        let calls: CallContext
        /// The server that this object is a view of, with other options of its calls; `nil` when it is no such view.
        private let shown: Server?

        /// Creates a server object. Nothing is sent.
        ///
        /// - Parameters:
        ///   - host: a name or an address, with a port if it is not the scheme's own: `"fms.example.com"`,
        ///     `"127.0.0.1:3000"`, `"http://127.0.0.1:3000"`. A text that is no host, or that has a user and a password
        ///     before the host or a query behind it, makes every call fail with
        ///     ``FMRest/APIError/Code/invalidRequest``.
        ///   - config: the default suits a server with a valid certificate.
        public convenience init(host: String, config: Config = Config()) {
            self.init(host: host, config: config, runtime: Runtime(), wallClock: { Date() })
        }

        /// A server whose clock and timers are another's, such as those that a test moves.
        package convenience init(host: String, config: Config, time: SessionTime) {
            self.init(
                host: host,
                config: config,
                runtime: Runtime(),
                wallClock: { time.date(time.now()) },
                time: time
            )
        }

        /// - Parameters:
        ///   - wallClock: returns the present date.
        ///   - time: the clock and timers of everything above the HTTP client; `nil` for those of the runtime.
        init(
            host: String,
            config: Config,
            runtime: Runtime,
            wallClock: @escaping @Sendable () -> Date,
            time: SessionTime? = nil
        ) {
            self.host = HostAddress.shown(host)
            self.config = config
            changes = SelfGuarded(ObservableObjectPublisher())
            formats = ServerFormats()
            attachments = Attachments()
            exchanges = ExchangeRecord()
            children = NIOLockedValueBox(DatabaseRegistry())
            pools = NIOLockedValueBox(ServerPools())
            calls = CallContext(config.timeouts, logger: config.logger)
            shown = nil
            self.origin = Result { () throws(FMRest.APIError) in
                try HostAddress.origin(of: host, scheme: config.scheme)
            }
            self.givenReader = AnswerReader(config: config, wallClock: wallClock)
            self.apiRoot = "\(config.rootPath)/\(config.version.rawValue)"
            self.client = HTTPClient(configuration: config.http, runtime: runtime, logger: config.logger)
            self.time =
                time ?? .running(on: client.eventLoop, wallClock: wallClock, delivery: config.delivery)
            self.random = runtime.random
            self.retryBudget = RetryBudget()
            self.blockedActorWatch = BlockedActorWatch(eventLoop: client.eventLoop, logger: config.logger)
            self.clockWatch = ClockWatch(config.logger, origin: try? origin.get())
            if config.tls.dangerouslySkipsVerification {
                config.logger?.warning("TLS certificates are not verified", metadata: [LogKey.origin: "\(self.host)"])
            }
        }

        /// A view of a server, with other options of its calls.
        init(_ server: Server, calls: CallContext) {
            host = server.host
            config = server.config
            changes = server.changes
            origin = server.origin
            client = server.client
            time = server.time
            random = server.random
            retryBudget = server.retryBudget
            givenReader = server.givenReader
            formats = server.formats
            attachments = server.attachments
            exchanges = server.exchanges
            blockedActorWatch = server.blockedActorWatch
            clockWatch = server.clockWatch
            apiRoot = server.apiRoot
            children = server.children
            pools = server.pools
            self.calls = calls
            shown = server.shown ?? server
        }

        /// The databases in use, sorted by name; those of one name, one for each account, in the order in which they
        /// were added. ``addDatabase(_:credentials:dataSources:)`` returns the one of a certain account.
        public var databases: [Database] { children.withLockedValue { $0.databases }.map(view(of:)) }

        /// The database of that name for that account: the one that is already in use, or a new object.
        ///
        ///     server.addDatabase("Orders", credentials: ada)
        ///         === server.addDatabase("Orders", credentials: ada)       // true
        ///     server.addDatabase("Orders", credentials: ada)
        ///         === server.addDatabase("Orders", credentials: eve)       // false
        ///
        /// Each account has an object of its own, with its own sessions, shared reads, live queries, lists and entry in
        /// the token store. Two logins are the same account when they have the same user and password, the same OAuth
        /// pair, Claris ID token or session token, and the same credentials for data sources. **Without credentials**
        /// the result is the object that was added without credentials. It belongs to no account until
        /// ``Database/login(credentials:dataSourceCredentials:isolation:)``, and is found by its name alone whichever
        /// account logs in. ``Database/replaceCredentials(_:dataSources:)`` changes the login of a database in use.
        ///
        /// - Parameters:
        ///   - name: the hosted file's name without `.fmp12`, spelled with the same letter case everywhere.
        ///   - credentials: the credentials for the login, which takes place when a request first needs a session.
        ///   - dataSources: credentials for external data sources, sent with every login. They have no effect without
        ///     `credentials`.
        public func addDatabase(
            _ name: String,
            credentials: Credentials? = nil,
            dataSources: FMDataSourceAuth? = nil
        ) -> Database {
            view(of: database(name, for: credentials.map { Login($0, dataSources: dataSources) } ?? Login(.invalid)))
        }

        /// The database of that name, whose credentials come from a provider: new ones for each login, as OAuth and
        /// Claris ID need them.
        ///
        /// Providers with the same ``CredentialsProvider/identity`` are one account: the result is the first one's
        /// object, with the provider that it has. A provider without an identity is an account of its own, together
        /// with its copies.
        public func addDatabase(
            _ name: String,
            credentialsProvider: CredentialsProvider,
            dataSources: FMDataSourceAuth? = nil
        ) -> Database {
            view(of: database(name, for: Login(credentialsProvider, dataSources: dataSources)))
        }

        /// Shuts the server object down: logs out all sessions of all databases, then closes the connections.
        ///
        /// ```swift
        /// let end = try await server.shutdown().firstValue()      // in a handler for SIGTERM
        /// print(end.sessionsLeft, "sessions left")                // 0 sessions left
        /// ```
        ///
        /// Publishes a summary when it is done; never fails. The summary counts the sessions that could not be logged
        /// out, including earlier ones and those of databases that have been released. Requests under way are served
        /// first and logouts that fail with a transient error are repeated, all within
        /// ``DataAPI/SessionConfiguration/shutdownDeadline``. New requests fail with ``FMRest/APIError/Code/shutdown``.
        /// May be called twice. Cancelling does not undo it.
        ///
        /// - Note: One value. See <doc:Calls>.
        public func shutdown(
            isolation: (any Actor)? = #isolation
        ) -> AnyPublisher<ShutdownSummary, FMRest.APIError> {
            OnDemandPublisher {
                self.pools.withLockedValue { $0.close() }
                    .map { $0.shutdown() }
                    .publisher
                    .flatMap { $0 }
                    .reduce(0, +)
                    .flatMap { left in
                        self.client.shutdown().map {
                            let now = self.time.now()
                            let before = self.pools.withLockedValue { $0.left.count { $0 > now } }
                            return ShutdownSummary(sessionsLeft: left + before)
                        }
                        .flatMap { summary in
                            (self.config.transport?.shutdown() ?? Just(()).eraseToAnyPublisher()).map { summary }
                        }
                    }
                    .setFailureType(to: FMRest.APIError.self)
                    .eraseToAnyPublisher()
            }
            .delivered(on: isolation, by: self)
        }

        /// Registers the pool of a new database. A pool that is registered after the server was shut down is shut down
        /// as well.
        func register(_ pool: SessionPool) {
            if !pools.withLockedValue({ $0.add(pool) }) { pool.close() }
        }

        /// The database of that name for that account; creates it if there is none.
        func database(_ name: String, for login: Login) -> Database {
            let key = DatabaseRegistry.Key(name: name, account: Account(login))
            if let database = children.withLockedValue({ $0[key] }) { return database }
            let server = shown ?? self
            let new = Database(name: name, server: server, login: login, calls: server.calls)
            // Another thread may have added one meanwhile; then this new object is released unused.
            let database = children.withLockedValue { children in
                if let database = children[key] { return database }
                children.add(new, as: key)
                return new
            }
            if database === new { changes.object.send() }
            return database
        }

        /// Enters a database under another account, and makes the change under the registry's lock. So no lookup of the
        /// previous account returns this database in between, not even one by a subscriber that the change notifies.
        func move<Result>(_ database: Database, to account: Account?, _ change: () -> Result) -> Result {
            children.withLockedValue { children in
                children.move(ObjectIdentifier(database), to: account)
                return change()
            }
        }

        /// Removes a database that is being released.
        func forget(_ id: ObjectIdentifier) { children.withLockedValue { $0.remove(id) } }

        /// The number of entries in the registry, including databases that are being released.
        var registeredCount: Int { children.withLockedValue { $0.count } }

        /// A view of the database, with the options of this server's calls.
        private func view(of database: Database) -> Database {
            shown == nil ? database : Database(database, calls: calls)
        }
    }
}

extension DataAPI {
    /// The result of a server object's shutdown.
    public struct ShutdownSummary: Hashable, Sendable {
        /// The number of sessions that the server may still have, since they could not be logged out in time: by
        /// logouts that failed, and by logins that were under way. Sessions left before the shutdown count as well: by
        /// ``Database/logOut(isolation:)``, by logouts of sessions that were no longer needed, or by databases that
        /// have been released. The server drops a session 15 minutes after its last request; from then on it does not
        /// count. Sessions that are left to a ``TokenStore`` on purpose never count.
        public var sessionsLeft: Int

        /// Creates a summary, for tests and doubles.
        public init(sessionsLeft: Int = 0) {
            self.sessionsLeft = sessionsLeft
        }
    }
}

/// The session pools of a server's databases and of their siblings, held weakly.
struct ServerPools: Sendable {
    private struct WeakPool: Sendable {
        weak var pool: SessionPool?
    }

    private var pools: [WeakPool] = []
    private(set) var isClosed = false

    /// The number of pools, including those released since the last one was added.
    var count: Int { pools.count }

    /// The instants at which the server drops the sessions that released pools left to it.
    private(set) var left: [NIODeadline] = []

    /// Notes the sessions that a released pool left to the server: the server may have them until these instants.
    mutating func leave(_ instants: [NIODeadline], now: NIODeadline) {
        left.removeAll { $0 <= now }
        left += instants
    }

    /// Adds a pool. Returns `false` after ``close()``: then it is not added.
    mutating func add(_ pool: SessionPool) -> Bool {
        pools.removeAll { $0.pool == nil }
        if !isClosed { pools.append(WeakPool(pool: pool)) }
        return !isClosed
    }

    /// Accepts no further pools. Returns the present ones.
    mutating func close() -> [SessionPool] {
        isClosed = true
        return pools.compactMap(\.pool)
    }
}

extension DataAPI.Server: CustomStringConvertible, CustomReflectable {
    /// A short text, without secrets and field values.
    public var description: String { "Server(\"\(host)\")" }

    /// The children that a dump shows, without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["host": host]) }
}
