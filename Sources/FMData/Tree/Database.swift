import FMHTTP
import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI {
    /// A hosted file: the place of credentials and sessions, and the parent of layouts.
    ///
    /// ```swift
    /// let world = server.addDatabase("World", credentials: .init(user: "admin", password: secret))
    /// let people = world.addLayout("Contacts")
    /// print(people.name)                                          // Contacts
    /// ```
    ///
    /// Making one sends nothing. The first request that needs a session logs in; a session that dies is renewed by the
    /// request that notices. When the last reference to a database goes, its sessions are logged out.
    public final class Database: ObservableObject, @unchecked Sendable {
        // @unchecked: the stored properties are immutable, or wrappers and boxes whose contents are guarded by a lock.

        /// The file's name without `.fmp12`.
        public let name: String
        /// The server that hosts the file.
        public let server: Server
        /// Sends when ``credentials``, ``layoutList``, ``scriptList`` or ``modelDrifts`` change: on the main actor to those who
        /// subscribed there, to all others before the change, on the thread that makes it. Never finishes.
        public var objectWillChange: AnyPublisher<Void, Never> { changes.whereSubscribed() }
        private let changes: ObservableObjectPublisher

        /// Who is logged in: the credentials given, then after a login the session's token, and `.invalid` when the session
        /// is lost and could not be renewed. `$credentials` publishes the present value to each new subscriber and then
        /// every change: on the main actor to those who subscribed there, else on the thread that made it.
        ///
        /// Of several sessions it is the token of one that is open: another is shown when that one has ended. The credentials
        /// given are kept apart for the next login; only their state shows here.
        @PublishedState public var credentials: Credentials = .invalid

        /// The scripts that ``getScriptNames(isolation:)`` last brought. `$scriptList` publishes them.
        @PublishedState public var scriptList: [ScriptItem] = []

        /// In what layouts were seen to differ from the types that their records are read into, each once, in the order of their
        /// answers: when ``DataAPI/Config/reportsModelDrift`` asks for it. `$modelDrifts` publishes them.
        @PublishedState public var modelDrifts: [ModelDrift] = []

        /// Layouts hold their database, so the database keeps their names only.
        private let layoutNames: NIOLockedValueBox<[LayoutListBody.Entry]>

        let identity: SessionIdentity
        let sessions: Sessions
        /// What is known of the layouts, to explain errors by.
        let layouts: LayoutMemory
        /// How many records the pages of its layouts have.
        let pageSizes: PageSizes
        /// The reads that calls share while they are under way.
        let reads: SharedReads
        /// Compares answers with the types that they are read into; `nil` when nobody wants to know.
        let models: ModelWatch?
        /// Who looks after the live queries.
        let live: LiveRegistry
        /// What holds for the calls.
        let calls: CallContext
        /// What this one shows with other options of its calls, kept alive by it; `nil` when it is no such view.
        private let shown: Database?

        /// Where the calls of a database get their session from.
        enum Sessions: Sendable {
            /// Any that is free.
            case pool(SessionPool)
            /// Always this one; see ``withSession(isolation:_:)->Value``.
            case pinned(SessionLease, of: SessionPool)
        }

        init(name: String, server: Server, login: Login, calls: CallContext) {
            self.name = name
            self.server = server
            changes = ObservableObjectPublisher()
            layoutNames = NIOLockedValueBox([])
            self.calls = calls
            shown = nil
            identity = SessionIdentity(
                login,
                place: "database \"\(name)\" on \(server.host)",
                lockOutCoolDown: server.config.sessions.lockOutCoolDown,
                now: server.time.now
            )
            let log = SessionLog(logger: server.config.logger, origin: try? server.origin.get(), database: name)
            let state = CredentialsState(identity: identity, shown: _credentials, willChange: changes)
            layouts = LayoutMemory(time: server.time)
            pageSizes = PageSizes()
            reads = SharedReads()
            models = ModelWatch(name, server.config, shown: _modelDrifts, willChange: changes)
            live = LiveRegistry()
            let pool = SessionPool(
                configuration: server.config.sessions,
                storeKey: identity.storeKey(of: name, on: server),
                authenticator: SessionAuthenticator(identity: identity, database: name, server: server),
                time: server.time,
                jitter: server.random,
                observer: SessionObserver(
                    transition: { state.show($0) },
                    repeats: { log.repeats(after: $0) },
                    left: { [pools = server.pools] left in pools.withLockedValue { $0.left += left } },
                    shutDown: { [live] in live.shutDown() },
                    storeFailed: { log.storeFailed($0) }
                )
            )
            sessions = .pool(pool)
            server.register(pool)
            _credentials.set(login.given)
            if case .token(let token) = login.given.secret { pool.adopt(SessionToken(token), isOwned: false) }
        }

        /// A view of a database that is bound to one session.
        init(_ database: Database, pinnedTo lease: SessionLease) {
            name = database.name
            server = database.server
            changes = ObservableObjectPublisher()
            layoutNames = NIOLockedValueBox([])
            calls = database.calls.ofOtherCalls
            shown = nil
            identity = database.identity
            layouts = database.layouts
            pageSizes = database.pageSizes
            reads = database.reads
            models = database.models
            live = database.live
            sessions = .pinned(lease, of: database.pool)
            _modelDrifts = database._modelDrifts
            _credentials.set(Credentials(token: lease.token.value))
        }

        /// A view of a database with other options of its calls.
        init(_ database: Database, calls: CallContext) {
            name = database.name
            server = database.server
            changes = database.changes
            layoutNames = database.layoutNames
            identity = database.identity
            sessions = database.sessions
            layouts = database.layouts
            pageSizes = database.pageSizes
            reads = database.reads
            models = database.models
            live = database.live
            self.calls = calls
            shown = database.original
            _credentials = database._credentials
            _scriptList = database._scriptList
            _modelDrifts = database._modelDrifts
        }

        deinit {
            if case .pool(let pool) = sessions, shown == nil { pool.close() }
        }

        /// This database, or the one that it is a view of.
        var original: Database { shown ?? self }

        var pool: SessionPool {
            switch sessions {
            case .pool(let pool), .pinned(_, let pool): pool
            }
        }

        /// A layout by the key that names it.
        public func addLayout(_ key: some LayoutKey) -> Layout {
            addLayout(key.layoutName)
        }

        /// A layout by its name in the file.
        public func addLayout(_ name: String) -> Layout {
            Layout(name: name, database: self)
        }

        /// The layouts that ``getLayoutNames(isolation:)`` last brought.
        public var layoutList: [LayoutListItem] {
            layoutNames.withLockedValue { $0 }.map { $0.item(in: self) }
        }

        func keep(layouts: [LayoutListBody.Entry]) {
            changes.send()
            layoutNames.withLockedValue { $0 = layouts }
        }

        func keep(scripts: [ScriptItem]) {
            changes.send()
            _scriptList.set(scripts)
        }

        func show(_ credentials: Credentials) {
            changes.send()
            _credentials.set(credentials)
        }
    }
}

extension DataAPI.Database: CustomStringConvertible, CustomReflectable {
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String { "Database(\"\(name)\" on \(server.host))" }

    /// What a dump may show: no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "server": server.host, "credentials": credentials])
    }
}
