import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import OpenCombine
import Testing

@testable import FMDataCore

/// A database with a key, which a proxy takes in place of a login.
@Suite(.timeLimit(.minutes(15))) struct KeyTests {
    private static let key = "dk_s3cret"

    private typealias Records = DataAPI.RecordResponse<FieldData, EmptyPortal>

    private func run(
        _ credentials: Credentials? = .key(KeyTests.key),
        sandbox configureSandbox: (inout Sandbox.Configuration) -> Void = { _ in },
        client configureClient: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (World) async throws -> Void
    ) async throws {
        try await World.run(
            credentials: credentials,
            sandbox: {
                $0.keys = [Sandbox.Key(Self.key, database: "World", account: Solution.Sample.user)]
                configureSandbox(&$0)
            },
            client: {
                $0.rootPath = "/otto/fmi/data"
                configureClient(&$0)
            }
        ) { world in try await body(world) }
    }

    // MARK: What a key is good for

    @Test func everyCallCarriesItAndNoneLogsIn() async throws {
        try await run { world in
            let (database, contacts) = (world.database, world.contacts)
            _ = try await database.server.getDatabaseNames(credentials: .key(Self.key)).firstValue()
            _ = try await database.getLayoutNames().firstValue()
            _ = try await contacts.getLayoutMetadata().firstValue()
            let streamed = try await world.countries.records(FieldData.self).collect().firstValue()
            expectNoDifference(streamed.count, 100)
            let found = try await contacts.findRecords(query: FindQuery(query: [["Name": "=Ada"]]))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(found.data.count, 1)
            let id = try await contacts.createRecord(["City": "Oslo"]).firstValue().recordId
            _ = try await contacts.editRecord(["City": "Kiel"], recordId: id).firstValue()
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("a".utf8))
            _ = try await contacts.uploadContainer(file, to: "Photo", recordId: id).firstValue()
            _ = try await contacts.runScript("Echo", parameter: "a").firstValue()
            _ = try await contacts.deleteRecord(recordId: id).firstValue()
            _ = try await database.logOut().firstValue()
            expectNoDifference(database.credentials, .key(Self.key))
            expectNoDifference(database.sessionStatus.sessions + database.sessionStatus.logins, 0)
            let counters = world.sandbox.counters
            expectNoDifference([counters.logins, counters.logouts, counters.strayRequests], [0, 0, 0])
            expectNoDifference(counters.requests[.login], nil)
        }
    }

    @Test func itDoesNotEnd() async throws {
        let clock = ManualClock()
        try await run(sandbox: { $0.clock = clock }) { world in
            _ = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
            clock.advance(by: .seconds(3600))
            _ = try await world.contacts.createRecord().firstValue()
            expectNoDifference(world.sandbox.counters.totalRequests, 2)
        }
    }

    @Test func asManyCallsAreUnderWayAsThereAreConnections() async throws {
        try await run(client: { ($0.maximumConnections, $0.sessions.maximumSessions) = (5, 1) }) { world in
            world.sandbox.inject(.holdAnswer, on: .getRecords, count: 20)
            let calls = (0..<20).map { _ in TrackingSubscriber<Records, FMRest.APIError>() }
            for call in calls { world.countries.getRecords(isolation: nil).subscribe(call) }
            await world.sandbox.untilAnswersHeld(5)
            await settled { world.sandbox.heldAnswerCount }
            expectNoDifference(world.sandbox.heldAnswerCount, 5)
            for _ in 0..<20 {
                await world.sandbox.untilAnswersHeld()
                world.sandbox.releaseAnswers(1)
            }
            for call in calls {
                await call.completion()
                expectNoDifference(call.values.count, 1)
            }
            expectNoDifference(world.database.maximumConcurrentCalls, 5)
        }
    }

    @Test func aBatchAndALiveQueryWorkWithIt() async throws {
        try await run { world in
            let people = world.database.layout(PlainContact.self)
            let names = ["Zoe", "Yan", "Xenia"].map { DataAPI.RecordWrite<PlainContact>.create(PlainContact(name: $0)) }
            let rows = try await people.writing(names).collect().firstValue()
            expectNoDifference(rows.count, 3)
            let seen = Locked(0)
            let live = people.live(isolation: nil)
                .sink(receiveCompletion: { _ in }, receiveValue: { value in seen.change { $0 = value.records.count } })
            await until { seen.value == 6 }
            live.cancel()
            expectNoDifference(world.sandbox.counters.logins, 0)
        }
    }

    @Test func contentIsReadWhereTheHostAsksForNoToken() async throws {
        try await run(sandbox: { $0.containerStreaming = .open }) { world in
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("hello".utf8))
            _ = try await world.contacts.uploadContainer(file, to: "Photo", recordId: 1).firstValue()
            let content = try await world.contacts.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                .firstValue()
            expectNoDifference(String(decoding: content.data, as: UTF8.self), "hello")
        }
    }

    // MARK: A key that is refused

    @Test func aRefusedKeyIsAnErrorOfItsOwnAndNothingLogsIn() async throws {
        try await run(.key("dk_gone")) { world in
            let error = await world.contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.code, .unauthorized)
            expectNoDifference(error?.reason, "The server refused the key, so the call was not carried out.")
            expectNoDifference(error?.httpStatus, 401)
            expectNoDifference(error?.fileMakerCode, nil)
            expectNoDifference(error?.outcomeIsUnknown, false)
            expectNoDifference(error?.isRetryable, false)
            expectNoDifference(error?.request?.method, "POST")
            // A 401 of the proxy is no find without a match.
            let found = await world.database.layout(PlainContact.self).firstRecord { $0(.name) == "Ada" }
                .awaitSingleResult().failure
            expectNoDifference(found?.code, .unauthorized)
            expectNoDifference(world.sandbox.counters.requests, [.createRecord: 1, .find: 1])
        }
    }

    @Test func aKeyThatIsUsedAtTheHostItselfSaysWhereItBelongs() async throws {
        try await run(client: { $0.rootPath = "/fmi/data" }) { world in
            let error = await world.contacts.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .unauthorized)
            expectNoDifference(
                error?.hint,
                #"OttoFMS takes its keys below /otto: set config.rootPath to "/otto/fmi/data"."#
            )
            expectNoDifference(world.sandbox.counters.requests, [.getRecords: 1])
        }
    }

    @Test func aRetryPolicyDoesNotSendARefusedKeyAgain() async throws {
        try await run(.key("dk_gone")) { world in
            let patient = world.contacts.retrying(DataAPI.RetryPolicy(firstPause: .zero, jitter: 0))
            _ = await patient.getRecords().returnAs(FieldData.self).awaitSingleResult()
            expectNoDifference(world.sandbox.counters.totalRequests, 1)
        }
    }

    @Test func whatPassesIsTriedAgainWithIt() async throws {
        try await run { world in
            world.sandbox.inject(.html(status: 503), on: .getRecords)
            let patient = world.contacts.retrying(DataAPI.RetryPolicy(firstPause: .zero, jitter: 0))
            let records = try await patient.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(records.data.count, 3)
        }
    }

    // MARK: What needs a session

    @Test func whatNeedsASessionFailsBeforeAnythingIsSent() async throws {
        try await run { world in
            let reserved = await world.database.withSessionPublisher { pinned in
                pinned.getScriptNames()
            }
            .awaitSingleResult().failure
            expectNoDifference(reserved?.code, .invalidRequest)
            expectNoDifference(
                reserved?.reason,
                "withSession needs a session, and a key opens none: each call may be carried out in another one."
            )
            do {
                try await world.database.withSession { pinned in
                    _ = try await pinned.getScriptNames().firstValue()
                }
                Issue.record("the work was done")
            } catch {
                expectNoDifference((error as? FMRest.APIError)?.code, .invalidRequest)
            }
            let globals = await world.database.setGlobals(["Contacts::gFilter": "a"])
                .awaitSingleResult().failure
            expectNoDifference(globals?.code, .invalidRequest)
            #expect(globals?.reason.hasPrefix("Global fields need a session") == true)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    // MARK: Checking a key

    @Test func loggingInChecksIt() async throws {
        try await run { world in
            let credentials = try await world.database.login().firstValue()
            expectNoDifference(credentials, .key(Self.key))
            let isValid = try await world.database.validateSession().firstValue()
            #expect(isValid)
            expectNoDifference(world.sandbox.counters.requests, [.scripts: 2])
        }
        try await run(.key("dk_gone")) { world in
            let error = await world.database.login().awaitSingleResult().failure
            expectNoDifference(error?.code, .unauthorized)
            let isValid = try await world.database.validateSession().firstValue()
            #expect(!isValid)
        }
    }

    @Test func loggingInWithAKeyReplacesAnAccount() async throws {
        let clock = ManualClock()
        try await run(nil, sandbox: { $0.clock = clock }) { world in
            let database = world.database
            let refused = await database.login(credentials: .key("dk_gone")).awaitSingleResult().failure
            expectNoDifference(refused?.code, .unauthorized)
            expectNoDifference(database.credentials, .invalid)
            let credentials = try await database.login(credentials: .key(Self.key)).firstValue()
            expectNoDifference(credentials, .key(Self.key))
            expectNoDifference(database.credentials, .key(Self.key))
            _ = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
        }
    }

    @Test func anAccountAndAKeyTakeEachOthersPlace() async throws {
        let root = DataAPI.Middleware { request, next in
            // The account belongs to the host itself, the key to its proxy.
            var request = request
            if request.operation == .logIn || request.tag == "host" { request.rootPath = "/fmi/data/vLatest" }
            if request.operation == .logOut { request.rootPath = "/fmi/data/vLatest" }
            return next(request)
        }
        try await run(client: { $0.middleware = [root] }) { world in
            let (database, contacts) = (world.database, world.contacts)
            _ = try await contacts.getRecords().returnAs(FieldData.self).firstValue()
            database.replaceCredentials(
                Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            _ = try await contacts.tagged("host").getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(database.credentials.kind, .token)
            expectNoDifference(world.sandbox.counters.openSessions, 1)
            database.replaceCredentials(.key(Self.key))
            expectNoDifference(database.credentials, .key(Self.key))
            await until { world.sandbox.counters.openSessions == 0 }
            _ = try await contacts.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(world.sandbox.counters.logins, 1)
        }
    }

    @Test func aCallOfTheAccountBeforeDoesNotUseIt() async throws {
        try await run { world in
            world.sandbox.inject(.holdAnswer, on: .getRecords)
            let call = TrackingSubscriber<Records, FMRest.APIError>()
            world.contacts.getRecords(isolation: nil).subscribe(call)
            await world.sandbox.untilAnswersHeld()
            world.database.replaceCredentials(.key("dk_other"))
            guard case .failure(let error) = await call.completion() else {
                Issue.record("it did not fail")
                return
            }
            expectNoDifference(error.code, .credentialsReplaced)
            world.sandbox.releaseAnswers()
        }
    }

    // MARK: A key as credentials

    @Test func equalKeysAreOneAccount() {
        let server = DataAPI.Server(host: "fms.example.com")
        let database = server.addDatabase("Harbor", credentials: .key("dk_1"))
        #expect(server.addDatabase("Harbor", credentials: .key("dk_1")) === database)
        #expect(server.addDatabase("Harbor", credentials: .key("dk_2")) !== database)
        #expect(server.addDatabase("Harbor", credentials: Credentials(token: "dk_1")) !== database)
        expectNoDifference(database.credentials.kind, .key)
        expectNoDifference(database.credentials.user, nil)
    }

    @Test func aProviderCannotSupplyIt() async throws {
        try await run { world in
            let error = await Self.scriptNames(of: Self.withProvider(world.database))
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(error?.reason, "A key cannot open a session, so nothing was sent.")
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    private static func withProvider(_ database: DataAPI.Database) -> DataAPI.Database {
        let provider = DataAPI.CredentialsProvider {
            Just(Credentials.key(key)).setFailureType(to: (any Error).self).eraseToAnyPublisher()
        }
        return database.signedIn(by: provider)
    }

    private static func scriptNames(of database: DataAPI.Database) async -> FMRest.APIError? {
        await database.getScriptNames().awaitSingleResult().failure
    }

    @Test func itIsNeverPrinted() async throws {
        let log = LogLines()
        try await run(client: { $0.logger = log.logger(.trace) }) { world in
            _ = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
            let error = await world.contacts.deleteRecord(recordId: 999_999).awaitSingleResult().failure
            let list = try #require(
                await world.database.server.getDatabaseNames(credentials: .key("dk_s3cret_gone"))
                    .awaitSingleResult().failure
            )
            var printed =
                "\(world.database.credentials) \(error as Any) \(error?.curl ?? "") \(list) \(list.curl ?? "")"
            dump(world.database, to: &printed)
            dump(Credentials.key(Self.key), to: &printed)
            customDump(Credentials.key(Self.key), to: &printed)
            customDump(error, to: &printed)
            #expect(!printed.contains("s3cret"))
            #expect(printed.contains("Credentials.key(••••)"))
        }
        #expect(log.all.count > 2)
        let leaks = log.all.filter { $0.contains("s3cret") }
        expectNoDifference(leaks, [])
    }
}
