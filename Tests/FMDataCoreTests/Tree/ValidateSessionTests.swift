import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// What `validateSession` of a database returns, and which requests it sends.
@Suite(.timeLimit(.minutes(15))) struct ValidateSessionTests {
    @Test func aSessionThatIsOpenIsValid() async throws {
        try await World.run { world in
            // The first call logs in.
            for _ in 1...2 {
                let values = try await world.database.validateSession().outcome().get()
                expectNoDifference(values, [true])
            }
            expectNoDifference(world.sandbox.counters.logins, 1)
            expectNoDifference(world.sandbox.counters.requests[.validateSession], 2)
        }
    }

    @Test func aSessionThatHasEndedIsRenewedFirst() async throws {
        try await World.run { world in
            _ = try await world.database.validateSession().firstValue()
            world.sandbox.expireSessions()
            let isValid = try await world.database.validateSession().firstValue()
            #expect(isValid)
            expectNoDifference(world.sandbox.counters.logins, 2)
        }
    }

    @Test func credentialsThatAreRefusedAreNotValid() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            let values = try await world.database.validateSession().outcome().get()
            expectNoDifference(values, [false])
            expectNoDifference(world.database.credentials, .invalid)
        }
    }

    @Test func aTokenThatNobodyCanRenewIsNotValidOnceItHasEnded() async throws {
        try await World.run(credentials: Credentials(token: "deadbeef")) { world in
            let values = try await world.database.validateSession().outcome().get()
            expectNoDifference(values, [false])
        }
    }

    @Test func otherFailuresStayFailures() async throws {
        try await World.run { world in
            world.sandbox.inject(.html(status: 502), on: .validateSession, count: nil)
            let error = await world.database.validateSession().awaitSingleResult().failure
            expectNoDifference(error?.httpStatus, 502)
            expectNoDifference(error?.code, .notDataAPI)
        }
    }
}
