import CustomDump
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMData

/// Faults of earlier clients, one test for each, by the number it has in our list of them. Those about containers have tests
/// beside the containers.
@Suite(.timeLimit(.minutes(15))) struct PitfallTests {}

/// The publisher-based client that this package succeeds.
extension PitfallTests {
    @Suite struct Ancestor {
        @Test("1: a query and a body are both sent")
        func queryAndBody() async throws {
            try await ScriptedHost.run { host in
                let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("content".utf8))
                _ = try await host.layout.uploadContainer(file, to: "Photo", recordId: 17, modId: 5).firstValue()
                expectNoDifference(host.calls.last?.target.hasSuffix("/containers/Photo/1?modId=5"), true)
                expectNoDifference(host.calls.last?.text.contains("content"), true)
            }
        }

        @Test("4: the token is that of the subscription, not of the call that made the publisher")
        func tokenOfTheSubscription() async throws {
            try await World.run { world in
                let countries = world.countries.getRecords(recordQuery: RecordQuery(limit: 1)).returnAs(FieldData.self)
                _ = try await countries.firstValue()
                world.sandbox.expireSessions()
                _ = try await world.database.login(credentials: Credentials(user: "guest", password: "welcome"))
                    .firstValue()
                _ = try await countries.firstValue()
                expectNoDifference(world.sandbox.counters.logins, 2, "the publisher found the new token by itself")
            }
        }

        @Test("5: globals are wrapped, and the path has no slash at its end")
        func globals() async throws {
            try await ScriptedHost.run(client: { $0.sessions.maximumSessions = 1 }) { host in
                _ = try await host.database.setGlobalFields(globalFields: ["T::g": "1"]).firstValue()
                expectNoDifference(host.calls.last?.target, "/fmi/data/vLatest/databases/Harbor/globals")
                expectNoDifference(host.calls.last?.text, #"{"globalFields":{"T::g":"1"}}"#)
            }
        }

        @Test("6: subscriptions in different sessions send different tokens")
        func tokensOfSessions() async throws {
            let release = Locked(0)
            try await ScriptedHost.run(
                client: { $0.sessions.maximumSessions = 2 },
                answer: { request in
                    // The first call is held until the second has come, in a session of its own.
                    release.change { $0 += 1 }
                    return release.value == 1 ? .silence : .json("{}")
                }
            ) { host in
                let first = TrackingSubscriber<DataAPI.ScriptResponse, FMRest.APIError>()
                host.layout.executeScript(script: "A").subscribe(first)
                await until { host.calls.count == 1 }
                _ = try await host.layout.executeScript(script: "B").firstValue()
                first.cancel()
                expectNoDifference(host.calls.map { $0.header("Authorization") }, ["Bearer T1", "Bearer T2"])
            }
        }

        @Test("7: the code in the messages decides, and every 2xx may be a success", arguments: [200, 201, 204, 500])
        func codeBeforeStatus(status: Int) async throws {
            try await ScriptedHost.run(answer: { call in
                call.number == 0
                    ? .error(104, "Script is missing", status: 200)
                    : .json(
                        status == 204 ? 202 : status,
                        #"{"response":{"scriptError":"0"},"messages":[{"code":"0"}]}"#
                    )
            }) { host in
                let error = await host.layout.executeScript(script: "S").awaitSingleResult().failure
                expectNoDifference(error?.fileMakerCode, .scriptMissing)
                expectNoDifference(error?.httpStatus, 200)
                let value = try await host.layout.executeScript(script: "S").firstValue()
                expectNoDifference(value.scriptError, "0")
            }
        }

        @Test("8: FileMaker's code, the status and the media type stand side by side")
        func codeAndStatus() async throws {
            try await ScriptedHost.run(answer: { call in call.number == 0 ? .error(301, "In use") : .html(502) }) {
                host in
                let refusal = await host.layout.executeScript(script: "S").awaitSingleResult().failure
                expectNoDifference(refusal?.fileMakerCode, .recordInUse)
                expectNoDifference(refusal?.httpStatus, 500)
                let page = await host.layout.executeScript(script: "S").awaitSingleResult().failure
                expectNoDifference(page?.code, .notDataAPI)
                expectNoDifference(page?.httpStatus, 502)
                expectNoDifference(page?.contentType, "text/html")
                #expect(page?.reason.contains("502") == true)
            }
        }

        @Test(
            "9: 952 and a 401 without messages mean the same",
            arguments: [
                [FaultServer.Step].error(952, status: 401), .html(401), .response(401),
            ]
        )
        func lostSession(reply: [FaultServer.Step]) async throws {
            try await ScriptedHost.run(answer: { call in call.number == 0 ? reply : .json("{}") }) { host in
                _ = try await host.layout.executeScript(script: "S").firstValue()
                expectNoDifference(host.logIns.count, 2)
                expectNoDifference(host.calls.map { $0.header("Authorization") }, ["Bearer T1", "Bearer T2"])
            }
        }

        @Test("10: an odd code is kept as text", arguments: ["E-17", "", "99999999999999999999", "1 2"])
        func oddCode(code: String) async throws {
            let body = #"{"response":{},"messages":[{"code":"\#(code)","message":"odd"}]}"#
            try await ScriptedHost.run(answer: { _ in .json(500, body) }) { host in
                let error = await host.layout.executeScript(script: "S").awaitSingleResult().failure
                expectNoDifference(error?.code, .fileMaker)
                expectNoDifference(error?.fileMakerCode, nil)
                expectNoDifference(error?.messages, [.init(code: code, message: "odd")])
            }
        }

        @Test("11: names are encoded one by one, and what cannot be a name is a typed error")
        func names() async throws {
            try await ScriptedHost.run { host in
                _ = try await host.database.addLayout("A/B + 50 % ?#é").executeScript(script: "a/b&c").firstValue()
                expectNoDifference(
                    host.calls.last?.target,
                    "/fmi/data/vLatest/databases/Harbor/layouts/A%2FB%20%2B%2050%20%25%20%3F%23%C3%A9/script/a%2Fb%26c"
                )
                for name in ["", ".", ".."] {
                    let error = await host.database.addLayout(name).executeScript(script: "S").awaitSingleResult()
                        .failure
                    expectNoDifference(error?.code, .invalidRequest)
                }
                expectNoDifference(host.calls.count, 1)
            }
        }

        @Test("12: portals and sort orders are JSON made by an encoder, and no portals are an empty list")
        func portalsAndSort() async throws {
            try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
                for portals in [[PortalRequest(name: #"a"b,c"#)], []] {
                    _ = try await host.layout.getRecords(
                        recordQuery: RecordQuery(portal: portals, sortOrder: [SortQuery(fieldName: #"N"x"#)])
                    ).returnAs(FieldData.self).firstValue()
                }
                let sort = "_sort=" + #"[{"fieldName":"N\"x","sortOrder":"ascend"}]"#.percentEncoded
                expectNoDifference(
                    host.calls.map { String($0.target.drop { $0 != "?" }) },
                    ["?\(sort)&portal=" + #"["a\"b,c"]"#.percentEncoded, "?\(sort)&portal=%5B%5D"]
                )
            }
        }

        @Test("14, 15: a limit that is not given is not sent, and offset and limit are numbers")
        func limits() async throws {
            try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
                _ = try await host.layout.getRecords(
                    recordQuery: RecordQuery(portal: [PortalRequest(name: "P", limit: nil)])
                ).returnAs(FieldData.self).firstValue()
                #expect(host.calls.last?.target.contains("limit") == false)
                #expect(host.calls.last?.target.contains("offset") == false)
            }
        }

        @Test("17: layout.response is no part of a create or an edit")
        func layoutResponse() throws {
            let layout = DataAPI.Server(host: "h").addDatabase("d").addLayout("l")
            let request: DataAPIRequest<DataAPI.EditRecordResponse> = try .edit(
                1,
                of: layout,
                record: EditRecord(editRecord: ["a": "b"], modId: 3)
            )
            expectNoDifference(request.options.map(\.name), ["fieldData", "modId"])
        }

        @Test("18, 19: metadata of a newer server are read, and repetitions come by the server's own keys")
        func openMetadata() async throws {
            let field =
                #"{"name":"F","type":"quantum","displayType":"hologram","result":"vector","maxRepeat":5,"#
                + #""repetitionStart":2,"repetitionEnd":4,"future":{"a":[1]}}"#
            try await ScriptedHost.run(answer: { _ in .json(#"{"fieldMetaData":[\#(field)],"portalMetaData":{}}"#) }) {
                host in
                let metadata = try await host.layout.getLayoutMetadata().firstValue()
                let field = try #require(metadata.fieldMetaData.first)
                expectNoDifference(
                    [field.type.rawValue, field.displayType?.rawValue, field.result.rawValue],
                    ["quantum", "hologram", "vector"]
                )
                expectNoDifference([field.repetitionStart, field.repetitionEnd, field.repetitions], [2, 4, 3])
            }
        }

        @Test("20: the rows an edit or a create made are a list")
        func newRows() async throws {
            try await World.run { world in
                let rows: [String: [[String: String]]] = [
                    "Phones": [["Phones::Kind": "work", "Phones::Number": "1"], ["Phones::Number": "2"]]
                ]
                let edited = try await world.contacts.editRecord(
                    record: EditRecord(editRecord: EmptyPortal(), portalData: rows),
                    recordId: 1
                ).firstValue()
                expectNoDifference(edited.newPortalRecordInfo.map(\.tableName), ["Phones", "Phones"])
                expectNoDifference(Set(edited.newPortalRecordInfo.map(\.recordId)).count, 2)
            }
            try await ScriptedHost.run(answer: { _ in
                .json(
                    #"{"recordId":"9","modId":"0","newPortalRecordInfo":[{"tableName":"T","recordId":"4","modId":"0"}]}"#
                )
            }) { host in
                let created = try await host.layout.createRecord().firstValue()
                expectNoDifference(created.newPortalRecordInfo, [.init(tableName: "T", recordId: 4, modId: 0)])
            }
        }

        @Test("21, 22: lists keep tables and belong to their database, and two readings of a list are equal")
        func lists() async throws {
            try await World.run { world in
                let layouts = try await world.database.getLayoutNames().firstValue()
                let countries = try #require(layouts.flatMap(\.allLayouts).first { $0.name == "Countries" })
                expectNoDifference(countries.table, "Country")
                #expect(countries.database === world.database)
                let scripts = try await world.database.getScriptNames().firstValue()
                let again = try await world.database.getScriptNames().firstValue()
                expectNoDifference(scripts, again)
                #expect(
                    scripts.contains(
                        .folder("Contacts", scripts: ["Keep Active", "Visit All", "Set Filter"].map { .script($0) })
                    )
                )
            }
        }

        @Test("23: a duplicate tells the new record's id, and its body is an empty object with its type")
        func duplicate() async throws {
            try await ScriptedHost.run(answer: { _ in .json(#"{"recordId":"58","modId":"0"}"#) }) { host in
                let copy = try await host.layout.duplicateRecord(recordId: 17).firstValue()
                expectNoDifference(copy.recordId, 58)
                expectNoDifference(host.calls.last?.text, "{}")
                expectNoDifference(host.calls.last?.header("Content-Type"), "application/json")
            }
        }

        @Test("24: a script without a parameter has none")
        func scriptWithoutParameter() async throws {
            try await ScriptedHost.run { host in
                _ = try await host.layout.executeScript(script: "S").firstValue()
                _ = try await host.layout.deleteRecord(recordId: 1, scriptQuery: ScriptQuery(script: "S")).firstValue()
                expectNoDifference(host.calls.filter { $0.target.contains("param") }.count, 0)
            }
        }

        @Test(
            "25: every kind of login has a JSON body and says so",
            arguments: [
                Credentials(user: "u", password: "p"), Credentials(oAuthId: "r", oAuthIdentifier: "i"),
                Credentials(clarisId: "c"),
            ]
        )
        func logIn(credentials: Credentials) async throws {
            try await ScriptedHost.run(credentials: credentials) { host in
                _ = try await host.layout.executeScript(script: "S").firstValue()
                expectNoDifference(host.logIns.map(\.text), ["{}"])
                expectNoDifference(host.logIns.map { $0.header("Content-Type") }, ["application/json"])
            }
        }

        @Test("26, 29: the token does not replace who logs in, so a lost session is renewed")
        func identitySurvives() async throws {
            try await World.run { world in
                _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
                expectNoDifference(world.database.credentials.kind, .token)
                world.sandbox.expireSessions()
                _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
                expectNoDifference(world.sandbox.counters.logins, 2)
            }
        }

        @Test("27, 28: credentials change once per event, to invalid when refused, and a log-out forgets the token")
        func credentialsState() async throws {
            try await World.run { world in
                let kinds = Locked<[Credentials.Kind]>([])
                let watch = world.database.$credentials.sink { value in kinds.change { $0.append(value.kind) } }
                _ = try await world.database.getScriptNames().firstValue()
                expectNoDifference(kinds.value, [.basic, .token])
                _ = try await world.database.logOut().firstValue()
                #expect(kinds.value.last != .token)
                _ = await world.database.login(credentials: Credentials(user: "admin", password: "wrong"))
                    .awaitSingleResult()
                expectNoDifference(world.database.credentials.kind, .invalid)
                watch.cancel()
            }
        }

        @Test("30, 31: children hold parents, parents do not hold children, and a name is one object")
        func tree() {
            weak var server: DataAPI.Server?
            weak var database: DataAPI.Database?
            do {
                let layout = DataAPI.Server(host: "h").addDatabase("d").addLayout("l")
                server = layout.database.server
                database = layout.database
                #expect(server?.addDatabase("d") === database)
                #expect(DataAPI.Server(host: "h").addDatabase("d") !== database)
            }
            #expect(server == nil && database == nil)
        }

        @Test("32: the library prints nothing")
        func noPrint() throws {
            let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources/FMData")
            let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap { $0 as? String }
                .filter { $0.hasSuffix(".swift") }
            #expect(files.count > 100)
            for file in files {
                let lines = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
                    .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                let printing = lines.filter {
                    !$0.hasPrefix("//") && ($0.hasPrefix("print(") || $0.contains(" print("))
                }
                expectNoDifference(printing, [], "\(file)")
            }
        }

        @Test("33: a publisher's debug output has no secret")
        func debugOutput() async throws {
            struct Memory: TextOutputStream {
                let text: Locked<String>
                mutating func write(_ string: String) { text.change { $0 += string } }
            }
            try await World.run { world in
                let text = Locked("")
                let token = try await world.database.login(credentials: Credentials(user: "admin", password: "secret"))
                    .print("log", to: Memory(text: text)).firstValue()
                _ = await world.contacts.editRecord(record: EditRecord(editRecord: ["Nmae": "s3cret"]), recordId: 1)
                    .print("log", to: Memory(text: text)).awaitSingleResult()
                #expect(text.value.contains("102"))
                #expect(!text.value.contains("s3cret"))
                guard case .token(let secret) = token.secret else {
                    return #expect(Bool(false), "a login brings a token")
                }
                #expect(!text.value.contains(secret))
            }
        }

        @Test("34: whatever is thrown on the way becomes the one error type")
        func strangers() async throws {
            struct Stranger: Error {}
            struct Angry: Codable, Sendable {
                init() {}
                init(from decoder: any Decoder) throws { throw Stranger() }
                func encode(to encoder: any Encoder) throws { throw Stranger() }
            }
            try await World.run { world in
                let read = await world.contacts.getRecords().returnAs(Angry.self).awaitSingleResult().failure
                expectNoDifference(read?.code, .decoding)
                let write = await world.contacts.createRecord(record: EditRecord(createRecord: Angry()))
                    .awaitSingleResult().failure
                expectNoDifference(write?.code, .encoding)
            }
        }

        @Test("35: what FileMaker 17 does not send is not missed")
        func oldServers() async throws {
            try await World.run(sandbox: { $0.serverVersion = .v17 }) { world in
                let response = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
                expectNoDifference(response.dataInfo.isReported, false)
                expectNoDifference(response.dataInfo.returnedCount, 3)
                expectNoDifference(response.data.first?.portalDataInfo, nil)
            }
            try await World.run { world in
                let zone = try await world.zones.findRecords(query: FindQuery(query: [["Name": "==Europe/Zurich"]]))
                    .returnAs(FieldData.self).firstValue()
                expectNoDifference(zone.data.first?.portalDataInfo?.first?.portalObjectName, "Shared")
            }
        }

        @Test(
            "36: ids come as text or number, as large as they get",
            arguments: [
                #""9223372036854775807""#, "9223372036854775807",
            ]
        )
        func ids(id: String) async throws {
            try await ScriptedHost.run(answer: { _ in
                .json(#"{"data":[{"fieldData":{},"portalData":{},"recordId":\#(id),"modId":\#(id)}]}"#)
            }) { host in
                let record = try await host.layout.getRecordById(recordId: 1).returnAs(FieldData.self).firstValue()
                    .data[0]
                expectNoDifference([record.recordId, record.modId], [.max, .max])
            }
        }

        @Test("37: a single record has no offset, limit or order")
        func optionsOfASingleRecord() async throws {
            try await ScriptedHost.run { host in
                for query in [RecordQuery(offset: 2), RecordQuery(limit: 2), RecordQuery(sortOrder: [])] {
                    let error = await host.layout.getRecordById(recordId: 1, recordQuery: query).returnAs(
                        FieldData.self
                    )
                    .awaitSingleResult().failure
                    expectNoDifference(error?.code, .invalidRequest)
                }
                expectNoDifference(host.server.requests.count, 0)
            }
        }

        @Test("38: awaiting ends on an empty publisher and on cancellation, and keeps the error")
        func awaiting() async throws {
            let nothing = await Empty<Int, FMRest.APIError>().awaitSingleResult()
            expectNoDifference(nothing.failure?.code, .noValue)
            let failure = await Fail<Int, FMRest.APIError>(error: .init(.tls, reason: "r")).awaitSingleResult()
            expectNoDifference(failure.failure?.code, .tls)
            let endless = Task { await Empty<Int, FMRest.APIError>(completeImmediately: false).awaitSingleResult() }
            endless.cancel()
            let cancelled = await endless.value
            expectNoDifference(cancelled.failure?.code, .cancelled)
        }

        @Test("39: each subscriber is one request; multicast makes it one for all")
        func subscribers() async throws {
            try await World.run { world in
                let create = world.contacts.createRecord()
                let first = try await create.firstValue()
                let second = try await create.firstValue()
                #expect(first.recordId != second.recordId)

                let shared = create.multicast { PassthroughSubject<DataAPI.CreateResponse, FMRest.APIError>() }
                let subscribers = (0..<3).map { _ in TrackingSubscriber<DataAPI.CreateResponse, FMRest.APIError>() }
                for subscriber in subscribers { shared.subscribe(subscriber) }
                let connection = shared.connect()
                for subscriber in subscribers { _ = await subscriber.completion() }
                connection.cancel()
                expectNoDifference(Set(subscribers.flatMap(\.values).map(\.recordId)).count, 1)
                expectNoDifference(world.sandbox.counters.executedWrites, 3)
            }
        }
    }
}
