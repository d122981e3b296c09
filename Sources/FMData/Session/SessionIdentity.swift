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
        var account: Account?
        var tenure: Tenure
    }

    private let state: NIOLockedValueBox<State>
    private let gate: CredentialsGate
    private let time: SessionTime

    /// - Parameter place: which database on which server, for the errors.
    init(_ login: DataAPI.Login, place: String, lockOutCoolDown: Duration, time: SessionTime) {
        self.time = time
        state = NIOLockedValueBox(
            State(
                given: login.given,
                dataSources: login.dataSources,
                account: Account(login),
                tenure: Tenure(time: time)
            )
        )
        gate = CredentialsGate(
            provider: login.provider,
            place: place,
            lockOutCoolDown: lockOutCoolDown,
            now: time.now
        )
    }

    /// What follows from other credentials.
    struct Replacement {
        /// In which they hold.
        let tenure: Tenure
        /// What was under way as another account, to be told of the end of its tenure; `nil` when the account is the
        /// same.
        let ended: [any TenuredCall]?
        /// What was in use before. With it go objects of the program's, whose ends may run anything: not under a lock.
        var before: [any Sendable] = []
    }

    /// Another login from now on. What was refused may be tried again: somebody decided so. When it is another account,
    /// the tenure of the one before is over when this returns.
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
                tenure: isSame ? before : Tenure(time: time)
            )
            return Replacement(tenure: state.tenure, ended: ended, before: [before, provider])
        }
    }

    /// That of the account that it is now.
    var tenure: Tenure { state.withLockedValue { $0.tenure } }

    var account: Account? { state.withLockedValue { $0.account } }

    /// The server refused other credentials, which are not kept. Who has none hears of that.
    func refused(_ error: FMRest.APIError) { gate.refused(error) }

    var given: DataAPI.Credentials { state.withLockedValue { $0.given } }

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

        /// Under which its sessions are kept in a token store; `nil` where there is none.
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
        case .loggedOut, .replaced: shown.set(identity.given)
        }
    }
}
