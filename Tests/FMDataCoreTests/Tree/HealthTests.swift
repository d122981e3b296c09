import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestHost
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// What a program knows of a host without asking it, and what it learns by asking.
@Suite(.timeLimit(.minutes(15))) struct HealthTests {
    /// A database of the sandbox whose client's clock stands still.
    private func still(
        _ world: World,
        _ time: TestClock,
        password: String = Solution.Sample.password
    )
        -> DataAPI.Database
    {
        DataAPI.Server(host: world.sandbox.url, config: .patient, clock: time)
            .addDatabase("World", credentials: Credentials(user: Solution.Sample.user, password: password))
    }

    // MARK: Ping

    @Test func aHostThatAnswersIsPinged() async throws {
        try await World.run { world in
            let duration = try await world.database.ping().firstValue()
            #expect(duration > .zero)
            _ = try await world.database.ping().firstValue()
            expectNoDifference(world.sandbox.counters.requests, [.login: 1, .validateSession: 2])
        }
    }

    @Test func aPingFailsWithWhatIsWrong() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            let error = await world.database.ping().awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode?.rawValue, 212)
            let isValid = try await world.database.validateSession().firstValue()
            #expect(!isValid)
        }
        try await World.run { world in
            world.sandbox.inject(.error(FileMakerError(214)), on: .login)
            let error = await world.database.ping().awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode?.rawValue, 214)
        }
        let server = try await FaultServer.start { _ in [] }
        let port = server.port
        try await server.stopped()
        let database = DataAPI.Server(host: "http://127.0.0.1:\(port)", config: .patient)
            .addDatabase("World", credentials: Credentials(user: "admin", password: "a"))
        let error = await database.ping().awaitSingleResult().failure
        expectNoDifference(error?.code, .network)
    }

    // MARK: Facts

    @Test func beforeTheFirstRequestNothingIsKnownAndNothingIsAsked() async throws {
        try await World.run { world in
            var nothing = DataAPI.Health()
            nothing.databases = 1
            expectNoDifference(world.database.server.health, nothing)
            expectNoDifference(world.database.health, nothing)
            expectNoDifference(world.database.health.description, "ready")
            #expect(world.sandbox.counters.requests.isEmpty)
        }
    }

    @Test func anAnswerIsAnAnswerWhateverItSays() async throws {
        let time = TestClock()
        try await World.run { world in
            let database = still(world, time)
            _ = try await database.addLayout("Contacts").getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(database.health.lastAnswer, time.date)
            time.advance(by: .seconds(5))
            let contacts = database.addLayout("Contacts")
            _ = await contacts.deleteRecord(recordId: 999_999).awaitSingleResult()
            expectNoDifference(database.health.lastAnswer, time.date)
            time.advance(by: .seconds(5))
            _ = try await contacts.records(FieldData.self).collect().firstValue()
            expectNoDifference(database.health.lastAnswer, time.date)
            expectNoDifference(database.health.lastFailure, nil)
            #expect(database.health.isReady)
            _ = try await database.logOut().firstValue()
        }
    }

    @Test(arguments: [Sandbox.Fault.html(status: 502), .reset, .empty(status: 200)])
    func aHostThatDoesNotAnswerIsNotReadyUntilItDoes(fault: Sandbox.Fault) async throws {
        let time = TestClock()
        try await World.run { world in
            let database = still(world, time)
            let contacts = database.addLayout("Contacts")
            let expected: FMRest.APIError.Code = fault == .reset ? .network : .notDataAPI
            for streams in [false, true] {
                _ = try await contacts.getRecords().returnAs(FieldData.self).firstValue()
                #expect(database.server.health.isReady)
                time.advance(by: .seconds(1))
                world.sandbox.inject(fault, on: .getRecords, count: nil)
                if streams {
                    _ = await contacts.records(FieldData.self).collect().awaitSingleResult()
                } else {
                    _ = await contacts.getRecords().returnAs(FieldData.self).awaitSingleResult()
                }
                let health = database.server.health
                #expect(!health.isReady)
                expectNoDifference(health.failure, expected)
                expectNoDifference(health.lastFailure, time.date)
                expectNoDifference(health.description, "not ready; the last request failed: \(expected)")
                world.sandbox.clearFaults()
                time.advance(by: .seconds(1))
            }
            _ = try await contacts.getRecords().returnAs(FieldData.self).firstValue()
            #expect(database.server.health.isReady)
            _ = try await database.logOut().firstValue()
        }
    }

    @Test func aCancelledCallSaysNothing() async throws {
        try await ScriptedHost.run(answer: { _ in .silence }) { host in
            _ = try await host.database.login().firstValue()
            let before = host.database.health.lastAnswer
            let call = host.layout.getRecords().returnAs(FieldData.self)
                .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            await host.server.requestCount(atLeast: 2)
            call.cancel()
            await host.server.allConnectionsClosed()
            let health = host.database.health
            #expect(before != nil)
            expectNoDifference(health.lastFailure, nil)
            #expect(health.isReady)
        }
    }

    @Test func aLockedAccountIsNotReadyUntilItMayBeTriedAgain() async throws {
        let time = TestClock()
        try await World.run { world in
            let database = still(world, time)
            world.sandbox.inject(.error(FileMakerError(214)), on: .login)
            _ = await database.ping().awaitSingleResult()
            expectNoDifference(database.health.lockedOut, ["World"])
            #expect(!database.health.isReady)
            expectNoDifference(database.health.description, #"not ready; locked out: "World""#)
            time.advance(by: .minutes(5))
            expectNoDifference(database.health.lockedOut, [])
            #expect(database.health.isReady)
        }
    }

    @Test func aRefusedPasswordIsKnownUntilAnotherIsGiven() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            let database = world.database
            _ = await database.ping().awaitSingleResult()
            expectNoDifference(database.health.refused, ["World"])
            #expect(!database.health.isReady)
            let right = Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            database.replaceCredentials(right)
            expectNoDifference(database.health.refused, [])
            #expect(database.health.isReady)
        }
    }

    /// A service with a user whose password is wrong can serve the others.
    @Test func oneAccountOfManyDoesNotSpeakForAll() async throws {
        try await World.run { world in
            let wrong = world.database.signedIn(as: Credentials(user: "guest", password: "wrong"))
            _ = await wrong.ping().awaitSingleResult()
            expectNoDifference(world.database.server.health.refused, ["World"])
            expectNoDifference(world.database.server.health.databases, 2)
            #expect(world.database.server.health.isReady)
            #expect(!wrong.health.isReady)
            #expect(world.database.health.isReady)
        }
    }

    @Test func aHostWithoutRoomIsNotReady() async throws {
        try await World.run(
            sandbox: { $0.maximumSessions = 1 },
            client: { $0.sessions.fullHostDeadline = .zero }
        ) { world in
            let guest = world.database.signedIn(as: Credentials(user: "guest", password: "welcome"))
            _ = try await guest.ping().firstValue()
            _ = await world.database.ping().awaitSingleResult()
            expectNoDifference(world.database.health.withoutSession, ["World"])
            #expect(!world.database.health.isReady)
            #expect(guest.health.isReady)
            #expect(world.database.server.health.isReady)
            _ = try await guest.logOut().firstValue()
        }
    }

    @Test func requestsThatWaitAreCounted() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 1 }) { world in
            world.sandbox.inject(.holdAnswer, on: .scripts)
            let calls = (0..<3).map { _ in TrackingSubscriber<[DataAPI.Database.ScriptItem], FMRest.APIError>() }
            for call in calls { world.database.getScriptNames(isolation: nil).subscribe(call) }
            await world.sandbox.untilAnswersHeld()
            expectNoDifference(world.database.server.health.waiting, 2)
            #expect(world.database.server.health.isReady)
            world.sandbox.releaseAnswers()
            for call in calls { await call.completion() }
            expectNoDifference(world.database.server.health.waiting, 0)
        }
    }

    @Test func aServerObjectThatWasShutDownIsNotReady() async throws {
        try await World.run { world in
            _ = try await world.database.server.shutdown().firstValue()
            #expect(world.database.health.isShutDown)
            #expect(!world.database.health.isReady)
            expectNoDifference(world.database.health.description, "not ready; shut down")
        }
    }

    // MARK: Probes

    @Test func aProbeAsksOnceAMinute() async throws {
        let time = TestClock()
        try await World.run { world in
            let database = still(world, time)
            for _ in 1...3 {
                let health = try await database.server.probe().firstValue()
                #expect(health.isReady)
            }
            expectNoDifference(world.sandbox.counters.requests, [.productInfo: 1])
            for _ in 1...3 {
                let health = try await database.probe().firstValue()
                #expect(health.isReady)
            }
            expectNoDifference(world.sandbox.counters.requests, [.productInfo: 1, .login: 1, .validateSession: 1])
            time.advance(by: .seconds(59))
            _ = try await database.server.probe().firstValue()
            _ = try await database.probe().firstValue()
            expectNoDifference(world.sandbox.counters.totalRequests, 3)
            time.advance(by: .seconds(1))
            _ = try await database.server.probe().firstValue()
            _ = try await database.probe().firstValue()
            expectNoDifference(world.sandbox.counters.requests, [.productInfo: 2, .login: 1, .validateSession: 2])
            _ = try await database.logOut().firstValue()
        }
    }

    @Test func aProbeThatFailsIsAValue() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            world.sandbox.inject(.html(status: 503), on: .productInfo)
            let host = try await world.database.server.probe().firstValue()
            expectNoDifference(host.failure, .notDataAPI)
            #expect(!host.isReady)
            let database = try await world.database.probe().firstValue()
            expectNoDifference(database.refused, ["World"])
            #expect(!database.isReady)
        }
    }
}
