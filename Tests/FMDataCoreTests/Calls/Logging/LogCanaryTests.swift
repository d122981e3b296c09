import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import NIOConcurrencyHelpers
import OpenCombine
import Testing

@testable import FMDataCore

/// Secrets go through every endpoint and every publisher of the higher level, in both directions, and no line of the
/// log holds one, at the most talkative level.
@Suite(.timeLimit(.minutes(15))) struct LogCanaryTests {
    /// All secrets that a test can choose contain this.
    private static let secret = "s3cret"

    private static func secret(_ what: String) -> String { "\(secret) \(what)" }

    /// The lines, and the secrets that a test cannot choose: tokens of sessions, and keys of contents.
    private struct Trap: Sendable {
        let log = LogLines()
        private let found = NIOLockedValueBox<Set<String>>([])

        func add(_ secret: String) { _ = found.withLockedValue { $0.insert(secret) } }

        func add(_ credentials: DataAPI.Credentials) {
            if case .token(let token) = credentials.secret { add(token) }
        }

        /// The key is what only the one who has it may fetch: each long part of the URL.
        func add(contentsOf reference: String?) throws {
            let text = try #require(reference)
            let url = try #require(URLComponents(string: text))
            for part in url.path.split(separator: "/") + (url.query ?? "").split(whereSeparator: { "&=".contains($0) })
            where part.count > 15 { add(String(part)) }
        }

        func check() {
            let secrets = found.withLockedValue { $0 }.union([LogCanaryTests.secret])
            #expect(secrets.count > 1)
            let leaks = log.all.filter { line in secrets.contains { line.contains($0) } }
            expectNoDifference(leaks, [])
        }

        /// The number of polls that have ended.
        ///
        /// - Parameter how: `finished` or `failed`; the default is both.
        func polls(_ how: String = "f") -> Int { log.messages.count { $0.hasPrefix("debug poll \(how)") } }

        var operations: Set<String> {
            Set(log.all.compactMap { line in line.firstMatch(of: #/fm\.operation=(\w+)/#).map { String($0.1) } })
        }
    }

    private static func run(
        sandbox: (inout Sandbox.Configuration) -> Void = { _ in },
        _ body: (DataAPI.Database, Sandbox, Trap) async throws -> Void
    ) async throws {
        let trap = Trap()
        var solution = Solution.sample
        solution.accounts.append(.init(name: "ada", password: secret))
        solution.addJobs()
        try await Hosted.run(
            solution,
            credentials: Credentials(user: "ada", password: secret),
            sandbox: sandbox,
            client: { $0.logger = trap.log.logger(.trace) }
        ) { database, sandbox in
            try await body(database, sandbox, trap)
            trap.add(database.credentials)
        }
        trap.check()
    }

    // MARK: Endpoints

    /// The names that ``DataAPI/Operation`` declares.
    private static func operations() throws -> Set<String> {
        let file = Committed.root.appendingPathComponent("Sources/FMDataCore/Hooks/Operation.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        return Set(text.matches(of: #/static let (\w+) = Operation\("/#).map { String($0.1) })
    }

    @Test func noEndpointLogsASecret() async throws {
        let operations = try Self.operations()
        #expect(operations.count > 15)
        try await Self.run(sandbox: { $0.odata = .webhooks(.init()) }) { database, sandbox, trap in
            let (contacts, server) = (database.addLayout("Contacts"), database.server)
            let account = Credentials(user: "ada", password: Self.secret)
            _ = try await server.getProductInfo().firstValue()
            _ = try await server.getDatabaseNames(credentials: account).firstValue()
            let provider = try #require(try await server.getOAuthProviders().firstValue().first)
            _ = await server.startOAuth(provider: provider.name, returnURL: "https://app.example/\(Self.secret)")
                .awaitSingleResult()
            _ = await database.webhooks(account).awaitSingleResult()

            let token = try await database.login(credentials: account).firstValue()
            trap.add(token)
            _ = try await server.validateSession(credentials: token).firstValue()
            _ = try await database.validateSession().firstValue()
            _ = try await database.getLayoutNames().firstValue()
            _ = try await database.getScriptNames().firstValue()
            _ = try await contacts.getLayoutMetadata().firstValue()
            try await database.withSession { pinned in
                try await pinned.setGlobals(["Contacts::gFilter": Self.secret("global")]).firstValue()
                _ = try await pinned.addLayout("Contacts").getRecords().returnAs(FieldData.self).firstValue()
            }

            let values: FieldData = ["Name": .text(Self.secret("name")), "Notes": .text(Self.secret("notes"))]
            let scripts = ScriptQuery(
                script: "Echo",
                scriptParam: Self.secret("parameter"),
                scriptPreRequest: "Echo",
                scriptPreRequestParam: Self.secret("parameter")
            )
            let id = try await contacts.createRecord(record: EditRecord(createRecord: values, script: scripts))
                .firstValue().recordId
            let phone = ["Phones::Number": .text(Self.secret("number")), "Phones::Kind": "mobile"] as FieldData
            _ = try await contacts.editRecord(
                record: EditRecord(editRecord: values, portalData: ["Phones": [phone]], script: scripts),
                recordId: id
            )
            .firstValue()
            let copy = try await contacts.duplicateRecord(recordId: id, scriptQuery: scripts).firstValue().recordId
            let find = FindQuery(query: [["Name": "==\(Self.secret("name"))"]], script: scripts)
            _ = try await contacts.findRecords(query: find).returnAs(FieldData.self).firstValue()
            _ = try await contacts.records(FieldData.self, findQuery: find).collect().firstValue()
            let range = RecordQuery(script: scripts)
            _ = try await contacts.getRecords(recordQuery: range).returnAs(FieldData.self).firstValue()
            _ = try await contacts.records(FieldData.self, recordQuery: range).collect().firstValue()
            _ = try await contacts.runScript("Echo", parameter: .text(Self.secret("parameter"))).firstValue()

            let body = Data(#"{"query":[{"Name":"==\#(Self.secret("name"))"}]}"#.utf8)
            for request in [
                DataAPI.RawRequest("POST", ["layouts", "Contacts", "_find"], body: body),
                DataAPI.RawRequest(
                    "GET",
                    ["layouts", "Contacts", "script", "Echo"],
                    query: ["script.param": Self.secret("parameter")]
                ),
                // What a later host may have.
                DataAPI.RawRequest("POST", ["future"], query: ["option": Self.secret("value")], body: body),
            ] { _ = await database.rawAnswer(to: request).awaitSingleResult() }

            let file = FMRest.ContainerFile(
                fileName: "\(Self.secret("file")).txt",
                data: Data(Self.secret("content").utf8)
            )
            _ = try await contacts.uploadContainer(file, to: "Photo", recordId: id).firstValue()
            let record = try await contacts.record(id: id).returnAs(FieldData.self).firstValue().data.first
            try trap.add(contentsOf: record?.fieldData["Photo"]?.text)
            let content = try await contacts.downloadContainer(fieldName: "Photo", recordId: id).toMemory().firstValue()
            expectNoDifference(String(decoding: content.data, as: UTF8.self), Self.secret("content"))

            // What fails names fields and codes.
            _ = await contacts.editRecord(["Birthday": .text(Self.secret("date"))], recordId: id).awaitSingleResult()
            _ = await contacts.editRecord(["None": .text(Self.secret("value"))], recordId: id).awaitSingleResult()
            _ = await contacts.runScript("None", parameter: .text(Self.secret("parameter"))).awaitSingleResult()
            _ = await contacts.findRecords(query: find).returnAs(RedactionTests.Contact.self).awaitSingleResult()
            _ = await database.signedIn(as: Credentials(user: "bob", password: Self.secret)).getScriptNames()
                .awaitSingleResult()
            sandbox.inject(.reset, on: .editRecord)
            _ = await contacts.editRecord(values, recordId: id).awaitSingleResult()
            sandbox.inject(.brokenJSON, on: .getRecord)
            _ = await contacts.record(id: id).returnAs(FieldData.self).awaitSingleResult()
            sandbox.inject(.expireToken, on: .scripts)
            _ = try await database.getScriptNames().firstValue()
            sandbox.inject(.error(FileMakerError(301)), on: .editRecord)
            _ = await contacts.retrying().editRecord(values, recordId: id).awaitSingleResult()
            for id in [id, copy] {
                _ = try await contacts.deleteRecord(recordId: id, scriptQuery: scripts).firstValue()
            }
            _ = try await database.logOut().firstValue()
            expectNoDifference(operations.subtracting(trap.operations), [])
        }
    }

    // MARK: The higher level

    @Test func noReadingOfManyRecordsLogsASecret() async throws {
        try await Self.run { database, sandbox, trap in
            let people = database.layout(SavedContact.self)
            for number in 1...3 {
                let contact = PlainContact(name: Self.secret("name \(number)"), city: Self.secret("city"))
                let id = try await database.layout(PlainContact.self).create(contact).firstValue().recordId
                let phone = ["Phones::Number": .text(Self.secret("number")), "Phones::Kind": "mobile"] as FieldData
                _ = try await database.addLayout("Contacts").editRecord(
                    record: EditRecord(editRecord: FieldData(), portalData: ["Phones": [phone]]),
                    recordId: id
                )
                .firstValue()
            }
            let found = people.find { $0(.city) == Self.secret("city") }
            let ids = try await found.all(pageSize: 2).collect().firstValue().map(\.recordId)
            expectNoDifference(ids.count, 3)
            for way in [DataAPI.Paging<SavedContact>.stable(by: .name), .ids(by: .name), .windows(serial: .balance)] {
                _ = await found.all(way, pageSize: 2).outcome()
            }
            _ = try await found.all().pages.collect().firstValue()
            _ = await people.rows(\.phones, of: ids[0], portal: "Phones").outcome()
            _ = try await found.firstRecord().firstValue()
            _ = await found.one().awaitSingleResult()
            _ = try await found.count().firstValue()
            _ = try await people.exists { $0(.city) == Self.secret("city") }.firstValue()
            _ = try await found.page(limit: 2).firstValue()
            _ = try await people.records(ids: ids).collect().firstValue()
            _ = await people.records(ids: [ids[0], 999_999]).outcome()
            // A find that FileMaker cannot express.
            let refused = people.find { $0(.name).begins(with: Self.secret("name")) && $0(.name).hasWords("a") }
            _ = await refused.all().outcome()
            let parents = found.all()
            _ = try await parents.joining(people, on: \.fieldData.name, equals: .name).collect().firstValue()
            _ = try await parents.joiningOne(people, on: \.fieldData.city, equals: .city).collect().firstValue()
        }
    }

    @Test func noWritingOfManyRecordsLogsASecret() async throws {
        try await withTemporaryFolder { folder in
            try await Self.run { database, sandbox, trap in
                let people = database.layout(PlainContact.self)
                func contact(_ number: Int) -> PlainContact {
                    PlainContact(
                        name: Self.secret("name \(number)"),
                        city: Self.secret("city"),
                        email: Self.secret("\(number)@mail")
                    )
                }
                let journal = DataAPI.WriteJournal.file(folder.appendingPathComponent("journal"))
                let writes: [DataAPI.RecordWrite<PlainContact>] = [
                    .create(contact(1)), .create(contact(2)),
                    .edit(1, setting: ["Birthday": .text(Self.secret("date"))]),
                    .delete(999_999),
                ]
                let rows = try await people.writing(writes, journal: journal).collect().firstValue()
                expectNoDifference(rows.count, 4)
                sandbox.inject(.resetAfterExecution, on: .createRecord)
                let upserts = (1...3).map { DataAPI.RecordWrite<PlainContact>.upsert(contact($0), by: .email) }
                _ = try await people.writing(upserts).collect().firstValue()
                _ = try await people.upsert(contact(4), by: .email).firstValue()
                let script = DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs"))
                _ = await people.writing([.create(contact(5)), .delete(999_999)], committing: script).outcome()
                // An input that fails stops its batch.
                let broken = Fail<DataAPI.RecordWrite<PlainContact>, any Error>(error: Leak())
                _ = await people.writing(broken).outcome()

                let found = people.find { $0(.city) == Self.secret("city") }
                let record = try #require(try await found.firstRecord().firstValue())
                var draft = record.draft()
                draft.city = Self.secret("my city")
                try await people.edit(record.recordId, setting: ["City": .text(Self.secret("their city"))]).firstValue()
                for policy in [DataAPI.ConflictPolicy.fail, .merge, .mine] {
                    _ = await people.save(draft, onConflict: policy).awaitSingleResult()
                }
                _ = try await people.update(record.recordId) { $0.city = Self.secret("city") }.firstValue()
                let file = FMRest.ContainerFile(fileName: "\(Self.secret("file")).txt", data: Data(Self.secret.utf8))
                let pictured = database.layout(SavedContact.self)
                _ = try await pictured.upload(file, to: .photo, of: record.recordId).firstValue()
                let portrait = try await pictured.record(id: record.recordId).firstValue()
                if case .url(let url) = portrait.fieldData.photo { try trap.add(contentsOf: "\(url)") }
                _ = try await pictured.containers(.photo).collect().firstValue()
                _ = try await pictured.containers(.photo, toFiles: { "\(folder.path)/\($0.recordId)" }).collect()
                    .firstValue()
                let count = try await found.count().firstValue()
                _ = await found.editAll(setting: ["Notes": .text(Self.secret("notes"))], .exactly(count)).outcome()
                _ = await found.deleteAll(.exactly(count)).outcome()
                for message in ["debug batch finished", "debug batch stopped", "debug page read"] {
                    #expect(trap.log.messages.contains(message), "\(message)")
                }
            }
        }
    }

    @Test func noLiveQueryLogsASecret() async throws {
        try await Self.run { database, sandbox, trap in
            let people = database.layout(PlainContact.self)
            for number in 1...2 {
                let contact = PlainContact(name: Self.secret("name \(number)"), city: Self.secret("city"))
                _ = try await people.create(contact).firstValue()
            }
            let found = people.find { $0(.city) == Self.secret("city") }
            let ways: [DataAPI.LiveOptions] = [
                DataAPI.LiveOptions(), DataAPI.LiveOptions(watch: .reread),
                DataAPI.LiveOptions(watch: .scan("Contacts", key: "Name")),
                DataAPI.LiveOptions(watch: .stamp("ModifiedAt", scan: "Contacts")),
                DataAPI.LiveOptions(watch: .script("Echo", parameter: Self.secret("parameter"))),
            ]
            for way in ways {
                // Each way ends its first poll, those that the host's layouts and scripts do not serve with a failure.
                let polls = trap.polls()
                let live = found.live(way, isolation: nil)
                    .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
                await until { trap.polls() > polls }
                live.cancel()
            }
            let failures = trap.polls("failed")
            let (snapshots, events) = (Locked(0), Locked(0))
            let changes = found.changes(isolation: nil)
            let following = changes.sink(
                receiveCompletion: { _ in },
                receiveValue: { event in
                    if case .ready = event { snapshots.change { $0 += 1 } }
                    if case .changed = event { events.change { $0 += 1 } }
                }
            )
            let copied = Locked(0)
            let keeper = DataAPI.CopyKeeper(mark: { $0(.success(nil)) }, versions: { _, _, done in done(.success([])) })
            let copying = found.changes(keptBy: keeper, isolation: nil).sink(
                receiveCompletion: { _ in },
                receiveValue: { event in if case .polled = event { copied.change { $0 += 1 } } }
            )
            await until { copied.value > 0 && snapshots.value > 0 }
            let record = try #require(try await people.firstRecord { $0(.city) == Self.secret("city") }.firstValue())
            sandbox.inject(.html(status: 503), on: .find)
            _ = try await people.edit(record.recordId, setting: ["Name": .text(Self.secret("other"))]).firstValue()
            await until { trap.polls("failed") > failures }
            changes.refresh()
            await until { events.value > 0 }
            for subscription in [following, copying] { subscription.cancel() }
        }
    }

    /// An error of the program, which may say anything.
    private struct Leak: Error, CustomStringConvertible {
        var description: String { LogCanaryTests.secret }
    }
}
