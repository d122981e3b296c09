import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Errors of databases without credentials, and of those whose credentials were refused.
@Suite(.timeLimit(.minutes(15))) struct CredentialErrorTests {
    @Test func aDatabaseWithoutCredentialsSaysSoAndSendsNothing() async throws {
        try await World.run(credentials: nil) { world in
            let host = world.database.server.host
            for _ in 0..<2 {
                let error = await world.countries.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
                expectNoDifference(
                    error?.description,
                    "unauthorized: There are no credentials for database \"World\" on \(host), so nothing was sent. "
                        + "(GET \(host)/fmi/data/vLatest/databases/World/layouts/Countries/records) Hint: Give them to addDatabase(_:credentials:), or log in by login(credentials:). By its name alone one gets another object than by its name with credentials."
                )
            }
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    private let refusedEarlier =
        "The server refused these credentials earlier with 212 (\(FileMakerErrorCode.invalidAccount.name ?? "?")), "
        + "so nothing was sent."
    private let hint = (FileMakerErrorCode.invalidAccount.hint ?? "?") + " Others are taken by login(credentials:)."

    @Test func aRefusedAccountIsNotSentAgainAndTheErrorSaysWhy() async throws {
        try await World.run(credentials: Credentials(user: "ada", password: "wrong")) { world in
            let first = await world.database.getScriptNames().awaitSingleResult().failure
            expectNoDifference(first?.fileMakerCode, .invalidAccount)
            #expect(first?.reason.contains("earlier") == false)
            expectNoDifference(world.database.credentials, .invalid)
            for _ in 0..<2 {
                let error = await world.database.getScriptNames().awaitSingleResult().failure
                expectNoDifference(
                    error?.description,
                    "fileMaker 212: \(refusedEarlier) [HTTP 401] "
                        + "(POST \(world.sandbox.url)/fmi/data/vLatest/databases/World/sessions) Hint: \(hint)"
                )
            }
            expectNoDifference(world.sandbox.counters.totalRequests, 1)
        }
    }

    /// The refused credentials are not kept, but the error must not say that there were none.
    @Test func aLoginThatWasRefusedIsRememberedWhereThereAreNoCredentials() async throws {
        try await World.run(credentials: nil) { world in
            let wrong = Credentials(user: "ada", password: "wrong")
            let login = await world.database.login(credentials: wrong).awaitSingleResult().failure
            expectNoDifference(login?.fileMakerCode, .invalidAccount)
            let error = await world.database.getScriptNames().awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .invalidAccount)
            expectNoDifference(error?.reason, refusedEarlier)
            expectNoDifference(world.sandbox.counters.totalRequests, 1)

            let right = Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            _ = try await world.database.login(credentials: right).firstValue()
            _ = try await world.database.getScriptNames().firstValue()
        }
    }
}
