import CustomDump
import FMData
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Many requests need a session at once, and one login serves all of them.
@Suite struct SingleFlightTests {
    private let time = TestClock()
    private let server = StubServer(answersAtOnce: false)

    private func makePool(maximumSessions: Int = 1) -> SessionPool {
        var configuration = DataAPI.SessionConfiguration()
        configuration.maximumSessions = maximumSessions
        return SessionPool(
            configuration: configuration,
            authenticator: server.authenticator,
            time: time.sessionTime,
            jitter: { 1 }
        )
    }

    private func request(_ pool: SessionPool) -> Recorder<String> {
        pool.authorized { lease in
            Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        .record()
    }

    @Test func thousandSubscribersOnAColdPoolCauseOneLogin() {
        let pool = makePool()
        let requests = (0..<1000).map { _ in request(pool) }
        expectNoDifference(server.logIns.count, 1)

        server.logIns[0].succeed(server.open())

        expectNoDifference(Set(requests.map(\.history)), [["T1", "finished"]])
        expectNoDifference(server.logIns.count, 1)
    }

    @Test func whoCancelsDoesNotCancelTheLoginForTheOthers() {
        let pool = makePool()
        let requests = (0..<10).map { _ in request(pool) }
        for request in requests.dropLast() { request.cancel() }
        #expect(!server.logIns[0].isCancelled)

        server.logIns[0].succeed(server.open())

        expectNoDifference(requests.map(\.history), Array(repeating: [], count: 9) + [["T1", "finished"]])
    }

    @Test func whenAllCancelTheLoginMayEndAndItsSessionIsLoggedOut() {
        let pool = makePool()
        let requests = (0..<10).map { _ in request(pool) }
        for request in requests { request.cancel() }

        server.logIns[0].succeed(server.open())

        expectNoDifference(server.loggedOut, ["T1"])
        expectNoDifference(requests.map(\.history), Array(repeating: [], count: 10))
    }

    @Test func whenAllCancelALoginThatTakesTooLongIsCancelledAndALateTokenLoggedOut() {
        let pool = makePool()
        let lonely = request(pool)
        lonely.cancel()
        time.advance(by: .seconds(4))
        #expect(!server.logIns[0].isCancelled)
        time.advance(by: .seconds(1))
        #expect(server.logIns[0].isCancelled)
        expectNoDifference(pool.status.loggingIn, 0)

        server.logIns[0].succeed(server.open())

        expectNoDifference(server.loggedOut, ["T1"])
    }

    @Test func aNewSubscriberTakesOverTheLoginThatTheOthersLeft() {
        let pool = makePool()
        request(pool).cancel()
        time.advance(by: .seconds(3))
        let second = request(pool)
        time.advance(by: .seconds(3))
        server.logIns[0].succeed(server.open())
        expectNoDifference(second.history, ["T1", "finished"])
        expectNoDifference(server.logIns.count, 1)
        expectNoDifference(server.loggedOut, [])
    }
}
