import FMHTTP
import NIOCore
import OpenCombine

// How a request is performed, step by step:
//
//     DataAPIRequest<Response>           the request
//       → Server.knowingFormats          reads the server's formats first, if the configuration follows them
//       → Database.perform               for all requests: the account, the time limits of the call
//       → Database.sharing               an equal read's answer, from the cache or under way; a write ends both
//       → Database.explaining            which field, layout or script an error means
//       → Database.validating            for writes with that option: checks of the layout and the program on values
//       → Server.retrying                repeats after a pause, if the call's policy says so and it is safe
//       → SessionPool.authorized         lease → attempt → give back, and once more if the session was refused; an
//                                        account with a key has no sessions
//       → Server.exchange                one attempt: an HTTP request with that token (AnswerPublisher)
//       → HTTPClient                     pool, connection, socket, and back, part by part
//       → AnswerCollector                checks the messages, then reads the response
//       → Response
//
// In the end, the call itself delivers the values on the actor of the code that it is written in.

extension DataAPI.Database {
    /// Sends a request in one of the database's sessions and reads its response. The request is made anew for each
    /// subscription.
    func perform<Response: DataAPIResponse>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>
    ) -> AnyPublisher<Response, FMRest.APIError> {
        perform(makeRequest, publishesOneValue: true) { request, token in
            self.server.exchange(request, token: token)
        }
    }

    /// Sends a request in one of the database's sessions; `exchange` makes one attempt with the token of that session.
    ///
    /// - Parameter publishesOneValue: whether the exchange publishes a single value, so that it can be shared.
    func perform<Response, Value>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>,
        publishesOneValue: Bool = false,
        exchange: @escaping (DataAPIRequest<Response>, SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let observed = server.observing(calls, makeRequest, publishesOneValue: publishesOneValue) {
            calls,
            makeRequest in
            DataAPI.Database(self, calls: calls)
                .perform(makeRequest, publishesOneValue: publishesOneValue, exchange: exchange)
        }
        if let observed { return observed }
        let call = TenuredPublisher<Value>(tenure: { self.tenure }) { tenure in
            do {
                return self.work(on: try makeRequest(), in: tenure, publishesOneValue, exchange)
            } catch {
                // The error was thrown by a type or an encoder of the program.
                return .init(publisher: .failing(FMRest.APIError(wrapping: error, otherwise: .encoding)))
            }
        }
        return server.knowingFormats(call.eraseToAnyPublisher(), for: Response.self, calls)
    }

    /// The work of one request, as one account.
    private func work<Response, Value>(
        on request: DataAPIRequest<Response>,
        in tenure: Tenure,
        _ publishesOneValue: Bool,
        _ exchange: @escaping (DataAPIRequest<Response>, SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> TenuredPublisher<Value>.Work {
        let call = calls.ofOneCall(in: tenure)
        // Counted for writes, whose outcome may be in doubt, and for middleware.
        let attempts = request.isSafeToRepeat && !server.hasHooks(call) ? nil : AttemptCount()
        let shared = sharing(
            self.answer(to: request, call) { token in
                var next = call.next(at: self.server.time.now())
                next.attempt = attempts?.next() ?? 1
                next.models = self.models.map { ModelSight(watch: $0, tenure: tenure) }
                guard let meter = call.options.pollMeter else { return exchange(request.within(next), token) }
                return meter.measured { written in
                    next.willBeSent = written
                    return exchange(request.within(next), token)
                }
            },
            of: request,
            publishesOneValue,
            in: tenure
        )
        return .init(publisher: shared) {
            let isInDoubt = !request.isSafeToRepeat && attempts?.value != 0
            return self.naming(request, in: .credentialsReplaced(outcomeIsUnknown: isInDoubt), call)
        }
    }

    /// The answer to a request: attempts in sessions, repeated as the call's policy says, with errors that name the
    /// request.
    private func answer<Response, Value>(
        to request: DataAPIRequest<Response>,
        _ call: CallContext,
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let answer = server.retrying(request, in: call) {
            self.inSession(
                isRepeatable: request.isSafeToRepeat,
                isReplayable: request.body.isReplayable,
                call: call,
                attempt
            )
            // No session came, so nothing was sent. Add the request to the error.
            .mapError { error in self.naming(request, in: error, call) }
            .eraseToAnyPublisher()
        }
        let valid = validating(request, call, answer)
        guard request.layout != nil, !call.options.isExplanation else { return valid }
        return valid.afterFailure { error, _ in self.explaining(error, of: request, call) }.eraseToAnyPublisher()
    }

    func naming<Response>(
        _ request: DataAPIRequest<Response>,
        in error: FMRest.APIError,
        _ call: CallContext
    ) -> FMRest.APIError {
        server.naming(request.within(call.next(at: server.time.now())), in: error)
    }

    /// Handles sharing and caching. A read's answer is shared and cached if the call's options say so. A write ends the
    /// sharing and caching of all earlier reads, and makes live queries poll.
    ///
    /// - Parameter answer: made only if no other read has it.
    private func sharing<Response, Value>(
        _ answer: @autoclosure @escaping () -> AnyPublisher<Value, FMRest.APIError>,
        of request: DataAPIRequest<Response>,
        _ publishesOneValue: Bool,
        in tenure: Tenure
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard request.isSafeToRepeat else {
            let wrote = { self.identity.tenure.reads.wrote() }
            return answer().handleEvents(
                receiveOutput: { _ in
                    wrote()
                    guard let layout = request.path.layout, self.calls.options.pollMeter == nil else { return }
                    self.live.written(request.path.recordId, on: layout)
                },
                receiveCompletion: { _ in wrote() },
                receiveCancel: { wrote() }
            )
            .eraseToAnyPublisher()
        }
        let age = calls.options.cacheTime
        guard publishesOneValue, calls.options.sharesReads || age != nil,
            let key = SharedReads.Key(request, publishing: Value.self, in: self)
        else { return answer() }
        return tenure.reads.publisher(
            key,
            answer(),
            keptFor: age.map(TimeAmount.init(clamping:)),
            now: server.time.now
        )
    }

    /// Makes an attempt in one of the database's sessions, and once more in a fresh one if the token was refused. An
    /// account with a key has no sessions: it makes one attempt with the key.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the attempt may be repeated even if the server may have carried it out.
    ///   - isReplayable: whether the attempt can be made a second time at all.
    ///   - call: the context of this call.
    ///   - attempt: makes the attempt; called at most twice. It keeps the database alive until everything has ended, so
    ///     that `Server(host:).addDatabase("d").addLayout("l").getRecords().sink…` works without other references.
    func inSession<Value>(
        isRepeatable: Bool,
        isReplayable: Bool = true,
        call: CallContext,
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        switch sessions {
        case .pool(let pool):
            if let key = (call.options.tenure ?? tenure).key { return withKey(key, attempt) }
            return pool.authorized(
                for: call.options.pollMeter == nil ? .request : .poll,
                isRepeatable: isRepeatable,
                isReplayable: isReplayable,
                clock: call.clock,
                in: call.options.tenure
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
    ///   - clock: limits the wait for sessions, the second one included; `nil` if only the pool's limits apply.
    ///   - tenure: the tenure of the account that the attempt is made as.
    ///   - attempt: one exchange with the lease's token; called at most twice, on the thread that delivers the lease.
    func authorized<Value>(
        for purpose: LeasePurpose = .request,
        isRepeatable: Bool = false,
        isReplayable: Bool = true,
        clock: CallClock? = nil,
        in tenure: Tenure? = nil,
        _ attempt: @escaping (SessionLease) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        func attemptInSession(for purpose: LeasePurpose) -> some Publisher<Value, AttemptFailure> {
            lease(for: purpose, within: clock, in: tenure)
                .attempt(attempt)
                .givingBack(to: self)
        }
        return attemptInSession(for: purpose)
            .renewOnce(isRepeatable: isRepeatable, isReplayable: isReplayable) { failure in
                self.observer.repeats(failure.error)
                return attemptInSession(for: .replay)
            }
            .eraseToAnyPublisher()
    }

    /// Runs work that is bound to one session: global fields set in it are visible to its own finds and scripts only.
    ///
    /// Publishes the values of `work`. The session is leased for that time, and logged out afterwards, since other
    /// requests must not see its globals. A lost session is not replaced: requests inside `work` use the given lease
    /// and fail with code `sessionLost` (they map their errors by ``SessionLease/lostSession(_:)``).
    ///
    /// - Parameters:
    ///   - clock: limits the wait for the session; `nil` if only the pool's limits apply.
    ///   - tenure: the tenure of the account that the work is done as.
    func pinned<Value>(
        clock: CallClock? = nil,
        in tenure: Tenure? = nil,
        _ work: @escaping (SessionLease) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        lease(for: .pinned, within: clock, in: tenure)
            .attempt(work)
            // The session ends by a logout whatever the work did, which may also have used another database.
            .givingBack(to: self) { _, _ in .retired }
            .mapError(\.error)
            .eraseToAnyPublisher()
    }
}

extension DataAPI.Server {
    /// Sends a request that needs no session of a database.
    func perform<Response: DataAPIResponse>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>
    ) -> AnyPublisher<Response, FMRest.APIError> {
        let observed = observing(calls, makeRequest, publishesOneValue: true) { calls, makeRequest in
            DataAPI.Server(self, calls: calls).perform(makeRequest)
        }
        return observed
            ?? deferred(makeRequest) { request in
                let call = self.calls.ofOneCall
                let attempts = self.hasHooks(call) ? AttemptCount() : nil
                return self.retrying(request, in: call) {
                    var next = call.next(at: self.time.now())
                    next.attempt = attempts?.next() ?? 1
                    return self.exchange(request.within(next))
                }
            }
    }

    /// One attempt: the answer is read while it arrives.
    func exchange<Response: DataAPIResponse>(
        _ request: DataAPIRequest<Response>,
        token: SessionToken? = nil
    ) -> AnyPublisher<Response, FMRest.APIError> {
        AnyPublisher(AnswerPublisher(server: self, request: request, token: token))
    }

    /// One attempt without reading the answer: publishes the parts of the answer as they arrive, on demand.
    func transmit<Response>(
        _ request: DataAPIRequest<Response>,
        token: SessionToken? = nil
    ) -> AnyPublisher<HTTPResponsePart, FMRest.APIError> {
        do {
            let http = try httpRequest(for: request, token: token)
            guard let chain = chain(of: request.context) else {
                return client.parts(http).mapError { error in self.error(error, about: request) }.eraseToAnyPublisher()
            }
            return chain.parts(DataAPI.OutgoingRequest(request.facts, as: http, below: root(of: request)))
                .map(\.part)
                .mapError { error in self.error(error, about: request) }
                .eraseToAnyPublisher()
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
