import CustomDump
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMData

/// The three generations of the function-based client, and the walkthrough before it.
extension PitfallTests {
    @Suite struct Functions {
        @Test("60: hosts, databases and accounts are values, as many as wanted")
        func manyOfAll() async throws {
            try await World.run { one in
                try await World.run(credentials: Credentials(user: "guest", password: "welcome")) { two in
                    let admin = try await one.contacts.createRecord().firstValue()
                    #expect(admin.recordId > 0)
                    let guest = await two.contacts.createRecord().awaitSingleResult().failure
                    #expect([.privileges, .account].contains(guest?.fileMakerCode?.category))
                    expectNoDifference(one.sandbox.counters.logins, 1)
                    expectNoDifference(two.sandbox.counters.logins, 1)
                }
            }
        }

        @Test("61, 68: network, HTTP and FileMaker failures are told apart, by a public code")
        func failures() async throws {
            try await World.run { world in
                var codes: [FMRest.APIError.Code?] = []
                for fault in [Sandbox.Fault.reset, .html(status: 502), .error(FileMakerError(105)), .brokenJSON] {
                    world.sandbox.inject(fault, on: .scripts, count: 2)
                    codes.append(await world.database.getScriptNames().awaitSingleResult().failure?.code)
                    world.sandbox.clearFaults()
                }
                expectNoDifference(codes, [.network, .notDataAPI, .fileMaker, .decoding])
            }
        }

        @Test(
            "62: every way ends in exactly one completion",
            arguments: [
                Sandbox.Fault.expireToken, .cut(afterBodyBytes: 3), .reset, .resetAfterExecution, .html(status: 200),
                .brokenJSON, .empty(status: 200), .error(FileMakerError(9)), .fullHost, .restart,
            ]
        )
        func oneCompletion(fault: Sandbox.Fault) async throws {
            try await World.run { world in
                world.sandbox.inject(fault, on: .getRecords)
                let subscriber = TrackingSubscriber<DataAPI.RecordResponse<FieldData, EmptyPortal>, FMRest.APIError>()
                world.countries.getRecords(recordQuery: RecordQuery(script: ScriptQuery(script: "Echo")))
                    .subscribe(subscriber)
                _ = await subscriber.completion()
                // Whatever would come later comes before the next request has been answered.
                _ = await world.database.getScriptNames().awaitSingleResult()
                let completions = subscriber.history.filter { if case .completion = $0 { true } else { false } }
                expectNoDifference(completions.count, 1)
                #expect(subscriber.values.count <= 1)
            }
        }

        @Test("64, 65: blanks in names and & + = in parameters arrive as they are")
        func characters() async throws {
            try await World.run { world in
                for text in ["a&b=c+d", "100 % + é", "?x#y", "a;b,c", "\"{[]}\"", " "] {
                    let echo = try await world.countries.executeScript(script: "Echo", scriptParam: text).firstValue()
                    expectNoDifference(echo.scriptResult, text)
                }
                let count = try await world.countries.executeScript(script: "Count Found").firstValue()
                expectNoDifference(count.scriptResult, "249")
            }
        }

        @Test("66: a script gives its result and its error")
        func scriptResult() async throws {
            try await World.run { world in
                let failed = try await world.countries.executeScript(script: "Fail").firstValue()
                expectNoDifference(failed, .init(scriptError: "5", scriptName: "Fail"))
            }
        }

        @Test("67: no portals given are the layout's, several sort orders and an offset are possible")
        func rangeOptions() async throws {
            try await World.run { world in
                let portals = try await world.countries.findRecords(query: FindQuery(query: [["Code": "==AU"]]))
                    .returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
                #expect(portals.data.first?.portalData?["Zones"]?.isEmpty == false)
                let sorted = try await world.zones.getRecords(
                    recordQuery: RecordQuery(
                        offset: 2,
                        limit: 2,
                        sortOrder: [
                            SortQuery(fieldName: "CountryCode", sortOrder: .descend), SortQuery(fieldName: "Name"),
                        ]
                    )
                ).returnAs(FieldData.self).firstValue()
                let all = world.sandbox.records(ofTable: "Zones", inDatabase: "World") ?? []
                let expected = all.map(\.values).sorted {
                    ($1["CountryCode"] ?? "", $0["Name"] ?? "") < ($0["CountryCode"] ?? "", $1["Name"] ?? "")
                }
                expectNoDifference(sorted.data.map { $0.fieldData["Name"]?.text }, expected[1...2].map { $0["Name"] })
            }
        }

        @Test("69: a number keeps its digits")
        func digits() async throws {
            struct Account: Codable, Equatable, Sendable {
                var balance: FMNumber
                enum CodingKeys: String, CodingKey { case balance = "Balance" }
            }
            try await World.run { world in
                for digits in [
                    "9007199254740993", "0.1", "-12345678901234567890.123456789", "1234567890123456789012345678",
                ] {
                    let account = Account(balance: try #require(FMNumber(digits)))
                    let id = try await world.contacts.createRecord(record: EditRecord(createRecord: account))
                        .firstValue()
                        .recordId
                    let read = try await world.contacts.getRecordById(recordId: id).returnAs(Account.self).firstValue()
                    expectNoDifference(read.data.map(\.fieldData), [account])
                }
            }
        }

        @Test(
            "70: an answer without messages is a typed error",
            arguments: [
                #"{"response":{},"messages":[]}"#, #"{"response":{}}"#, "{}", "[]", "null",
            ]
        )
        func noMessages(body: String) async throws {
            try await ScriptedHost.run(answer: { _ in .json(200, body) }) { host in
                let error = await host.layout.executeScript(script: "S").awaitSingleResult().failure
                #expect([.decoding, .notDataAPI].contains(error?.code))
            }
        }

        @Test("71: a value that JSON cannot hold is a typed error")
        func unwritable() async throws {
            try await ScriptedHost.run { host in
                for value in [Double.nan, .infinity] {
                    let error = await host.layout.createRecord(record: EditRecord(createRecord: ["Balance": value]))
                        .awaitSingleResult().failure
                    expectNoDifference(error?.code, .encoding)
                }
                expectNoDifference(host.server.requests.count, 0)
            }
        }

        @Test("74: no call is preceded by a validation of the session")
        func noValidation() async throws {
            try await World.run { world in
                for _ in 0..<3 { _ = try await world.database.getScriptNames().firstValue() }
                expectNoDifference(world.sandbox.counters.requests, [.login: 1, .scripts: 3])
            }
        }

        @Test("75, 76: a modId guards an edit, and a duplicate tells its id")
        func writes() async throws {
            try await World.run { world in
                let edit = world.contacts.editRecord(
                    record: EditRecord(editRecord: ["City": "Kiel"], modId: 0),
                    recordId: 1
                )
                let edited = try await edit.firstValue()
                expectNoDifference(edited.modId, 1)
                let error = await edit.awaitSingleResult().failure
                expectNoDifference(error?.fileMakerCode, .modIdMismatch)
                let copy = try await world.contacts.duplicateRecord(recordId: 1).firstValue()
                let read = try await world.contacts.getRecordById(recordId: copy.recordId).returnAs(FieldData.self)
                    .firstValue()
                expectNoDifference(read.data.first?.fieldData["City"]?.text, "Kiel")
            }
        }

        @Test("77, 78: globals need their table, and no fields are an empty object")
        func shapes() async throws {
            try await ScriptedHost.run(answer: { _ in .json(#"{"recordId":"1","modId":"0"}"#) }) { host in
                let error = await host.database.setGlobalFields(globalFields: ["gName": "x"]).awaitSingleResult()
                    .failure
                expectNoDifference(error?.code, .invalidRequest)
                _ = try await host.layout.createRecord().firstValue()
                _ = try await host.layout.createRecord(record: EditRecord(createRecord: [String: String]()))
                    .firstValue()
                expectNoDifference(host.calls.map(\.text), [#"{"fieldData":{}}"#, #"{"fieldData":{}}"#])
            }
        }

        @Test("79: a session that is used lives on")
        func slidingExpiry() async throws {
            let clock = ManualClock()
            try await World.run(sandbox: { $0.clock = clock }) { world in
                for _ in 0..<5 {
                    _ = try await world.database.getScriptNames().firstValue()
                    clock.advance(by: .seconds(14 * 60))
                }
                expectNoDifference(world.sandbox.counters.logins, 1)
            }
        }

        @Test("80: a record that cannot be read is an error that names it; none is dropped")
        func unreadableRecord() async throws {
            struct Contact: Decodable, Sendable {
                var birthday: FMDate
                enum CodingKeys: String, CodingKey { case birthday = "Birthday" }
            }
            try await World.run { world in
                let id = try await world.contacts.createRecord().firstValue().recordId
                let error = await world.contacts.getRecords().returnAs(Contact.self).awaitSingleResult().failure
                expectNoDifference(error?.code, .decoding)
                let failure = error?.underlying as? DecodingFailure
                expectNoDifference(failure?.recordId, id)
                expectNoDifference(failure?.recordNumber, 4)
                expectNoDifference(failure?.field, "Birthday")
            }
        }

        @Test(
            "82: a host that is none is a typed error",
            arguments: [" fms.example.com", "", "a b", "http://", "h:99999", "h/path"]
        )
        func hosts(host: String) async {
            let error = await DataAPI.Server(host: host).getProductInfo().awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
        }

        @Test("83: metadata tell of portals, folders nest to any depth")
        func depth() async throws {
            let deep = (0..<20).reduce(#"[{"name":"L"}]"#) { list, depth in
                #"[{"name":"F\#(depth)","isFolder":true,"folderLayoutNames":\#(list)}]"#
            }
            try await ScriptedHost.run(answer: { _ in .json(#"{"layouts":\#(deep)}"#) }) { host in
                let layouts = try await host.database.getLayoutNames().firstValue()
                expectNoDifference(layouts.flatMap(\.allLayouts).map(\.name), ["L"])
            }
            try await World.run { world in
                let metadata = try await world.contacts.getLayoutMetadata().firstValue()
                expectNoDifference(metadata.portalMetaData["Phones"]?.map(\.name), ["Phones::Kind", "Phones::Number"])
            }
        }
    }
}
