public import OpenCombine

extension DataAPI.Database {
    /// Logs in now with the credentials that the database has, instead of with the first request.
    ///
    ///     try await database.login().firstValue()    // throws at the start of a program what its password is worth
    ///
    /// Publishes the credentials of the session, of kind `token`. When a session is open already, nothing is sent:
    /// ``validateSession(isolation:)`` asks the server whether it is still alive. All calls that need a session share
    /// this login, and the session stays open for the requests that follow. Cancelling only stops the wait.
    ///
    /// Fails with ``FMRest/APIError/Code/unauthorized`` when there are no credentials, and with FileMaker code 212 when
    /// the account is refused; ``credentials`` are then `.invalid`.
    ///
    /// A key opens no session. It is checked by a call that changes nothing, the list of the scripts' names, and
    /// published; when it is refused, this fails with ``FMRest/APIError/Code/unauthorized``.
    ///
    /// Source: Claris Data API guide, "Log in to a database session", `POST …/sessions`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func login(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Credentials, FMRest.APIError> {
        asOneAccount { accountPeriod -> AnyPublisher<DataAPI.Credentials, FMRest.APIError> in
            if let key = accountPeriod.key {
                return self.bound(to: accountPeriod).check().map { .key(key.value) }.eraseToAnyPublisher()
            }
            let call = self.calls.ofOneCall(in: accountPeriod)
            return self.server.retrying(in: call) { self.openSession(within: call.clock, in: accountPeriod) }
                .map { token in DataAPI.Credentials(token: token.value) }
                .eraseToAnyPublisher()
        }
        .delivered(on: isolation, by: self)
    }

    /// Publishes one value when the host has answered a call that changes nothing: in a session, or with the key.
    func check() -> AnyPublisher<Void, FMRest.APIError> {
        // A proxy cannot tell which file's session a key's `validateSession` would be about.
        accountPeriod.key == nil
            ? perform { .validateSession(.session) }.map { _ in () }.eraseToAnyPublisher()
            : perform { .scriptNames(in: self.name) }.map { _ in () }.eraseToAnyPublisher()
    }

    /// Publishes the token of a session that is open, after a login if need be.
    private func openSession(
        within clock: CallClock?,
        in accountPeriod: AccountPeriod
    ) -> AnyPublisher<SessionToken, FMRest.APIError> {
        switch sessions {
        case .pool(let pool):
            pool.lease(within: clock, in: accountPeriod)
                .attempt { lease in
                    withExtendedLifetime(self) { Just(lease.token).setFailureType(to: FMRest.APIError.self) }
                }
                // No request was sent with the token, so the session counts as unused.
                .givingBack(to: pool) { _, _ in .unused }
                .mapError(\.error)
                .eraseToAnyPublisher()
        case .pinned(let session, _):
            .of(session.lease.token)
        }
    }

    /// Logs in now with these credentials, and uses them from now on. When they are another account's, a successful
    /// login does what ``replaceCredentials(_:dataSources:)`` does.
    ///
    /// Publishes the credentials of the new session, of kind `token`. Each subscription is one login. A cancelled login
    /// is given five seconds to end, and its session is logged out. You need not call this: the first request that
    /// needs a session logs in with the credentials given to `addDatabase`.
    ///
    /// Fails with FileMaker code 212 when the account is refused; ``credentials`` are then `.invalid`. Credentials of
    /// kind `token` are used without a request. A key is checked as by ``login(isolation:)`` and then used; when it is
    /// refused, the credentials before stay in use.
    ///
    /// - Note: One value. See <doc:Calls>.
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
            .delivered(on: isolation, by: server)
        }
        if let key = login.key {
            return server.check(key, of: name, calls)
                .map { _ in
                    self.use(login)
                    return credentials
                }
                .delivered(on: isolation, by: server)
        }
        let session = server.logIn(to: name, as: credentials, dataSources: dataSourceCredentials, calls)
        return pool.logInExternally(session) {
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
        .delivered(on: isolation, by: server)
    }

    /// Logs out the database's sessions.
    ///
    /// Publishes an empty value when the server has answered. Requests that are under way are served first. Without a
    /// session nothing is sent, so this may be called twice. Fails with the error of a logout that the server did not
    /// carry out; the tokens are dropped even then. The next request logs in again. Cancelling stops the wait, not the
    /// logout.
    ///
    /// Source: Claris Data API guide, "Log out of a database session", `DELETE …/sessions/{token}`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func logOut(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        pool.logOut().map { _ in FMRest.EmptyResponse() }.delivered(on: isolation, by: server)
    }

    /// Checks whether the database can open or use a session on its server.
    ///
    /// Publishes `true` when a session was validated, `false` when its credentials are refused. Fails with all other
    /// errors. Logs in first if need be. A key is checked by the list of the scripts' names instead.
    ///
    /// Source: Claris Data API guide, "Validate session", `GET /validateSession`. FileMaker Server 19 and later.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func validateSession(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Bool, FMRest.APIError> {
        check()
            .map { _ in true }
            .tryCatch { error -> Just<Bool> in
                guard error.meansTokenRefused || error.meansCredentialsRefused else { throw error }
                return Just(false)
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .delivered(on: isolation, by: self)
    }

    /// Runs work in a reserved session: the finds and scripts in it see the global fields that are set in it, and no
    /// other session does.
    ///
    /// ```swift
    /// let london = database.withSessionPublisher { pinned in
    ///     pinned.setGlobals(["Contacts::gFilter": "London"])
    ///         .flatMap { _ in pinned.addLayout("Contacts").of(FieldData.self).firstRecord() }
    ///         .eraseToAnyPublisher()
    /// }
    /// print(try await london.firstValue()?.fieldData["gFilter"]?.text ?? "")      // London
    /// ```
    ///
    /// Publishes what the inner publisher publishes; ``withSession(keptAlive:isolation:_:)`` does the same for `async`
    /// work. On demand a session is leased, after a login if need be; it is logged out when the inner publisher ends or
    /// the subscription is cancelled. A lost session is not replaced, since its globals are lost with it: the work
    /// fails with ``FMRest/APIError/Code/sessionLost``, and with ``FMRest/APIError/Code/credentialsReplaced`` when the
    /// database becomes another account's. With a key, which opens no session, nothing is done, and it fails with
    /// ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// - Note: As many values as the work publishes. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - keptAlive: whether the session is kept for work that makes no call for a long time. The host is then asked
    ///     for it by a call that changes nothing, after ten minutes without a call; if it is lost, the work fails at
    ///     once. By default the host drops it after 15 minutes, and the next call fails. Needs FileMaker Server 19.
    ///   - isolation: where the values arrive; leave it out.
    ///   - work: gets this database, bound to the one session. It must not be used after the work has ended.
    public func withSessionPublisher<Value>(
        keptAlive: Bool = false,
        isolation: (any Actor)? = #isolation,
        _ work: @escaping @Sendable (DataAPI.Database) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        AccountPeriodPublisher(accountPeriod: { self.accountPeriod }) { accountPeriod in
            guard accountPeriod.key == nil else {
                return AccountPeriodPublisher.Work(publisher: .failing(.keyOpensNoSession("withSession needs")))
            }
            return AccountPeriodPublisher.Work(
                publisher: self.pool.pinned(clock: self.calls.ofOneCall.clock, in: accountPeriod) { lease in
                    let session = self.hold(lease, keptAlive: keptAlive)
                    return session.lent(to: work(DataAPI.Database(self, pinnedTo: session, in: accountPeriod)))
                },
                error: { .credentialsReplaced(outcomeIsUnknown: true) }
            )
        }
        .delivered(on: isolation, by: self, mayHaveWritten: true)
    }

    /// Runs `async` work in a reserved session: the finds and scripts in it see the global fields that are set in it,
    /// and no other session does.
    ///
    /// ```swift
    /// let paris = try await database.withSession { pinned in
    ///     try await pinned.setGlobals(["Contacts::gFilter": "Paris"]).firstValue()
    ///     return try await pinned.addLayout("Contacts").of(FieldData.self).firstRecord()
    ///         .firstValue()?.fieldData["gFilter"]
    /// }
    /// print(paris?.text ?? "")                                    // Paris
    /// ```
    ///
    /// ``withSessionPublisher(keptAlive:isolation:_:)`` does the same for a publisher. A session is leased, after a
    /// login if need be, and logged out when the work has returned or thrown; the call returns or throws the same.
    /// Cancelling the task ends the wait for the session, and in the work the calls that are under way: both throw
    /// `CancellationError`. A lost session is not replaced, since its globals are lost with it: the work's calls fail
    /// with ``FMRest/APIError/Code/sessionLost``, and ``sessionLoss`` publishes that error.
    ///
    /// - Parameters:
    ///   - keptAlive: whether the session is kept for work that makes no call for a long time. The host is then asked
    ///     for it by a call that changes nothing, after ten minutes without a call. By default the host drops it after
    ///     15 minutes, and the next call fails. Needs FileMaker Server 19.
    ///   - isolation: where the work runs; leave it out.
    ///   - work: gets this database, bound to the one session. It must not be used after the work has ended.
    public func withSession<Value>(
        keptAlive: Bool = false,
        isolation: isolated (any Actor)? = #isolation,
        _ work: (DataAPI.Database) async throws -> Value
    ) async throws -> Value {
        // This publisher does not finish before it is cancelled, so the session is held until the work has ended.
        try await withSessionPublisher(keptAlive: keptAlive, isolation: .insideACall) { pinned in
            Just(pinned).setFailureType(to: FMRest.APIError.self)
                .append(Empty(completeImmediately: false))
                .eraseToAnyPublisher()
        }
        .withFirstValue(work)
    }

    /// The error with which the reserved session of this database was lost, for work that has to know it before its
    /// next call: publishes it once, when a call or the question for a session that is kept alive has found the session
    /// lost, and finishes. Finishes without a value when the work ends, and at once for a database that is not bound to
    /// one session. Values arrive on the main actor for subscribers on the main actor, for all others on the thread
    /// that found out.
    public var sessionLoss: AnyPublisher<FMRest.APIError, Never> {
        switch sessions {
        case .pool: Empty().eraseToAnyPublisher()
        case .pinned(let session, _): session.loss.whereSubscribed()
        }
    }

    /// The session of a lease, for work that is bound to it.
    private func hold(_ lease: SessionLease, keptAlive: Bool) -> HeldSession {
        let (server, calls) = (server, calls.ofOtherCalls)
        return HeldSession(
            lease,
            HeldSessionMachine.Settings(server.config.sessions, isKeptAlive: keptAlive),
            time: server.time
        ) {
            let context = calls.ofOneCall.next(at: server.time.now())
            let answer: AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> =
                server.exchange(.validateSession(.session).within(context), token: lease.token)
            return answer.map { _ in () }.eraseToAnyPublisher()
        }
    }

    /// The same hosted file for another account, over the same connections; everything else is that account's own.
    ///
    ///     let hers = database.signedIn(as: Credentials(user: "ada", password: herPassword))
    ///
    /// It is the object that ``DataAPI/Server/addDatabase(_:credentials:dataSources:)`` returns for that account: the
    /// same one while there are references to it, with its own sessions, shared reads, live queries, lists and entry in
    /// the token store. When the last reference is released, its sessions are logged out. The options of calls are
    /// those of this database.
    public func signedIn(
        as credentials: DataAPI.Credentials,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) -> DataAPI.Database {
        sibling(for: DataAPI.Login(credentials, dataSources: dataSources))
    }

    /// The same hosted file for another account, whose credentials come from a provider; see
    /// ``signedIn(as:dataSources:)`` and ``DataAPI/Server/addDatabase(_:credentialsProvider:dataSources:)``.
    public func signedIn(
        by provider: DataAPI.CredentialsProvider,
        dataSources: DataAPI.FMDataSourceAuth? = nil
    ) -> DataAPI.Database {
        sibling(for: DataAPI.Login(provider, dataSources: dataSources))
    }

    private func sibling(for login: DataAPI.Login) -> DataAPI.Database {
        let sibling = server.database(name, for: login)
        return root === self ? sibling : DataAPI.Database(sibling, calls: calls.ofAnotherAccount)
    }

    /// Makes this database another account's, for all code that holds it: after a change of password, or when another
    /// user signs in at the same screen.
    ///
    ///     database.replaceCredentials(Credentials(user: "eve", password: herPassword))
    ///
    /// **When it returns, nothing that was read as the previous account is delivered any more.** Calls that are under
    /// way fail with ``FMRest/APIError/Code/credentialsReplaced``, at whatever step: a write that was already sent has
    /// ``FMRest/APIError/outcomeIsUnknown``, everything else was not carried out or has changed nothing. The new
    /// account sends nothing for calls of the previous one: not the next page, not the next row of a batch. Reads under
    /// way are not shared with new calls, pinned sessions and globals end, lists and the knowledge of layouts are
    /// emptied. Live queries go on: they publish an empty state (``DataAPI/Freshness/Origin/reset``,
    /// ``DataAPI/ResetReason/otherAccount``), and then what the new account sees. A value that is just being delivered
    /// to a subscriber on another thread is still delivered.
    ///
    /// Sessions of the previous account are logged out. Nothing is sent for the new account before a request needs a
    /// session; wrong credentials show then. The same credentials as before start new sessions, and everything else
    /// goes on. From now on ``DataAPI/Server/addDatabase(_:credentials:dataSources:)`` returns this object for the new
    /// account, if it has no other object for it, and another object for the previous account. A database that was
    /// added without credentials keeps being found by its name alone.
    ///
    /// - Parameters:
    ///   - credentials: the credentials for logins from now on.
    ///   - dataSources: credentials for external data sources, in place of the previous ones.
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

    /// The state of the database's sessions at this moment.
    public var sessionStatus: DataAPI.SessionStatus { pool.status }

    /// The state of the database's sessions: the state at subscription, then every change that the subscriber has
    /// demand for. States that a slow subscriber misses are left out, except the latest. Never finishes. Values arrive
    /// on the main actor for subscribers on the main actor, for all others on the thread that made the change.
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    public var status: AnyPublisher<DataAPI.SessionStatus, Never> { pool.statusPublisher.whereSubscribed() }
}
