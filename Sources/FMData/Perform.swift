import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

// The way of a request, from value to value:
//
//     DataAPIRequest<Response>           what to ask
//       → Database.perform               for all requests: as which account, the limits of the call, what an error says
//       → Database.validating            for writes whose call says so: what the layout and the program ask of values
//       → Server.retrying                once more after a pause, where the call's policy says so and it is safe
//       → SessionPool.authorized         lease → attempt → give back, and once more when the session was refused
//       → Server.exchange                one attempt: an HTTP request with that token (AnswerPublisher)
//       → HTTPClient                     pool, connection, socket, and back, part by part
//       → AnswerCollector                messages decide, then the response
//       → Response
//
// What a call publishes at the end of it all, the call itself hands over to the actor of whoever wrote it.

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

    /// Sends a request in one of the database's sessions; `exchange` is one attempt with the token of that session.
    ///
    /// - Parameter publishesOneValue: whether the exchange does, so that it can be shared.
    func perform<Response, Value>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>,
        publishesOneValue: Bool = false,
        exchange: @escaping (DataAPIRequest<Response>, SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let call = TenuredPublisher<Value>(tenure: { self.tenure }) { tenure in
            do {
                return self.work(on: try makeRequest(), in: tenure, publishesOneValue, exchange)
            } catch {
                // What a user's own type or encoder throws.
                return .init(publisher: .failing(FMRest.APIError(wrapping: error, otherwise: .encoding)))
            }
        }
        return server.knowingFormats(call.eraseToAnyPublisher(), for: Response.self, calls)
    }

    /// A request on its way, as one account.
    private func work<Response, Value>(
        on request: DataAPIRequest<Response>,
        in tenure: Tenure,
        _ publishesOneValue: Bool,
        _ exchange: @escaping (DataAPIRequest<Response>, SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> TenuredPublisher<Value>.Work {
        let call = calls.ofOneCall(in: tenure)
        // Of a read it does not matter.
        let writing = request.isSafeToRepeat ? nil : NIOLockedValueBox(false)
        let answer = server.retrying(request, in: call) {
            self.inSession(
                isRepeatable: request.isSafeToRepeat,
                isReplayable: request.body.isReplayable,
                call: call
            ) { token in
                writing?.withLockedValue { $0 = true }
                var next = call.next(at: self.server.time.now())
                next.models = self.models.map { ModelSight(watch: $0, tenure: tenure) }
                guard let look = call.options.look else { return exchange(request.within(next), token) }
                return look.measured { written in
                    next.willBeSent = written
                    return exchange(request.within(next), token)
                }
            }
            // Who waited for a session in vain has sent nothing, and is told what it was for.
            .mapError { error in self.naming(request, in: error, call) }
            .eraseToAnyPublisher()
        }
        let valid = validating(request, call, answer)
        let told =
            request.layout != nil && !call.options.isExplanation
            ? valid.afterFailure { error, _ in self.explaining(error, of: request, call) }.eraseToAnyPublisher()
            : valid
        return .init(publisher: sharing(told, of: request, publishesOneValue, in: tenure)) {
            let wasSent = writing?.withLockedValue { $0 } ?? false
            return self.naming(request, in: .credentialsReplaced(outcomeIsUnknown: wasSent), call)
        }
    }

    func naming<Response>(
        _ request: DataAPIRequest<Response>,
        in error: FMRest.APIError,
        _ call: CallContext
    ) -> FMRest.APIError {
        server.naming(request.within(call.next(at: server.time.now())), in: error)
    }

    /// The answer to a read, shared and kept where the caller wants that; with that to a write, no read from before is shared or kept
    /// any more, and live queries look.
    private func sharing<Response, Value>(
        _ answer: AnyPublisher<Value, FMRest.APIError>,
        of request: DataAPIRequest<Response>,
        _ publishesOneValue: Bool,
        in tenure: Tenure
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard request.isSafeToRepeat else {
            let wrote = { self.identity.tenure.reads.wrote() }
            return answer.handleEvents(
                receiveOutput: { _ in
                    wrote()
                    guard let layout = request.path.layout, self.calls.options.look == nil else { return }
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
        else { return answer }
        return tenure.reads.publisher(
            key,
            answer,
            keptFor: age.map(TimeAmount.init(clamping:)),
            now: server.time.now
        )
    }

    /// Does something in one of the database's sessions, and once more in a fresh one when the token was refused.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether it may be done again although the server may have done it already.
    ///   - isReplayable: whether it can be done again at all.
    ///   - call: what holds for this one call.
    ///   - attempt: what to do, called at most twice. It holds the database until all has ended, so that
    ///     `Server(host:).addDatabase("d").addLayout("l").getRecords().sink…` keeps alive what it needs.
    func inSession<Value>(
        isRepeatable: Bool,
        isReplayable: Bool = true,
        call: CallContext,
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        switch sessions {
        case .pool(let pool):
            pool.authorized(
                for: call.options.look == nil ? .request : .look,
                isRepeatable: isRepeatable,
                isReplayable: isReplayable,
                clock: call.clock,
                in: call.options.tenure
            ) { [self] lease in
                withExtendedLifetime(self) { attempt(lease.token) }
            }
        case .pinned(let lease, _):
            attempt(lease.token).mapError(lease.lostSession).eraseToAnyPublisher()
        }
    }
}

extension SessionPool {
    /// Makes an attempt in a session of this pool, and once more in another one when the server refuses the session.
    ///
    /// Publishes what `attempt` publishes, as far as the subscriber asks. On the first demand a session is leased, after a
    /// login if need be; completion, failure and cancelling give it back. If the server does not know the token
    /// (``FMRest/APIError/meansTokenRefused``) and nothing was delivered yet, a session is leased whose token came later, by
    /// the one login that all who are in the same position share. A second refusal is the error.
    ///
    /// - Parameters:
    ///   - purpose: what the first attempt is.
    ///   - isRepeatable: whether the attempt may be made again although the server may have carried the first one out. The
    ///     session is then also renewed when it was found broken (112); otherwise that is the error.
    ///   - isReplayable: whether the attempt can be made again at all. One that cannot ends with the refusal.
    ///   - clock: how long it may wait for its sessions, the second one included; `nil` for as long as the pool says.
    ///   - tenure: of the account that it is made as.
    ///   - attempt: one exchange with the lease's token; called at most twice, on the thread that brought the session.
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

    /// Runs work that is bound to one session: global fields that are set in it are seen by its finds and scripts, and by
    /// nobody else.
    ///
    /// Publishes what `work` publishes. The session is leased for as long as that takes, and logged out afterwards, since its
    /// globals are nobody else's. A lost session is not replaced: requests inside `work` use the lease that it is given and
    /// fail with code `sessionLost` (they map their errors by ``SessionLease/lostSession(_:)``).
    ///
    /// - Parameters:
    ///   - clock: how long it may wait for the session; `nil` for as long as the pool says.
    ///   - tenure: of the account that it is done as.
    func pinned<Value>(
        clock: CallClock? = nil,
        in tenure: Tenure? = nil,
        _ work: @escaping (SessionLease) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        lease(for: .pinned, within: clock, in: tenure)
            .attempt(work)
            // Whatever happened in the work, perhaps with another database, its session ends by a logout.
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
        deferred(makeRequest) { request in
            let call = self.calls.ofOneCall
            return self.retrying(request, in: call) { self.exchange(request.within(call.next(at: self.time.now()))) }
        }
    }

    /// One attempt: what comes back is read while it arrives.
    func exchange<Response: DataAPIResponse>(
        _ request: DataAPIRequest<Response>,
        token: SessionToken? = nil
    ) -> AnyPublisher<Response, FMRest.APIError> {
        AnyPublisher(AnswerPublisher(server: self, request: request, token: token))
    }

    /// One attempt, unread: the parts of the answer as they arrive, under demand.
    func transmit<Response>(
        _ request: DataAPIRequest<Response>,
        token: SessionToken? = nil
    ) -> AnyPublisher<HTTPResponsePart, FMRest.APIError> {
        do {
            return client.parts(try httpRequest(for: request, token: token))
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
            // What a user's own type or encoder throws.
            return Fail(error: FMRest.APIError(wrapping: error, otherwise: .encoding)).eraseToAnyPublisher()
        }
    }
    .eraseToAnyPublisher()
}
