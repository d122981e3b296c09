import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import FMTesting
import Foundation
import OpenCombine
import Testing

/// What is recorded of exchanges with the sandbox, and what is answered from it.
@Suite(.timeLimit(.minutes(15))) struct RecordingTests {
    private static let credentials = Credentials(user: Solution.Sample.user, password: Solution.Sample.password)

    /// A database through the steps of a recording.
    private func database(_ host: String, _ recording: Recording) -> DataAPI.Database {
        var config = DataAPI.Config.patient
        recording.install(in: &config)
        return DataAPI.Server(host: host, config: config).addDatabase("World", credentials: Self.credentials)
    }

    /// Records a program against a host of its own, and runs it again from the files, against none.
    ///
    /// - Returns: what the program returned, first and then.
    private func twice<Value>(
        changing change: Recording.Change? = nil,
        _ program: (DataAPI.Database) async throws -> Value
    ) async throws -> (recorded: Value, replayed: Value, unused: [String]) {
        try await withTemporaryFolder { folder in
            let sandbox = try await Sandbox.start(configuration: .patient)
            let recorded: Value
            do {
                let database = database(sandbox.url, try Recording(to: folder, changing: change))
                recorded = try await program(database)
                _ = await database.server.shutdown().awaitSingleResult()
            } catch {
                await sandbox.stop()
                throw error
            }
            await sandbox.stop()
            let recording = try Recording.replaying(folder, changing: change)
            let database = database("https://replay.test", recording)
            let replayed: Value
            do {
                replayed = try await program(database)
            } catch {
                Issue.record("The folder holds \(try recordedFiles(in: folder).joined(separator: ", ")).")
                throw error
            }
            let end = try await database.server.shutdown().firstValue()
            expectNoDifference(end.sessionsLeft, 0)
            return (recorded, replayed, recording.unused)
        }
    }

    private func names(_ database: DataAPI.Database, city: String) async throws -> [String] {
        try await database.layout(Contact.self).find { $0(.city) == city }.all().map(\.name).collect().firstValue()
    }

    // MARK: Replays

    @Test func aProgramRunsAgainWithoutAHost() async throws {
        let (recorded, replayed, unused) = try await twice { database in
            let contacts = database.addLayout("Contacts")
            let people = database.layout(Contact.self)
            var lines = try await names(database, city: "London")
            let created = try await contacts.createRecord(
                record: EditRecord(createRecord: ["Name": "Charles Babbage", "City": "London"])
            ).firstValue()
            lines.append("created \(created.recordId)")
            let edit = EditRecord(editRecord: ["City": "Devon"])
            let edited = try await contacts.editRecord(record: edit, recordId: created.recordId).firstValue()
            lines.append("edited to \(edited.modId)")
            lines += try await names(database, city: "London")
            lines += try await names(database, city: "Devon")
            lines.append("\(try await people.count().firstValue())")
            _ = try await contacts.deleteRecord(recordId: created.recordId).firstValue()
            let gone = await contacts.getRecordById(recordId: created.recordId).returnAs(FieldData.self)
                .awaitSingleResult()
            lines.append("\(gone.error?.fileMakerCode?.rawValue ?? 0) by HTTP \(gone.error?.httpStatus ?? 0)")
            let echo = try await contacts.executeScript(script: "Echo", scriptParam: "Ünïcode \" & =").firstValue()
            lines.append(echo.scriptResult ?? "")
            lines += try await database.layoutNames().firstValue()
            lines.append(try await database.server.getProductInfo().firstValue().name)
            let ranges = try await people.all(pageSize: 2).map { "\($0.recordId) \($0.name)" }.collect().firstValue()
            return lines + ranges
        }
        #expect(recorded.count > 15)
        expectNoDifference(replayed, recorded)
        expectNoDifference(unused, [])
    }

    /// A page that takes long makes those after it smaller, where the size of pages is measured.
    @Test func aHostThatWasSlowIsReplayed() async throws {
        func cities(_ recording: Recording, slowness: Duration) async throws -> [Int] {
            let transport = TestTransport()
            transport.alwaysAnswer(.findRecords, with: .records([["Name": "Ada", "City": "London"]]))
            var config = DataAPI.Config()
            recording.install(in: &config)
            config.middleware.append(
                DataAPI.Middleware(changing: { _ in transport.clock.advance(by: slowness) })
            )
            let database = transport.database(config: config)
            var counts: [Int] = []
            for city in ["London", "Devon", "Paris"] { counts.append(try await names(database, city: city).count) }
            return counts
        }
        try await withTemporaryFolder { folder in
            let recorded = try await cities(Recording(to: folder), slowness: .seconds(2))
            let replay = try Recording.replaying(folder)
            let replayed = try await cities(replay, slowness: .zero)
            expectNoDifference(recorded, [1, 1, 1])
            expectNoDifference(replayed, recorded)
            expectNoDifference(replay.unused.filter { !$0.contains("logOut") }, [])
        }
    }

    @Test func everyValueIsTheSame() async throws {
        let (recorded, replayed, _) = try await twice { database in
            try await database.addLayout("Contacts").getRecords()
                .returnAs(FieldData.self, [String: [FieldData]].self).firstValue().data
        }
        #expect(recorded.count == 3)
        expectNoDifference(replayed.map(\.recordId), recorded.map(\.recordId))
        expectNoDifference(replayed.map(\.portalData), recorded.map(\.portalData))
        let isContainer: (String) -> Bool = { $0 == "Photo" }
        for (replayed, recorded) in zip(replayed, recorded) {
            expectNoDifference(
                replayed.fieldData.filter { !isContainer($0.name) }.map { "\($0.name)=\($0.value)" },
                recorded.fieldData.filter { !isContainer($0.name) }.map { "\($0.name)=\($0.value)" }
            )
        }
    }

    @Test func contentsOfContainersAreReplayed() async throws {
        let bow = Data((0...255).map { UInt8($0) })
        let (recorded, replayed, unused) = try await twice { database in
            let contacts = database.addLayout("Contacts")
            let file = FMRest.ContainerFile(fileName: "bow.jpg", data: bow)
            _ = try await contacts.uploadToContainerField(fieldName: "Photo", recordId: 1, file: file).firstValue()
            return try await contacts.downloadContainer(fieldName: "Photo", recordId: 1).toMemory().firstValue()
        }
        expectNoDifference(recorded.data, bow)
        expectNoDifference(replayed, recorded)
        expectNoDifference(unused, [])
    }

    /// Equal questions are answered in the order of the recording, and the last answer again and again.
    @Test func whatWasAskedTwiceIsAnsweredInOrder() async throws {
        try await withRecording { database in
            let contacts = database.addLayout("Contacts")
            let query = RecordQuery(limit: 1)
            _ = try await contacts.getRecords(recordQuery: query).returnAs(FieldData.self).firstValue()
            _ = try await contacts.createRecord(record: EditRecord(createRecord: ["Name": "Grace"])).firstValue()
            _ = try await contacts.getRecords(recordQuery: query).returnAs(FieldData.self).firstValue()
        } replaying: { database, _ in
            var counts: [Int] = []
            for _ in 0..<3 {
                let page = try await database.addLayout("Contacts").getRecords(recordQuery: RecordQuery(limit: 1))
                    .returnAs(FieldData.self).firstValue()
                counts.append(page.dataInfo.foundCount)
            }
            expectNoDifference(counts, [3, 4, 4])
        }
    }

    @Test func aWriteIsAnsweredOnce() async throws {
        let record = EditRecord(createRecord: ["Name": "canary value"])
        try await withRecording { database in
            _ = try await database.addLayout("Contacts").createRecord(record: record).firstValue()
        } replaying: { database, _ in
            let contacts = database.addLayout("Contacts")
            _ = try await contacts.createRecord(record: record).firstValue()
            let error = await contacts.createRecord(record: record).awaitSingleResult().error
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(
                error?.reason,
                "The recording has no further answer to createRecord on \"Contacts\": "
                    + "0002-createRecord-Contacts.json was given already."
            )
        }
    }

    @Test func whatWasNotRecordedNamesTheNearest() async throws {
        try await withRecording { database in
            _ = try await names(database, city: "London")
            _ = try await database.addLayout("Zones").getRecords(recordQuery: RecordQuery(limit: 1))
                .returnAs(FieldData.self).firstValue()
        } replaying: { database, recording in
            let other = await database.layout(Contact.self).find { $0(.city) == "canary" }.all().collect()
                .awaitSingleResult().error
            expectNoDifference(
                other?.reason,
                "The recording has no answer to findRecords on \"Contacts\". "
                    + "The nearest is 0002-findRecords-Contacts.json, which differs in body.query[0].City."
            )
            let page = await database.addLayout("Zones").getRecords(recordQuery: RecordQuery(offset: 2, limit: 2))
                .returnAs(FieldData.self).awaitSingleResult().error
            expectNoDifference(
                page?.reason,
                "The recording has no answer to getRecords on \"Zones\". "
                    + "The nearest is 0003-getRecords-Zones.json, which differs in query._limit, query._offset."
            )
            expectNoDifference(
                recording.unused,
                ["0002-findRecords-Contacts.json", "0003-getRecords-Zones.json", "0004-logOut.json"]
            )
        }
    }

    /// All that are as near are named: which one was meant, only the reader knows.
    @Test func exchangesThatAreAsNearAreAllNamed() async throws {
        try await withRecording { database in
            let zones = database.addLayout("Zones")
            for offset in 1...2 {
                _ = try await zones.getRecords(recordQuery: RecordQuery(offset: offset, limit: 1))
                    .returnAs(FieldData.self).firstValue()
            }
        } replaying: { database, _ in
            let page = await database.addLayout("Zones").getRecords(recordQuery: RecordQuery(offset: 3, limit: 1))
                .returnAs(FieldData.self).awaitSingleResult().error
            expectNoDifference(
                page?.reason,
                "The recording has no answer to getRecords on \"Zones\". "
                    + "The nearest are 0002-getRecords-Zones.json, which differs in query._offset, "
                    + "and 0003-getRecords-Zones.json, which differs in query._offset."
            )
        }
    }

    // MARK: Files

    @Test func aFileIsReadableAndHasWhatAHostSends() async throws {
        try await withRecordedFolder { database in
            _ = try await database.addLayout("Names / 100 % Übersicht").findRecords(
                query: FindQuery(query: [["Name": "==Ada Lovelace"]])
            )
            .returnAs(FieldData.self).firstValue()
        } then: { folder in
            let names = try recordedFiles(in: folder)
            expectNoDifference(
                names,
                ["0001-logIn.json", "0002-findRecords-Names100bersicht.json"]
            )
            let text = try String(contentsOf: folder.appendingPathComponent(names[1]), encoding: .utf8)
            expectNoDifference(
                text,
                """
                {
                  "operation": "findRecords",
                  "database": "World",
                  "layout": "Names / 100 % Übersicht",
                  "request": {
                    "method": "POST",
                    "path": "/databases/World/layouts/Names%20%2F%20100%20%25%20%C3%9Cbersicht/_find",
                    "json": {
                      "query": [
                        {
                          "Name": "==Ada Lovelace"
                        }
                      ]
                    }
                  },
                  "response": {
                    "status": 200,
                    "headers": {
                      "Content-Type": "application/json; charset=utf-8"
                    },
                    "json": {
                      "response": {
                        "dataInfo": {
                          "database": "World",
                          "layout": "Names / 100 % Übersicht",
                          "table": "Contacts",
                          "totalRecordCount": 3,
                          "foundCount": 1,
                          "returnedCount": 1
                        },
                        "data": [
                          {
                            "fieldData": {
                              "Name": "Ada Lovelace",
                              "City": "London"
                            },
                            "portalData": {},
                            "recordId": "1",
                            "modId": "0",
                            "portalDataInfo": []
                          }
                        ]
                      },
                      "messages": [
                        {
                          "code": "0",
                          "message": "OK"
                        }
                      ]
                    }
                  }
                }

                """
            )
        }
    }

    @Test func valuesMayBeChanged() async throws {
        let change: Recording.Change = { value, field, layout in
            layout == "Contacts" && ["Name", "Label"].contains(field)
                ? FieldValue("Person of \(value.text.count)") : value
        }
        let (recorded, replayed, _) = try await twice(changing: change) { database in
            let contacts = database.addLayout("Contacts")
            _ = try await contacts.createRecord(record: EditRecord(createRecord: ["Name": "Charles"])).firstValue()
            let found = try await contacts.findRecords(query: FindQuery(query: [["Name": "==Ada Lovelace"]]))
                .returnAs(FieldData.self).firstValue()
            return found.data.map { $0.fieldData["Name"]?.text ?? "" }
        }
        expectNoDifference(recorded, ["Ada Lovelace"])
        expectNoDifference(replayed, ["Person of 12"])
        try await withRecordedFolder(changing: change) { database in
            _ = try await database.addLayout("Contacts").getRecords().returnAs(FieldData.self).firstValue()
        } then: { folder in
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(!text.contains("Lovelace"))
            }
        }
    }

    @Test func whatFailsIsNotWritten() async throws {
        try await withTemporaryFolder { folder in
            let transport = TestTransport()
            transport.answer(.getRecords, with: .failure(afterSending: .connectionClosed))
            transport.answer(.getRecords, with: .http(502, "<p>fms.test is down</p>"))
            var config = DataAPI.Config()
            try Recording(to: folder).install(in: &config)
            let layout = transport.database(config: config).addLayout("A")
            for _ in 0..<2 { _ = await layout.getRecords().returnAs(FieldData.self).awaitSingleResult() }
            let names = try recordedFiles(in: folder)
            expectNoDifference(names, ["0001-logIn.json", "0002-getRecords-A.json"])
            let text = try String(contentsOf: folder.appendingPathComponent(names[1]), encoding: .utf8)
            #expect(text.contains("<p>{host} is down</p>"))
        }
    }

    @Test func signInsAndWebhooksAreNotRecorded() async throws {
        try await withTemporaryFolder { folder in
            let transport = TestTransport()
            transport.alwaysAnswer(.oAuth, with: .json(#"{"data":{"Provider":[]}}"#))
            transport.answer(.getRecords, with: .records([FieldData]()))
            var config = DataAPI.Config()
            try Recording(to: folder).install(in: &config)
            let database = transport.database(config: config)
            _ = await database.server.getOAuthProviders().awaitSingleResult()
            _ = try await database.addLayout("A").getRecords().returnAs(FieldData.self).firstValue()
            let names = try recordedFiles(in: folder)
            expectNoDifference(names, ["0001-logIn.json", "0002-getRecords-A.json"])
            var replaying = DataAPI.Config()
            try Recording.replaying(folder).install(in: &replaying)
            let server = DataAPI.Server(host: "replay.test", config: replaying)
            let error = await server.getOAuthProviders().awaitSingleResult().error
            expectNoDifference(error?.reason.contains("are not recorded"), true)
            expectNoDifference(transport.requests.count { $0.operation == .oAuth }, 1)
        }
    }

    // MARK: Folders

    @Test func foldersAreChecked() throws {
        try withTemporaryFolder { folder in
            let new = folder.appendingPathComponent("a/b")
            #expect(throws: RecordingError.self) { try Recording.replaying(new) }
            _ = try Recording(to: new)
            #expect(throws: RecordingError.self) { try Recording.replaying(new) }
            let file = new.appendingPathComponent("0001-logIn.json")
            try Data("[".utf8).write(to: file)
            #expect(throws: RecordingError.self) { try Recording(to: new) }
            let broken = #expect(throws: RecordingError.self) { try Recording.replaying(new) }
            expectNoDifference(broken?.description.contains("0001-logIn.json is no recorded exchange"), true)
            try Data("{}".utf8).write(to: file)
            #expect(throws: RecordingError.self) { try Recording.replaying(new) }
        }
    }

    /// A call whose exchange cannot be written fails, so that nobody takes half a recording for a whole one.
    @Test func aFileThatCannotBeWrittenFailsTheCall() async throws {
        try await withTemporaryFolder { folder in
            let new = folder.appendingPathComponent("gone")
            let recording = try Recording(to: new)
            try FileManager.default.removeItem(at: new)
            let transport = TestTransport()
            var config = DataAPI.Config()
            recording.install(in: &config)
            let layout = transport.database(config: config).addLayout("A")
            let error = await layout.getRecords().returnAs(FieldData.self).awaitSingleResult().error
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(error?.reason.contains("cannot be written"), true)
        }
    }

    // MARK: Support

    private func withRecordedFolder(
        changing change: Recording.Change? = nil,
        _ program: (DataAPI.Database) async throws -> Void,
        then check: (URL) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let sandbox = try await Sandbox.start(configuration: .patient)
            let result: Result<Void, any Error>
            do {
                let database = database(sandbox.url, try Recording(to: folder, changing: change))
                try await program(database)
                _ = await database.server.shutdown().awaitSingleResult()
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await sandbox.stop()
            try result.get()
            try await check(folder)
        }
    }

    private func withRecording(
        _ program: (DataAPI.Database) async throws -> Void,
        replaying replay: (DataAPI.Database, Recording) async throws -> Void
    ) async throws {
        try await withRecordedFolder(program) { folder in
            let recording = try Recording.replaying(folder)
            let database = database("replay.test", recording)
            try await replay(database, recording)
            _ = await database.server.shutdown().awaitSingleResult()
        }
    }
}
