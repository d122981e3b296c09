import CustomDump
import FMData
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// One request under a session. It is sent once more, with a new session, when the server refused its token.
@Suite struct AuthorizedRequestTests {
    private let time = TestClock()
    private let server = StubServer()
    private let pool: SessionPool

    init() {
        pool = SessionPool(authenticator: server.authenticator, time: time.sessionTime, jitter: { 1 })
    }

    /// Answers with the token if the server knows it, else fails with the refusal.
    private func answer(_ lease: SessionLease) -> AnyPublisher<String, FMRest.APIError> {
        Deferred { [server] () -> AnyPublisher<String, FMRest.APIError> in
            server.knows(lease.token)
                ? Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                : Fail(error: .refused).eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    @Test func nothingHappensBeforeDemand() {
        let request = pool.authorized(answer).record(demand: .none)
        expectNoDifference(server.logInCount, 0)
        request.request(.max(1))
        expectNoDifference(request.history, ["T1", "finished"])
    }

    @Test func aSessionIsUsedAgain() {
        expectNoDifference(pool.authorized(answer).record().history, ["T1", "finished"])
        expectNoDifference(pool.authorized(answer).record().history, ["T1", "finished"])
        expectNoDifference(server.logInCount, 1)
    }

    @Test func aRefusedTokenIsRenewedAndTheRequestSentOnceMore() {
        _ = pool.authorized(answer).record()
        server.forgetAll()
        expectNoDifference(pool.authorized(answer).record().history, ["T2", "finished"])
        expectNoDifference(server.loggedOut, [])
        expectNoDifference(pool.status.refusals, 1)
    }

    @Test func aSecondRefusalIsTheError() {
        let attempts = NIOLockedValueBox(0)
        let request = pool.authorized { _ -> AnyPublisher<String, FMRest.APIError> in
            attempts.withLockedValue { $0 += 1 }
            return Fail(error: .refused).eraseToAnyPublisher()
        }
        .record()
        expectNoDifference(request.history, ["failed tokensRefused"])
        expectNoDifference(attempts.withLockedValue { $0 }, 2)
        expectNoDifference(server.logInCount, 2)
    }

    @Test func aStatus401WithoutJSONIsARefusal() {
        let bare = FMRest.APIError(.notDataAPI, reason: "HTML", httpStatus: 401)
        let errors = NIOLockedValueBox([bare])
        let request = pool.authorized { lease in
            errors.withLockedValue(\.isEmpty)
                ? Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                : Fail(error: errors.withLockedValue { $0.removeLast() }).eraseToAnyPublisher()
        }
        .record()
        expectNoDifference(request.history, ["T2", "finished"])
    }

    @Test func afterARestartNoReplayMeetsAnotherDeadSession() {
        var configuration = DataAPI.SessionConfiguration()
        configuration.maximumSessions = 4
        let pool = SessionPool(
            configuration: configuration,
            authenticator: server.authenticator,
            time: time.sessionTime,
            jitter: { 1 }
        )
        let held = (0..<4).map { _ in StubExchange<String>() }
        let openers = held.map { exchange in pool.authorized { _ in exchange.eraseToAnyPublisher() }.record() }
        for exchange in held { exchange.succeed("done") }
        expectNoDifference(openers.map(\.history), Array(repeating: ["done", "finished"], count: 4))
        expectNoDifference(server.logInCount, 4)

        server.forgetAll()

        for _ in 0..<3 { #expect(pool.authorized(answer).record().history.last == "finished") }
    }

    @Test func aWindowThatIsMissingReplaysOnlyWhatMayBeRepeated() {
        _ = pool.authorized(answer).record()
        let first = NIOLockedValueBox(true)
        let attempt: @Sendable (SessionLease) -> AnyPublisher<String, FMRest.APIError> = { lease in
            let isFirst = first.withLockedValue { first in
                defer { first = false }
                return first
            }
            return isFirst
                ? Fail(error: .windowMissing).eraseToAnyPublisher()
                : Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        expectNoDifference(pool.authorized(attempt).record().history, ["failed fileMaker 112"])
        expectNoDifference(server.loggedOut, ["T1"])

        _ = pool.authorized(answer).record()
        first.withLockedValue { $0 = true }
        expectNoDifference(pool.authorized(isRepeatable: true, attempt).record().history, ["T3", "finished"])
        expectNoDifference(server.loggedOut, ["T1", "T2"])
    }

    @Test func noReplayOnceAValueWasDelivered() {
        let exchange = StubExchange<String>()
        let request = pool.authorized { _ in exchange.eraseToAnyPublisher() }.record()
        exchange.send("first")
        exchange.fail(.refused)
        expectNoDifference(request.history, ["first", "failed fileMaker 952"])
        expectNoDifference(server.logInCount, 1)
        expectNoDifference(pool.status.sessions, 0)
    }

    @Test func demandPassesThroughAndIsAskedForAgainByAReplay() {
        let exchanges = [StubExchange<String>(), StubExchange<String>()]
        let next = NIOLockedValueBox(0)
        let request = pool.authorized { _ in
            exchanges[
                next.withLockedValue { next in
                    defer { next += 1 }
                    return next
                }
            ].eraseToAnyPublisher()
        }
        .record(demand: .max(2))
        request.request(.max(3))
        exchanges[0].fail(.refused)
        request.request(.max(1))
        expectNoDifference(exchanges[0].demand, [.max(2), .max(3)])
        expectNoDifference(exchanges[1].demand, [.max(5), .max(1)])
    }
}
