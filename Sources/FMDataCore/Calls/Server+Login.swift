import NIOCore
import OpenCombine

extension SessionAuthenticator {
    /// Opens and ends sessions of a database by requests to the Data API.
    init(identity: SessionIdentity, database: String, server: DataAPI.Server) {
        logIn = {
            identity.logIn { credentials, dataSources in
                server.logIn(to: database, as: credentials, dataSources: dataSources)
            }
        }
        logOut = { token in
            server.perform { .logOut(of: database, token: token) }.map { _ in () }.eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Server {
    /// One login: publishes the token of a new session.
    ///
    /// - Parameter calls: the options of a login that is a call of its own; `nil` for a login on behalf of other calls.
    func logIn(
        to database: String,
        as credentials: DataAPI.Credentials,
        dataSources: DataAPI.FMDataSourceAuth?,
        _ calls: CallContext? = nil
    ) -> AnyPublisher<SessionToken, FMRest.APIError> {
        deferred({
            DataAPIRequest.logIn(to: database, as: credentials, dataSources: dataSources)
                .within((calls ?? self.calls).ofOneCall.next(at: self.time.now()))
        }) { request in
            let sent = self.time.now()
            return self.exchange(request)
                .tryMap { response in
                    self.compareClocks(response.date, sent: sent)
                    guard let token = response.token else {
                        throw FMRest.APIError(.decoding, reason: "The login succeeded but brought no token.")
                    }
                    return SessionToken(token)
                }
                .mapError { error in
                    var error = self.error(error, about: request)
                    // A login changes no data: an unknown session ends by itself, and the next login opens another one.
                    error.mayHaveOpenedSession = error.outcomeIsUnknown
                    error.outcomeIsUnknown = false
                    return error
                }
                .eraseToAnyPublisher()
        }
    }

    private func compareClocks(_ date: String?, sent: NIODeadline) {
        guard let clockWatch, let date = date.flatMap(HTTPDate.parse) else { return }
        clockWatch.saw(date, between: time.date(sent), and: time.date(time.now()))
    }

    /// Publishes one value when the host has answered a call that changes nothing, made with this key.
    func check(_ key: SessionToken, of database: String, _ calls: CallContext) -> AnyPublisher<Void, FMRest.APIError> {
        deferred({
            DataAPIRequest.scriptNames(in: database).within(calls.ofOneCall.next(at: self.time.now()))
        }) { request in
            self.exchange(request, token: key)
                .map { _ in () }
                .mapError { error in error.ofRefusedKey(below: self.config.rootPath) }
                .eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Login {
    /// The key of this login's sessions in a token store or a budget; `nil` if there is neither.
    func storeKey(of database: String, on server: DataAPI.Server) -> DataAPI.TokenStore.Key? {
        let sessions = server.config.sessions
        return sessions.tokenStore.shared != nil || sessions.budget != nil ? key(of: database, on: server) : nil
    }

    /// Names this login's sessions on the server; `nil` if the login has no identity.
    func key(of database: String, on server: DataAPI.Server) -> DataAPI.TokenStore.Key? {
        guard case .success(let origin) = server.origin else { return nil }
        return DataAPI.TokenStore.Key(
            host: "\(origin)",
            database: database,
            credentials: provider,
            dataSources: dataSources
        )
    }
}
