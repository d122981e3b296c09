public import OpenCombine

extension DataAPI.Database {
    /// Logs in now with the credentials that the database has, instead of with the first request.
    ///
    ///     try await database.login().firstValue()         // throws at the start of a program what its password is worth
    ///
    /// Publishes the credentials of the session, of kind `token`, then finishes. Nothing is sent before demand. A session that is
    /// open already is enough, and then nothing is sent at all: ``validateSession(isolation:)`` asks the server whether it is still
    /// alive. The login is the one that all who need a session wait for; the session stays open for the requests that follow.
    /// Cancelling stops waiting.
    ///
    /// Fails with ``FMRest/APIError/Code/unauthorized`` when there are no credentials, and with FileMaker code 212 when the account is
    /// refused; ``credentials`` are then `.invalid`.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Log in to a database session", `POST …/sessions`.
    public func login(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Credentials, FMRest.APIError> {
        asOneAccount { tenure in
            let call = self.calls.ofOneCall(in: tenure)
            return self.server.retrying(in: call) { self.openSession(within: call.clock, in: tenure) }
        }
        .map { token in DataAPI.Credentials(token: token.value) }
        .handedOver(to: isolation, by: self)
    }

    /// Publishes the token of a session that is open, after a login if need be.
    private func openSession(
        within clock: CallClock?,
        in tenure: Tenure
    ) -> AnyPublisher<SessionToken, FMRest.APIError> {
        switch sessions {
        case .pool(let pool):
            pool.lease(within: clock, in: tenure)
                .attempt { lease in
                    withExtendedLifetime(self) { Just(lease.token).setFailureType(to: FMRest.APIError.self) }
                }
                // Nobody has asked the server for anything with it.
                .givingBack(to: pool) { _, _ in .unused }
                .mapError(\.error)
                .eraseToAnyPublisher()
        case .pinned(let lease, _):
            .of(lease.token)
        }
    }

    /// Logs in now, and with these credentials from now on: when they are another account's, the login that succeeds is
    /// followed by what ``replaceCredentials(_:dataSources:)`` does.
    ///
    /// Publishes the credentials of the new session, of kind `token`, then finishes. Nothing is sent before demand; each
    /// subscription is one login. Cancelled, it is given ``DataAPI/SessionConfiguration/abandonedLogin`` to end, and its
    /// session is logged out. There is no need to call it: the first request that needs a session logs in with the
    /// credentials given to `addDatabase`.
    ///
    /// Fails with FileMaker code 212 when the account is refused; ``credentials`` are then `.invalid`. Credentials of kind
    /// `token` are taken as they are, without a request.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - credentials: kept for later logins.
    ///   - dataSourceCredentials: sent with this login and with every later one.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Log in to a database session", `POST …/sessions`.
    public func login(
        credentials: DataAPI.Credentials,
        dataSourceCredentials: DataAPI.FMDataSourceAuth? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Credentials, FMRest.APIError> {
        let login = DataAPI.Login(credentials, dataSources: dataSourceCredentials)
        if case .token = credentials.secret {
            return Deferred { () -> Just<DataAPI.Credentials> in
                self.use(login)
                return Just(credentials)
            }
            .setFailureType(to: FMRest.APIError.self)
            .handedOver(to: isolation, by: server)
        }
        let session = server.logIn(to: name, as: credentials, dataSources: dataSourceCredentials, calls)
        return pool.visit(session) {
            self.use(login)
        }
        .handleEvents(
            receiveCompletion: { completion in
                guard case .failure(let error) = completion, error.meansCredentialsRefused else { return }
                self.identity.refused(error)
                self.show(.invalid)
            }
        )
        .map { token in DataAPI.Credentials(token: token.value) }
        .handedOver(to: isolation, by: server)
    }

    /// Ends the database's sessions: publishes one empty value when the server has been told, then finishes.
    ///
    /// Requests that are under way are served first. Nothing is sent before demand. Without a session it just finishes with
    /// its value, so it may be called twice. The tokens are forgotten even when the server cannot be told. The next request
    /// logs in again.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Log out of a database session", `DELETE …/sessions/{token}`.
    public func logOut(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        pool.logOut().map { _ in FMRest.EmptyResponse() }.handedOver(to: isolation, by: server)
    }

    /// Whether the database can open or use a session on its server: publishes `true` when a session was validated, `false`
    /// when its credentials are refused, then finishes. Other failures stay failures.
    ///
    /// Nothing is sent before demand; each subscription is one request, after a login if need be; cancelling ends it on the
    /// wire.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Validate session", `GET /validateSession`. FileMaker Server 19 and later.
    public func validateSession(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Bool, FMRest.APIError> {
        perform { .validateSession(.session) }
            .map { _ in true }
            .tryCatch { error -> Just<Bool> in
                guard error.meansTokenRefused || error.meansCredentialsRefused else { throw error }
                return Just(false)
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .handedOver(to: isolation, by: self)
    }

    /// Runs work in one session of its own: global fields that are set in it are seen by its finds and scripts, and by nobody
    /// else.
    ///
    /// ```swift
    /// let london = database.withSession { pinned in
    ///     pinned.setGlobalFields(globalFields: ["Contacts::gFilter": "London"])
    ///         .flatMap { _ in pinned.addLayout("Contacts").of(FieldData.self).firstRecord() }
    ///         .eraseToAnyPublisher()
    /// }
    /// print(try await london.firstValue()?.fieldData["gFilter"]?.text ?? "")      // London
    /// ```
    ///
    /// Publishes what the inner publisher publishes. On demand a session is leased, after a login if need be, and
    /// logged out when the inner publisher ends or the subscription is cancelled. A session that is lost in between is
    /// not replaced, since its globals are gone: the work fails with ``FMRest/APIError/Code/sessionLost``, and with
    /// ``FMRest/APIError/Code/credentialsReplaced`` when the database becomes another account's.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - isolation: where the values arrive; leave it out.
    ///   - work: gets this database bound to the one session. It is of no use after the work has ended.
    public func withSession<Value>(
        isolation: (any Actor)? = #isolation,
        _ work: @escaping @Sendable (DataAPI.Database) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        TenuredPublisher(tenure: { self.tenure }) { tenure in
            TenuredPublisher.Work(
                publisher: self.pool.pinned(clock: self.calls.ofOneCall.clock, in: tenure) { lease in
                    work(DataAPI.Database(self, pinnedTo: lease, in: tenure))
                },
                error: { .credentialsReplaced(outcomeIsUnknown: true) }
            )
        }
        .handedOver(to: isolation, by: self, mayHaveWritten: true)
    }

    /// Runs `async` work in one session of its own: global fields that are set in it are seen by its finds and scripts, and by
    /// nobody else.
    ///
    /// ```swift
    /// let paris = try await database.withSession { pinned in
    ///     try await pinned.setGlobalFields(globalFields: ["Contacts::gFilter": "Paris"]).firstValue()
    ///     return try await pinned.addLayout("Contacts").of(FieldData.self).firstRecord().firstValue()?.fieldData["gFilter"]
    /// }
    /// print(paris?.text ?? "")                                    // Paris
    /// ```
    ///
    /// A session is leased, after a login if need be, and logged out when the work has returned or thrown; what it returns or
    /// throws is what comes back. Cancelling the task ends the wait for the session, and in the work the calls that are under
    /// way: both throw `CancellationError`. A session that is lost in between is not replaced, since its globals are gone: the
    /// work's calls fail with ``FMRest/APIError/Code/sessionLost``.
    ///
    /// - Parameters:
    ///   - isolation: where the work runs; leave it out.
    ///   - work: gets this database bound to the one session. It is of no use after the work has ended.
    @_disfavoredOverload
    public func withSession<Value>(
        isolation: isolated (any Actor)? = #isolation,
        _ work: (DataAPI.Database) async throws -> Value
    ) async throws -> Value {
        // It goes on until it is cancelled: the session is held for as long.
        try await withSession(isolation: nil) { pinned in
            Just(pinned).setFailureType(to: FMRest.APIError.self)
                .append(Empty(completeImmediately: false))
                .eraseToAnyPublisher()
        }
        .withFirstValue(work)
    }

    /// This database for somebody else: the same file over the same connections, and all else of its own.
    ///
    ///     let hers = database.signedIn(as: Credentials(user: "ada", password: herPassword))
    ///
    /// It is the object that ``DataAPI/Server/addDatabase(_:credentials:dataSources:)`` gives for that account: the
    /// same one for as long as anybody holds it, with sessions, shared reads, live queries, lists and an entry in the
    /// token store of its own. When nobody holds it any more, its sessions are logged out. The options of calls are
    /// those of this one.
    public func signedIn(
        as credentials: DataAPI.Credentials,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) -> DataAPI.Database {
        sibling(for: DataAPI.Login(credentials, dataSources: dataSources))
    }

    /// This database for somebody else, whose credentials come from a provider; see ``signedIn(as:dataSources:)`` and
    /// ``DataAPI/Server/addDatabase(_:credentialsProvider:dataSources:)``.
    public func signedIn(
        by provider: DataAPI.CredentialsProvider,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) -> DataAPI.Database {
        sibling(for: DataAPI.Login(provider, dataSources: dataSources))
    }

    /// The earlier name of ``signedIn(as:dataSources:)``.
    @available(*, deprecated, renamed: "signedIn(as:dataSources:)")
    public func `as`(
        _ credentials: DataAPI.Credentials,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) -> DataAPI.Database {
        signedIn(as: credentials, dataSources: dataSources)
    }

    private func sibling(for login: DataAPI.Login) -> DataAPI.Database {
        let sibling = server.database(name, for: login)
        return root === self ? sibling : DataAPI.Database(sibling, calls: calls.ofAnotherAccount)
    }

    /// Makes this database another account's, for everybody who holds it: a password that has changed, somebody else at
    /// the same screen.
    ///
    ///     database.replaceCredentials(Credentials(user: "eve", password: herPassword))
    ///
    /// **When it returns nothing that was read as the account before is handed to anybody any more.** Calls that are
    /// under way fail with ``FMRest/APIError/Code/credentialsReplaced``, wherever they are: a write that was sent by
    /// then has ``FMRest/APIError/outcomeIsUnknown``, all else was not carried out or has changed nothing. Nothing is
    /// done by the new account that was asked for as the one before: not the next page, not the next row of a batch.
    /// Reads under way are shared with nobody, pinned sessions and globals are gone, lists and what is known of layouts
    /// are empty. Live queries go on: they publish that nothing is there (``DataAPI/Freshness/Origin/reset``,
    /// ``DataAPI/ResetReason/otherAccount``), and then what the new account sees. What a subscriber on another
    /// thread is just being handed is let be.
    ///
    /// Sessions of the account before are logged out. Nothing is sent for the new one before a request needs a session;
    /// whether its credentials are right is seen then. The same credentials as before begin new sessions, and all else
    /// goes on. From now on ``DataAPI/Server/addDatabase(_:credentials:dataSources:)`` gives this object for the new
    /// account, if it has none for that, and another one for the account before; one that was added without credentials
    /// stays the one of that name.
    ///
    /// - Parameters:
    ///   - credentials: who logs in from now on.
    ///   - dataSources: credentials for external data sources, instead of those before.
    public func replaceCredentials(
        _ credentials: DataAPI.Credentials,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) {
        use(DataAPI.Login(credentials, dataSources: dataSources))
    }

    /// Makes this database another account's, whose credentials come from a provider; see
    /// ``replaceCredentials(_:dataSources:)``.
    public func replaceCredentials(
        by provider: DataAPI.CredentialsProvider,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) {
        use(DataAPI.Login(provider, dataSources: dataSources))
    }

    /// What the sessions are doing at this moment.
    public var sessionStatus: DataAPI.SessionStatus { pool.status }

    /// What the sessions are doing: the state at subscription, then every change as far as the subscriber asks; what it is
    /// too slow for is left out, the latest is not. Never finishes. Values arrive on the main actor for those who subscribe
    /// there, for all others where the change was made.
    public var status: AnyPublisher<DataAPI.SessionStatus, Never> { pool.statusPublisher.whereSubscribed() }
}
