import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// What a create, an edit, a duplicate and a delete send, and what they return.
@Suite(.timeLimit(.minutes(15))) struct RecordWriteTests {
    @Test(.tags(.fact)) func aBodyNeedsItsContentTypeAndEveryWriterSendsIt() async throws {
        try await World.run { world in
            let contacts = world.contacts
            _ = try await contacts.createRecord().firstValue()
            _ = try await contacts.editRecord(record: EditRecord(editRecord: EmptyPortal()), recordId: 1).firstValue()
            _ = try await contacts.duplicateRecord(recordId: 1).firstValue()
            _ = try await contacts.findRecords(query: FindQuery(query: [["Name": "*"]])).returnAs(FieldData.self)
                .firstValue()
            _ = try await world.database.withSessionPublisher { pinned in
                pinned.setGlobals(["Contacts::gFilter": "x"])
            }.firstValue()
            expectNoDifference(world.sandbox.counters.strayRequests, 0)

            var request = DataAPIRequest<DataAPI.CreateResponse>(
                method: .POST,
                path: .records(of: "Contacts", in: "World")
            )
            request.isSafeToRepeat = false
            let bare = request
            let error = await world.database.perform { bare }.awaitSingleResult().failure
            expectNoDifference(error?.httpStatus, 415)
            expectNoDifference(error?.fileMakerCode, .headerMissing)
        }
    }

    @Test(.tags(.fact)) func optionsOfAWriteAreUserOrScript() async throws {
        try await World.run { world in
            var record = EditRecord(createRecord: ["Status": "unknown"])
            let refused = await world.contacts.createRecord(record: record).awaitSingleResult().failure
            expectNoDifference(refused?.fileMakerCode, .valueNotInList)
            record.options = .init(entryMode: .script)
            _ = try await world.contacts.createRecord(record: record).firstValue()
            var fixed = EditRecord(editRecord: ["CreatedAt": "01/01/2020 00:00:00"])
            fixed.options = .init(prohibitMode: .user)
            let prohibited = await world.contacts.editRecord(record: fixed, recordId: 1).awaitSingleResult().failure
            expectNoDifference(prohibited?.fileMakerCode, .fieldNotModifiable)
            fixed.options = .init(prohibitMode: .script)
            _ = try await world.contacts.editRecord(record: fixed, recordId: 1).firstValue()
        }
        try await World.run(sandbox: { $0.serverVersion = .v19 }) { world in
            var record = EditRecord(createRecord: ["Name": "a"])
            record.options = .init(entryMode: .script)
            let error = await world.contacts.createRecord(record: record).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .parameterInvalid, "since FileMaker Server 2024")
        }
    }

    @Test(.tags(.fact)) func anEmptyEditSucceedsAndDoesNothing() async throws {
        try await World.run { world in
            let before = world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first?.values
            let edited = try await world.contacts.editRecord(record: EditRecord(editRecord: EmptyPortal()), recordId: 1)
                .firstValue()
            #expect(edited.modId >= 0)
            expectNoDifference(world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first?.values, before)
        }
    }

    @Test(.tags(.fact)) func aNullIsRefusedSoNoneIsSent() async throws {
        try await World.run { world in
            let null = DataAPIRequest<DataAPI.EditRecordResponse>(
                method: .PATCH,
                path: .record(1, of: "Contacts", in: "World"),
                options: [
                    WireOption(
                        name: "fieldData",
                        value: .object([.init(name: "City", value: .literal("null"))]),
                        disclosure: .hidden
                    )
                ],
                body: .json
            )
            let error = await world.database.perform { null }.awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .parameterValueInvalid)
            expectNoDifference(error?.httpStatus, 400)
            _ = try await world.contacts.editRecord(record: EditRecord(editRecord: ["City": String?.none]), recordId: 1)
                .firstValue()
            expectNoDifference(
                world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first?.values["City"],
                nil
            )
        }
    }

    @Test(.tags(.earlierClients))
    func layoutResponseIsNoPartOfACreateOrAnEdit() throws {
        let layout = DataAPI.Server(host: "h").addDatabase("d").addLayout("l")
        let request: DataAPIRequest<DataAPI.EditRecordResponse> = try .edit(
            1,
            of: layout,
            record: EditRecord(editRecord: ["a": "b"], modId: 3)
        )
        expectNoDifference(request.options.map(\.name), ["fieldData", "modId"])
    }

    /// A duplicate returns the new record's id. Its body is an empty object, sent with its content type.
    @Test(.tags(.earlierClients))
    func aDuplicateTellsTheNewRecordsIdAndItsBodyIsAnEmptyObject() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"recordId":"58","modId":"0"}"#) }) { host in
            let copy = try await host.layout.duplicateRecord(recordId: 17).firstValue()
            expectNoDifference(copy.recordId, 58)
            expectNoDifference(host.calls.last?.text, "{}")
            expectNoDifference(host.calls.last?.header("Content-Type"), "application/json")
        }
    }

    @Test(.tags(.earlierClients))
    func aValueThatJSONCannotHoldIsATypedError() async throws {
        try await ScriptedHost.run { host in
            for value in [Double.nan, .infinity] {
                let error = await host.layout.createRecord(record: EditRecord(createRecord: ["Balance": value]))
                    .awaitSingleResult().failure
                expectNoDifference(error?.code, .encoding)
            }
            expectNoDifference(host.server.requests.count, 0)
        }
    }

    @Test(.tags(.earlierClients))
    func aModIdGuardsAnEditAndADuplicateTellsItsId() async throws {
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
            let read = try await world.contacts.record(id: copy.recordId).returnAs(FieldData.self)
                .firstValue()
            expectNoDifference(read.data.first?.fieldData["City"]?.text, "Kiel")
        }
    }

    @Test(.tags(.earlierClients))
    func anEditWrapsTheFieldsAndNoIdIsAmongThem() async throws {
        try await World.run { world in
            var record = try await world.contacts.record(id: 1).returnAs(Contact.self).firstValue()
                .data[0]
            record.fieldData.name = "Ada King"
            let edited = try await world.contacts.editRecord(
                record: EditRecord(editRecord: record.fieldData, modId: record.modId),
                recordId: record.recordId
            ).firstValue()
            expectNoDifference(edited.modId, record.modId + 1)
            let again = try await world.contacts.record(id: 1).returnAs(Contact.self).firstValue()
            expectNoDifference(again.data.map(\.fieldData), [record.fieldData])
        }
    }

    @Test(.tags(.earlierClients))
    func nilIsWrittenAsAnEmptyTextNeverAsNull() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"modId":"1"}"#) }) { host in
            _ = try await host.layout.editRecord(
                record: EditRecord(editRecord: ["Name": String?.none, "City": "Kiel"]),
                recordId: 1
            ).firstValue()
            #expect(host.calls.last?.text.contains("null") == false)
            #expect(host.calls.last?.text.contains(#""Name":"""#) == true)
        }
    }

    @Test(.tags(.earlierClients))
    func aNumberIsWrittenAsANumber() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"recordId":"1","modId":"0"}"#) }) { host in
            _ = try await host.layout.createRecord(record: EditRecord(createRecord: ["Balance": 12])).firstValue()
            expectNoDifference(host.calls.last?.text, #"{"fieldData":{"Balance":12}}"#)
        }
    }
}
