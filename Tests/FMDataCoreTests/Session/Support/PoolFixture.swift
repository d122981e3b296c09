import FMData
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

@testable import FMDataCore

/// A pool with its server and its clock. Records what the pool reports to its owner.
final class PoolFixture: Sendable {
    let time = TestClock()
    let server: StubServer
    let pool: SessionPool
    private let heard: NIOLockedValueBox<[String]>

    init(
        answersAtOnce: Bool = true,
        storeKey: DataAPI.TokenStore.Key? = nil,
        _ configure: (inout DataAPI.SessionConfiguration) -> Void = { _ in }
    ) {
        var configuration = DataAPI.SessionConfiguration()
        // Most tests use one session; the others set how many they need.
        configuration.maximumSessions = 1
        configure(&configuration)
        let heard = NIOLockedValueBox<[String]>([])
        self.heard = heard
        server = StubServer(answersAtOnce: answersAtOnce)
        pool = SessionPool(
            configuration: configuration,
            storeKey: storeKey,
            authenticator: server.authenticator,
            time: time.sessionTime,
            jitter: { 1 },
            observer: SessionObserver(
                transition: { transition in
                    heard.withLockedValue { heard in
                        switch transition {
                        case .loggedIn(let token): heard.append("logged in \(token.value)")
                        case .lost(let error): heard.append("lost \(error.fileMakerCode?.rawValue ?? 0)")
                        case .loggedOut: heard.append("logged out")
                        case .replaced: heard.append("replaced")
                        }
                    }
                },
                storeFailed: { _ in heard.withLockedValue { $0.append("store failed") } }
            )
        )
    }

    var transitions: [String] { heard.withLockedValue { $0 } }

    /// Replaces the credentials by others of the same account or, if the previous account's `accountPeriod` is given,
    /// of another one.
    func replaceCredentials(storeKey: DataAPI.TokenStore.Key? = nil, ending accountPeriod: AccountPeriod? = nil) {
        let time = time.sessionTime
        pool.credentialsChanged(storeKey: storeKey) {
            SessionIdentity.Replacement(accountPeriod: AccountPeriod(time: time), ended: accountPeriod?.end())
        }
    }

    /// A request that publishes its token, or fails with the refusal when the server does not know the token.
    func request(demand: Subscribers.Demand = .unlimited) -> Recorder<String> {
        pool.authorized { [server] lease -> AnyPublisher<String, FMRest.APIError> in
            server.knows(lease.token)
                ? Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                : Fail(error: .refused).eraseToAnyPublisher()
        }
        .record(demand: demand)
    }

    /// A request whose answer the test sends.
    func request(_ exchange: StubExchange<String>, demand: Subscribers.Demand = .unlimited) -> Recorder<String> {
        pool.authorized { _ in exchange.eraseToAnyPublisher() }.record(demand: demand)
    }

    func leases(_ count: Int) -> [SessionLease] {
        let got = NIOLockedValueBox<[SessionLease]>([])
        for _ in 0..<count {
            pool.lease().subscribe(
                Recorder<SessionLease>(onValue: { _, lease in
                    got.withLockedValue { $0.append(lease) }
                    return .none
                })
            )
        }
        return got.withLockedValue { $0 }
    }
}
