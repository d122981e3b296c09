import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import OpenCombine
import Testing

@testable import FMData

/// Each call of every endpoint logs one line at level `debug`.
@Suite(.timeLimit(.minutes(15))) struct CallLogTests {
    /// Runs calls against a fresh server and returns the log lines without `origin` and `duration_ms`, which each line
    /// must have.
    private func lines(_ body: (World) async throws -> Void) async throws -> [String] {
        let log = LogLines()
        var url = ""
        try await World.run(client: { $0.logger = log.logger(.debug) }) { world in
            url = world.sandbox.url
            try await body(world)
        }
        // The line about a refused session has no duration, since its request is repeated.
        for line in log.all where !line.contains("session refused") {
            #expect(line.contains("duration_ms="), "\(line)")
        }
        return log.all.map { line in
            #expect(line.contains("origin=\(url)"), "\(line)")
            let parts = line.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
            let fields = parts[1].split(separator: " ").filter {
                !$0.hasPrefix("duration_ms=") && !$0.hasPrefix("origin=")
            }
            return parts[0] + "|" + fields.joined(separator: " ")
        }
    }

    private let login =
        "debug login finished|database=World filemaker_code=0 http_status=200 method=POST "
        + "path=/databases/World/sessions"
    private let logout =
        "debug logout finished|database=World filemaker_code=0 http_status=200 method=DELETE "
        + "path=/databases/World/sessions/{token}"
    private let countries = "database=World filemaker_code=0 http_status=200 layout=Countries"

    @Test func aCallItsLoginAndItsLogout() async throws {
        let lines = try await lines { world in
            _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
        }
        expectNoDifference(
            lines,
            [
                login,
                "debug call finished|\(countries) method=GET path=/databases/World/layouts/Countries/records",
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
        let contacts = "database=World filemaker_code=0 http_status=200 layout=Contacts"
        let records = "path=/databases/World/layouts/Contacts/records"
        expectNoDifference(
            lines,
            [
                "debug call finished|filemaker_code=0 http_status=200 method=GET path=/productInfo",
                login,
                "debug call finished|database=World filemaker_code=0 http_status=200 method=GET "
                    + "path=/databases/World/scripts",
                "debug call finished|\(countries) method=GET path=/databases/World/layouts/Countries",
                "debug call finished|\(countries) method=GET path=/databases/World/layouts/Countries/records",
                "debug call finished|\(countries) method=POST path=/databases/World/layouts/Countries/_find",
                "debug call finished|\(countries) method=GET "
                    + "path=/databases/World/layouts/Countries/script/Count%20Found",
                "debug call finished|\(contacts) method=POST \(records)",
                "debug call finished|\(contacts) method=POST \(records)/{recordId}/containers/Photo/{repetition}",
                "debug call finished|\(contacts) method=GET \(records)/{recordId}",
                "debug call finished|http_status=302 method=GET path=/{content}",
                "debug call finished|http_status=200 method=GET path=/{content}",
                "debug call finished|\(contacts) method=DELETE \(records)/{recordId}",
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
                "debug call failed|database=World error=fileMaker filemaker_code=101 http_status=500 layout=Contacts "
                    + "method=DELETE path=/databases/World/layouts/Contacts/records/{recordId}",
                "debug call failed|database=World error=fileMaker filemaker_code=401 http_status=500 layout=Countries "
                    + "method=POST path=/databases/World/layouts/Countries/_find",
                "debug call failed|database=World error=notDataAPI http_status=502 layout=Countries "
                    + "method=GET path=/databases/World/layouts/Countries/records",
                "debug call failed|database=World error=network layout=Contacts "
                    + "method=POST path=/databases/World/layouts/Contacts/records",
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
        let scripts = "method=GET path=/databases/World/scripts"
        expectNoDifference(
            lines,
            [
                login,
                "debug call finished|database=World filemaker_code=0 http_status=200 \(scripts)",
                "debug call failed|database=World error=fileMaker filemaker_code=952 http_status=401 \(scripts)",
                "debug session refused, request is repeated in another|database=World filemaker_code=952 "
                    + "http_status=401",
                login,
                "debug call finished|database=World filemaker_code=0 http_status=200 \(scripts)",
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
        expectNoDifference(log.messages, ["debug login failed"], "the second one was not sent")
        #expect(log.all[0].contains("error=fileMaker filemaker_code=212 http_status=401 method=POST"))
        #expect(!log.all[0].contains("ada") && !log.all[0].contains("s3cret"))
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
                "warning token store failed|database=World origin=\(world.sandbox.url) "
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
                log.messages,
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
        expectNoDifference(common.messages, ["debug login finished", "debug logout finished"])
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
        expectNoDifference(log.all.map { $0.contains("tag=nightly import") }, [false, true, false, false])
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
            line.split(separator: " ").first { $0.hasPrefix("tag=") }.map(String.init)
        }
        expectNoDifference(tags, ["tag=a", "tag=a", "tag=a", "tag=b", "tag=c"])
    }

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
