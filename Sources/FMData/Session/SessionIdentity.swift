import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The identity that a database logs in with. The next `login` replaces it; each login asks it for credentials.
final class SessionIdentity: Sendable {
    private struct State {
        /// The given credentials, shown while no session is open. A provider's credentials are unknown until it is
        /// asked.
        var given: DataAPI.Credentials
        var dataSources: DataAPI.FMDataSourceAuth?
        var account: Account?
        var tenure: Tenure
    }

    private let state: NIOLockedValueBox<State>
    private let gate: CredentialsGate
    private let time: SessionTime

    /// - Parameter place: the database and its server, for error messages.
    init(_ login: DataAPI.Login, place: String, lockOutCoolDown: Duration, time: SessionTime) {
        self.time = time
        state = NIOLockedValueBox(
            State(
                given: login.given,
                dataSources: login.dataSources,
                account: Account(login),
                tenure: Tenure(time: time, key: login.key)
            )
        )
        gate = CredentialsGate(
            provider: login.provider,
            place: place,
            lockOutCoolDown: lockOutCoolDown,
            now: time.now
        )
    }

    /// The result of replacing the credentials.
    struct Replacement {
        /// The tenure in which the new credentials hold.
        let tenure: Tenure
        /// The calls that were under way as another account, to be ended with that account's tenure; `nil` if the
        /// account is the same.
        let ended: [any TenuredCall]?
        /// What was in use before. It may hold the last reference to objects of the program, whose deinitializers may
        /// run any code, so it must not be released under a lock.
        var before: [any Sendable] = []
    }

    /// Uses another login from now on. Credentials that were refused before may be tried again, since this is an
    /// explicit request. If it is another account, the tenure of the previous one has ended when this returns.
    func replace(with login: DataAPI.Login) -> Replacement {
        let account = Account(login)
        let provider = gate.replace(with: login.provider)
        return state.withLockedValue { state in
            let before = state.tenure
            let isSame = account != nil && account == state.account
            let ended = isSame ? nil : before.end()
            state = State(
                given: login.given,
                dataSources: login.dataSources,
                account: account,
                tenure: isSame ? before : Tenure(time: time, key: login.key)
            )
            return Replacement(tenure: state.tenure, ended: ended, before: [before, provider])
        }
    }

    /// The tenure of the current account.
    var tenure: Tenure { state.withLockedValue { $0.tenure } }

    var account: Account? { state.withLockedValue { $0.account } }

    /// The server refused other credentials, which are not kept. If the database has none itself, its calls fail with
    /// this error.
    func refused(_ error: FMRest.APIError) { gate.refused(error) }

    /// The server's refusal of the credentials, as long as they are not sent again; `nil` if nothing is known against
    /// them.
    var standingRefusal: FMRest.APIError? { gate.standingRefusal }

    var given: DataAPI.Credentials { state.withLockedValue { $0.given } }

    /// One login. Fails without sending anything if the server has refused the same credentials before.
    func logIn(to database: String, on server: DataAPI.Server) -> AnyPublisher<SessionToken, FMRest.APIError> {
        gate.logIn { credentials in
            server.logIn(to: database, as: credentials, dataSources: self.state.withLockedValue { $0.dataSources })
        }
    }
}

extension DataAPI {
    /// The credentials and data sources of a login.
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

        /// The key that stands for this login; `nil` if it opens sessions.
        var key: SessionToken? { if case .key(let key) = given.secret { SessionToken(key) } else { nil } }

        /// The key of this login's sessions in a token store; `nil` if there is no store.
        func storeKey(of database: String, on server: Server) -> TokenStore.Key? {
            guard server.config.sessions.tokenStore.shared != nil, case .success(let origin) = server.origin else {
                return nil
            }
            return TokenStore.Key(
                host: "\(origin)",
                database: database,
                credentials: provider,
                dataSources: dataSources
            )
        }
    }
}

extension SessionAuthenticator {
    /// Opens and ends sessions of a database by requests to the Data API.
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
            self.exchange(request)
                .tryMap { response in
                    guard let token = response.token else {
                        throw FMRest.APIError(.decoding, reason: "The login succeeded but brought no token.")
                    }
                    return SessionToken(token)
                }
                .mapError { error in
                    var error = self.error(error, about: request)
                    // A login changes no data: an unknown session ends by itself, and the next login opens another one.
                    error.outcomeIsUnknown = false
                    return error
                }
                .eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Server {
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

/// Turns changes of a database's sessions into the credentials that it shows. It does not refer to the database, so
/// that a pool that outlives the database does not keep it alive.
struct CredentialsState: @unchecked Sendable {
    // @unchecked: only `willChange` is not declared Sendable, and it guards its subscribers by a lock.
    let identity: SessionIdentity
    let shown: PublishedState<DataAPI.Credentials>
    let willChange: ObservableObjectPublisher

    func show(_ transition: SessionTransition) {
        willChange.send()
        switch transition {
        case .loggedIn(let token): shown.set(DataAPI.Credentials(token: token.value))
        case .lost: shown.set(.invalid)
        case .loggedOut, .replaced: shown.set(identity.given)
        }
    }
}
