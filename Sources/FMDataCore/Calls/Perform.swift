import FMHTTP
import NIOCore
package import OpenCombine

// How a request is performed, step by step. The functions below stand in this order; steps with a file of their own
// name it.
//
//     DataAPIRequest<Response>       the request
//       → Database.perform           for all requests to a database: the account
//       → Database.work              the clock of the call
//       → Server.observed            for observers: the beginning, the end and the figures of a call (CallObserver)
//       → Server.knowingFormats      reads the server's formats first, if the configuration asks for it (ServerFormats)
//       → Database.sharing           for reads: an equal read's answer, from the cache or under way (SharedReads)
//       → Database.telling           for writes: ends both, and tells the database's observers what was written
//       → Database.answer            on the way back: errors name the request
//       → Database.explaining        on the way back: what in the request an error means (Database+Explaining)
//       → Database.validating        for writes with that option: checks the values (Database+Validation)
//       → Server.retrying            repeats after a pause, if the call's policy says so and it is safe (Server+Retry)
//       → Database.inSession         in a session of the pool, or in the one that the database is bound to; with a key,
//                                    which has no sessions, at once
//       → SessionPool.authorized     lease → attempt → give back, and once more if the session was refused
//       → Database.attempt           adds what belongs to one attempt: the time that is left, logger, tag
//       → Server.exchange            one attempt, with its line in the log (AnswerPublisher)
//       → DataAPIRequest.http        the HTTP request, with the token of that session
//       → Server.send                through middleware and to the transport, if there are any (MiddlewareChain)
//       → HTTPClient                 pool, connection, socket, and back, part by part
//       → AnswerCollector            checks the messages, then reads the response
//       → Response
//
// In the end, the call itself delivers the values on the actor of the code that it is written in (Publisher+Delivery).
// Requests that need no session of a database go from Server.perform over retrying to exchange.

extension DataAPI.Database {
    /// Sends a request in one of the database's sessions and reads its response. The request is made anew for each
    /// subscription.
    package func perform<Response: DataAPIResponse>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>
    ) -> AccountPeriodPublisher<Response> {
        perform(makeRequest, publishesOneValue: true, rowCount: { $0.rowCount ?? 0 }) { request, token in
            self.server.exchange(request, token: token)
        }
    }

    /// Sends a request in one of the database's sessions; `exchange` makes one attempt with the token of that session.
    ///
    /// - Parameters:
    ///   - publishesOneValue: whether the exchange publishes a single value, so that it can be shared.
    ///   - rowCount: returns the number of records in a value; the default is none.
    package func perform<Response, Value>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>,
        publishesOneValue: Bool = false,
        rowCount: @escaping (Value) -> Int = { _ in 0 },
        exchange: @escaping (DataAPIRequest<Response>, SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AccountPeriodPublisher<Value> {
        AccountPeriodPublisher(accountPeriod: { self.accountPeriod }, rowCount: rowCount) { accountPeriod in
            do {
                return try self.work(makeRequest, in: accountPeriod, publishesOneValue, exchange)
            } catch {
                // The error was thrown by a type or an encoder of the program.
                return .init(publisher: .failing(FMRest.APIError(wrapping: error, otherwise: .encoding)))
            }
        }
    }

    /// The work of one call, as one account.
    private func work<Response, Value>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>,
        in accountPeriod: AccountPeriod,
        _ publishesOneValue: Bool,
        _ exchange: @escaping (DataAPIRequest<Response>, SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) throws -> AccountPeriodPublisher<Value>.Work {
        let request = try makeRequest()
        let observed = server.observed(request, calls, publishesOneValue: publishesOneValue)
        let call = calls.ofOneCall(in: accountPeriod, observed)
        // Counted for writes, whose outcome may be in doubt, for middleware and for the log.
        let attempts = request.isSafeToRepeat ? server.attemptCount(of: request, call) : AttemptCount()
        func publisher(_ request: DataAPIRequest<Response>) -> AnyPublisher<Value, FMRest.APIError> {
            func answer() -> AnyPublisher<Value, FMRest.APIError> {
                self.answer(to: request, publishesOneValue, call, attempts) { token in
                    self.attempt(request, call, number: attempts?.next() ?? 1) { exchange($0, token) }
                }
            }
            if !request.isSafeToRepeat { return telling(answer(), of: request) }
            return publishesOneValue ? sharing(answer(), of: request, in: accountPeriod) : answer()
        }
        let publisher =
            server.lacksFormats(for: Response.self)
            // The request is written anew, with the formats of the server.
            ? server.knowingFormats(deferred(makeRequest, publisher), for: Response.self, call) : publisher(request)
        return .init(publisher: publisher, watch: observed) {
            let isInDoubt = !request.isSafeToRepeat && attempts?.value != 0
            return self.naming(request, in: .credentialsReplaced(outcomeIsUnknown: isInDoubt), call)
        }
    }

    /// A read. Its answer is shared and cached if the call's options say so.
    ///
    /// - Parameter answer: made only if no other read has it.
    private func sharing<Response, Value>(
        _ answer: @autoclosure @escaping () -> AnyPublisher<Value, FMRest.APIError>,
        of request: DataAPIRequest<Response>,
        in accountPeriod: AccountPeriod
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let age = calls.options.cacheTime
        guard calls.options.coalescesReads || age != nil,
            let key = SharedReads.Key(request, publishing: Value.self, in: self)
        else { return answer() }
        return accountPeriod.reads.publisher(
            key,
            answer(),
            keptFor: age.map(TimeAmount.init(clamping:)),
            now: server.time.now
        )
    }

    /// A write. It ends the sharing and caching of all earlier reads, and the database's observers are told of it.
    private func telling<Response, Value>(
        _ write: AnyPublisher<Value, FMRest.APIError>,
        of request: DataAPIRequest<Response>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let wrote = { self.identity.accountPeriod.reads.wrote() }
        return write.handleEvents(
            receiveOutput: { _ in
                wrote()
                // Scripts that a poll runs are no writes of the program.
                guard let layout = request.path.layout, self.calls.options.pollMeter == nil else { return }
                for observer in self.observers { observer.written(request.path.recordId, on: layout) }
            },
            receiveCompletion: { _ in wrote() },
            receiveCancel: { wrote() }
        )
        .eraseToAnyPublisher()
    }

    /// The answer to a request: attempts in sessions, repeated as the call's policy says, with errors that name the
    /// request and what in it is at fault.
    private func answer<Response, Value>(
        to request: DataAPIRequest<Response>,
        _ publishesOneValue: Bool,
        _ call: CallContext,
        _ attempts: AttemptCount?,
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let answer = server.retrying(request, in: call) {
            let answer = self.inSession(
                isRepeatable: request.isSafeToRepeat,
                isReplayable: request.body.isReplayable,
                endsWithValue: publishesOneValue,
                call: call,
                attempt
            )
            guard let log = self.logOfUnsent(request, call, attempts) else { return answer }
            return answer.mapError { error in
                log(error)
                return error
            }
            .eraseToAnyPublisher()
        }
        return validating(request, call, answer)
            .afterFailure { error, _ in
                // The error does not name the request if it was not sent: no session came, or its values are invalid.
                self.explaining(self.naming(request, in: error, call), of: request, call)
            }
            .eraseToAnyPublisher()
    }

    /// Logs the failure of an attempt if it was not made, because no session came; one that is made has its own line.
    /// `nil` if nothing would be logged.
    private func logOfUnsent<Response>(
        _ request: DataAPIRequest<Response>,
        _ call: CallContext,
        _ attempts: AttemptCount?
    ) -> ((FMRest.APIError) -> Void)? {
        guard call.options.areLogged, let attempts else { return nil }
        let (made, begun) = (attempts.value, server.time.now())
        return { error in
            guard attempts.value == made else { return }
            self.server.callLog(of: request.within(call.next(at: begun)), since: begun)?.failed(error, CallFigures())
        }
    }

    func naming<Response>(
        _ request: DataAPIRequest<Response>,
        in error: FMRest.APIError,
        _ call: CallContext
    ) -> FMRest.APIError {
        server.naming(request.within(call.next(at: server.time.now())), in: error)
    }

    /// Makes an attempt in one of the database's sessions, and once more in a fresh one if the token was refused. An
    /// account with a key has no sessions: it makes one attempt with the key.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the attempt may be repeated even if the server may have carried it out.
    ///   - isReplayable: whether the attempt can be made a second time at all.
    ///   - endsWithValue: whether the server is done with the attempt when it publishes a value.
    ///   - call: the context of this call.
    ///   - attempt: makes the attempt; called at most twice. It keeps the database alive until everything has ended, so
    ///     that `Server(host:).addDatabase("d").addLayout("l").getRecords().sink…` works without other references.
    func inSession<Value>(
        isRepeatable: Bool,
        isReplayable: Bool = true,
        endsWithValue: Bool = false,
        call: CallContext,
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        switch sessions {
        case .pool(let pool):
            if let key = (call.options.accountPeriod ?? accountPeriod).key { return withKey(key, attempt) }
            return pool.authorized(
                for: call.options.pollMeter == nil ? .request : .poll,
                isRepeatable: isRepeatable,
                isReplayable: isReplayable,
                endsWithValue: endsWithValue,
                clock: call.clock,
                in: call.options.accountPeriod
            ) { [self] lease in
                withExtendedLifetime(self) { attempt(lease.token) }
            }
        case .pinned(let session, _):
            return session.call(attempt)
        }
    }

    /// Makes an attempt with a key, when there is demand.
    private func withKey<Value>(
        _ key: SessionToken,
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        OnDemandPublisher { [self] in withExtendedLifetime(self) { attempt(key) } }
            .mapError { error in error.ofRefusedKey(below: self.server.config.rootPath) }
            .eraseToAnyPublisher()
    }
}

extension SessionPool {
    /// Makes an attempt in a session of this pool, and once more in another one if the server refuses the session.
    ///
    /// Publishes the values of `attempt`, as far as there is demand. The first demand leases a session, after a login
    /// if necessary; completion, failure and cancelling give it back. If the server does not know the token
    /// (``FMRest/APIError/meansTokenRefused``) and no value was delivered yet, a session with a newer token is leased,
    /// after one login that is shared by all calls in this situation. A second refusal is the error.
    ///
    /// - Parameters:
    ///   - purpose: the purpose of the first attempt's lease.
    ///   - isRepeatable: whether the attempt may be repeated even if the server may have carried it out. If so, it is
    ///     also repeated when the session was found broken (112); otherwise that is the error.
    ///   - isReplayable: whether the attempt can be made a second time at all. If not, the refusal is the error.
    ///   - endsWithValue: whether the session is free when the attempt publishes a value.
    ///   - clock: limits the wait for sessions, the second one included; `nil` if only the pool's limits apply.
    ///   - accountPeriod: that in which the attempt is made.
    ///   - attempt: one exchange with the lease's token; called at most twice, on the thread that delivers the lease.
    func authorized<Value>(
        for purpose: LeasePurpose = .request,
        isRepeatable: Bool = false,
        isReplayable: Bool = true,
        endsWithValue: Bool = false,
        clock: CallClock? = nil,
        in accountPeriod: AccountPeriod? = nil,
        _ attempt: @escaping (SessionLease) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        func attemptInSession(for purpose: LeasePurpose) -> some Publisher<Value, AttemptFailure> {
            lease(for: purpose, within: clock, in: accountPeriod)
                .attempt(attempt)
                .givingBack(to: self, endsWithValue: endsWithValue)
        }
        return attemptInSession(for: purpose)
            .renewOnce(isRepeatable: isRepeatable, isReplayable: isReplayable) { failure in
                self.observer.repeats(failure)
                return attemptInSession(for: .replay)
            }
            .eraseToAnyPublisher()
    }
}

extension DataAPI.Database {
    /// One attempt of a call, with what is its own: the time that is left and, in a poll, the measuring of the host's
    /// work.
    private func attempt<Response, Value>(
        _ request: DataAPIRequest<Response>,
        _ call: CallContext,
        number: Int,
        _ exchange: (DataAPIRequest<Response>) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        var next = call.next(at: server.time.now())
        next.attempt = number
        guard let meter = call.options.pollMeter else { return exchange(request.within(next)) }
        return meter.measured { written in
            next.willBeSent = written
            return exchange(request.within(next))
        }
    }
}

extension DataAPI.Server {
    /// Sends a request that needs no session of a database.
    func perform<Response: DataAPIResponse>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>
    ) -> AnyPublisher<Response, FMRest.APIError> {
        WatchedPublisher {
            do {
                let request = try makeRequest()
                let observed = self.observed(request, self.calls, publishesOneValue: true)
                var call = self.calls.ofOneCall(observed)
                // Sessions are shared, so what ends them is no work of one caller.
                if request.path.sessionCall == nil { call.options.noteCaller() }
                let attempts = self.attemptCount(of: request, call)
                let publisher = self.retrying(request, in: call) {
                    var next = call.next(at: self.time.now())
                    next.attempt = attempts?.next() ?? 1
                    return self.exchange(request.within(next))
                }
                return (publisher, observed)
            } catch {
                return (.failing(FMRest.APIError(wrapping: error, otherwise: .encoding)), nil)
            }
        }
        .eraseToAnyPublisher()
    }

    /// One attempt: the answer is read while it arrives.
    package func exchange<Response: DataAPIResponse>(
        _ request: DataAPIRequest<Response>,
        token: SessionToken? = nil
    ) -> AnyPublisher<Response, FMRest.APIError> {
        AnyPublisher(AnswerPublisher(server: self, request: request, token: token))
    }

    /// The request as the HTTP client sends it.
    func httpRequest<Response>(for request: DataAPIRequest<Response>, token: SessionToken?) throws -> HTTPRequest {
        try request.http(to: origin, below: apiRoot, userAgent: config.userAgent, token: token)
    }

    /// One attempt without reading the answer: publishes the parts of the answer as they arrive, on demand.
    func transmit<Response>(
        _ request: DataAPIRequest<Response>,
        token: SessionToken? = nil
    ) -> AnyPublisher<HTTPResponsePart, FMRest.APIError> {
        do {
            let http = try httpRequest(for: request, token: token)
            request.context.observed?.began(http)
            let root = request.root(below: apiRoot)
            switch try way(of: http, request.operation, in: request.context, below: root, request.facts) {
            case .client(let http):
                return client.parts(http).mapError { error in self.error(error, about: request) }.eraseToAnyPublisher()
            case .chain(let chain, let hooked):
                return chain.parts(hooked).map(\.part)
                    .mapError { error in self.error(error, about: request) }
                    .eraseToAnyPublisher()
            }
        } catch {
            return Fail(error: self.error(error, about: request)).eraseToAnyPublisher()
        }
    }
}

/// A publisher that makes its request when it is subscribed to.
func deferred<Response, Value>(
    _ makeRequest: @escaping () throws -> DataAPIRequest<Response>,
    _ send: @escaping (DataAPIRequest<Response>) -> AnyPublisher<Value, FMRest.APIError>
) -> AnyPublisher<Value, FMRest.APIError> {
    Deferred { () -> AnyPublisher<Value, FMRest.APIError> in
        do {
            return send(try makeRequest())
        } catch {
            // The error was thrown by a type or an encoder of the program.
            return Fail(error: FMRest.APIError(wrapping: error, otherwise: .encoding)).eraseToAnyPublisher()
        }
    }
    .eraseToAnyPublisher()
}
