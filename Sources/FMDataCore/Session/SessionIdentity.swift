import NIOConcurrencyHelpers
import OpenCombine

/// The identity that a database logs in with. The next `login` replaces it; each login asks it for credentials.
final class SessionIdentity: Sendable {
    private struct State {
        /// The given credentials, shown while no session is open. A provider's credentials are unknown until it is
        /// asked.
        var given: DataAPI.Credentials { login.given }
        var dataSources: DataAPI.FMDataSourceAuth? { login.dataSources }
        let login: DataAPI.Login
        var account: Account?
        var accountPeriod: AccountPeriod
    }

    private let state: NIOLockedValueBox<State>
    private let gate: CredentialsGate
    private let time: SessionTime

    /// - Parameter place: the database and its server, for error messages.
    init(_ login: DataAPI.Login, place: String, lockOutCoolDown: Duration, time: SessionTime) {
        self.time = time
        state = NIOLockedValueBox(
            State(
                login: login,
                account: Account(login),
                accountPeriod: AccountPeriod(time: time, key: login.key)
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
        /// The account period in which the new credentials hold.
        let accountPeriod: AccountPeriod
        /// The calls that were under way as another account, to be ended with that account's period; `nil` if
        /// the account is the same.
        let ended: [any AccountPeriodCall]?
        /// What was in use before. It may hold the last reference to objects of the program, whose deinitializers may
        /// run any code, so it must not be released under a lock.
        var before: [any Sendable] = []
    }

    /// Uses another login from now on. Credentials that were refused before may be tried again, since this is an
    /// explicit request. If it is another account, the account period of the previous one has ended when this returns.
    func replace(with login: DataAPI.Login) -> Replacement {
        let account = Account(login)
        let provider = gate.replace(with: login.provider)
        return state.withLockedValue { state in
            let (before, oldLogin) = (state.accountPeriod, state.login)
            let isSame = account != nil && account == state.account
            let ended = isSame ? nil : before.end()
            state = State(
                login: login,
                account: account,
                accountPeriod: isSame ? before : AccountPeriod(time: time, key: login.key)
            )
            return Replacement(accountPeriod: state.accountPeriod, ended: ended, before: [before, provider, oldLogin])
        }
    }

    /// The account period of the current account.
    var accountPeriod: AccountPeriod { state.withLockedValue { $0.accountPeriod } }

    /// The login of an account period; `nil` if it is over.
    func login(in accountPeriod: AccountPeriod) -> DataAPI.Login? {
        state.withLockedValue { $0.accountPeriod === accountPeriod ? $0.login : nil }
    }

    var account: Account? { state.withLockedValue { $0.account } }

    /// The server refused other credentials, which are not kept. If the database has none itself, its calls fail with
    /// this error.
    func refused(_ error: FMRest.APIError) { gate.refused(error) }

    /// The server's refusal of the credentials, as long as they are not sent again; `nil` if nothing is known against
    /// them.
    var standingRefusal: FMRest.APIError? { gate.standingRefusal }

    var given: DataAPI.Credentials { state.withLockedValue { $0.given } }

    /// One login. Fails without sending anything if the server has refused the same credentials before.
    ///
    /// - Parameter send: sends the login.
    func logIn(
        _ send:
            @escaping @Sendable (DataAPI.Credentials, DataAPI.FMDataSourceAuth?)
            -> AnyPublisher<SessionToken, FMRest.APIError>
    ) -> AnyPublisher<SessionToken, FMRest.APIError> {
        gate.logIn { credentials in send(credentials, self.state.withLockedValue { $0.dataSources }) }
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
    }
}

/// Turns changes of a database's sessions into the credentials that it shows. It does not refer to the database, so
/// that a pool that outlives the database does not keep it alive.
struct CredentialsState: Sendable {
    let identity: SessionIdentity
    let shown: PublishedState<DataAPI.Credentials>
    let willChange: SelfGuarded<ObservableObjectPublisher>

    func show(_ transition: SessionTransition) {
        willChange.object.send()
        switch transition {
        case .loggedIn(let token): shown.set(DataAPI.Credentials(token: token.value))
        case .lost: shown.set(.invalid)
        case .loggedOut, .replaced: shown.set(identity.given)
        }
    }
}
