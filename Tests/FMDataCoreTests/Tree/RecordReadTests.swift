import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Reading records by id and by range, and which parts of an answer reach the caller.
@Suite(.timeLimit(.minutes(15))) struct RecordReadTests {
    @Test(.tags(.fact)) func hundredRecordsAndFiftyRowsAreTheDefaultsAndOffsetsCountFromOne() async throws {
        let rows = (1...60).map { Solution.Record(["ParentId": "1", "Number": "\($0)"]) }
        let records = (1...150).map { Solution.Record(["Id": "\($0)"]) }
        let solution = Solution(
            name: "Many",
            tables: [
                .init(name: "Parents", fields: [.init("Id", .number)], records: records),
                .init(name: "Rows", fields: [.init("ParentId", .number), .init("Number", .number)], records: rows),
            ],
            relationships: [.init("Parents", "Rows", matches: [.init("Id", "ParentId")])],
            layouts: [
                .layout(
                    .init(
                        name: "Parents",
                        table: "Parents",
                        fields: ["Id"],
                        portals: [.init(table: "Rows", fields: ["Rows::Number"])]
                    )
                )
            ]
        )
        try await Hosted.run(solution) { database, _ in
            let layout = database.addLayout("Parents")
            let all = try await layout.getRecords().returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
            expectNoDifference([all.data.count, all.dataInfo.returnedCount, all.dataInfo.foundCount], [100, 100, 150])
            expectNoDifference(all.data[0].portalData?["Rows"]?.count, 50)
            expectNoDifference(all.data[0].portalDataInfo?.first?.foundCount, 60)
            let second = try await layout.getRecords(recordQuery: RecordQuery(offset: 2, limit: 1)).returnAs(
                FieldData.self
            )
            .firstValue()
            expectNoDifference(second.data.first?.fieldData["Id"]?.int, 2)
            let last = try await layout.record(
                id: all.data[0].recordId,
                query: RecordQuery(portal: [PortalRequest(name: "Rows", limit: 50, offset: 51)])
            ).returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
            expectNoDifference(last.data[0].portalData?["Rows"]?.map { $0["Rows::Number"]?.int }, (51...60).map { $0 })
            let past = await layout.getRecords(recordQuery: RecordQuery(offset: 151)).returnAs(FieldData.self)
                .awaitSingleResult().failure
            expectNoDifference(past?.fileMakerCode, .recordMissing)
        }
    }

    @Test(.tags(.earlierClients))
    func portalsAndSortOrdersAreJSONAndNoPortalsAreAnEmptyList() async throws {
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

    /// A limit or an offset that was not given is not sent.
    @Test(.tags(.earlierClients))
    func aLimitThatIsNotGivenIsNotSent() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
            _ = try await host.layout.getRecords(
                recordQuery: RecordQuery(portal: [PortalRequest(name: "P", limit: nil)])
            ).returnAs(FieldData.self).firstValue()
            #expect(host.calls.last?.target.contains("limit") == false)
            #expect(host.calls.last?.target.contains("offset") == false)
        }
    }

    @Test(.tags(.earlierClients))
    func whatFileMaker17DoesNotSendIsNotMissed() async throws {
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
        .tags(.earlierClients),
        arguments: [
            #""9223372036854775807""#, "9223372036854775807",
        ]
    )
    func idsComeAsTextOrNumberAsLargeAsTheyGet(id: String) async throws {
        try await ScriptedHost.run(answer: { _ in
            .json(#"{"data":[{"fieldData":{},"portalData":{},"recordId":\#(id),"modId":\#(id)}]}"#)
        }) { host in
            let record = try await host.layout.record(id: 1).returnAs(FieldData.self).firstValue()
                .data[0]
            expectNoDifference([record.recordId, record.modId], [.max, .max])
        }
    }

    @Test(.tags(.earlierClients))
    func aSingleRecordHasNoOffsetLimitOrOrder() async throws {
        try await ScriptedHost.run { host in
            for query in [RecordQuery(offset: 2), RecordQuery(limit: 2), RecordQuery(sortOrder: [])] {
                let error = await host.layout.record(id: 1, query: query).returnAs(
                    FieldData.self
                )
                .awaitSingleResult().failure
                expectNoDifference(error?.code, .invalidRequest)
            }
            expectNoDifference(host.server.requests.count, 0)
        }
    }

    @Test(.tags(.earlierClients))
    func noPortalsGivenAreTheLayoutsAndSeveralSortOrdersArePossible() async throws {
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

    @Test(.tags(.earlierClients))
    func aNumberKeepsItsDigits() async throws {
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
                let read = try await world.contacts.record(id: id).returnAs(Account.self).firstValue()
                expectNoDifference(read.data.map(\.fieldData), [account])
            }
        }
    }

    @Test(.tags(.earlierClients))
    func aFieldThatIsNotOnTheLayoutIsNilAndANumberMayComeAsText() async throws {
        struct Loose: Decodable, Equatable, Sendable {
            var id: Int
            var absent: Int?
            enum CodingKeys: String, CodingKey { case id = "Id", absent = "Absent" }
        }
        try await ScriptedHost.run(answer: { _ in
            .json(#"{"data":[{"fieldData":{"Id":"12"},"recordId":"1","modId":"0"}]}"#)
        }) { host in
            let response = try await host.layout.getRecords().returnAs(Loose.self).firstValue()
            expectNoDifference(response.data.map(\.fieldData), [Loose(id: 12, absent: nil)])
        }
    }

    @Test(.tags(.earlierClients))
    func withoutALimitTheServersOwnCounts() async throws {
        try await World.run { world in
            let all = try await world.zones.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(all.data.count, 100)
        }
    }

    @Test(.tags(.earlierClients))
    func malformedJSONIsRefusedUnlessRepairingItIsAskedFor() async throws {
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
