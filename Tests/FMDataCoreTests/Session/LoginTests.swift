import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import OpenCombine
import Testing

@testable import FMDataCore

/// Every way to log in: credentials of the database, OAuth, Claris ID, and credentials for data sources.
@Suite(.timeLimit(.minutes(15))) struct LoginTests {
    // MARK: With the credentials of the database

    @Test func aDatabaseLogsInBeforeItsFirstRequest() async throws {
        try await World.run { world in
            let login = world.database.login()
            expectNoDifference(world.sandbox.counters.totalRequests, 0, "nothing is sent before demand")
            let credentials = try await login.firstValue()
            expectNoDifference(credentials.kind, .token)
            expectNoDifference(world.database.credentials, credentials)
            // The following requests use this session, and a second `login()` opens no other.
            _ = try await login.firstValue()
            _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(world.sandbox.counters.logins, 1)
            expectNoDifference(world.sandbox.counters.totalRequests, 2)
        }
    }

    @Test func whoLogsInAtTheSameTimeSharesTheLogin() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 4 }) { world in
            let logins = Publishers.Sequence<[Int], Never>(sequence: Array(0..<8))
                .setFailureType(to: FMRest.APIError.self)
                .flatMap { _ in world.database.login() }
            let credentials = try await logins.collect().firstValue()
            expectNoDifference(credentials.count, 8)
            expectNoDifference(Set(credentials.map(\.kind)), [.token])
            #expect(world.sandbox.counters.logins <= 4)
        }
    }

    @Test func aLoginSaysWhatItsPasswordIsWorth() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            let error = await world.database.login().awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, 212)
            expectNoDifference(world.database.credentials, .invalid)
        }
        try await World.run(credentials: nil) { world in
            let error = await world.database.login().awaitSingleResult().failure
            expectNoDifference(error?.code, .unauthorized)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    @Test func aPinnedDatabaseIsLoggedIn() async throws {
        try await World.run { world in
            let kinds = try await world.database.withSession { pinned in
                [try await pinned.login().firstValue(), pinned.credentials].map(\.kind)
            }
            expectNoDifference(kinds, [.token, .token])
            expectNoDifference(world.sandbox.counters.logins, 1)
        }
    }

    @Test func aLoginIsTriedAgainAsThePolicySays() async throws {
        try await World.run { world in
            world.sandbox.inject(.error(FileMakerErrorCode.recordInUse), on: .login)
            let policy = DataAPI.RetryPolicy(maximumAttempts: 3, firstPause: .milliseconds(1))
            let credentials = try await world.database.retrying(policy).login().firstValue()
            expectNoDifference(credentials.kind, .token)
        }
    }

    // MARK: OAuth

    @Test func anOAuthSignInFromTheListOfProvidersToTheLogin() async throws {
        try await World.run(credentials: nil) { world in
            let server = world.database.server
            let provider = try #require(try await server.getOAuthProviders().firstValue().first)
            let signIn = try await server.startOAuth(provider: provider.name, returnURL: "https://app.example/back")
                .firstValue()
            #expect(signIn.url.contains("trackingID=\(signIn.trackingId)"))
            let identifier = try #require(
                world.sandbox.signIn(account: Solution.Sample.oauthUser, oauthRequestId: signIn.requestId)
            )
            _ = try await world.database.login(credentials: signIn.credentials(identifier: identifier)).firstValue()
            let one = try await world.countries.getRecords(recordQuery: RecordQuery(limit: 1))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(one.data.count, 1)
        }
    }

    @Test func whatIsSentIsWhatTheGuideSays() async throws {
        try await ScriptedHost.run(answer: { request in
            request.target.hasPrefix("/oauth")
                ? .response(
                    200,
                    ["Content-Type": "text/plain", "x-fms-request-id": "R1D"],
                    "https://login.example/a?b=c\r\n"
                )
                : .json(200, #"{"data":{"Provider":[{"Name":"Google","More":1},{"Name":"Azure & Co"}]},"result":"0"}"#)
        }) { host in
            let server = host.database.server
            let providers = try await server.getOAuthProviders().firstValue()
            expectNoDifference(providers.map(\.name), ["Google", "Azure & Co"])
            let start = server.startOAuth(
                provider: "Azure & Co",
                returnURL: "https://app.example/back?x=1",
                trackingId: "t r"
            )
            let signIn = try await start.firstValue()
            expectNoDifference(
                signIn,
                .init(requestId: "R1D", url: "https://login.example/a?b=c", trackingId: "t r")
            )
            expectNoDifference(
                host.calls.map(\.target),
                [
                    "/fmws/oauthproviderinfo",
                    "/oauth/getoauthurl?trackingID=t%20r&provider=Azure%20%26%20Co&address=127.0.0.1"
                        + "&X-FMS-OAuth-AuthType=2",
                ]
            )
            let last = try #require(host.calls.last)
            expectNoDifference(last.header("X-FMS-Application-Type"), "9")
            expectNoDifference(last.header("X-FMS-Application-Version"), "15")
            expectNoDifference(last.header("X-FMS-Return-URL"), "https://app.example/back?x=1")
            expectNoDifference(last.header("Authorization"), nil)
            #expect(!"\(signIn) \(String(reflecting: signIn)) \(String(customDumping: signIn))".contains("R1D"))
        }
    }

    @Test func eachSubscriptionIsASignInOfItsOwn() async throws {
        try await ScriptedHost.run(answer: { call in .json(200, "u", ["X-FMS-Request-ID": "R\(call.number)"]) }) {
            host in
            let start = host.database.server.startOAuth(provider: "Google", returnURL: "https://app.example")
            expectNoDifference(host.calls.count, 0)
            let first = try await start.firstValue()
            let second = try await start.firstValue()
            expectNoDifference([first.requestId, second.requestId], ["R0", "R1"])
            #expect(first.trackingId != second.trackingId)
        }
    }

    @Test(arguments: [
        (200, [FaultServer.Step].html(200)), (404, .html(404)), (500, .response(500)), (200, .json(200, "")),
        (200, .json(200, "[]")), (200, .json(200, "u", ["X-FMS-Request-ID": ""])),
    ])
    func whatIsNoProviderIsNoDataAPI(status: Int, reply: [FaultServer.Step]) async throws {
        try await ScriptedHost.run(answer: { _ in reply }) { host in
            let server = host.database.server
            let list = await server.getOAuthProviders().awaitSingleResult().failure
            expectNoDifference(list?.code, .notDataAPI)
            let start = await server.startOAuth(provider: "Google", returnURL: "r").awaitSingleResult().failure
            expectNoDifference(start?.code, .notDataAPI)
            expectNoDifference(start?.httpStatus, status)
        }
    }

    @Test func aServerWithoutProvidersHasNone() async throws {
        for body in [#"{"data":{}}"#, "{}", #"{"data":{"Provider":[]}}"#] {
            try await ScriptedHost.run(answer: { _ in .json(200, body) }) { host in
                let providers = try await host.database.server.getOAuthProviders().firstValue()
                expectNoDifference(providers, [])
            }
        }
    }

    @Test func anUnknownProviderIsRefusedInTheServersWords() async throws {
        try await World.run(credentials: nil) { world in
            let error = await world.database.server.startOAuth(provider: "Nobody", returnURL: "r")
                .awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .parameterValueInvalid)
        }
    }

    @Test func aClarisId() async throws {
        try await World.run(credentials: Credentials(clarisId: Solution.Sample.clarisToken)) { world in
            _ = try await world.countries.getRecords(recordQuery: RecordQuery(limit: 1)).returnAs(FieldData.self)
                .firstValue()
            expectNoDifference(world.sandbox.counters.logins, 1)
        }
    }

    // MARK: Data sources

    @Test(arguments: [
        Credentials(user: "api", password: "p"), Credentials(oAuthId: "r", oAuthIdentifier: "i"),
        Credentials(clarisId: "c"),
    ])
    func dataSourcesOfBothKindsGoWithEveryLogin(credentials: Credentials) async throws {
        let sources = FMDataSourceAuth(fmDataSource: [
            .init(database: "Stock", credentials: .basic(user: "u", password: "p")),
            .init(database: "Crew", credentials: .oAuth(requestId: "r2", identifier: "i2")),
        ])
        let expected =
            #"{"fmDataSource":[{"database":"Stock","password":"p","username":"u"},"#
            + #"{"database":"Crew","oAuthIdentifier":"i2","oAuthRequestId":"r2"}]}"#
        try await ScriptedHost.run(
            credentials: credentials,
            dataSources: sources,
            answer: { call in
                // Each session is good for one call.
                call.number == 0 || call.header("Authorization") == "Bearer T2"
                    ? .json("{}") : .error(952, status: 401)
            }
        ) { host in
            _ = try await host.layout.runScript("S").firstValue()
            _ = try await host.layout.runScript("S").firstValue()
            expectNoDifference(host.logIns.map(\.text), [expected, expected])
            for request in host.logIns {
                expectNoDifference(request.header("Content-Type"), "application/json")
            }
        }
    }

    @Test func dataSourcesGivenToLogInAreKeptForTheNextOne() async throws {
        let sources = FMDataSourceAuth(fmDataSource: [
            .init(database: "Stock", credentials: .basic(user: "u", password: "p"))
        ])
        try await ScriptedHost.run(answer: { request in
            request.header("Authorization") == "Bearer T1" ? .error(952, status: 401) : .json("{}")
        }) { host in
            _ = try await host.database.login(
                credentials: Credentials(user: "other", password: "q"),
                dataSourceCredentials: sources
            ).firstValue()
            _ = try await host.layout.runScript("S").firstValue()
            expectNoDifference(host.logIns.count, 2)
            for request in host.logIns {
                #expect(request.text.contains("Stock"))
                expectNoDifference(
                    request.header("Authorization"),
                    "Basic \(Data("other:q".utf8).base64EncodedString())"
                )
            }
        }
    }

    @Test func aDataSourceWithoutCredentialsIsRefusedLateAndTyped() async throws {
        try await ScriptedHost.run(answer: { _ in .error(802, "Unable to open file") }) { host in
            let error = await host.layout.runScript("S").awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .fileNotOpened)
            expectNoDifference(host.logIns.count, 1)
        }
    }

    @Test(.tags(.fact)) func credentialsOfADataSourceAreCheckedWhenItIsUsed() async throws {
        let stock = Solution(
            name: "Stock",
            tables: [.init(name: "Items", fields: [.init("Name")], records: [.init(["Name": "Tea"])])],
            layouts: [.layout(.init(name: "Items", table: "Items", fields: ["Name"]))],
            accounts: [.init(name: "clerk", password: "tea")]
        )
        let shop = Solution(
            name: "Shop",
            tables: [.init(name: "Orders", fields: [.init("Number")], records: [.init(["Number": "1"])])],
            occurrences: [.init(name: "Items", table: "Items", dataSource: "Stock")],
            layouts: [
                .layout(.init(name: "Orders", table: "Orders", fields: ["Number"])),
                .layout(.init(name: "Items", table: "Items", fields: ["Name"])),
            ],
            accounts: [.init(name: "admin", password: "")],
            dataSources: [.init(name: "Stock", database: "Stock")]
        )
        let sandbox = try await Sandbox.start([shop, stock], configuration: .init { $0.keepAlive = .seconds(600) })
        for (password, isRight) in [("wrong", false), ("tea", true)] {
            let database = DataAPI.Server(host: sandbox.url, config: .patient).addDatabase(
                "Shop",
                credentials: Credentials(user: "admin", password: ""),
                dataSources: FMDataSourceAuth(fmDataSource: [
                    .init(database: "Stock", credentials: .basic(user: "clerk", password: password))
                ])
            )
            let own = try await database.addLayout("Orders").getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(own.data.count, 1)
            let result = await database.addLayout("Items").getRecords().returnAs(FieldData.self).awaitSingleResult()
            if isRight {
                expectNoDifference(try result.get().data.count, 1)
            } else {
                #expect([100, 212, 802].contains(result.failure?.fileMakerCode?.rawValue))
            }
            _ = try await database.logOut().firstValue()
        }
        await sandbox.stop()
    }

    @Test(
        .tags(.earlierClients),
        arguments: [
            Credentials(user: "u", password: "p"), Credentials(oAuthId: "r", oAuthIdentifier: "i"),
            Credentials(clarisId: "c"),
        ]
    )
    func everyKindOfLoginHasAJSONBodyAndSaysSo(credentials: Credentials) async throws {
        try await ScriptedHost.run(credentials: credentials) { host in
            _ = try await host.layout.runScript("S").firstValue()
            expectNoDifference(host.logIns.map(\.text), ["{}"])
            expectNoDifference(host.logIns.map { $0.header("Content-Type") }, ["application/json"])
        }
    }

    @Test(.tags(.earlierClients))
    func aRefusedLoginKeepsFileMakersCode() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            let error = await world.contacts.getRecords().returnAs(Contact.self).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .invalidAccount)
            expectNoDifference(error?.httpStatus, 401)
            expectNoDifference(error?.request?.path, "/databases/World/sessions")
        }
    }
}
