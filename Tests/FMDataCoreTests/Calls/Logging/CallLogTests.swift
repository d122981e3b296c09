import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import OpenCombine
import Testing

@testable import FMDataCore

/// Each call of every endpoint logs one line at level `debug`.
@Suite(.timeLimit(.minutes(15))) struct CallLogTests {
    /// Runs calls against a fresh server and returns their log lines without what each line must have, or has with a
    /// value of its own: `origin`, `duration_ms`, `fm.session`, the numbers of bytes, and the reason of a failure.
    private func lines(_ body: (World) async throws -> Void) async throws -> [String] {
        let log = LogLines()
        var url = ""
        try await World.run(client: { $0.logger = log.logger(.debug) }) { world in
            url = world.sandbox.url
            try await body(world)
        }
        let lines = Self.calls(in: log)
        // The line about a refused session has no duration, since its request is repeated.
        for line in lines where !line.contains("session refused") {
            #expect(line.contains("duration_ms="), "\(line)")
            expectNoDifference(line.contains(" reason="), line.contains(" failed|"), "\(line)")
        }
        return lines.map { line in
            #expect(line.contains("origin=\(url)"), "\(line)")
            let parts = line.replacing(#/ reason=.*?(?= rows=|$)/#, with: "")
                .split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
            let fields = parts[1].split(separator: " ").filter { field in
                !["duration_ms=", "origin=", "fm.session=", "bytes_in=", "bytes_out="].contains { field.hasPrefix($0) }
            }
            return parts[0] + "|" + fields.joined(separator: " ")
        }
    }

    /// The lines about calls, logins and logouts, without those about the pool of sessions.
    private static func calls(in log: LogLines) -> [String] {
        log.all.filter { !$0.hasPrefix("debug sessions changed") && !$0.hasPrefix("debug waited for a session") }
    }

    private static func messages(in log: LogLines) -> [String] {
        calls(in: log).map { String($0.prefix { $0 != "|" }) }
    }

    private let login =
        "debug login finished|fm.code=0 fm.database=World fm.operation=logIn http.method=POST "
        + "http.path=/databases/World/sessions http.status=200"
    private let logout =
        "debug logout finished|fm.code=0 fm.database=World fm.operation=logOut http.method=DELETE "
        + "http.path=/databases/World/sessions/{token} http.status=200"

    private func finished(
        _ operation: String,
        on layout: String? = nil,
        record: Int? = nil,
        _ request: String,
        rows: Int? = nil
    ) -> String {
        let (method, path) = (request.prefix { $0 != " " }, request.drop { $0 != " " }.dropFirst())
        return "debug call finished|fm.code=0 fm.database=World" + (layout.map { " fm.layout=\($0)" } ?? "")
            + " fm.operation=\(operation)" + (record.map { " fm.record=\($0)" } ?? "")
            + " http.method=\(method) http.path=/databases/World\(path) http.status=200"
            + (rows.map { " rows=\($0)" } ?? "")
    }

    @Test func aCallItsLoginAndItsLogout() async throws {
        let lines = try await lines { world in
            _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
        }
        expectNoDifference(
            lines,
            [
                login,
                finished("getRecords", on: "Countries", "GET /layouts/Countries/records", rows: 100),
                logout,
            ]
        )
    }

    @Test func everyKindOfCall() async throws {
        let lines = try await lines { world in
            let database = world.database
            let contacts = world.contacts
            _ = try await database.server.getProductInfo().firstValue()
            _ = try await database.getScriptNames().firstValue()
            _ = try await world.countries.getLayoutMetadata().firstValue()
            _ = try await world.countries.records(FieldData.self).collect().firstValue()
            _ = try await world.countries.findRecords(query: FindQuery(query: [["Code": "==AU"]]))
                .returnAs(FieldData.self).firstValue()
            _ = try await world.countries.runScript("Count Found", parameter: "s3cret").firstValue()
            let id = try await contacts.createRecord().firstValue().recordId
            let file = FMRest.ContainerFile(fileName: "s3cret.txt", data: Data("s3cret".utf8))
            _ = try await contacts.uploadContainer(file, to: "Photo", recordId: id).firstValue()
            _ = try await contacts.downloadContainer(fieldName: "Photo", recordId: id).toMemory(upTo: 100).firstValue()
            _ = try await contacts.deleteRecord(recordId: id).firstValue()
        }
        let records = "/layouts/Contacts/records"
        expectNoDifference(
            lines,
            [
                "debug call finished|fm.code=0 fm.operation=productInfo http.method=GET http.path=/productInfo "
                    + "http.status=200",
                login,
                finished("scriptNames", "GET /scripts"),
                finished("layoutMetadata", on: "Countries", "GET /layouts/Countries"),
                finished("getRecords", on: "Countries", "GET /layouts/Countries/records", rows: 100),
                finished("findRecords", on: "Countries", "POST /layouts/Countries/_find", rows: 1),
                finished("runScript", on: "Countries", "GET /layouts/Countries/script/Count%20Found"),
                finished("createRecord", on: "Contacts", "POST \(records)"),
                finished(
                    "uploadContainer",
                    on: "Contacts",
                    record: 4,
                    "POST \(records)/{recordId}/containers/Photo/{repetition}"
                ),
                finished("getRecord", on: "Contacts", record: 4, "GET \(records)/{recordId}", rows: 1),
                "debug call finished|fm.operation=downloadContainer http.method=GET http.path=/{content} "
                    + "http.status=302",
                "debug call finished|fm.operation=downloadContainer http.method=GET http.path=/{content} "
                    + "http.status=200",
                finished("deleteRecord", on: "Contacts", record: 4, "DELETE \(records)/{recordId}"),
                logout,
            ]
        )
    }

    @Test func failures() async throws {
        let lines = try await lines { world in
            _ = await world.contacts.deleteRecord(recordId: 999_999).awaitSingleResult()
            let none = FindQuery(query: [["Code": "==??"]])
            _ = await world.countries.records(FieldData.self, findQuery: none).collect().awaitSingleResult()
            world.sandbox.inject(.html(status: 502), on: .getRecords)
            _ = await world.countries.records(FieldData.self).collect().awaitSingleResult()
            world.sandbox.inject(.reset, on: .createRecord)
            _ = await world.contacts.createRecord().awaitSingleResult()
        }
        expectNoDifference(
            lines,
            [
                login,
                "debug call failed|error=fileMaker fm.code=101 fm.database=World fm.layout=Contacts "
                    + "fm.operation=deleteRecord fm.record=999999 http.method=DELETE "
                    + "http.path=/databases/World/layouts/Contacts/records/{recordId} http.status=500",
                "debug call failed|error=fileMaker fm.code=401 fm.database=World fm.layout=Countries "
                    + "fm.operation=findRecords http.method=POST "
                    + "http.path=/databases/World/layouts/Countries/_find http.status=500",
                "debug call failed|error=notDataAPI fm.database=World fm.layout=Countries "
                    + "fm.operation=getRecords http.method=GET "
                    + "http.path=/databases/World/layouts/Countries/records http.status=502",
                "debug call failed|error=network fm.database=World fm.layout=Contacts fm.operation=createRecord "
                    + "http.method=POST http.path=/databases/World/layouts/Contacts/records",
                logout,
            ]
        )
    }

    @Test func aSessionThatIsRenewed() async throws {
        let lines = try await lines { world in
            _ = try await world.database.getScriptNames().firstValue()
            world.sandbox.inject(.expireToken, on: .scripts)
            _ = try await world.database.getScriptNames().firstValue()
        }
        let scripts = finished("scriptNames", "GET /scripts")
        expectNoDifference(
            lines,
            [
                login,
                scripts,
                "debug call failed|error=fileMaker fm.code=952 fm.database=World fm.operation=scriptNames "
                    + "http.method=GET http.path=/databases/World/scripts http.status=401",
                "debug session refused, request is repeated in another|fm.code=952 fm.database=World http.status=401",
                login,
                scripts.replacing("fm.code", with: "fm.attempt=2 fm.code"),
                logout,
            ]
        )
    }

    @Test func aLoginThatIsRefused() async throws {
        let log = LogLines()
        try await World.run(
            credentials: Credentials(user: "ada", password: "s3cret"),
            client: { $0.logger = log.logger(.debug) }
        ) { world in
            _ = await world.database.getScriptNames().awaitSingleResult()
            _ = await world.database.getScriptNames().awaitSingleResult()
        }
        expectNoDifference(
            Self.messages(in: log),
            ["debug login failed", "notice credentials are refused", "debug call failed", "debug call failed"],
            "the second login was not sent"
        )
        #expect(Self.calls(in: log)[3].contains("fm.code=212"))
        let line = Self.calls(in: log)[0]
        #expect(line.contains("error=fileMaker fm.code=212"))
        #expect(!line.contains("ada") && !line.contains("s3cret"))
    }

    @Test func aTokenStoreThatFails() async throws {
        struct Lost: Error, CustomStringConvertible {
            let description = "s3cret"
        }
        let log = LogLines()
        let store = DataAPI.TokenStore(
            load: { _ in throw Lost() },
            save: { _, _ in throw Lost() },
            remove: { _, _ in }
        )
        try await World.run(client: { ($0.logger, $0.sessions.tokenStore) = (log.logger(.warning), store) }) { world in
            _ = try await world.database.getScriptNames().firstValue()
            _ = try await world.database.server.shutdown().firstValue()
            let line =
                "warning token store failed|fm.database=World origin=\(world.sandbox.url) "
                + "reason=The token store failed: Lost."
            // One line for loading, one for saving.
            expectNoDifference(log.all, [line, line])
        }
    }

    @Test func aCallThatIsCancelled() async throws {
        let log = LogLines()
        try await ScriptedHost.run(
            client: { $0.logger = log.logger(.debug) },
            answer: { _ in .silence }
        ) { host in
            for call in [
                host.layout.getRecords().returnAs(FieldData.self).map { _ in true }.eraseToAnyPublisher(),
                host.layout.records(FieldData.self).map { _ in true }.eraseToAnyPublisher(),
            ] {
                let known = host.calls.count
                let subscription = call.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
                await host.server.requestCount(atLeast: 1 + known + 1)
                subscription.cancel()
            }
            expectNoDifference(
                Self.messages(in: log),
                ["debug login finished", "debug call cancelled", "debug call cancelled"]
            )
        }
    }

    @Test func aboveDebugNothingIsLogged() async throws {
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.info) }) { world in
            _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
            _ = await world.contacts.deleteRecord(recordId: 999_999).awaitSingleResult()
        }
        expectNoDifference(log.all, [])
    }

    // MARK: The logger and the tag of a call

    @Test func aCallsOwnLoggerGetsItsLinesWithItsMetadata() async throws {
        let common = LogLines()
        let own = LogLines()
        try await World.run(client: { $0.logger = common.logger(.debug) }) { world in
            var logger = own.logger(.debug)
            logger[metadataKey: "request_id"] = "R-7"
            let people = world.contacts.logger(logger)
            let id = try await people.createRecord().firstValue().recordId
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("a".utf8))
            _ = try await people.uploadContainer(file, to: "Photo", recordId: id).firstValue()
            _ = try await people.downloadContainer(fieldName: "Photo", recordId: id).toMemory().firstValue()
            _ = try await people.records(FieldData.self).collect().firstValue()
            _ = await people.deleteRecord(recordId: 999_999).awaitSingleResult()
        }
        expectNoDifference(Self.messages(in: common), ["debug login finished", "debug logout finished"])
        expectNoDifference(
            own.messages,
            Array(repeating: "debug call finished", count: 6) + ["debug call failed"]
        )
        for line in own.all { #expect(line.contains("request_id=R-7"), "\(line)") }
    }

    @Test func aCallsOwnLoggerHasALevelOfItsOwn() async throws {
        let common = LogLines()
        let own = LogLines()
        try await World.run(client: { $0.logger = common.logger(.info) }) { world in
            _ = try await world.countries.logger(own.logger(.debug)).getRecords().returnAs(FieldData.self).firstValue()
            _ = try await world.countries.logger(own.logger(.info)).getRecords().returnAs(FieldData.self).firstValue()
        }
        expectNoDifference(common.all, [])
        expectNoDifference(own.messages, ["debug call finished"])
    }

    @Test func aTagIsInTheLogAndInErrors() async throws {
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.debug) }) { world in
            let tagged = world.contacts.tagged("nightly import")
            let error = await tagged.deleteRecord(recordId: 999_999).awaitSingleResult().failure
            expectNoDifference(error?.request?.tag, "nightly import")
            #expect(error.map { "\($0)".contains(#", tagged "nightly import")"#) } == true, "\(error as Any)")
            let plain = await world.contacts.deleteRecord(recordId: 999_999).awaitSingleResult().failure
            expectNoDifference(plain?.request?.tag, nil)
        }
        expectNoDifference(
            Self.calls(in: log).map { $0.contains("fm.tag=nightly import") },
            [false, true, false, false]
        )
    }

    @Test func optionsHoldForAllThatComesFromWhereTheyWereSet() async throws {
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.debug) }) { world in
            let server = world.database.server.tagged("a")
            let database = server.addDatabase(
                world.database.name,
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            expectNoDifference(database.addLayout("Contacts"), world.contacts)
            #expect(database.server === world.database.server)
            expectNoDifference(server.databases.map(\.name), [world.database.name])
            _ = try await server.getProductInfo().firstValue()
            _ = try await database.getScriptNames().firstValue()
            _ = try await database.addLayout("Countries").getLayoutMetadata().firstValue()
            _ = try await server.databases[0].tagged("b").withSessionPublisher { pinned in
                pinned.setGlobals(["Contacts::gFilter": "x"])
            }
            .firstValue()
            _ = try await database.addLayout("Countries").tagged("c").timeouts { $0.idle = .seconds(7) }
                .getLayoutMetadata().firstValue()
            expectNoDifference(world.database.scriptList, database.scriptList)
        }
        let tags = log.all.filter { $0.hasPrefix("debug call") }.map { line in
            line.split(separator: " ").first { $0.hasPrefix("fm.tag=") }.map { String($0.dropFirst(3)) }
        }
        expectNoDifference(tags, ["tag=a", "tag=a", "tag=a", "tag=b", "tag=c"])
    }

    // MARK: What a line tells

    @Test func aLineHasTheFiguresOfItsCall() async throws {
        let log = LogLines()
        try await World.run(sandbox: { $0.compression = false }, client: { $0.logger = log.logger(.debug) }) { world in
            let contacts = world.contacts
            _ = try await contacts.getRecords(recordQuery: RecordQuery(limit: 2)).returnAs(FieldData.self).firstValue()
            _ = try await contacts.editRecord(["City": "Oslo"], recordId: 2).firstValue()
        }
        let lines = Self.calls(in: log)
        let session = try #require(lines[0].firstMatch(of: #/fm\.session=([0-9a-f]{8}) /#)?.1)
        // The login, both calls and the logout name the same session.
        expectNoDifference(lines.map { $0.contains("fm.session=\(session) ") }, [true, true, true, true])
        let bytes = try #require(lines[1].firstMatch(of: #/bytes_in=(\d+) /#).flatMap { Int($0.1) })
        #expect(bytes > 500)
        #expect(lines[1].contains("rows=2"))
        #expect(!lines[1].contains("bytes_out"))
        #expect(lines[2].contains("bytes_out=29 "))
        #expect(lines[2].contains("fm.record=2 "))
    }

    @Test func aFailureHasItsReasonWithoutTheValue() async throws {
        struct Wrong: Decodable, Sendable {
            var name: Int
            enum CodingKeys: String, CodingKey { case name = "Name" }
        }
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.debug) }) { world in
            _ = await world.contacts.getRecords().returnAs(Wrong.self).awaitSingleResult()
            _ = await world.contacts.records(Wrong.self).collect().awaitSingleResult()
        }
        let failed = Self.calls(in: log).filter { $0.contains("call failed") }
        expectNoDifference(failed.count, 2)
        for line in failed {
            #expect(line.contains("error=decoding"), "\(line)")
            #expect(line.contains("reason=") && line.contains("Name"), "\(line)")
            #expect(!line.contains("Ada"), "\(line)")
        }
    }

    @Test func aCallThatIsNotSentHasItsReason() async throws {
        let log = LogLines()
        try await World.run(credentials: nil, client: { $0.logger = log.logger(.debug) }) { world in
            _ = await world.database.tagged("night").getScriptNames().awaitSingleResult()
        }
        let failed = Self.calls(in: log).filter { $0.hasPrefix("debug call failed") }
        expectNoDifference(failed.count, 1)
        for part in ["error=unauthorized", "fm.operation=scriptNames", "fm.tag=night", "reason="] {
            #expect(failed[0].contains(part), "\(failed[0])")
        }
    }

    // MARK: Sessions

    @Test func waitsForSessionsAndChangesOfThePoolAreTold() async throws {
        let log = LogLines()
        try await World.run(
            client: { ($0.logger, $0.sessions.maximumSessions) = (log.logger(.debug), 1) }
        ) { world in
            world.sandbox.inject(.holdAnswer, on: .scripts)
            let calls = (0..<2).map { _ in TrackingSubscriber<[DataAPI.Database.ScriptItem], FMRest.APIError>() }
            world.database.getScriptNames(isolation: nil).subscribe(calls[0])
            await world.sandbox.untilAnswersHeld()
            world.database.getScriptNames(isolation: nil).subscribe(calls[1])
            world.sandbox.releaseAnswers()
            for call in calls { await call.completion() }
        }
        // Both have waited: one for the login, one for the other's session.
        let waits = log.all.filter { $0.hasPrefix("debug waited for a session|") }
        expectNoDifference(waits.map { $0.contains("waited_ms=") && $0.contains("fm.database=World") }, [true, true])
        let changes = log.all.filter { $0.hasPrefix("debug sessions changed|") }
            .compactMap { $0.firstMatch(of: #/limit=(\d+) logging_in=(\d+) .*sessions=(\d+)/#) }
            .map { "\($0.3) open, \($0.2) opening of \($0.1)" }
        expectNoDifference(Array(changes.prefix(1)), ["0 open, 1 opening of 1"])
        expectNoDifference(changes.last, "0 open, 0 opening of 1")
    }

    @Test func whatAnOperatorHasToActOnIsToldOnce() async throws {
        let log = LogLines()
        try await World.run(
            credentials: Credentials(user: "admin", password: "wrong"),
            client: { $0.logger = log.logger(.notice) }
        ) { world in
            for _ in 1...3 { _ = await world.database.getScriptNames().awaitSingleResult() }
            let line =
                "notice credentials are refused|fm.code=212 fm.database=World http.status=401 "
                + "origin=\(world.sandbox.url)"
            expectNoDifference(log.all, [line])
            world.sandbox.inject(.error(FileMakerError(214)), on: .login)
            world.database.replaceCredentials(Credentials(user: "admin", password: "secret"))
            for _ in 1...3 { _ = await world.database.getScriptNames().awaitSingleResult() }
            expectNoDifference(log.messages.dropFirst(), ["notice account is locked out"])
        }
    }

    @Test func aHostWithoutRoomIsToldOnce() async throws {
        let log = LogLines()
        try await World.run(
            sandbox: { $0.maximumSessions = 1 },
            client: { ($0.logger, $0.sessions.fullHostDeadline) = (log.logger(.notice), .zero) }
        ) { world in
            let guest = world.database.signedIn(as: Credentials(user: "guest", password: "welcome"))
            _ = try await guest.getScriptNames().firstValue()
            for _ in 1...3 { _ = await world.database.getScriptNames().awaitSingleResult() }
            expectNoDifference(log.messages, ["notice host has no room for a session"])
            #expect(log.all[0].contains("fm.code=956"))
            _ = try await guest.logOut().firstValue()
        }
    }

    // MARK: Work of many calls

    @Test func pagesBatchesAndPollsAreTold() async throws {
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.debug) }) { world in
            let people = world.database.layout(PlainContact.self)
            _ = try await people.all().collect().firstValue()
            let writes: [DataAPI.RecordWrite<PlainContact>] = [
                .create(PlainContact(name: "Zoe")), .create(PlainContact(name: "Yan")), .delete(999_999),
            ]
            _ = try await people.writing(writes).summary.firstValue()
            let live = people.live(isolation: nil).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            await until { log.messages.contains("debug poll finished") }
            live.cancel()
        }
        let page = try #require(log.all.first { $0.hasPrefix("debug page read|") })
        expectNoDifference(page, "debug page read|delivered=3 fm.database=World fm.layout=Contacts rows=3 total=3")
        let batch = try #require(log.all.first { $0.hasPrefix("debug batch finished|") })
        #expect(batch.contains("created=2 deleted=1 failed=0 fm.database=World fm.layout=Contacts"), "\(batch)")
        let poll = try #require(log.all.first { $0.hasPrefix("debug poll finished|") })
        #expect(poll.contains("fm.layout=Contacts"), "\(poll)")
    }

    @Test func aPollThatFailsIsToldWithItsReason() async throws {
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.debug) }) { world in
            world.sandbox.inject(.html(status: 503), on: .getRecords, count: nil)
            let live = world.database.layout(PlainContact.self).live(isolation: nil)
                .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            await until { log.messages.contains("debug poll failed") }
            live.cancel()
        }
        let poll = try #require(log.all.first { $0.hasPrefix("debug poll failed|") })
        #expect(poll.contains("error=notDataAPI"), "\(poll)")
        #expect(poll.contains("reason="), "\(poll)")
    }

    // MARK: Paths

    @Test func aPathHoldsNamesAlone() {
        let layout = DataAPI.Server(host: "h").addDatabase("A/B").addLayout("50 %")
        let path = DataAPIPath.record(17, of: layout.name, in: "A/B")
        expectNoDifference(path.template, "/databases/A%2FB/layouts/50%20%25/records/{recordId}")
        expectNoDifference(
            (path / "containers" / "Photo" / "2").template,
            path.template + "/containers/Photo/{repetition}"
        )
        expectNoDifference((DataAPIPath.database("d") / "sessions" / "T1").template, "/databases/d/sessions/{token}")
        // Names in a path are kept, even if they are parts of other paths.
        expectNoDifference(
            (DataAPIPath.layout("records", in: "sessions") / "script" / "1").template,
            "/databases/sessions/layouts/records/script/1"
        )
    }
}
