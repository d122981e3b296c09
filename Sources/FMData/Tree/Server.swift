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
    /// Making one sends nothing. A database keeps its server alive, a server knows its databases weakly: hold on to the
    /// layouts or databases you use and let the rest follow. When the last reference goes, open connections are closed.
    public final class Server: ObservableObject, @unchecked Sendable {
        // @unchecked: every stored property is immutable and Sendable, except `changes`, which guards its
        // subscribers by a lock of its own.

        /// The host as it was given, with its port if it has one. What no host can have is replaced: a user and a password, a query.
        public let host: String
        /// How the server is reached and its answers are read.
        public let config: Config
        /// Sends when the list of ``databases`` changes: on the main actor to those who subscribed there, else on
        /// the thread that changes it. Never finishes.
        public var objectWillChange: AnyPublisher<Void, Never> { changes.whereSubscribed() }
        private let changes: ObservableObjectPublisher

        /// Where requests go, or why the host names no place.
        let origin: Result<Origin, FMRest.APIError>
        let client: HTTPClient
        /// Of everything here that tells or waits for time.
        package let time: SessionTime
        /// A number from `0..<1`, drawn anew with each call.
        let random: @Sendable () -> Double
        /// What further attempts of calls are paid from, unless their policy has a budget of its own.
        let retryBudget: RetryBudget
        /// Reads answers as the configuration says; see ``reader``.
        let givenReader: AnswerReader
        let formats: ServerFormats
        /// When live queries may look.
        let looks: LookTurns
        let blockedActorWatch: BlockedActorWatch
        /// What the path of every call of the Data API begins with: `/fmi/data/vLatest`.
        let apiRoot: String
        private let children: NIOLockedValueBox<DatabaseRegistry>
        /// The session pools of all databases and their siblings, for ``shutdown(isolation:)``.
        let pools: NIOLockedValueBox<ServerPools>
        /// What holds for the calls, and for those of the databases.
        let calls: CallContext
        /// What this one shows with other options of its calls; `nil` when it is no such view.
        private let shown: Server?

        /// - Parameters:
        ///   - host: a name or an address, with a port if it is not the scheme's own: `"fms.example.com"`,
        ///     `"127.0.0.1:3000"`, `"http://127.0.0.1:3000"`. A text that is no host, or has a user and a password before
        ///     it or a query behind it, makes every call fail with ``FMRest/APIError/Code/invalidRequest``.
        ///   - config: the default suits a server with a valid certificate.
        public convenience init(host: String, config: Config = Config()) {
            self.init(host: host, config: config, runtime: Runtime(), wallClock: { Date() })
        }

        /// - Parameters:
        ///   - wallClock: what a clock on the wall shows.
        ///   - time: of everything above the HTTP client; `nil` for that of the runtime.
        init(
            host: String,
            config: Config,
            runtime: Runtime,
            wallClock: @escaping @Sendable () -> Date,
            time: SessionTime? = nil
        ) {
            self.host = HostAddress.shown(host)
            self.config = config
            changes = ObservableObjectPublisher()
            formats = ServerFormats()
            children = NIOLockedValueBox(DatabaseRegistry())
            pools = NIOLockedValueBox(ServerPools())
            calls = CallContext(config.timeouts)
            shown = nil
            self.origin = Result { () throws(FMRest.APIError) in
                try HostAddress.origin(of: host, scheme: config.scheme)
            }
            self.givenReader = AnswerReader(config: config, wallClock: wallClock)
            self.apiRoot = "\(config.rootPath)/\(config.version.rawValue)"
            self.client = HTTPClient(configuration: config.http, runtime: runtime, logger: config.logger)
            self.time = time ?? .running(on: client.eventLoop, wallClock: wallClock)
            self.random = runtime.random
            self.retryBudget = RetryBudget()
            self.looks = LookTurns(config.pollRateLimit, time: self.time)
            self.blockedActorWatch = BlockedActorWatch(eventLoop: client.eventLoop, logger: config.logger)
            if config.tls.dangerouslySkipsVerification {
                config.logger?.warning("TLS certificates are not verified", metadata: ["host": "\(self.host)"])
            }
        }

        /// A view of a server with other options of its calls.
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
            looks = server.looks
            blockedActorWatch = server.blockedActorWatch
            apiRoot = server.apiRoot
            children = server.children
            pools = server.pools
            self.calls = calls
            shown = server.shown ?? server
        }

        /// The databases that are in use, by name: as many of one name as there are accounts, in the order in which
        /// they were added. That of a certain account ``addDatabase(_:credentials:dataSources:)`` knows.
        public var databases: [Database] { children.withLockedValue { $0.databases }.map(view(of:)) }

        /// The database of that name for that account: the one that is already in use, or a new object.
        ///
        ///     server.addDatabase("Orders", credentials: ada) === server.addDatabase("Orders", credentials: ada)       // true
        ///     server.addDatabase("Orders", credentials: ada) === server.addDatabase("Orders", credentials: eve)       // false
        ///
        /// Each account has an object of its own, with sessions, shared reads, live queries, lists and an entry in the
        /// token store that are nobody else's. The same account is: the same user and password, the same OAuth pair,
        /// Claris ID token or session token, and the same credentials for data sources. **Without credentials** it is
        /// the one that was added without: it is nobody's until
        /// ``Database/login(credentials:dataSourceCredentials:isolation:)``, and found by its name alone whoever logs
        /// in. To change the login of one that is in use: ``Database/replaceCredentials(_:dataSources:)``.
        ///
        /// - Parameters:
        ///   - name: the hosted file's name without `.fmp12`, spelled with the same letter case everywhere.
        ///   - credentials: who logs in, when a request first needs a session.
        ///   - dataSources: credentials for external data sources, sent with every login. Of no use without
        ///     `credentials`.
        public func addDatabase(
            _ name: String,
            credentials: Credentials? = nil,
            dataSources: FMDataSourceAuth? = nil
        ) -> Database {
            view(of: database(name, for: credentials.map { Login($0, dataSources: dataSources) } ?? Login(.invalid)))
        }

        /// The database of that name, whose credentials come from a provider: fresh ones for each login, as OAuth and
        /// Claris ID need them.
        ///
        /// Providers of the same ``CredentialsProvider/identity`` are one account: the first one's object is given,
        /// with the provider that it has. A provider that names nobody is an account of its own, with its copies.
        public func addDatabase(
            _ name: String,
            credentialsProvider: CredentialsProvider,
            dataSources: FMDataSourceAuth? = nil
        ) -> Database {
            view(of: database(name, for: Login(credentialsProvider, dataSources: dataSources)))
        }

        /// Ends everything: logs out all sessions of all databases, then closes the connections.
        ///
        /// ```swift
        /// let end = try await server.shutdown().firstValue()      // in a handler for SIGTERM
        /// print(end.sessionsLeft, "sessions left")                // 0 sessions left
        /// ```
        ///
        /// Publishes one value when it is done, which says whether the server was told of every end, also of those that were before
        /// and those of databases that are gone, then finishes; never fails. Begins with demand. Requests under way are served
        /// first, a logout that fails in passing is repeated, all within
        /// ``DataAPI/SessionConfiguration/shutdownDeadline``; new requests fail with ``FMRest/APIError/Code/shutdown``. May be called
        /// twice. Cancelling does not undo it.
        ///
        /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
        /// <doc:WhereValuesArrive>.
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
                    }
                    .setFailureType(to: FMRest.APIError.self)
                    .eraseToAnyPublisher()
            }
            .handedOver(to: isolation, by: self)
        }

        /// A pool that is made when the server has been shut down is shut down, too.
        func register(_ pool: SessionPool) {
            if !pools.withLockedValue({ $0.add(pool) }) { pool.close() }
        }

        /// The database of that name for that account, made if there is none.
        func database(_ name: String, for login: Login) -> Database {
            let key = DatabaseRegistry.Key(name: name, account: Account(login))
            if let database = children.withLockedValue({ $0[key] }) { return database }
            let server = shown ?? self
            let new = Database(name: name, server: server, login: login, calls: server.calls)
            // Somebody else may have made one meanwhile; then this one goes again, having done nothing.
            let database = children.withLockedValue { children in
                if let database = children[key] { return database }
                children.add(new, as: key)
                return new
            }
            if database === new { changes.send() }
            return database
        }

        /// A database becomes another account's, and is found as that: nobody who asks for the account before is given
        /// it in between, also not by whom the change itself tells of it.
        func move<Result>(_ database: Database, to account: Account?, _ change: () -> Result) -> Result {
            children.withLockedValue { children in
                children.move(ObjectIdentifier(database), to: account)
                return change()
            }
        }

        /// A database goes.
        func forget(_ id: ObjectIdentifier) { children.withLockedValue { $0.remove(id) } }

        /// How many databases are known here, those included that nobody holds.
        var registeredCount: Int { children.withLockedValue { $0.count } }

        /// The database with the options of this server's calls.
        private func view(of database: Database) -> Database {
            shown == nil ? database : Database(database, calls: calls)
        }
    }
}

extension DataAPI {
    /// How the shutdown of a server object went.
    public struct ShutdownSummary: Hashable, Sendable {
        /// Sessions that the server may still have, since it could not be told to end them in time: logouts that failed,
        /// logins that were under way. Those that were left before the shutdown count as well, by ``Database/logOut(isolation:)``,
        /// by sessions that had served their time, or by databases that are gone. The server drops them by itself 15 minutes
        /// after their last request; from then on they do not count. Sessions that are left to a ``TokenStore`` on purpose never
        /// do.
        public var sessionsLeft: Int

        /// A summary of your own making, for tests and doubles.
        public init(sessionsLeft: Int = 0) {
            self.sessionsLeft = sessionsLeft
        }
    }
}

/// The session pools of a server's databases and of their siblings, which it does not keep alive.
struct ServerPools: Sendable {
    private struct WeakPool: Sendable {
        weak var pool: SessionPool?
    }

    private var pools: [WeakPool] = []
    private var isClosed = false

    /// Those included that have gone since the last one came.
    var count: Int { pools.count }

    /// When the server drops the sessions that were left to it by pools that have gone.
    private(set) var left: [NIODeadline] = []

    /// A pool has gone, and the server may have sessions of it until then.
    mutating func leave(_ instants: [NIODeadline], now: NIODeadline) {
        left.removeAll { $0 <= now }
        left += instants
    }

    /// False when there are to be no more pools.
    mutating func add(_ pool: SessionPool) -> Bool {
        pools.removeAll { $0.pool == nil }
        if !isClosed { pools.append(WeakPool(pool: pool)) }
        return !isClosed
    }

    /// There are to be no more. Returns those that there are.
    mutating func close() -> [SessionPool] {
        isClosed = true
        return pools.compactMap(\.pool)
    }
}

extension DataAPI.Server: CustomStringConvertible, CustomReflectable {
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String { "Server(\"\(host)\")" }

    /// What a dump may show: no secret.
    public var customMirror: Mirror { Mirror(self, children: ["host": host]) }
}
