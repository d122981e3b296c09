import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

/// Cases in which data could be lost, or invented, without an error.
@Suite(.timeLimit(.minutes(15))) struct MissingDataTests {
    // MARK: Ids

    @Test(arguments: ["recordId", "modId"])
    func anIdThatTheAnswerDoesNotHoldIsNotZero(missing: String) async throws {
        let ids = ["recordId", "modId"].filter { $0 != missing }.map { #""\#($0)":"7""# }.joined()
        for record in [#"{"fieldData":{"Name":"a"},\#(ids)}"#, #"{"fieldData":{},\#(ids),"\#(missing)":null}"#] {
            try await ScriptedHost.run(answer: { _ in .json(#"{"data":[\#(record)]}"#) }) { host in
                let whole = await host.layout.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
                let streamed = await host.layout.records(FieldData.self).awaitSingleResult().failure
                for error in [whole, streamed] {
                    expectNoDifference(error?.code, .decoding)
                    #expect(error?.reason.contains("data[0].\(missing)") == true)
                }
            }
            let json = Data(#"{"data":[\#(record)]}"#.utf8)
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(DataAPI.RecordResponse<FieldData, EmptyPortal>.self, from: json)
            }
        }
    }

    // MARK: Portals

    struct Wrong: Decodable, Sendable {
        var lines: [FieldData]
        enum CodingKeys: String, CodingKey { case lines = "Lines" }
    }

    struct Sometimes: Decodable, Sendable {
        var lines: [FieldData]?
        var phones: [FieldData]
        enum CodingKeys: String, CodingKey { case lines = "Lines", phones = "Phones" }
    }

    @Test func aPortalByAWrongKeyIsAnErrorThatNamesThoseThatAreThere() async throws {
        try await World.run { world in
            let error = await world.contacts.getRecords().returnAs(FieldData.self, Wrong.self).awaitSingleResult()
                .failure
            expectNoDifference(error?.code, .decoding)
            #expect(error?.reason.contains("portalData.Lines") == true)
            #expect(error?.reason.contains(#"the layout sends no portal "Lines", but "Phones""#) == true)
            let response = try await world.contacts.getRecords().returnAs(FieldData.self, Sometimes.self).firstValue()
            #expect(response.data.allSatisfy { $0.portalData?.lines == nil })
        }
    }

    @Test func aPortalThatNobodyAskedForIsEmpty() async throws {
        try await World.run { world in
            let none = try await world.contacts.getRecords(recordQuery: RecordQuery(portal: []))
                .returnAs(FieldData.self, Wrong.self).firstValue()
            #expect(!none.data.isEmpty && none.data.allSatisfy { $0.portalData?.lines.isEmpty == true })
        }
    }

    @Test func aPortalThatIsNotOnTheLayoutIsNamed() async throws {
        try await World.run { world in
            let contacts = world.contacts
            let portals = [PortalRequest(name: "Phones"), PortalRequest(name: "Fones", limit: 3)]
            let query = RecordQuery(portal: portals)
            let rows: [String: [[String: String]]] = ["Fones": [["Phones::Number": "1"]]]
            let errors = [
                await contacts.getRecords(recordQuery: query).returnAs(FieldData.self).awaitSingleResult().failure,
                await contacts.record(id: 1, query: query).returnAs(FieldData.self)
                    .awaitSingleResult().failure,
                await contacts.findRecords(query: FindQuery(query: [["Name": "*"]], portal: portals))
                    .returnAs(FieldData.self).awaitSingleResult().failure,
                await contacts.createRecord(record: EditRecord(createRecord: ["Name": "a"], portalData: rows))
                    .awaitSingleResult().failure,
            ]
            for error in errors {
                expectNoDifference(error?.fileMakerCode, .fieldMissing)
                expectNoDifference(error?.portals, ["Fones"])
                expectNoDifference(error?.fields, [])
                expectNoDifference(
                    error?.reason,
                    #"Field is missing: portal "Fones" is not on layout "Contacts", which has "Phones"."#
                )
            }
        }
    }

    @Test func aPortalOfTheLayoutThatShapesTheAnswerIsLookedForThere() async throws {
        try await World.run { world in
            let portals = [PortalRequest(name: "Zones")]
            let read = await world.contacts.getRecords(
                recordQuery: RecordQuery(layoutResponse: "Contacts", portal: portals)
            ).returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(read?.portals, ["Zones"])
            let found = await world.contacts.findRecords(
                query: FindQuery(query: [["Name": "*"]], layoutResponse: "Phones", portal: portals)
            ).returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(found?.portals, found?.fileMakerCode == .fieldMissing ? ["Zones"] : [])
        }
    }

    @Test func withoutMetadataThePortalsAskedForAreNamed() async throws {
        try await ScriptedHost.run(answer: { request in
            request.target.contains("/records") ? .error(102, "Field is missing") : .html(502)
        }) { host in
            let query = RecordQuery(portal: [PortalRequest(name: "Lines"), PortalRequest(name: "Notes")])
            let error = await host.layout.getRecords(recordQuery: query).returnAs(FieldData.self).awaitSingleResult()
                .failure
            expectNoDifference(error?.portals, ["Lines", "Notes"])
            #expect(error?.reason.hasSuffix(#"the request asks for portals "Lines", "Notes"."#) == true)
        }
    }

    @Test func rowsBeyondTheLimitAreTold() async throws {
        try await World.run { world in
            let find = FindQuery(query: [["Code": "==AU"]], portal: [PortalRequest(name: "Zones", limit: 2)])
            let cut = try await world.countries.findRecords(query: find).returnAs(FieldData.self).firstValue()
            expectNoDifference(cut.data[0].truncatedPortals, ["Zones"])
            expectNoDifference(cut.data[0].portalDataInfo?.map(\.isTruncated), [true])
            let all = try await world.countries.findRecords(query: FindQuery(query: [["Code": "==AU"]]))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(all.data[0].truncatedPortals, [])
        }
        let named = DataAPI.PortalDataInfo(
            portalObjectName: "Lines",
            database: "d",
            table: "to",
            foundCount: 51,
            returnedCount: 50
        )
        let record = DataAPI.Record<FieldData, EmptyPortal>(
            fieldData: [:],
            recordId: 1,
            modId: 1,
            portalDataInfo: [named]
        )
        expectNoDifference(record.truncatedPortals, ["Lines"])
    }
}
