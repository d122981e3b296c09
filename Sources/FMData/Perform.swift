import FMHTTP
import Foundation
import Logging
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

    func error<Response>(_ error: any Error, about request: DataAPIRequest<Response>) -> FMRest.APIError {
        let error = FMRest.APIError(wrapping: error).naming(request.context.limits?.timeouts ?? config.timeouts)
            .hintingAtLength(of: { try target(of: request).utf8.count })
        guard case .success(let origin) = origin else { return error }
        return error.about(request.summary(at: origin, below: apiRoot), isSafeToRepeat: request.isSafeToRepeat)
    }

    /// The error with the request that it kept from being sent, unless it is about another one.
    func naming<Response>(_ request: DataAPIRequest<Response>, in error: FMRest.APIError) -> FMRest.APIError {
        guard error.request == nil, case .success(let origin) = origin else { return error }
        var error = error
        error.request = request.summary(at: origin, below: apiRoot)
        return error
    }

    /// Path and query of a request, percent-encoded.
    func target<Response>(of request: DataAPIRequest<Response>) throws(FMRest.APIError) -> String {
        switch request.root {
        case .dataAPI: try apiRoot + request.encodedTarget()
        case .host: try request.encodedTarget()
        }
    }

    func httpRequest<Response>(
        for request: DataAPIRequest<Response>,
        token: SessionToken?
    ) throws -> HTTPRequest {
        var headers: HTTPHeaders = ["User-Agent": config.userAgent, "Accept": "application/json"]
        headers.reserveCapacity(4)
        switch request.authorization {
        case .none: break
        case .session: if let token { headers.add(name: "Authorization", value: token.bearer) }
        case .credentials(let credentials): try credentials.sign(&headers)
        }
        headers.add(contentsOf: request.headers)
        let body: HTTPBody
        switch request.body {
        case .none: body = .none
        case .json:
            body = .bytes(ByteBuffer(bytes: request.options.json))
            headers.add(name: "Content-Type", value: "application/json")
        case .multipart(let form):
            body = .stream(length: form.contentLength, isReplayable: form.isReplayable, form.chunks)
            headers.add(name: "Content-Type", value: form.contentType)
        }
        return HTTPRequest(
            method: request.method,
            origin: try origin.get(),
            target: try target(of: request),
            headers: headers,
            body: body,
            isSafeToRepeat: request.isSafeToRepeat,
            timeouts: try request.context.limits?.checked()
        )
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

extension DataAPI.Credentials {
    /// Adds the headers that prove who is asking.
    fileprivate func sign(_ headers: inout HTTPHeaders) throws(FMRest.APIError) {
        switch secret {
        case .basic(let user, let password):
            guard !user.contains(":") else {
                throw FMRest.APIError(.invalidRequest, reason: "An account name cannot hold a colon.")
            }
            let pair = Data("\(user):\(password)".utf8).base64EncodedString()
            headers.add(name: "Authorization", value: "Basic \(pair)")
        case .oAuth(let requestId, let identifier):
            headers.add(name: "X-FM-Data-OAuth-Request-Id", value: requestId)
            headers.add(name: "X-FM-Data-OAuth-Identifier", value: identifier)
        case .clarisId(let idToken):
            headers.add(name: "Authorization", value: "FMID \(idToken)")
        case .token(let token):
            headers.add(name: "Authorization", value: "Bearer \(token)")
        case .invalid:
            throw FMRest.APIError(
                .unauthorized,
                reason: "There are no credentials to log in with.",
                hint: "Give them to addDatabase(_:credentials:) or login(credentials:)."
            )
        }
    }
}
