import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Sessions as a program sees them: credentials, status, pinned work, siblings, stores, logout and shutdown.
@Suite(.timeLimit(.minutes(15))) struct SessionTests {
    private static let guest = Credentials(user: Solution.Sample.guestUser, password: Solution.Sample.guestPassword)
    private static let one = RecordQuery(limit: 1)

    private func read(_ database: DataAPI.Database) -> AnyPublisher<FieldData?, FMRest.APIError> {
        database.addLayout("Contacts").getRecords(recordQuery: Self.one).returnAs(FieldData.self)
            .map { $0.data.first?.fieldData }
            .eraseToAnyPublisher()
    }

    // MARK: Credentials

    @Test func credentialsAreThoseGivenThenATokenThenThoseGiven() async throws {
        try await World.run { world in
            let given = world.database.credentials
            let kinds = TrackingSubscriber<DataAPI.Credentials, Never>()
            world.database.$credentials.subscribe(kinds)
            _ = try await read(world.database).firstValue()
            expectNoDifference(world.database.credentials.kind, .token)
            _ = try await world.database.logOut().firstValue()
            expectNoDifference(world.database.credentials, given)
            expectNoDifference(kinds.values.map(\.kind), [.basic, .token, .basic])
            kinds.cancel()
        }
    }

    /// When `logOut()` publishes its value, the database shows the credentials without the token, even if another
    /// thread is still delivering the login's notification.
    @Test func theNewsOfALogoutComesBeforeItsEnd() async throws {
        try await World.run { world in
            for _ in 0..<50 {
                let found = TrackingSubscriber<FieldData?, FMRest.APIError>()
                read(world.database).subscribe(found)
                await found.valueCount(atLeast: 1)
                let shown = Locked<DataAPI.Credentials.Kind?>(nil)
                let database = world.database
                let ended = TrackingSubscriber<FMRest.EmptyResponse, FMRest.APIError>(onEvent: { event in
                    if case .value = event { shown.change { $0 = database.credentials.kind } }
                })
                database.logOut().subscribe(ended)
                await ended.completion()
                expectNoDifference(ended.values.count, 1)
                expectNoDifference(shown.value, .basic)
            }
        }
    }

    @Test func refusedCredentialsAreInvalidUntilTheyAreReplaced() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            for _ in 0..<3 {
                let error = await read(world.database).awaitSingleResult().failure
                expectNoDifference(error?.fileMakerCode, .invalidAccount)
            }
            expectNoDifference(world.database.credentials, .invalid)
            expectNoDifference(world.sandbox.counters.failedLogins, 1)
            _ = try await world.database.login(credentials: Self.guest).firstValue()
            _ = try await read(world.database).firstValue()
            expectNoDifference(world.database.credentials.kind, .token)
        }
    }

    // MARK: Pinned work

    @Test func globalsAreSeenInsideAndNowhereElse() async throws {
        try await World.run { world in
            let inside = try await world.database.withSessionPublisher { pinned in
                pinned.setGlobals(["Contacts::gFilter": "mine"])
                    .flatMap { _ in self.read(pinned) }
                    .eraseToAnyPublisher()
            }.firstValue()
            expectNoDifference(inside?["gFilter"], "mine")
            let outside = try await read(world.database).firstValue()
            expectNoDifference(outside?["gFilter"], "")
        }
    }

    /// With several sessions only the requests in one of them would see a global field.
    @Test func globalsOfADatabaseAreSeenByAllRequestsAfterThem() async throws {
        try await World.run { world in
            try await reading(20, world.database) { _ in }
            _ = try await world.database.setGlobals(["Contacts::gFilter": "mine"]).firstValue()
            try await reading(20, world.database) { seen in expectNoDifference(seen?["gFilter"], "mine") }
            // Work that needs a session of its own gets one, and the global fields stay where they are.
            let inside = try await world.database.withSessionPublisher { self.read($0) }.firstValue()
            expectNoDifference(inside?["gFilter"], "")
            try await reading(20, world.database) { seen in expectNoDifference(seen?["gFilter"], "mine") }
        }
    }

    @Test func workThatNeedsTheOnlySessionIsRefusedWhileThatHoldsGlobals() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 1 }) { world in
            _ = try await world.database.setGlobals(["Contacts::gFilter": "mine"]).firstValue()
            let error = await world.database.withSessionPublisher { self.read($0) }.awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            #expect(error?.hint?.contains("maximumSessions") == true)
            let seen = try await read(world.database).firstValue()
            expectNoDifference(seen?["gFilter"], "mine")
            expectNoDifference(world.sandbox.counters.logins, 1)
            // The globals ended with their session, so no session is reserved any more.
            world.sandbox.expireSessions()
            _ = try await read(world.database).firstValue()
            let inside = try await world.database.withSessionPublisher { self.read($0) }.firstValue()
            expectNoDifference(inside?["gFilter"], "")
        }
    }

    private func reading(
        _ count: Int,
        _ database: DataAPI.Database,
        _ check: (FieldData?) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: FieldData?.self) { group in
            for _ in 0..<count { group.addTask { try await self.read(database).firstValue() } }
            for try await seen in group { check(seen) }
        }
    }

    @Test func aLostPinnedSessionIsNotReplaced() async throws {
        try await World.run { world in
            let sandbox = world.sandbox
            let error = await world.database.withSessionPublisher { pinned in
                pinned.setGlobals(["Contacts::gFilter": "mine"])
                    .handleEvents(receiveOutput: { _ in sandbox.expireSessions() })
                    .flatMap { _ in self.read(pinned) }
                    .eraseToAnyPublisher()
            }.awaitSingleResult().failure
            expectNoDifference(error?.code, .sessionLost)
            expectNoDifference(sandbox.counters.requests[.getRecords], 1)
            expectNoDifference(sandbox.counters.logins, 1)
        }
    }

    // MARK: Siblings

    @Test func aSiblingIsSomebodyElseOnTheSameServer() async throws {
        try await World.run { world in
            let sibling = world.database.signedIn(as: Self.guest)
            let record: FieldData = ["Name": "Mary"]
            let refused = await sibling.addLayout("Contacts").createRecord(record: EditRecord(createRecord: record))
                .awaitSingleResult().failure
            expectNoDifference(refused?.fileMakerCode, .recordAccessDenied)
            _ = try await world.contacts.createRecord(record: EditRecord(createRecord: record)).firstValue()
            expectNoDifference(world.sandbox.counters.logins, 2)
            #expect(sibling.credentials != world.database.credentials)
            _ = try await sibling.logOut().firstValue()
            expectNoDifference(world.sandbox.counters.openSessions, 1)
        }
    }

    @Test func theLastReferenceLogsOut() async throws {
        try await World.run { world in
            do {
                let sibling = world.database.signedIn(as: Self.guest)
                _ = try await read(sibling).firstValue()
                expectNoDifference(world.sandbox.counters.openSessions, 1)
            }
            await until { world.sandbox.counters.openSessions == 0 }
            expectNoDifference(world.sandbox.counters.logouts, 1)
        }
    }

    // MARK: Logout and shutdown

    @Test func loggingOutTwiceIsLoggingOutOnce() async throws {
        try await World.run { world in
            _ = try await read(world.database).firstValue()
            _ = try await world.database.logOut().firstValue()
            _ = try await world.database.logOut().firstValue()
            expectNoDifference(world.sandbox.counters.logouts, 1)
            expectNoDifference(world.sandbox.counters.requests[.logout], 1)
            _ = try await read(world.database).firstValue()
            expectNoDifference(world.sandbox.counters.logins, 2)
        }
    }

    @Test func shuttingDownEndsAllSessionsOfAllDatabases() async throws {
        try await World.run { world in
            let sibling = world.database.signedIn(as: Self.guest)
            _ = try await read(world.database).firstValue()
            _ = try await read(sibling).firstValue()
            expectNoDifference(world.sandbox.counters.openSessions, 2)
            _ = try await world.database.server.shutdown().firstValue()
            _ = try await world.database.server.shutdown().firstValue()
            expectNoDifference(world.sandbox.counters.openSessions, 0)
            expectNoDifference(world.sandbox.counters.logouts, 2)
            for database in [sibling, world.database.signedIn(as: Self.guest)] {
                let error = await read(database).awaitSingleResult().failure
                expectNoDifference(error?.code, .shutdown)
            }
        }
    }

    /// Without a connect timeout, each of many requests fails with the network error, and so does the next one. None
    /// waits.
    @Test(.thorough, .timeLimit(.minutes(15))) func aServerThatIsDownIsToldToEveryRequestAtOnce() async throws {
        let closed = try ClosedPort()
        var config = DataAPI.Config.patient
        config.timeouts.connect = nil
        config.sessions.maximumSessions = 4
        config.sessions.waitingDeadline = .seconds(3600)
        let database = DataAPI.Server(host: "http://127.0.0.1:\(closed.port)", config: config)
            .addDatabase("Contacts", credentials: Self.guest)
        for _ in 0..<3 {
            let subscribers = (0..<100).map { _ in TrackingSubscriber<FieldData?, FMRest.APIError>() }
            for subscriber in subscribers { read(database).subscribe(subscriber) }
            for subscriber in subscribers {
                guard case .failure(let error) = await subscriber.completion() else {
                    Issue.record("found something")
                    continue
                }
                expectNoDifference(error.code, .network)
                #expect(error.isRetryable)
                #expect("\(error)".contains("refused"), "\(error)")
            }
        }
        expectNoDifference(database.sessionStatus.waiting, 0)
        expectNoDifference(database.credentials, Self.guest)
        _ = try await database.logOut().firstValue()
    }

    // MARK: Status

    @Test func theStatusTellsWhatSessionsDo() async throws {
        try await World.run { world in
            let watcher = TrackingSubscriber<DataAPI.SessionStatus, Never>()
            world.database.status.subscribe(watcher)
            _ = try await read(world.database).firstValue()
            _ = try await world.database.logOut().firstValue()
            await watcher.wait { events in
                events.contains { event in
                    guard case .value(let status) = event else { return false }
                    return status.logouts == 1 && status.sessions == 0
                }
            }
            watcher.cancel()
            #expect(watcher.values.contains { $0.leased == 1 && $0.sessions == 1 })
            var expected = DataAPI.SessionStatus()
            expected.limit = 8
            expected.logins = 1
            expected.logouts = 1
            expectNoDifference(world.database.sessionStatus, expected)
        }
    }

    /// Tells whether a token is still good without a request to the server.
    @Test func theStatusTellsWhenTheSessionsExpire() async throws {
        try await World.run { world in
            #expect(!world.database.sessionStatus.isActive())
            expectNoDifference(world.sandbox.counters.totalRequests, 0, "it asks nobody")
            let begin = Date()
            _ = try await read(world.database).firstValue()
            let status = world.database.sessionStatus
            let expires = try #require(status.expires)
            let quarter: TimeInterval = 15 * 60
            #expect(expires >= begin.addingTimeInterval(quarter - 1))
            #expect(expires <= Date().addingTimeInterval(quarter + 1))
            #expect(status.isActive(at: expires.addingTimeInterval(-1)))
            #expect(!status.isActive(at: expires))
            _ = try await world.database.logOut().firstValue()
            #expect(!world.database.sessionStatus.isActive())
        }
    }

    // MARK: Stores

    @Test func aStoredSessionServesTheNextServerObject() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("session").path
            try await World.run(client: { $0.sessions.tokenStore = .file(at: path) }) { world in
                _ = try await read(world.database).firstValue()
                _ = try await world.database.server.shutdown().firstValue()
                expectNoDifference(world.sandbox.counters.openSessions, 1)

                let first = world.database.server
                let database = DataAPI.Server(host: first.host, config: first.config).addDatabase(
                    world.database.name,
                    credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
                )
                _ = try await read(database).firstValue()
                expectNoDifference(world.sandbox.counters.logins, 1)
                _ = try await database.logOut().firstValue()
                expectNoDifference(world.sandbox.counters.openSessions, 0)
            }
        }
    }

    @Test(.tags(.fact)) func aTokenLivesFifteenMinutesAfterItsLastUse() async throws {
        let clock = ManualClock()
        try await World.run(sandbox: { $0.clock = clock }) { world in
            for minutes in [14, 14, 16] {
                _ = try await world.database.getScriptNames().firstValue()
                clock.advance(by: .seconds(minutes * 60))
            }
            expectNoDifference(world.sandbox.counters.logins, 1)
            expectNoDifference(world.sandbox.counters.openSessions, 0)
            _ = try await world.database.getScriptNames().firstValue()
            expectNoDifference(world.sandbox.counters.logins, 2)
            expectNoDifference(world.sandbox.counters.expiredSessions, 1)
        }
    }

    @Test(.tags(.fact)) func aSessionBelongsToTheDatabaseAsSpelled() async throws {
        try await World.run { world in
            _ = try await world.database.getScriptNames().firstValue()
            guard case .token(let token) = world.database.credentials.secret else {
                return #expect(Bool(false), "a log-in brings a token")
            }
            let error = await world.database.server.perform {
                DataAPIRequest<ScriptListBody>(
                    method: .GET,
                    path: .database("WORLD") / "scripts",
                    authorization: .credentials(Credentials(token: token))
                )
            }.awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .invalidToken)
            expectNoDifference(error?.httpStatus, 401)
        }
    }

    /// The token is determined with the subscription, not when the publisher is made.
    @Test(.tags(.earlierClients))
    func theTokenIsThatOfTheSubscriptionNotOfTheCall() async throws {
        try await World.run { world in
            let countries = world.countries.getRecords(recordQuery: RecordQuery(limit: 1)).returnAs(FieldData.self)
            _ = try await countries.firstValue()
            world.sandbox.expireSessions()
            _ = try await world.database.login(credentials: Credentials(user: "guest", password: "welcome"))
                .firstValue()
            _ = try await countries.firstValue()
            expectNoDifference(world.sandbox.counters.logins, 2, "the publisher found the new token by itself")
        }
    }

    @Test(.tags(.earlierClients))
    func subscriptionsInDifferentSessionsSendDifferentTokens() async throws {
        let release = Locked(0)
        try await ScriptedHost.run(
            client: { $0.sessions.maximumSessions = 2 },
            answer: { request in
                // The first call is not answered, so the second one comes in another session.
                release.change { $0 += 1 }
                return release.value == 1 ? .silence : .json("{}")
            }
        ) { host in
            let first = TrackingSubscriber<DataAPI.ScriptResponse, FMRest.APIError>()
            host.layout.runScript("A").subscribe(first)
            await until { host.calls.count == 1 }
            _ = try await host.layout.runScript("B").firstValue()
            first.cancel()
            expectNoDifference(host.calls.map { $0.header("Authorization") }, ["Bearer T1", "Bearer T2"])
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [
            [FaultServer.Step].error(952, status: 401), .html(401), .response(401),
        ]
    )
    func aRefusedTokenAndA401WithoutMessagesMeanTheSame(reply: [FaultServer.Step]) async throws {
        try await ScriptedHost.run(answer: { call in call.number == 0 ? reply : .json("{}") }) { host in
            _ = try await host.layout.runScript("S").firstValue()
            expectNoDifference(host.logIns.count, 2)
            expectNoDifference(host.calls.map { $0.header("Authorization") }, ["Bearer T1", "Bearer T2"])
        }
    }

    /// The shown token does not replace the account's credentials, so a lost session is renewed with them.
    @Test(.tags(.earlierClients))
    func theTokenDoesNotReplaceWhoLogsIn() async throws {
        try await World.run { world in
            _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(world.database.credentials.kind, .token)
            world.sandbox.expireSessions()
            _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(world.sandbox.counters.logins, 2)
        }
    }

    /// The credentials change once per event. They are invalid when the server has refused them, and `logOut()` forgets
    /// the token.
    @Test(.tags(.earlierClients))
    func credentialsChangeOncePerEvent() async throws {
        try await World.run { world in
            let kinds = Locked<[Credentials.Kind]>([])
            let watch = world.database.$credentials.sink { value in kinds.change { $0.append(value.kind) } }
            _ = try await world.database.getScriptNames().firstValue()
            expectNoDifference(kinds.value, [.basic, .token])
            _ = try await world.database.logOut().firstValue()
            #expect(kinds.value.last != .token)
            _ = await world.database.login(credentials: Credentials(user: "admin", password: "wrong"))
                .awaitSingleResult()
            expectNoDifference(world.database.credentials.kind, .invalid)
            watch.cancel()
        }
    }

    @Test(.tags(.earlierClients))
    func noCallIsPrecededByAValidationOfTheSession() async throws {
        try await World.run { world in
            for _ in 0..<3 { _ = try await world.database.getScriptNames().firstValue() }
            expectNoDifference(world.sandbox.counters.requests, [.login: 1, .scripts: 3])
        }
    }

    @Test(.tags(.earlierClients))
    func aSessionThatIsUsedLivesOn() async throws {
        let clock = ManualClock()
        try await World.run(sandbox: { $0.clock = clock }) { world in
            for _ in 0..<5 {
                _ = try await world.database.getScriptNames().firstValue()
                clock.advance(by: .seconds(14 * 60))
            }
            expectNoDifference(world.sandbox.counters.logins, 1)
        }
    }

    @Test(.tags(.earlierClients))
    func aDatabaseThatNobodyHoldsLeavesNoSessionOnItsServer() async throws {
        let sandbox = try await Sandbox.start(configuration: .init { $0.keepAlive = .seconds(600) })
        do {
            let layout = DataAPI.Server(host: sandbox.url, config: .patient)
                .addDatabase("World", credentials: Credentials(user: "admin", password: "secret")).addLayout(
                    "Zones"
                )
            _ = try await layout.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(sandbox.counters.openSessions, 1)
        }
        await until { sandbox.counters.openSessions == 0 }
        expectNoDifference(sandbox.counters.logouts, 1)
        await sandbox.stop()
    }

    /// Two accounts do not share sessions, and the logout of one does not end the other's.
    @Test(.tags(.earlierClients))
    func accountsDoNotShareSessions() async throws {
        try await World.run { world in
            let guest = world.database.signedIn(as: Credentials(user: "guest", password: "welcome"))
            _ = try await world.database.getScriptNames().firstValue()
            _ = try await guest.getScriptNames().firstValue()
            expectNoDifference(world.sandbox.counters.openSessions, 2)
            _ = try await guest.logOut().firstValue()
            _ = try await world.database.getScriptNames().firstValue()
            expectNoDifference(world.sandbox.counters.logins, 2)
            expectNoDifference(world.sandbox.counters.openSessions, 1)
        }
    }
}
