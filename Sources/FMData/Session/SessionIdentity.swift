import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Who a database logs in as: replaced by the next `login`, and asked anew for each login.
final class SessionIdentity: Sendable {
    private struct State {
        /// What was given, to be shown while nobody is logged in. A provider's credentials are not known before it is asked.
        var given: DataAPI.Credentials
        var dataSources: DataAPI.FMDataSourceAuth?
    }

    private let state: NIOLockedValueBox<State>
    private let gate: CredentialsGate

    /// - Parameter place: which database on which server, for the errors.
    init(
        _ login: DataAPI.Login,
        place: String,
        lockOutCoolDown: Duration,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        state = NIOLockedValueBox(State(given: login.given, dataSources: login.dataSources))
        gate = CredentialsGate(provider: login.provider, place: place, lockOutCoolDown: lockOutCoolDown, now: now)
    }

    /// Another identity from now on. What was refused may be tried again: somebody decided so.
    func replace(with login: DataAPI.Login) {
        state.withLockedValue { $0 = State(given: login.given, dataSources: login.dataSources) }
        gate.replace(with: login.provider)
    }

    /// The server refused other credentials, which are not kept. Who has none hears of that.
    func refused(_ error: FMRest.APIError) { gate.refused(error) }

    var given: DataAPI.Credentials { state.withLockedValue { $0.given } }

    /// Under which the sessions of this identity are kept in a token store.
    func storeKey(of database: String, on server: DataAPI.Server) -> DataAPI.TokenStore.Key? {
        guard case .success(let origin) = server.origin else { return nil }
        return DataAPI.TokenStore.Key(
            host: "\(origin)",
            database: database,
            credentials: gate.provider,
            dataSources: state.withLockedValue { $0.dataSources }
        )
    }

    /// One login, held back when the server has refused these very credentials before.
    func logIn(to database: String, on server: DataAPI.Server) -> AnyPublisher<SessionToken, FMRest.APIError> {
        gate.logIn { credentials in
            server.logIn(to: database, as: credentials, dataSources: self.state.withLockedValue { $0.dataSources })
        }
    }
}

extension DataAPI {
    /// What a database logs in with.
    struct Login: Sendable {
        var provider: CredentialsProvider
        var given: Credentials = .invalid
        var dataSources: FMDataSourceAuth?

        init(_ credentials: Credentials, dataSources: FMDataSourceAuth? = nil) {
            provider = .fixed(credentials)
            given = credentials
            self.dataSources = dataSources
        }

        init(_ provider: CredentialsProvider, dataSources: FMDataSourceAuth? = nil) {
            self.provider = provider
            self.dataSources = dataSources
        }
    }
}

extension SessionAuthenticator {
    /// Opens and ends sessions of a database by the Data API's own calls.
    init(identity: SessionIdentity, database: String, server: DataAPI.Server) {
        logIn = { identity.logIn(to: database, on: server) }
        logOut = { token in
            server.perform { .logOut(of: database, token: token) }.map { _ in () }.eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Server {
    /// One login: publishes the token of a new session.
    ///
    /// - Parameter calls: what holds for a login that is a call by itself; `nil` for one that others need.
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
            self.exchange(request)
                .tryMap { response in
                    guard let token = response.token else {
                        throw FMRest.APIError(.decoding, reason: "The login succeeded but brought no token.")
                    }
                    return SessionToken(token)
                }
                .mapError { error in
                    var error = self.error(error, about: request)
                    // A login changes nothing: a session that nobody knows of ends by itself, and the next one is another.
                    error.outcomeIsUnknown = false
                    return error
                }
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
        case .loggedIn(let token): shown.set(DataAPI.Credentials(token: token.value))
        case .lost: shown.set(.invalid)
        case .loggedOut: shown.set(identity.given)
        }
    }
}
