import CustomDump
import FMData
import FMTestSupport
import FMTesting
import Foundation
import OpenCombine
import Testing

/// Which answer a request gets, and what is known of requests afterwards.
@Suite(.timeLimit(.minutes(15))) struct TestTransportTests {
    private let transport = TestTransport()

    private func count(_ layout: String, in database: DataAPI.Database) async -> Int? {
        let response = await database.addLayout(layout).getRecords().returnAs(FieldData.self).awaitSingleResult()
        return try? response.get().dataInfo.foundCount
    }

    private func found(_ count: Int) -> TestAnswer { .records([FieldData](), foundCount: count) }

    @Test func answersComeInOrderAndThenTheOneForEver() async {
        let database = transport.database()
        transport.answer(.getRecords, with: found(1), found(2))
        transport.alwaysAnswer(.getRecords, with: found(8))
        transport.alwaysAnswer(.getRecords, with: found(9))
        var counts: [Int?] = []
        for _ in 0..<4 { counts.append(await count("A", in: database)) }
        expectNoDifference(counts, [1, 2, 9, 9])
        expectNoDifference(transport.unusedAnswerCount, 0)
    }

    @Test func anAnswerForALayoutComesBeforeOneForAny() async {
        let database = transport.database()
        transport.answer(.getRecords, with: found(1))
        transport.answer(.getRecords, on: "B", with: found(2))
        transport.alwaysAnswer(.getRecords, with: found(3))
        transport.alwaysAnswer(.getRecords, on: "B", with: found(4))
        var counts: [Int?] = []
        for layout in ["B", "B", "B", "A"] { counts.append(await count(layout, in: database)) }
        expectNoDifference(counts, [2, 1, 4, 3])
    }

    @Test func aMissingAnswerNamesTheNearest() async throws {
        let contacts = transport.database().addLayout("Contacts")
        let nothing = await contacts.getRecords().returnAs(FieldData.self).awaitSingleResult().error
        expectNoDifference(nothing?.code, .invalidRequest)
        expectNoDifference(
            nothing?.reason.hasSuffix(
                "TestTransport has no answer to getRecords on \"Contacts\". It has no answers at all."
            ),
            true
        )
        transport.answer(.getRecords, on: "People", with: found(1))
        transport.answer(.findRecords, on: "Contacts", with: found(1))
        let other = await contacts.getRecords().returnAs(FieldData.self).awaitSingleResult().error
        #expect(other?.reason.hasSuffix("The nearest is that to getRecords on \"People\".") == true)
        _ = await contacts.findRecords(query: FindQuery(query: [["Name": "secret"]])).returnAs(FieldData.self)
            .awaitSingleResult()
        let used = await contacts.findRecords(query: FindQuery(query: [["Name": "secret"]])).returnAs(FieldData.self)
            .awaitSingleResult().error
        #expect(
            used?.reason.hasSuffix(
                "The nearest is that to findRecords on \"Contacts\", which was given already."
            ) == true,
            "\(used?.reason ?? "")"
        )
        #expect(used?.reason.contains("secret") == false)
        expectNoDifference(transport.unanswered.map(\.operation), [.getRecords, .getRecords, .findRecords])
        expectNoDifference(used?.isRetryable, false)
    }

    @Test func whatWasAskedIsKept() async throws {
        transport.alwaysAnswer(.createRecord, with: .created(1))
        transport.alwaysAnswer(.editRecord, with: .edited(modId: 1))
        transport.alwaysAnswer(.findRecords, with: found(0))
        transport.alwaysAnswer(.getRecords, with: found(0))
        transport.alwaysAnswer(.runScript, with: .script(nil))
        transport.alwaysAnswer(.uploadContainer, with: .edited(modId: 1))
        transport.alwaysAnswer(.setGlobals, with: .done)
        let contacts = transport.database("Files").addLayout("Contacts / all")
        let rows: [String: [[String: String]]] = ["Phones": [["recordId": "7", "Phones::Number": "1"]]]
        let record = EditRecord(
            editRecord: ["City": FieldValue("Oslo"), "Balance": 12.5] as FieldData,
            portalData: rows,
            modId: 4
        )
        _ = try await contacts.editRecord(record: record, recordId: 17).firstValue()
        let edit = try #require(transport.requests.last)
        expectNoDifference([edit.database, edit.layout], ["Files", "Contacts / all"])
        expectNoDifference([edit.recordId], [17])
        expectNoDifference(edit.fields, ["City": "Oslo", "Balance": 12.5])
        expectNoDifference(edit.portals, ["Phones": [["recordId": "7", "Phones::Number": "1"]]])
        expectNoDifference(edit.options, ["modId": "4"])
        expectNoDifference("\(edit)", "editRecord on \"Contacts / all\"")

        let find = FindQuery(
            query: [["Name": "==Ada"], ["City": "Oslo", "omit": "true"]],
            sort: [SortQuery(fieldName: "Name")],
            script: ScriptQuery(script: "Log", scriptParam: "a=1&b"),
            offset: 2,
            limit: 5
        )
        _ = await contacts.findRecords(query: find).returnAs(FieldData.self).awaitSingleResult()
        let found = try #require(transport.requests.last)
        expectNoDifference(found.criteria, [["Name": "==Ada"], ["City": "Oslo", "omit": "true"]])
        expectNoDifference(
            found.options,
            [
                "offset": "2", "limit": "5", "script": "Log", "script.param": "a=1&b",
                "sort": #"[{"fieldName":"Name","sortOrder":"ascend"}]"#,
            ]
        )
        let range = RecordQuery(script: ScriptQuery(script: "Log", scriptParam: "a=1&b"), offset: 2, limit: 5)
        _ = await contacts.getRecords(recordQuery: range).returnAs(FieldData.self).awaitSingleResult()
        expectNoDifference(
            transport.requests.last?.options,
            ["offset": "2", "limit": "5", "script": "Log", "script.param": "a=1&b"]
        )

        _ = try await contacts.executeScript(script: "Sum / all", scriptParam: "1").firstValue()
        expectNoDifference(transport.requests.last?.script, "Sum / all")
        expectNoDifference(transport.requests.last?.options, ["script.param": "1"])

        let content = Data("--\r\n\r\nA bow\r\n--".utf8)
        let file = FMRest.ContainerFile(fileName: "a \"b\".txt", data: content)
        _ = try await contacts.uploadToContainerField(fieldName: "Photo / big", recordId: 3, file: file).firstValue()
        expectNoDifference(transport.requests.last?.file?.field, "Photo / big")
        expectNoDifference(transport.requests.last?.file?.name, "a \"b\".txt")
        expectNoDifference(transport.requests.last?.file?.content, content)

        _ = try await contacts.database.setGlobalFields(globalFields: ["Contacts::gFilter": "x"]).firstValue()
        expectNoDifference(transport.requests.last?.fields, ["Contacts::gFilter": "x"])
        expectNoDifference("\(try #require(transport.requests.last))", "setGlobals in \"Files\"")
        // A database that is released logs out.
        withExtendedLifetime(contacts) {}
    }

    @Test func noSecretIsKept() async throws {
        let sources = FMDataSourceAuth(
            fmDataSource: [.init(database: "Other", credentials: .basic(user: "canary-user", password: "canary-2"))]
        )
        let database = DataAPI.Server(answering: transport)
            .addDatabase("Test", credentials: Credentials(user: "me", password: "canary-1"), dataSources: sources)
        transport.answer(.getRecords, with: found(0))
        _ = await count("A", in: database)
        _ = await database.logOut().awaitSingleResult()
        var text = ""
        dump(transport.requests, to: &text)
        expectNoDifference(transport.requests.map(\.operation), [.logIn, .getRecords, .logOut])
        for secret in ["canary", "test-token"] { #expect(!text.contains(secret)) }
    }

    // MARK: Sessions

    @Test func aRefusedSessionIsRenewed() async throws {
        transport.answer(.getRecords, with: .error(952), found(7))
        let count = await count("A", in: transport.database())
        expectNoDifference(count, 7)
        let operations = transport.requests.map(\.operation).filter { $0 != .logOut }
        expectNoDifference(operations, [.logIn, .getRecords, .logIn, .getRecords])
    }

    @Test func aLoginMayFail() async throws {
        transport.answer(.logIn, with: .error(212))
        let layout = transport.database().addLayout("A")
        let error = await layout.getRecords().returnAs(FieldData.self).awaitSingleResult().error
        expectNoDifference(error?.fileMakerCode?.rawValue, 212)
        expectNoDifference(error?.httpStatus, 401)
    }

    @Test func theServerLogsOut() async throws {
        let server = DataAPI.Server(answering: transport)
        let database = server.addDatabase("Test", credentials: Credentials(user: "a", password: "b"))
        transport.alwaysAnswer(.getRecords, with: found(1))
        _ = await count("A", in: database)
        let end = try await server.shutdown().firstValue()
        expectNoDifference(end.sessionsLeft, 0)
        expectNoDifference(transport.requests.map(\.operation), [.logIn, .getRecords, .logOut])
    }

    /// Without the initialisers of this module, with the time limits of the request alone.
    @Test func itIsATransportLikeOthers() async throws {
        var config = DataAPI.Config()
        config.transport = transport
        transport.alwaysAnswer(.getRecords, with: found(5))
        let database = DataAPI.Server(host: "fms.test", config: config)
            .addDatabase("Test", credentials: Credentials(user: "a", password: "b"))
        let count = await count("A", in: database)
        expectNoDifference(count, 5)
    }

    // MARK: The publisher of a response

    private typealias Parts = TrackingSubscriber<DataAPI.ResponsePart, FMRest.APIError>

    /// Subscribes with the demand to the parts of the answer to a request for records.
    private func parts(_ demand: Subscribers.Demand, _ answer: TestAnswer) async -> Parts {
        let parts = Parts(initialDemand: demand)
        var config = DataAPI.Config.atOnce
        config.middleware = [
            DataAPI.Middleware { request, next in
                guard request.operation == .getRecords else { return next(request) }
                next(request).subscribe(parts)
                return Empty().eraseToAnyPublisher()
            }
        ]
        transport.answer(.getRecords, with: answer)
        _ = await count("A", in: transport.database(config: config))
        return parts
    }

    @Test func nothingIsAskedWithoutDemand() async {
        let parts = await parts(.none, found(1))
        expectNoDifference(transport.requests.map(\.operation).filter { $0 != .logOut }, [.logIn])
        expectNoDifference(parts.history.count, 1)
        parts.cancel()
        expectNoDifference(parts.history.count, 1)
    }

    @Test func onePartForEachDemand() async {
        let parts = await parts(.max(1), found(1))
        expectNoDifference(parts.values.map { $0.status != nil }, [true])
        parts.request(.max(1))
        expectNoDifference(parts.values.map { $0.status != nil }, [true, false])
        let completion = await parts.completion()
        #expect(completion.error == nil)
    }

    @Test func nothingFollowsACancel() async {
        let parts = await parts(.max(1), found(1))
        parts.cancel()
        parts.request(.max(5))
        expectNoDifference(parts.values.count, 1)
        #expect(parts.completionIfAny == nil)
    }
}
