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
        Deferred {
            let call = self.calls.ofOneCall
            return self.server.retrying(in: call) { self.openSession(within: call.clock) }
        }
        .map { token in DataAPI.Credentials(token: token.value) }
        .handedOver(to: isolation, by: server)
    }

    /// Publishes the token of a session that is open, after a login if need be.
    private func openSession(within clock: CallClock?) -> AnyPublisher<SessionToken, FMRest.APIError> {
        switch sessions {
        case .pool(let pool):
            pool.lease(within: clock)
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

    /// Logs in now, and with these credentials from now on.
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
            .handedOver(to: isolation, by: server)
    }

    /// Runs work in one session of its own: global fields that are set in it are seen by its finds and scripts, and by nobody
    /// else.
    ///
    /// ```swift
    /// let london = database.withSession { pinned in
    ///     pinned.setGlobalFields(globalFields: ["Contacts::gFilter": "London"])
    ///         .flatMap { _ in pinned.addLayout("Contacts").of(FieldData.self).first() }
    ///         .eraseToAnyPublisher()
    /// }
    /// print(try await london.firstValue()?.fieldData["gFilter"]?.text ?? "")      // London
    /// ```
    ///
    /// Publishes what the inner publisher publishes. On demand a session is leased, after a login if need be, and logged out
    /// when the inner publisher ends or the subscription is cancelled. A session that is lost in between is not replaced,
    /// since its globals are gone: the work fails with ``FMRest/APIError/Code/sessionLost``.
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
        Deferred {
            self.pool.pinned(clock: self.calls.ofOneCall.clock) { lease in
                work(DataAPI.Database(self, pinnedTo: lease))
            }
        }
        .handedOver(to: isolation, by: server)
    }

    /// Runs `async` work in one session of its own: global fields that are set in it are seen by its finds and scripts, and by
    /// nobody else.
    ///
    /// ```swift
    /// let paris = try await database.withSession { pinned in
    ///     try await pinned.setGlobalFields(globalFields: ["Contacts::gFilter": "Paris"]).firstValue()
    ///     return try await pinned.addLayout("Contacts").of(FieldData.self).first().firstValue()?.fieldData["gFilter"]
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

    /// This database for somebody else: the same file over the same connections, with sessions of its own.
    ///
    ///     let hers = database.as(Credentials(user: "ada", password: herPassword))
    public func `as`(
        _ credentials: DataAPI.Credentials,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) -> DataAPI.Database {
        DataAPI.Database(
            name: name,
            server: server,
            login: DataAPI.Login(credentials, dataSources: dataSources),
            calls: calls.ofOtherCalls
        )
    }

    /// What the sessions are doing at this moment.
    public var sessionStatus: DataAPI.SessionStatus { pool.status }

    /// What the sessions are doing: the state at subscription, then every change as far as the subscriber asks; what it is
    /// too slow for is left out, the latest is not. Never finishes. Values arrive on the main actor for those who subscribe
    /// there, for all others where the change was made.
    public var status: AnyPublisher<DataAPI.SessionStatus, Never> { pool.statusPublisher.whereSubscribed() }

    func use(_ login: DataAPI.Login) {
        identity.replace(with: login)
        pool.credentialsChanged(storeKey: identity.storeKey(of: name, on: server))
        if case .token(let token) = login.given.secret { pool.adopt(SessionToken(token), isOwned: false) }
        show(login.given)
    }
}
