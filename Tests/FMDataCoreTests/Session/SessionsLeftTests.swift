import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// The server has no session that the client does not know of. This is checked before any logout could hide one.
@Suite(.timeLimit(.minutes(15))) struct SessionsLeftTests {
    private typealias Subscriber = TrackingSubscriber<DataAPI.RecordResponse<FieldData, EmptyPortal>, FMRest.APIError>

    private func ask(_ count: Int, in world: World) -> [Subscriber] {
        (0..<count).map { _ in
            let subscriber = Subscriber()
            world.countries.getRecords(recordQuery: RecordQuery(limit: 1)).subscribe(subscriber)
            return subscriber
        }
    }

    private func expectNoSessionBeside(_ world: World) async {
        await until { world.database.sessionStatus.loggingIn == 0 }
        await settled { world.sandbox.counters.openSessions }
        expectNoDifference(world.sandbox.counters.openSessions, world.database.sessionStatus.sessions)
    }

    @Test func afterManyRefusalsAtOnce() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 4 }) { world in
            for subscriber in ask(50, in: world) { await subscriber.completion() }
            await expectNoSessionBeside(world)
            world.sandbox.expireSessions()
            let again = ask(50, in: world)
            for subscriber in again { await subscriber.completion() }
            expectNoDifference(again.count { $0.values.count == 1 }, 50)
            await expectNoSessionBeside(world)
        }
    }

    @Test func afterRequestsThatWereCancelledInEveryState() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 4 }) { world in
            // First while they wait for the first login, then while some are under way and the others wait for a
            // session.
            for round in 0..<5 {
                let subscribers = ask(20, in: world)
                let isKept = { index in (index + round) % 3 == 0 }
                for (index, subscriber) in subscribers.enumerated() where !isKept(index) { subscriber.cancel() }
                for (index, subscriber) in subscribers.enumerated() where isKept(index) {
                    await subscriber.completion()
                }
            }
            await expectNoSessionBeside(world)
            expectNoDifference(world.database.sessionStatus.leased, 0)
        }
    }

    @Test func afterALoginThatAllHaveGivenUp() async throws {
        try await World.run { world in
            world.sandbox.inject(.holdAnswer, on: .login)
            let subscribers = ask(20, in: world)
            await world.sandbox.untilAnswersHeld(1)
            for subscriber in subscribers { subscriber.cancel() }
            world.sandbox.releaseAnswers()
            await until { world.database.sessionStatus.loggingIn + world.database.sessionStatus.sessions == 0 }
            expectNoDifference(world.sandbox.counters.openSessions, 0)
        }
    }

    /// A database that was released cannot report its failed logout any more, so the server's shutdown counts it.
    @Test func whatADatabaseThatIsGoneHasLeftIsToldByTheShutdown() async throws {
        try await World.run { world in
            world.sandbox.inject(.empty(status: 404), on: .logout)
            weak var gone: SessionPool?
            do {
                let hers = world.database.signedIn(
                    as: Credentials(user: Solution.Sample.guestUser, password: Solution.Sample.guestPassword)
                )
                gone = hers.pool
                _ = try await hers.getScriptNames().firstValue()
            }
            await until { gone == nil }
            _ = try await world.database.getScriptNames().firstValue()
            expectNoDifference(world.sandbox.counters.openSessions, 2)
            let summary = try await world.database.server.shutdown().firstValue()
            expectNoDifference(summary, DataAPI.ShutdownSummary(sessionsLeft: 1))
            expectNoDifference(world.sandbox.counters.openSessions, 1)
            world.sandbox.expireSessions()
        }
    }

    @Test func afterPinnedWorkThatWasCancelled() async throws {
        try await World.run { world in
            let subscriber = TrackingSubscriber<Int, FMRest.APIError>()
            world.database.withSessionPublisher { pinned in
                pinned.setGlobals(["Contacts::gFilter": "mine"])
                    .map { _ in 1 }
                    .append(Empty<Int, FMRest.APIError>(completeImmediately: false))
                    .eraseToAnyPublisher()
            }
            .subscribe(subscriber)
            await subscriber.valueCount(atLeast: 1)
            expectNoDifference(world.sandbox.counters.openSessions, 1)
            subscriber.cancel()
            await until { world.database.sessionStatus.sessions == 0 }
            expectNoDifference(world.sandbox.counters.openSessions, 0)
        }
    }
}
