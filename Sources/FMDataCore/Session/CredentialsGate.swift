import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Stands between the credentials provider and the login: supplies credentials, and holds back those that the server
/// refused.
///
///     logIn: { gate.logIn { credentials in perform(.logIn(credentials)) } }
final class CredentialsGate: Sendable {
    private struct State {
        var provider: DataAPI.CredentialsProvider
        var loginGuard: LoginGuard
        /// The credentials that the provider supplied, as long as they are valid.
        var supplied: (credentials: DataAPI.Credentials, until: NIODeadline)?
        /// The server's refusal of credentials that were given for one login only.
        var refusal: FMRest.APIError?
        /// Counts the providers: what an earlier one supplies late is not kept.
        var generation = 0
    }

    private let state: NIOLockedValueBox<State>
    private let now: @Sendable () -> NIODeadline
    private let place: String

    /// - Parameter place: the database and its server, for error messages.
    init(
        provider: DataAPI.CredentialsProvider,
        place: String,
        lockOutCoolDown: Duration,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        self.now = now
        self.place = place
        state = NIOLockedValueBox(
            State(provider: provider, loginGuard: LoginGuard(coolDown: TimeAmount(clamping: lockOutCoolDown)))
        )
    }

    /// Uses other credentials from now on. Credentials that were refused before may be tried again, since this is an
    /// explicit request. Returns the previous provider.
    @discardableResult
    func replace(with provider: DataAPI.CredentialsProvider) -> DataAPI.CredentialsProvider {
        state.withLockedValue { state in
            defer {
                state = State(
                    provider: provider,
                    loginGuard: LoginGuard(coolDown: state.loginGuard.coolDown),
                    generation: state.generation + 1
                )
            }
            return state.provider
        }
    }

    /// Notes that the server refused the credentials of an external login, which are not kept.
    func refused(_ error: FMRest.APIError) {
        state.withLockedValue { $0.refusal = error }
    }

    /// The server's refusal of the credentials in use, as long as they are not sent again.
    var standingRefusal: FMRest.APIError? {
        state.withLockedValue { state in
            var credentials = state.supplied?.credentials
            if case .holder(let fixed) = state.provider.owner { credentials = fixed }
            guard let credentials, credentials != .invalid else { return state.refusal }
            return state.loginGuard.error(for: credentials, now: now())
        }
    }

    /// One login: publishes what `send` publishes. `send` is called with valid credentials that were not refused
    /// before. It is called once more, with fresh ones, if kept credentials turn out to have been refused meanwhile (a
    /// Claris ID token that ended before its hour, a changed password).
    ///
    /// Fails with the server's own answer. Refused credentials are not sent again; the error then says so and has the
    /// code of the earlier answer. Fails with code `unauthorized` when there are no credentials.
    func logIn(
        _ send: @escaping @Sendable (DataAPI.Credentials) -> AnyPublisher<SessionToken, FMRest.APIError>
    ) -> AnyPublisher<SessionToken, FMRest.APIError> {
        Deferred { [self] () -> AnyPublisher<SessionToken, FMRest.APIError> in
            guard let kept = keptCredentials() else { return logInFresh(send) }
            return attempt(kept, send)
                .afterFailure { [self] error, _ -> AnyPublisher<SessionToken, FMRest.APIError> in
                    error.meansCredentialsRefused
                        ? logInFresh(send, after: (kept, error)) : Fail(error: error).eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    /// - Parameter refused: credentials that the server has just refused, and its error. If the provider supplies the
    ///   same ones again, the login fails with that error.
    private func logInFresh(
        _ send: @escaping @Sendable (DataAPI.Credentials) -> AnyPublisher<SessionToken, FMRest.APIError>,
        after refused: (credentials: DataAPI.Credentials, error: FMRest.APIError)? = nil
    ) -> AnyPublisher<SessionToken, FMRest.APIError> {
        let (provider, generation) = state.withLockedValue { ($0.provider, $0.generation) }
        return provider.supply()
            .first()
            .mapError(Self.providerFailed)
            .replaceEmpty(with: .invalid)
            // Without a limit of publishers, as there is one value: OpenCombine's `flatMap` asks for the next one when
            // this one ends, while another thread may take away what it asks.
            .flatMap { [self] credentials -> AnyPublisher<SessionToken, FMRest.APIError> in
                if let refused, refused.credentials == credentials {
                    return Fail(error: refused.error).eraseToAnyPublisher()
                }
                keep(credentials, for: provider.validity, generation)
                return attempt(credentials, send)
            }
            .eraseToAnyPublisher()
    }

    private func attempt(
        _ credentials: DataAPI.Credentials,
        _ send: @escaping @Sendable (DataAPI.Credentials) -> AnyPublisher<SessionToken, FMRest.APIError>
    ) -> AnyPublisher<SessionToken, FMRest.APIError> {
        let known: FMRest.APIError? =
            switch credentials.kind {
            case .basic, .oAuth, .clarisId:
                state.withLockedValue { $0.loginGuard.error(for: credentials, now: now()) }?.refusedEarlier
            case .token:
                FMRest.APIError(
                    .unauthorized,
                    reason: "The session ended, and a session token cannot open another one.",
                    hint: "Credentials of an account renew their session by themselves."
                )
            case .key:
                FMRest.APIError(
                    .invalidRequest,
                    reason: "A key cannot open a session, so nothing was sent.",
                    hint: "Give it to addDatabase(_:credentials:) or login(credentials:) instead of a provider."
                )
            case .invalid:
                state.withLockedValue { $0.refusal }?.refusedEarlier ?? .noCredentials(for: place)
            }
        if let known { return Fail(error: known).eraseToAnyPublisher() }
        return send(credentials)
            .mapError { [self] error in
                refused(credentials, error)
                return error
            }
            .eraseToAnyPublisher()
    }

    private func keptCredentials() -> DataAPI.Credentials? {
        state.withLockedValue { state in
            if let supplied = state.supplied, supplied.until > now() { return supplied.credentials }
            state.supplied = nil
            return nil
        }
    }

    private func keep(_ credentials: DataAPI.Credentials, for validity: Duration?, _ generation: Int) {
        guard let validity else { return }
        let whole = TimeAmount(clamping: validity)
        let margin = min(.seconds(60), TimeAmount.nanoseconds(whole.nanoseconds / 10))
        state.withLockedValue { state in
            guard state.generation == generation else { return }
            state.supplied = (credentials, now() + whole - margin)
        }
    }

    private func refused(_ credentials: DataAPI.Credentials, _ error: FMRest.APIError) {
        guard error.meansCredentialsRefused else { return }
        state.withLockedValue { state in
            state.loginGuard.loginFailed(credentials, error, now: now())
            if state.supplied?.credentials == credentials { state.supplied = nil }
        }
    }

    private static func providerFailed(_ error: any Error) -> FMRest.APIError {
        if let error = error as? FMRest.APIError { return error }
        // The error itself is kept for code that knows its type; its text may contain secrets.
        return FMRest.APIError(
            .unauthorized,
            reason: "The credentials provider failed (\(type(of: error))).",
            underlying: error
        )
    }
}

extension FMRest.APIError {
    fileprivate static func noCredentials(for place: String) -> FMRest.APIError {
        FMRest.APIError(
            .unauthorized,
            reason: "There are no credentials for \(place), so nothing was sent.",
            hint: "Give them to addDatabase(_:credentials:), or log in by login(credentials:). "
                + "By its name alone one gets another object than by its name with credentials."
        )
    }

    /// The error for credentials that are not sent because the server refused them earlier with this error.
    fileprivate var refusedEarlier: FMRest.APIError {
        var error = self
        let answer = fileMakerCode.map { "\($0)" } ?? httpStatus.map { "HTTP \($0)" } ?? "\(code)"
        error.reason = "The server refused these credentials earlier with \(answer), so nothing was sent."
        let remedy =
            fileMakerCode == 214
            ? "They are tried again after config.sessions.lockOutCoolDown."
            : "Others are taken by login(credentials:)."
        error.hint = (hint.map { $0 + " " } ?? "") + remedy
        return error
    }
}

/// Remembers which credentials the server refused, so that repeated attempts do not lock the account.
///
/// FileMaker counts wrong logins and answers 214 when there were too many; a client that retries automatically gets
/// there within seconds.
struct LoginGuard {
    private struct RefusedLogin {
        let credentials: DataAPI.Credentials
        let error: FMRest.APIError
        /// `nil`: as long as these credentials are in use.
        let until: NIODeadline?
    }

    /// Enough for a provider that cycles through a few wrong passwords; older entries are dropped.
    private static let memory = 16

    let coolDown: TimeAmount
    private var refusals: [RefusedLogin] = []

    init(coolDown: TimeAmount) {
        self.coolDown = coolDown
    }

    /// The server's answer to these credentials; `nil` when they may be sent.
    mutating func error(for credentials: DataAPI.Credentials, now: NIODeadline) -> FMRest.APIError? {
        refusals.removeAll { refusal in refusal.until.map { $0 <= now } ?? false }
        return refusals.first { $0.credentials == credentials }?.error
    }

    /// A login with these credentials failed. Only answers about the credentials count. 952 does not: it is about a
    /// session's token and locks no account.
    mutating func loginFailed(_ credentials: DataAPI.Credentials, _ error: FMRest.APIError, now: NIODeadline) {
        guard error.meansCredentialsRefused, error.fileMakerCode?.meansSessionLost != true else { return }
        refusals.removeAll { $0.credentials == credentials }
        if refusals.count == Self.memory { refusals.removeFirst() }
        let isLockedOut = error.fileMakerCode == 214
        refusals.append(RefusedLogin(credentials: credentials, error: error, until: isLockedOut ? now + coolDown : nil))
    }
}
