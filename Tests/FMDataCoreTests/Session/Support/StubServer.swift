import FMData
import NIOConcurrencyHelpers
import OpenCombine

@testable import FMDataCore

/// A server as a pool sees it. With `answersAtOnce` logins and logouts succeed by themselves; without, each waits for
/// the test.
final class StubServer: Sendable {
    private struct State {
        var logIns: [StubExchange<SessionToken>] = []
        var logOuts: [(token: SessionToken, exchange: StubExchange<Void>)] = []
        var lastToken = 0
        var onLogIn: (@Sendable () -> Void)?
        var live: Set<SessionToken> = []
        var ended: [SessionToken] = []
    }

    private let answersAtOnce: Bool
    private let state = NIOLockedValueBox(State())

    init(answersAtOnce: Bool = true) {
        self.answersAtOnce = answersAtOnce
    }

    var logIns: [StubExchange<SessionToken>] { state.withLockedValue(\.logIns) }
    var logOuts: [StubExchange<Void>] { state.withLockedValue { $0.logOuts.map(\.exchange) } }
    var loggedOut: [String] { state.withLockedValue { $0.logOuts.map(\.token.value) } }
    var logInCount: Int { state.withLockedValue(\.lastToken) }
    var live: Set<SessionToken> { state.withLockedValue(\.live) }

    var authenticator: SessionAuthenticator {
        SessionAuthenticator(
            logIn: {
                if self.answersAtOnce {
                    return Just(self.open()).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                }
                let exchange = StubExchange<SessionToken>()
                self.state.withLockedValue { $0.logIns.append(exchange) }
                // Called as soon as the pool has subscribed.
                return
                    exchange
                    .handleEvents(receiveRequest: { _ in self.state.withLockedValue(\.onLogIn)?() })
                    .eraseToAnyPublisher()
            },
            logOut: { token in
                let exchange = StubExchange<Void>()
                self.state.withLockedValue { state in
                    state.logOuts.append((token, exchange))
                    state.live.remove(token)
                }
                if self.answersAtOnce {
                    return Just(()).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                }
                return exchange.eraseToAnyPublisher()
            }
        )
    }

    /// Sets a closure that is called when a login has been sent.
    func onLogIn(_ body: @escaping @Sendable () -> Void) {
        state.withLockedValue { $0.onLogIn = body }
    }

    /// Opens a new session and returns its token: `T1`, `T2`, …
    func open() -> SessionToken {
        state.withLockedValue { state in
            state.lastToken += 1
            let token = SessionToken("T\(state.lastToken)")
            state.live.insert(token)
            return token
        }
    }

    /// Restarts the server: it does not know any token afterwards.
    func forgetAll() {
        state.withLockedValue { $0.live.removeAll() }
    }

    func knows(_ token: SessionToken) -> Bool { live.contains(token) }
}

extension FMRest.APIError {
    static let refused = FMRest.APIError(.fileMaker, reason: "Invalid token", fileMakerCode: 952, httpStatus: 401)
    static let wrongPassword = FMRest.APIError(.fileMaker, reason: "No", fileMakerCode: 212, httpStatus: 401)
    static let hostFull = FMRest.APIError(.fileMaker, reason: "Full", fileMakerCode: 956, httpStatus: 500)
    static let windowMissing = FMRest.APIError(.fileMaker, reason: "Window", fileMakerCode: 112, httpStatus: 500)
    static let broken = FMRest.APIError(.network, reason: "Connection reset")
}
