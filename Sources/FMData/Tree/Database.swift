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
    ///
    /// It acts as one account, which has sessions, lists and live queries of its own; ``signedIn(as:dataSources:)``
    /// gives the database of somebody else, and ``replaceCredentials(_:dataSources:)`` makes this one somebody else's.
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

        /// The scripts that ``getScriptNames(isolation:)`` last brought; none since the credentials were replaced.
        /// `$scriptList` publishes them.
        @PublishedState public var scriptList: [ScriptItem] = []

        /// In what layouts were seen to differ from the types that their records are read into, each once, in the order
        /// of their answers, since the credentials were replaced: when ``DataAPI/Config/reportsModelDrift`` asks for
        /// it. `$modelDrifts` publishes them.
        @PublishedState public var modelDrifts: [ModelDrift] = []

        let identity: SessionIdentity
        let sessions: Sessions
        /// Compares answers with the types that they are read into; `nil` when nobody wants to know.
        let models: ModelWatch?
        /// Who looks after the live queries.
        let live: LiveRegistry
        /// What holds for the calls.
        let calls: CallContext
        /// What this one shows with other options of its calls, kept alive by it; `nil` when it is no such view.
        private let shown: Database?
        /// Of one that is bound to a session, whose session it is.
        private let owner: Database?

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
            self.calls = calls
            shown = nil
            owner = nil
            identity = SessionIdentity(
                login,
                place: "database \"\(name)\" on \(server.host)",
                lockOutCoolDown: server.config.sessions.lockOutCoolDown,
                time: server.time
            )
            let log = SessionLog(logger: server.config.logger, origin: try? server.origin.get(), database: name)
            let state = CredentialsState(identity: identity, shown: _credentials, willChange: changes)
            models = ModelWatch(name, server.config, shown: _modelDrifts, willChange: changes)
            live = LiveRegistry()
            let pool = SessionPool(
                configuration: server.config.sessions,
                storeKey: login.storeKey(of: name, on: server),
                authenticator: SessionAuthenticator(identity: identity, database: name, server: server),
                time: server.time,
                jitter: server.random,
                observer: SessionObserver(
                    transition: { state.show($0) },
                    repeats: { log.repeats(after: $0) },
                    left: { [pools = server.pools, now = server.time.now] left in
                        pools.withLockedValue { $0.leave(left, now: now()) }
                    },
                    shutDown: { [live] in live.shutDown() },
                    storeFailed: { log.storeFailed($0) }
                )
            )
            sessions = .pool(pool)
            server.register(pool)
            _credentials.set(login.given)
            if case .token(let token) = login.given.secret { pool.adopt(SessionToken(token), isOwned: false) }
        }

        /// A view of a database that is bound to one session, and to the account that it was opened for.
        init(_ database: Database, pinnedTo lease: SessionLease, in tenure: Tenure) {
            name = database.name
            server = database.server
            changes = ObservableObjectPublisher()
            calls = database.calls.changed { $0.tenure = tenure }
            shown = nil
            owner = database.root
            identity = database.identity
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
            identity = database.identity
            sessions = database.sessions
            models = database.models
            live = database.live
            self.calls = calls
            shown = database.original
            owner = nil
            _credentials = database._credentials
            _scriptList = database._scriptList
            _modelDrifts = database._modelDrifts
        }

        deinit {
            guard case .pool(let pool) = sessions, shown == nil else { return }
            server.forget(ObjectIdentifier(self))
            pool.close()
        }

        /// This database, or the one that it is a view of.
        var original: Database { shown ?? self }

        /// The same, and of one that is bound to a session the one that it is bound in: whose credentials they are.
        var root: Database { original.owner ?? original }

        /// In which a call begins that begins now.
        var tenure: Tenure { calls.options.tenure ?? identity.tenure }

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

        /// The layouts that ``getLayoutNames(isolation:)`` last brought; none since the credentials were replaced.
        public var layoutList: [LayoutListItem] {
            tenure.layoutNames.withLockedValue { $0 }.map { $0.item(in: self) }
        }

        func keep(layouts: [LayoutListBody.Entry], in tenure: Tenure) {
            changes.send()
            tenure.layoutNames.withLockedValue { $0 = layouts }
        }

        func keep(scripts: [ScriptItem], in tenure: Tenure) {
            changes.send()
            _scriptList.set(scripts)
            // Who replaces the credentials empties the list once; this may have come after that.
            if tenure.isOver { _scriptList.set([]) }
        }

        func show(_ credentials: Credentials) {
            changes.send()
            _credentials.set(credentials)
        }

        /// Another login from now on, of whomever. When it is another account nothing is left of the one before when
        /// this returns: sessions are taken back, what was remembered is forgotten, calls have failed, live queries
        /// begin anew. Returns the tenure of the new one.
        @discardableResult
        func use(_ login: Login) -> Tenure {
            let replacement = pool.credentialsChanged(storeKey: login.storeKey(of: name, on: server)) {
                server.move(root, to: Account(login)) { identity.replace(with: login) }
            }
            if let ended = replacement.ended {
                root.beginAnew()
                for call in ended { call.tenureEnded() }
            }
            // Whoever was told of it may have replaced them again.
            if root.credentials != identity.given { root.show(identity.given) }
            if case .token(let token) = login.given.secret {
                pool.adopt(SessionToken(token), isOwned: false, in: replacement.tenure)
            }
            return replacement.tenure
        }

        private func beginAnew() {
            changes.send()
            _scriptList.set([])
            models?.beginAnew()
            live.beginAnew()
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
