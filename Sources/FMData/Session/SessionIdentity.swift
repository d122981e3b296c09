import NIOConcurrencyHelpers
import OpenCombine

/// Who a database logs in as: replaced by the next `login`, and read anew for each login.
final class SessionIdentity: Sendable {
    struct Login: Sendable {
        var credentials: DataAPI.Credentials
        var dataSources: DataAPI.FMDataSourceAuth?
    }

    private let box: NIOLockedValueBox<Login>

    init(credentials: DataAPI.Credentials, dataSources: DataAPI.FMDataSourceAuth?) {
        box = NIOLockedValueBox(Login(credentials: credentials, dataSources: dataSources))
    }

    var login: Login {
        get { box.withLockedValue { $0 } }
        set { box.withLockedValue { $0 = newValue } }
    }
}

extension SessionAuthenticator {
    /// Opens and ends sessions of a database by the Data API's own calls.
    init(identity: SessionIdentity, database: String, server: DataAPI.Server) {
        logIn = { server.logIn(to: database, as: identity.login) }
        logOut = { token in
            server.perform { .logOut(of: database, token: token) }.map { _ in () }.eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Server {
    /// One login: publishes the token of a new session.
    func logIn(to database: String, as login: SessionIdentity.Login) -> AnyPublisher<SessionToken, FMRest.APIError> {
        deferred({
            try DataAPIRequest.logIn(to: database, as: login.credentials, dataSources: login.dataSources)
        }) { request in
            self.transmit(request)
                .tryMap { answer in
                    let body = try AnswerReader().read(LoginResponse.self, from: answer)
                    guard let token = answer.headers.first(name: LoginResponse.tokenHeader) ?? body.token else {
                        throw FMRest.APIError(
                            .decoding,
                            reason: "The login succeeded but brought no token.",
                            httpStatus: Int(answer.status.code)
                        )
                    }
                    return SessionToken(token)
                }
                .mapError { error in self.error(error, about: request) }
                .eraseToAnyPublisher()
        }
    }
}

/// Turns what happens to a database's sessions into the credentials it shows. It is no part of the database, so that a pool
/// that outlives it does not keep it alive.
struct CredentialsState: @unchecked Sendable {
    // @unchecked: of the three, only `willChange` is not declared Sendable, and it guards its subscribers by a lock.
    let identity: SessionIdentity
    let shown: PublishedState<DataAPI.Credentials>
    let willChange: ObservableObjectPublisher

    func show(_ transition: SessionTransition) {
        willChange.send()
        switch transition {
        case .loggedIn(let token): shown.wrappedValue = DataAPI.Credentials(token: token.value)
        case .lost: shown.wrappedValue = .invalid
        case .loggedOut: shown.wrappedValue = identity.login.credentials
        }
    }
}
