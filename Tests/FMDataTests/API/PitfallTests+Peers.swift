import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMData

/// Clients in other languages.
extension PitfallTests {
    @Suite struct Peers {
        @Test(
            "84: a write whose answer is lost is not sent again",
            arguments: [
                Sandbox.Endpoint.createRecord, .editRecord, .duplicateRecord, .deleteRecord,
            ]
        )
        func lostAnswer(endpoint: Sandbox.Endpoint) async throws {
            try await World.run { world in
                _ = try await world.database.getScriptNames().firstValue()
                world.sandbox.inject(.resetAfterExecution, on: endpoint)
                let error: FMRest.APIError?
                switch endpoint {
                case .createRecord: error = await world.contacts.createRecord().awaitSingleResult().failure
                case .editRecord:
                    error = await world.contacts.editRecord(record: EditRecord(editRecord: ["City": "a"]), recordId: 1)
                        .awaitSingleResult().failure
                case .duplicateRecord:
                    error = await world.contacts.duplicateRecord(recordId: 1).awaitSingleResult().failure
                default: error = await world.contacts.deleteRecord(recordId: 1).awaitSingleResult().failure
                }
                expectNoDifference(error?.outcomeIsUnknown, true)
                expectNoDifference(error?.isRetryable, false)
                expectNoDifference(world.sandbox.counters.executedWrites, 1)
            }
        }

        @Test("84, 85: portals of a find are named in its body, as they are")
        func portalsOfAFind() async throws {
            try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
                _ = try await host.layout.findRecords(
                    query: FindQuery(query: [["a": "b"]], portal: [PortalRequest(name: "P & Q", limit: 3, offset: 2)])
                ).returnAs(FieldData.self).firstValue()
                expectNoDifference(host.calls.last?.target.contains("?"), false)
                expectNoDifference(
                    host.calls.last?.text,
                    #"{"limit.P & Q":"3","offset.P & Q":"2","portal":["P & Q"],"query":[{"a":"b"}]}"#
                )
            }
        }

        @Test("85: a single record and a delete keep their options")
        func options() async throws {
            try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
                let script = ScriptQuery(script: "S", scriptParam: "p")
                _ = try await host.layout.getRecordById(
                    recordId: 1,
                    recordQuery: RecordQuery(
                        script: script,
                        layoutResponse: "Other",
                        portal: [PortalRequest(name: "P", limit: 1)]
                    )
                ).returnAs(FieldData.self).firstValue()
                _ = try await host.layout.deleteRecord(recordId: 1, scriptQuery: script).firstValue()
                let records = "/fmi/data/vLatest/databases/Harbor/layouts/People/records/1"
                expectNoDifference(
                    host.calls.map(\.target),
                    [
                        "\(records)?portal=%5B%22P%22%5D&_limit.P=1&layout.response=Other&script=S&script.param=p",
                        "\(records)?script=S&script.param=p",
                    ]
                )
            }
        }

        @Test("85: accounts do not share sessions, and one's log-out is not the other's")
        func accounts() async throws {
            try await World.run { world in
                let guest = world.database.as(Credentials(user: "guest", password: "welcome"))
                _ = try await world.database.getScriptNames().firstValue()
                _ = try await guest.getScriptNames().firstValue()
                expectNoDifference(world.sandbox.counters.openSessions, 2)
                _ = try await guest.logOut().firstValue()
                _ = try await world.database.getScriptNames().firstValue()
                expectNoDifference(world.sandbox.counters.logins, 2)
                expectNoDifference(world.sandbox.counters.openSessions, 1)
            }
        }

        @Test("86: calls share a connection", arguments: Wire.allCases)
        func connections(wire: Wire) async throws {
            try await World.run(over: wire) { world in
                for _ in 0..<20 { _ = try await world.database.getScriptNames().firstValue() }
                expectNoDifference(world.sandbox.counters.connections, 1)
            }
        }

        @Test("87: a call that failed leaves nothing behind for the next")
        func noSharedState() async throws {
            try await ScriptedHost.run(answer: { call in
                call.number == 0 ? .error(960, status: 400) : .json(#"{"recordId":"1","modId":"0"}"#)
            }) { host in
                _ = await host.layout.createRecord().awaitSingleResult()
                _ = try await host.layout.createRecord().firstValue()
                expectNoDifference(
                    host.calls.map { $0.header("Content-Type") },
                    ["application/json", "application/json"]
                )
            }
        }

        @Test("88: a number is written as a number")
        func numbers() async throws {
            try await ScriptedHost.run(answer: { _ in .json(#"{"recordId":"1","modId":"0"}"#) }) { host in
                _ = try await host.layout.createRecord(record: EditRecord(createRecord: ["Balance": 12])).firstValue()
                expectNoDifference(host.calls.last?.text, #"{"fieldData":{"Balance":12}}"#)
            }
        }

        @Test("90: a page instead of JSON is a typed error with its title", arguments: [200, 401, 404, 502])
        func pages(status: Int) async throws {
            try await ScriptedHost.run(answer: { _ in .html(status) }) { host in
                let error = await host.layout.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
                expectNoDifference(error?.code, .notDataAPI)
                expectNoDifference(error?.httpStatus, status)
                #expect(error?.reason.contains("\(status)") == true)
                #expect(error?.hint != nil)
            }
        }

        @Test("91: without a limit the server's own counts")
        func defaultLimit() async throws {
            try await World.run { world in
                let all = try await world.zones.getRecords().returnAs(FieldData.self).firstValue()
                expectNoDifference(all.data.count, 100)
            }
        }

        @Test(
            "92: every character that FileMaker takes for an operator is escaped",
            arguments: [
                "\\", "~", "//", "...", "..", "…", "@", "#", "*", "?", "!", "=", "==", "<", ">", "≤", "≥", "\"", "{a}",
                "a@b.c",
            ]
        )
        func operators(text: String) async throws {
            enum Key: String, CodingKey { case name = "Name" }
            try await World.run { world in
                let name = "Q\(text)Q"
                let made = try await world.contacts.createRecord(record: EditRecord(createRecord: ["Name": name]))
                    .firstValue()
                let find = DataAPI.Find(Key.self) { $0(.name) == name }
                let found = try await world.contacts.findRecords(
                    query: FindQuery(query: find.requests().map(\.dictionary))
                )
                .returnAs(FieldData.self).firstValue()
                expectNoDifference(found.data.map(\.recordId), [made.recordId])
            }
        }

        @Test("92: ids of new portal rows are the server's, never counted")
        func newRows() async throws {
            try await ScriptedHost.run(answer: { _ in
                .json(#"{"modId":"2","newPortalRecordInfo":[{"tableName":"P","recordId":"700","modId":"0"}]}"#)
            }) { host in
                let rows: [String: [[String: String]]] = ["P": [["P::a": "1"], ["P::a": "2"], ["P::a": "3"]]]
                let edited = try await host.layout.editRecord(
                    record: EditRecord(editRecord: EmptyPortal(), portalData: rows),
                    recordId: 1
                ).firstValue()
                expectNoDifference(edited.newPortalRecordInfo.map(\.recordId), [700])
            }
        }

        @Test("93: malformed JSON is refused unless repairing it is asked for")
        func malformedJSON() async throws {
            let reply = [FaultServer.Step].json(
                "{\"data\":[{\"fieldData\":{\"a\":\"x\ny\"},\"recordId\":\"1\",\"modId\":\"0\"}]}"
            )
            try await ScriptedHost.run(answer: { _ in reply }) { host in
                let error = await host.layout.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
                expectNoDifference(error?.code, .decoding)
            }
            try await ScriptedHost.run(client: { $0.decoding.malformedText = .repair }, answer: { _ in reply }) {
                host in
                let response = try await host.layout.getRecords().returnAs(FieldData.self).firstValue()
                expectNoDifference(response.data.first?.fieldData["a"]?.text, "x\ny")
            }
        }
    }
}
