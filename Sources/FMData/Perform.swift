import FMHTTP
import NIOCore
import OpenCombine

// The way of a request, from value to value:
//
//     DataAPIRequest<Response>           what to ask
//       → Database.perform               leases a session and starts over once when its token is refused
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
        perform(makeRequest) { request, token in self.server.exchange(request, token: token) }
    }

    /// Sends a request in one of the database's sessions; `exchange` is one attempt with the token of that session.
    func perform<Response, Value>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>,
        exchange: @escaping (DataAPIRequest<Response>, SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let call: AnyPublisher<Value, FMRest.APIError> = deferred(makeRequest) { request in
            let call = self.calls.ofOneCall
            let answer = self.inSession(
                isRepeatable: request.isSafeToRepeat,
                isReplayable: request.body.isReplayable,
                call: call
            ) { token in
                exchange(request.within(call.next(at: self.pool.now)), token)
            }
            // Who waited for a session in vain has sent nothing, and is told what it was for.
            .mapError { error in self.server.naming(request.within(call.next(at: self.pool.now)), in: error) }
            .eraseToAnyPublisher()
            guard request.mayNameFields else { return answer }
            return answer.catch { error in self.namingFields(in: error, of: request, call) }.eraseToAnyPublisher()
        }
        return server.knowingFormats(call, for: Response.self)
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
            let work = pool.authorized(
                isRepeatable: isRepeatable,
                isReplayable: isReplayable,
                clock: call.clock
            ) { [self] lease in
                withExtendedLifetime(self) { attempt(lease.token) }
            }
            if isReplayable { return AnyPublisher(work) }
            return work.mapError { $0.ofWorkThatCannotBeReplayed }.eraseToAnyPublisher()
        case .pinned(let lease, _):
            return attempt(lease.token).mapError(lease.lostSession).eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Server {
    /// Sends a request that needs no session of a database.
    func perform<Response: DataAPIResponse>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>
    ) -> AnyPublisher<Response, FMRest.APIError> {
        deferred(makeRequest) { request in self.exchange(request.within(self.calls.ofOneCall.next(at: .now()))) }
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
