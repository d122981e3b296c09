import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Portal rows that are made, changed and deleted through their parent record.
@Suite(.timeLimit(.minutes(15))) struct PortalTests {
    @Test(.tags(.fact)) func deleteRelatedGoesInsideFieldData() async throws {
        try await World.run { world in
            let before = try await world.contacts.record(id: 1)
                .returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
            let rows = try #require(before.data.first?.portalData?["Phones"])
            let first = try #require(rows.first?["recordId"]?.int)
            var edit = EditRecord(editRecord: EmptyPortal())
            edit.deleteRelated = [.init(portal: "Phones", recordId: first)]
            _ = try await world.contacts.editRecord(record: edit, recordId: 1).firstValue()
            expectNoDifference(world.sandbox.records(ofTable: "Phones", inDatabase: "World")?.count, 2)

            let outside = DataAPIRequest<DataAPI.EditRecordResponse>(
                method: .PATCH,
                path: .record(1, of: "Contacts", in: "World"),
                options: .init(joining: [
                    [WireOption(name: "fieldData", value: .object([]), disclosure: .hidden)],
                    .shown("deleteRelated", "Phones.2"),
                ]),
                body: .json
            )
            let error = await world.database.perform { outside }.awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .parameterInvalid)
        }
    }

    @Test(.tags(.fact), arguments: [(Sandbox.ServerVersion.v18, 1), (.v19, 1), (.v22, 2)])
    func newPortalRecordInfoIsAListWhoseLengthDependsOnTheServer(
        version: Sandbox.ServerVersion,
        count: Int
    ) async throws {
        try await World.run(sandbox: { $0.serverVersion = version }) { world in
            let rows: [String: [[String: String]]] = [
                "Phones": [
                    ["Phones::Kind": "work", "Phones::Number": "1"], ["Phones::Kind": "home", "Phones::Number": "2"],
                ]
            ]
            let edited = try await world.contacts.editRecord(
                record: EditRecord(editRecord: EmptyPortal(), portalData: rows),
                recordId: 1
            ).firstValue()
            expectNoDifference(edited.newPortalRecordInfo.count, count)
        }
    }

    @Test(.tags(.earlierClients))
    func theRowsThatAnEditOrACreateMadeAreAList() async throws {
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

    @Test(.tags(.earlierClients))
    func idsOfNewPortalRowsAreTheServersNeverCounted() async throws {
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
}
