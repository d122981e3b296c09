import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Failures around sessions, seen from outside: no flood of logins, no request that fails because of another one's
/// failure, and no session left open.
@Suite(.timeLimit(.minutes(15))) struct SessionTroubleTests {
    private func create(in world: World) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        world.contacts.createRecord(record: EditRecord(createRecord: FieldData()))
    }

    private func expectNothingLeft(by server: DataAPI.Server, line: UInt = #line) async throws {
        let summary = try await server.shutdown().firstValue()
        expectNoDifference(summary, DataAPI.ShutdownSummary(sessionsLeft: 0), line: line)
    }

    private func impatient(_ config: inout DataAPI.Config) {
        config.sessions.minimumBackOff = .milliseconds(1)
        config.sessions.maximumBackOff = .milliseconds(2)
    }

    // MARK: New tokens that are refused

    @Test func aServerThatRefusesItsOwnTokensSeesTwoLoginsAndNoSessionStays() async throws {
        try await World.run(
            client: { ($0.sessions.minimumBackOff, $0.sessions.maximumBackOff) = (.seconds(3600), .seconds(3600)) }
        ) { world in
            world.sandbox.inject(.refuseFreshToken, on: .login, count: nil)
            for _ in 0..<20 {
                let error = await create(in: world).awaitSingleResult().failure
                expectNoDifference(error?.code, .tokensRefused)
                expectNoDifference(error?.outcomeIsUnknown, false)
                #expect(error?.hint?.contains("load balancer") == true)
            }
            expectNoDifference(world.sandbox.counters.logins, 2)
            expectNoDifference(world.sandbox.counters.executedWrites, 0)
            try await expectNothingLeft(by: world.database.server)
            expectNoDifference(world.sandbox.counters.openSessions, 0)
        }
    }

    @Test func whenItTakesThemAgainRequestsAreServed() async throws {
        try await World.run(client: impatient) { world in
            world.sandbox.inject(.refuseFreshToken, on: .login, count: 4)
            let first = await create(in: world).awaitSingleResult().failure
            expectNoDifference(first?.code, .tokensRefused)
            expectNoDifference(first?.isRetryable, true)
            var attempts = 0
            while await create(in: world).awaitSingleResult().failure != nil, attempts < 10_000 { attempts += 1 }
            expectNoDifference(world.sandbox.counters.logins, 5)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
        }
    }

    // MARK: Logins with temporary failures

    @Test(.thorough, arguments: [Sandbox.Fault.html(status: 503), .html(status: 502), .empty(status: 504), .reset])
    func aLoginThatFailsInPassingCondemnsNobody(fault: Sandbox.Fault) async throws {
        try await World.run(client: impatient) { world in
            world.sandbox.inject(fault, on: .login, count: 2)
            let ids = try await (0..<100).publisher.flatMap { _ in create(in: world) }.collect().firstValue()
            expectNoDifference(ids.count, 100)
            expectNoDifference(world.sandbox.counters.executedWrites, 100)
        }
    }

    @Test func whoWaitedForALoginThatKeepsFailingHearsThatNothingWasSent() async throws {
        try await World.run(client: impatient) { world in
            world.sandbox.inject(.resetAfterExecution, on: .login, count: 3)
            let results = await withTaskGroup(of: FMRest.APIError?.self) { group in
                for _ in 0..<20 { group.addTask { await create(in: world).awaitSingleResult().failure } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for error in results.compactMap({ $0 }) {
                #expect(error.isRetryable && !error.outcomeIsUnknown)
                #expect(error.hint?.contains("Nothing of the call was sent") == true, "\(error)")
            }
            expectNoDifference(world.sandbox.counters.executedWrites, results.count { $0 == nil })
            // The answers to these logins were lost, so only the server knows of the sessions.
            world.sandbox.expireSessions()
        }
    }

    // MARK: No session is left open

    @Test func aLoginThatIsCancelledLeavesNoSession() async throws {
        try await World.run { world in
            world.sandbox.inject(.holdAnswer, on: .login)
            let login = TrackingSubscriber<DataAPI.Credentials, FMRest.APIError>()
            world.database.login(
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            .subscribe(login)
            await world.sandbox.untilAnswersHeld()
            expectNoDifference(world.sandbox.counters.openSessions, 1)
            login.cancel()
            let ended = TrackingSubscriber<DataAPI.ShutdownSummary, FMRest.APIError>()
            world.database.server.shutdown().subscribe(ended)
            world.sandbox.releaseAnswers()
            await ended.completion()
            expectNoDifference(ended.values, [DataAPI.ShutdownSummary(sessionsLeft: 0)])
            expectNoDifference(world.sandbox.counters.openSessions, 0)
            expectNoDifference(login.values, [])
        }
    }

    @Test func afterAShutdownNobodyLogsIn() async throws {
        try await World.run { world in
            _ = try await world.database.server.shutdown().firstValue()
            let login = world.database.login(
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            let error = await login.awaitSingleResult().failure
            expectNoDifference(error?.code, .shutdown)
            expectNoDifference(world.sandbox.counters.logins, 0)
        }
    }

    @Test(arguments: [Sandbox.Fault.html(status: 503), .reset])
    func aLogoutThatFailsInPassingIsRepeated(fault: Sandbox.Fault) async throws {
        try await World.run(client: impatient) { world in
            _ = try await create(in: world).firstValue()
            world.sandbox.inject(fault, on: .logout, count: 3)
            let summary = try await world.database.server.shutdown().firstValue()
            expectNoDifference(summary.sessionsLeft, 0)
            expectNoDifference(world.sandbox.counters.openSessions, 0)
        }
    }

    @Test func aShutdownSaysHowManySessionsItCouldNotEnd() async throws {
        try await World.run(client: {
            impatient(&$0)
            $0.sessions.shutdownDeadline = .milliseconds(50)
        }) { world in
            _ = try await create(in: world).firstValue()
            world.sandbox.inject(.html(status: 503), on: .logout, count: nil)
            let summary = try await world.database.server.shutdown().firstValue()
            expectNoDifference(summary.sessionsLeft, 1)
            expectNoDifference(world.database.sessionStatus.sessionsLeft, 1)
            world.sandbox.clearFaults()
            world.sandbox.expireSessions()
        }
    }

    @Test func aLogoutThatFailsForGoodIsAnErrorOfTheDatabase() async throws {
        try await World.run { world in
            _ = try await create(in: world).firstValue()
            world.sandbox.inject(.html(status: 404), on: .logout)
            let error = await world.database.logOut().awaitSingleResult().failure
            expectNoDifference(error?.httpStatus, 404)
            world.sandbox.expireSessions()
        }
    }

    // MARK: Stores

    /// Both programs find the store empty and log in. One of the two sessions is stored; the other one stays with its
    /// program, which must log it out.
    @Test func twoProgramsThatStartTogetherOnOneFileLeaveOneSession() async throws {
        try await withTemporaryFolder { folder in
            try await World.run(client: { $0.sessions.tokenStore = .file(at: folder.path + "/tokens") }) { world in
                let server = world.database.server
                let other = DataAPI.Server(host: server.host, config: server.config).addDatabase(
                    world.database.name,
                    credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
                )
                world.sandbox.inject(.holdAnswer, on: .login, count: 2)
                async let first = world.database.getScriptNames().firstValue()
                async let second = other.getScriptNames().firstValue()
                await world.sandbox.untilAnswersHeld(2)
                world.sandbox.releaseAnswers()
                _ = try await (first, second)
                // The first program shuts down while the other one still works.
                try await expectNothingLeft(by: server)
                try await expectNothingLeft(by: other.server)
                expectNoDifference(world.sandbox.counters.openSessions, 1)
                let third = DataAPI.Server(host: server.host, config: server.config).addDatabase(
                    world.database.name,
                    credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
                )
                _ = try await third.getScriptNames().firstValue()
                expectNoDifference(world.sandbox.counters.logins, 2)
                _ = try await third.logOut().firstValue()
                expectNoDifference(world.sandbox.counters.openSessions, 0)
            }
        }
    }

    @Test func aTokenFileThatOthersCanReadIsAnErrorBeforeAnythingIsSent() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path + "/tokens"
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o644]
            #expect(FileManager.default.createFile(atPath: path, contents: Data("{}".utf8), attributes: attributes))
            try await World.run(client: { $0.sessions.tokenStore = .file(at: path) }) { world in
                let error = await create(in: world).awaitSingleResult().failure
                expectNoDifference(error?.code, .tokenStore)
                #expect(error?.reason.contains("only its owner can read") == true, "\(String(describing: error))")
                expectNoDifference(world.sandbox.counters.logins, 0)
                expectNoDifference(world.database.sessionStatus.storeFailures, 1)
            }
            try await World.run(client: { $0.sessions.tokenStore = .file(at: path, onFailure: .logIn) }) { world in
                _ = try await create(in: world).firstValue()
                // A session that could not be stored is logged out, since no other process can use it.
                _ = try await world.database.server.shutdown().firstValue()
                expectNoDifference(world.sandbox.counters.openSessions, 0)
                #expect(world.database.sessionStatus.storeFailures > 0)
            }
        }
    }
}
