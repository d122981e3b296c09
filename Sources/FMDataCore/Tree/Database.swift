import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI {
    /// A hosted file: it holds credentials and sessions, and is the parent of layouts.
    ///
    /// ```swift
    /// let world = server.addDatabase("World", credentials: .init(user: "admin", password: secret))
    /// let people = world.addLayout("Contacts")
    /// print(people.name)                                          // Contacts
    /// ```
    ///
    /// Creating one sends nothing. The first request that needs a session logs in; an expired session is renewed by the
    /// request that the server refuses. When the last reference to a database is released, its sessions are logged out.
    ///
    /// A database acts as one account, which has its own sessions, lists and live queries;
    /// ``signedIn(as:dataSources:)`` returns the database of another account, and
    /// ``replaceCredentials(_:dataSources:)`` makes this one another account's.
    public final class Database: ObservableObject, @unchecked Sendable {
        // @unchecked: the stored properties are immutable, or wrappers and boxes whose contents are guarded by a lock.

        /// The file's name without `.fmp12`.
        public let name: String
        /// The server that hosts the file.
        public let server: Server
        /// Publishes when ``credentials``, ``layoutList`` or ``scriptList`` change: on the main actor to subscribers
        /// there, to all others before the change, on the thread that makes it. Never finishes.
        public var objectWillChange: AnyPublisher<Void, Never> { changes.whereSubscribed() }
        private let changes: ObservableObjectPublisher

        /// The credentials in use: those given, after a login the session's token, and `.invalid` when the session is
        /// lost and could not be renewed. `$credentials` publishes the present value to each new subscriber and then
        /// every change: on the main actor to subscribers there, to all others on the thread that made the change.
        ///
        /// With several sessions it is the token of an open one: another token is shown when that session has ended.
        /// The given credentials are kept apart for the next login; only their state shows here.
        @PublishedState public var credentials: Credentials

        /// The scripts that ``getScriptNames(isolation:)`` published last; empty again after the credentials were
        /// replaced. `$scriptList` publishes them.
        @PublishedState public var scriptList: [ScriptItem]

        let identity: SessionIdentity
        package let sessions: Sessions
        /// What is kept with the database, by all of its views.
        package let attachments: Attachments
        /// The options of the calls.
        package let calls: CallContext
        /// The database that this object is a view of, with other options of its calls; it keeps that one alive. `nil`
        /// when it is no such view.
        private let shown: Database?
        /// For a database that is bound to one session: the database that owns the session.
        private let owner: Database?

        /// Where the calls of a database get their session from.
        package enum Sessions: Sendable {
            /// Any free session of the pool.
            case pool(SessionPool)
            /// Always this session; see ``withSession(keptAlive:isolation:_:)``.
            case pinned(HeldSession, of: SessionPool)
        }

        init(name: String, server: Server, login: Login, calls: CallContext) {
            self.name = name
            self.server = server
            changes = ObservableObjectPublisher()
            _credentials = PublishedState(wrappedValue: login.given)
            _scriptList = PublishedState(wrappedValue: [])
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
            let state = CredentialsState(identity: identity, shown: _credentials, willChange: SelfGuarded(changes))
            attachments = Attachments()
            var observer = SessionObserver(
                transition: { transition in
                    log.transition(transition)
                    state.show(transition)
                },
                repeats: { log.repeats(after: $0) },
                left: { [pools = server.pools, now = server.time.now] left in
                    pools.withLockedValue { $0.leave(left, now: now()) }
                },
                shutDown: { [attachments] in
                    for observer in attachments.all((any DatabaseObserver).self) { observer.shutDown() }
                },
                shutOut: { log.shutOut($0) },
                storeFailed: { log.storeFailed($0) },
                budgetFailed: { log.budgetFailed($0) }
            )
            if log.isDetailed {
                observer.waited = { log.waited(for: $0.shortName, $1) }
                observer.changed = { log.changed($0) }
            }
            let pool = SessionPool(
                configuration: server.config.sessions,
                storeKey: login.storeKey(of: name, on: server),
                authenticator: SessionAuthenticator(identity: identity, database: name, server: server),
                time: server.time,
                jitter: server.random,
                observer: observer
            )
            sessions = .pool(pool)
            server.register(pool)
            if case .token(let token) = login.given.secret { pool.adopt(SessionToken(token), isOwned: false) }
        }

        /// A view of a database that is bound to one session, and to the account that it was opened for.
        init(_ database: Database, pinnedTo session: HeldSession, in accountPeriod: AccountPeriod) {
            name = database.name
            server = database.server
            changes = ObservableObjectPublisher()
            calls = database.calls.changed { $0.accountPeriod = accountPeriod }
            shown = nil
            owner = database.root
            identity = database.identity
            attachments = database.attachments
            sessions = .pinned(session, of: database.pool)
            _credentials = PublishedState(wrappedValue: Credentials(token: session.lease.token.value))
            _scriptList = PublishedState(wrappedValue: [])
        }

        /// A view of a database with other options of its calls.
        init(_ database: Database, calls: CallContext) {
            name = database.name
            server = database.server
            changes = database.changes
            identity = database.identity
            sessions = database.sessions
            attachments = database.attachments
            self.calls = calls
            shown = database.original
            owner = nil
            _credentials = database._credentials
            _scriptList = database._scriptList
        }

        deinit {
            guard case .pool(let pool) = sessions, shown == nil else { return }
            server.forget(ObjectIdentifier(self))
            pool.close()
        }

        /// This database, or the one that it is a view of.
        package var original: Database { shown ?? self }

        /// The database that owns the credentials: for one that is bound to a session the database it was made from,
        /// else ``original``.
        var root: Database { original.owner ?? original }

        /// The account period of a call that begins now.
        package var accountPeriod: AccountPeriod { calls.options.accountPeriod ?? identity.accountPeriod }

        var pool: SessionPool {
            switch sessions {
            case .pool(let pool), .pinned(_, let pool): pool
            }
        }

        /// A layout by the key that names it, or by its name in the file.
        public func addLayout(_ key: some LayoutKey) -> Layout {
            Layout(name: key.layoutName, database: self)
        }

        /// The layouts that ``getLayoutNames(isolation:)`` published last; empty again after the credentials were
        /// replaced.
        public var layoutList: [LayoutListItem] {
            accountPeriod.layoutNames.withLockedValue { $0 }.map { $0.item(in: self) }
        }

        func keep(layouts: [LayoutListBody.Entry], in accountPeriod: AccountPeriod) {
            changes.send()
            accountPeriod.layoutNames.withLockedValue { $0 = layouts }
        }

        func keep(scripts: [ScriptItem], in accountPeriod: AccountPeriod) {
            changes.send()
            _scriptList.set(scripts)
            // `use(_:)` empties the list once; this call may run after that, so it empties the list again.
            if accountPeriod.isOver { _scriptList.set([]) }
        }

        func show(_ credentials: Credentials) {
            changes.send()
            _credentials.set(credentials)
        }

        /// Uses another login from now on, of the same or another account. When it is another account, nothing of the
        /// previous one is left when this returns: its sessions are withdrawn, its caches are dropped, its calls have
        /// failed, its live queries start again. Returns the account period of the new login.
        @discardableResult
        func use(_ login: Login) -> AccountPeriod {
            let replacement = pool.credentialsChanged(storeKey: login.storeKey(of: name, on: server)) {
                server.move(root, to: Account(login)) { identity.replace(with: login) }
            }
            if let ended = replacement.ended {
                root.beginAnew()
                for call in ended { call.accountPeriodEnded() }
            }
            // A subscriber that received one of the failures may have replaced the credentials again: show the present
            // ones.
            if root.credentials != identity.given { root.show(identity.given) }
            if case .token(let token) = login.given.secret {
                pool.adopt(SessionToken(token), isOwned: false, in: replacement.accountPeriod)
            }
            return replacement.accountPeriod
        }

        private func beginAnew() {
            changes.send()
            _scriptList.set([])
            for observer in observers { observer.beginAnew() }
        }
    }
}

extension AccountPeriod {
    /// The layouts that the account may see, from the last list. Only names, since `Layout` objects hold their
    /// database.
    fileprivate var layoutNames: NIOLockedValueBox<[LayoutListBody.Entry]> { attachments.value { .init([]) } }
}

extension DataAPI.Database: CustomStringConvertible, CustomReflectable {
    /// A short text, without secrets and field values.
    public var description: String { "Database(\"\(name)\" on \(server.host))" }

    /// The children that a dump shows, without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "server": server.host, "credentials": credentials])
    }
}

/// An attachment of a database (``Attachments``) that wants to know what happens to the database.
package protocol DatabaseObserver: Sendable {
    /// A record was written through a layout of the database, and the host has confirmed it.
    ///
    /// - Parameter recordId: the record in the request's path; `nil` for a new record and for a script.
    func written(_ recordId: Int?, on layout: String)

    /// The database acts as another account from now on.
    func beginAnew()

    /// The database's sessions are being shut down.
    func shutDown()
}

extension DataAPI.Database {
    var observers: [any DatabaseObserver] { attachments.all((any DatabaseObserver).self) }
}
