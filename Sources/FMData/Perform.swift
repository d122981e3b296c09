import FMHTTP
import Foundation
import Logging
import NIOCore
import OpenCombine

// The way of a request, from value to value:
//
//     DataAPIRequest<Response>           what to ask
//       → Database.perform               leases a session and starts over once when its token is refused
//       → Server.exchange                one attempt: an HTTP request with that token
//       → HTTPClient                     pool, connection, socket, and back, part by part
//       → AnswerCollector                messages decide, then the response
//       → Response

extension DataAPI.Database {
    /// Sends a request in one of the database's sessions. The request is made anew for each subscription.
    func perform<Response: DataAPIResponse>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>
    ) -> AnyPublisher<Response, FMRest.APIError> {
        deferred(makeRequest) { request in
            self.inSession(isRepeatable: request.isSafeToRepeat, isReplayable: request.body.isReplayable) { token in
                self.server.exchange(request, token: token)
            }
        }
    }

    /// Does something in one of the database's sessions, and once more in a fresh one when the token was refused.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether it may be done again although the server may have done it already.
    ///   - isReplayable: whether it can be done again at all.
    ///   - attempt: what to do, called at most twice. It holds the database until all has ended, so that
    ///     `Server(host:).addDatabase("d").addLayout("l").getRecords().sink…` keeps alive what it needs.
    func inSession<Value>(
        isRepeatable: Bool,
        isReplayable: Bool = true,
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        switch sessions {
        case .pool(let pool):
            pool.authorized(isRepeatable: isRepeatable, isReplayable: isReplayable) { lease in
                attempt(lease.token)
            }
            .mapError { isReplayable ? $0 : $0.ofWorkThatCannotBeReplayed }
            .eraseToAnyPublisher()
        case .pinned(let lease, _):
            attempt(lease.token).mapError(lease.lostSession).eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Server {
    /// Sends a request that needs no session of a database.
    func perform<Response: DataAPIResponse>(
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>
    ) -> AnyPublisher<Response, FMRest.APIError> {
        deferred(makeRequest) { request in self.exchange(request) }
    }

    /// One attempt: what comes back is read while it arrives.
    func exchange<Response: DataAPIResponse>(
        _ request: DataAPIRequest<Response>,
        token: SessionToken? = nil
    ) -> AnyPublisher<Response, FMRest.APIError> {
        do {
            return client.parts(try httpRequest(for: request, token: token))
                .mapError { $0 as any Error }
                .tryReduce(Response.Collector(config: config)) { collector, part in
                    try collector.take(part)
                    return collector
                }
                .tryMap { try $0.response() }
                .mapError { error in self.error(error, about: request) }
                .eraseToAnyPublisher()
        } catch {
            return Fail(error: self.error(error, about: request)).eraseToAnyPublisher()
        }
    }

    func error<Response>(_ error: any Error, about request: DataAPIRequest<Response>) -> FMRest.APIError {
        let error = FMRest.APIError(wrapping: error)
        guard case .success(let origin) = origin else { return error }
        return error.about(request.summary(at: origin), isSafeToRepeat: request.isSafeToRepeat)
    }

    private func httpRequest<Response>(
        for request: DataAPIRequest<Response>,
        token: SessionToken?
    ) throws -> HTTPRequest {
        var headers = HTTPHeaders([("User-Agent", config.userAgent), ("Accept", "application/json")])
        switch request.authorization {
        case .none: break
        case .session: if let token { headers.add(name: "Authorization", value: "Bearer \(token.value)") }
        case .credentials(let credentials): try credentials.sign(&headers)
        }
        let body: HTTPBody
        switch request.body {
        case .none: body = .none
        case .json(let bytes):
            body = .bytes(bytes)
            headers.add(name: "Content-Type", value: "application/json")
        case .multipart(let form):
            body = .stream(length: form.contentLength, isReplayable: form.isReplayable, form.chunks)
            headers.add(name: "Content-Type", value: form.contentType)
        }
        return HTTPRequest(
            method: request.method,
            origin: try origin.get(),
            target: "\(config.rootPath)/\(config.version.rawValue)\(try request.encodedTarget())",
            headers: headers,
            body: body,
            isSafeToRepeat: request.isSafeToRepeat
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
            return Fail(error: FMRest.APIError(wrapping: error)).eraseToAnyPublisher()
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
