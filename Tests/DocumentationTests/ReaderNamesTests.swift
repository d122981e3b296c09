import CustomDump
import FMData
import FMSandbox
import Foundation
import OpenCombine
import Testing

/// Names that readers of the documentation would try next, used from outside the package.
@Suite(.timeLimit(.minutes(15))) struct ReaderNamesTests {
    struct Person: Codable, Equatable, Sendable {
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    // MARK: Ids

    struct TextPhone: DataAPIPortalRecord, Sendable {
        var recordId: String
        var modId: String
        var number: String
        enum CodingKeys: String, CodingKey { case recordId, modId, number = "Phones::Number" }
    }

    struct NumberPhone: DataAPIPortalRecord, Sendable {
        let recordId: Int
        let modId: Int?
    }

    struct Portals<Row: Decodable & Sendable>: Decodable, Sendable {
        var phones: [Row]
        enum CodingKeys: String, CodingKey { case phones = "Phones" }
    }

    @Test func rowsDeclareTheirIdsAsTheyLike() async throws {
        try await withContacts { contacts in
            let rows: [String: [[String: String]]] = ["Phones": [["Phones::Number": "1"], ["Phones::Number": "2"]]]
            let made = try await contacts.createRecord(
                record: EditRecord(createRecord: ["Name": "Ada"], portalData: rows)
            ).firstValue()
            let texts =
                try await contacts.record(id: made.recordId)
                .returnAs(Person.self, Portals<TextPhone>.self).firstValue().data[0].portalData?.phones ?? []
            let numbers =
                try await contacts.record(id: made.recordId)
                .returnAs(Person.self, Portals<NumberPhone>.self).firstValue().data[0].portalData?.phones ?? []
            expectNoDifference(texts.map(\.recordId), numbers.map { "\($0.recordId)" })
            expectNoDifference(texts.map(\.modId), ["0", "0"])
            expectNoDifference(numbers.map(\.modId), [0, 0])

            let mixed: [any DataAPIPortalRecord] = texts + numbers
            let key = Portals<TextPhone>.CodingKeys.phones
            let related = mixed.compactMap { DataAPI.RelatedRecord(portal: key, recordId: $0.recordId) }
            expectNoDifference(related.prefix(2), related.suffix(2))

            // The calls accept an id in the type in which the row declares it.
            let phones = contacts.database.addLayout("Phones")
            _ = try await phones.deleteRecord(recordId: texts[0].recordId).firstValue()
            let left = try await phones.record(id: texts[1].recordId).returnAs(FieldData.self).firstValue()
            expectNoDifference(left.data[0].fieldData["Number"], "2")
            let copy = try await phones.duplicateRecord(recordId: numbers[1].recordId).firstValue()
            #expect(copy.recordId > numbers[1].recordId)
        }
    }

    @Test func aRowOfAnOldServerHasNoModId() throws {
        let row = try FMDecoder().decodeFields(NumberPhone.self, from: Array(#"{"recordId":"7"}"#.utf8))
        expectNoDifference(row.recordId, 7)
        expectNoDifference(row.modId, nil)
        let number = try FMDecoder().decodeFields(
            TextPhone.self,
            from: Array(#"{"recordId":7,"modId":1,"Phones::Number":3}"#.utf8)
        )
        expectNoDifference([number.recordId, number.modId, number.number], ["7", "1", "3"])
    }

    @Test func idsAndCountsMayBeTexts() async throws {
        try await withContacts { contacts in
            let edited = try await contacts.editRecord(
                record: EditRecord(editRecord: Person(name: "Ada"), modId: "0"),
                recordId: "1"
            ).firstValue()
            expectNoDifference(edited.modId, 1)
            let stale = await contacts.editRecord(Person(name: "Ada"), recordId: "1", modId: 0).awaitSingleResult()
            expectNoDifference(stale.error?.fileMakerCode, .modIdMismatch)
            let page = try await contacts.getRecords(recordQuery: RecordQuery(offset: "2", limit: "1"))
                .returnAs(Person.self).firstValue()
            expectNoDifference(page.data.map(\.recordId), [2])
        }
    }

    @Test func aTextThatIsNoNumberIsRefusedAndNotShown() async throws {
        try await withContacts { contacts in
            let file = ContainerFile(fileName: "a.txt", data: Data([65]))
            let person = Person(name: "Ada")
            let errors = [
                await contacts.record(id: "secret").returnAs(Person.self).awaitSingleResult().error,
                await contacts.editRecord(record: EditRecord(editRecord: person, modId: "secret"), recordId: 1)
                    .awaitSingleResult().error,
                await contacts.deleteRecord(recordId: "secret").awaitSingleResult().error,
                await contacts.duplicateRecord(recordId: Int?.none).awaitSingleResult().error,
                await contacts.getRecords(recordQuery: RecordQuery(limit: "secret")).returnAs(Person.self)
                    .awaitSingleResult().error,
                await contacts.record(id: 1, query: RecordQuery(offset: "secret"))
                    .returnAs(Person.self).awaitSingleResult().error,
                await contacts.uploadContainer(file, to: "Photo", recordId: "secret").awaitSingleResult().error,
            ]
            for (index, error) in errors.enumerated() {
                expectNoDifference(error?.code, .invalidRequest, "\(index)")
                #expect(error.map { "\($0)" }?.contains("secret") == false)
            }
            let download = await contacts.downloadContainer(fieldName: "Photo", recordId: "secret").toMemory()
                .awaitSingleResult()
            expectNoDifference(download.error?.code, .invalidRequest)
            let key = Portals<TextPhone>.CodingKeys.phones
            expectNoDifference(DataAPI.RelatedRecord(portal: key, recordId: "secret"), nil)
        }
    }

    @Test func aNumberThatIsSetLaterCounts() {
        var query = RecordQuery(limit: "many")
        expectNoDifference(query.limit, nil)
        query.limit = 3
        expectNoDifference(query, RecordQuery(limit: 3))
    }

    // MARK: Writing

    @Test func fieldsAreWrittenOut() async throws {
        try await withContacts { contacts in
            let first = try await contacts.createRecord(Person(name: "Ada")).firstValue()
            let second = try await contacts.createRecord(["Name": "Bob", "Balance": 3]).firstValue()
            let third = try await contacts.createRecord(
                record: EditRecord(createRecord: ["Name": "Cleo", "Balance": 3])
            ).firstValue()
            _ = try await contacts.editRecord(["City": "Kiel", "Balance": 4], recordId: second.recordId).firstValue()
            _ = try await contacts.editRecord(Person(name: "Zoe"), recordId: first.recordId, modId: first.modId)
                .firstValue()
            _ = try await contacts.editRecord(
                record: EditRecord(editRecord: ["City": "Bern", "Balance": 5], modId: third.modId),
                recordId: third.recordId
            ).firstValue()
            var read: [[FieldValue?]] = []
            for id in [first, second, third].map(\.recordId) {
                let record = try await contacts.record(id: id).returnAs(DataAPI.FieldData.self)
                    .firstValue()
                read.append(["Name", "City", "Balance"].map { record.data[0].fieldData[$0] })
            }
            expectNoDifference(
                read,
                [["Zoe", "", ""], ["Bob", "Kiel", 4], ["Cleo", "Bern", 5]]
            )
            let value: DataAPI.FieldValue = 3
            expectNoDifference(value.int, 3)
        }
    }

    @Test func aModIdDoesNotMakeARecord() async throws {
        try await withContacts { contacts in
            for record in [
                EditRecord(editRecord: Person(name: "Ada"), modId: 3),
                EditRecord(editRecord: Person(name: "Ada"), modId: "3"),
            ] {
                let error = await contacts.createRecord(record: record).awaitSingleResult().error
                expectNoDifference(error?.code, .invalidRequest)
                #expect(error?.hint?.contains("editRecord") == true)
            }
            // An `EditRecord` for a new record can be used for an edit.
            _ = try await contacts.editRecord(record: EditRecord(createRecord: Person(name: "Ada")), recordId: 1)
                .firstValue()
        }
    }

    // MARK: Lists

    @Test func listsSort() async throws {
        try await withContacts { contacts in
            let metadata = try await contacts.getLayoutMetadata().firstValue()
            let names = metadata.fieldMetaData.map(\.name)
            expectNoDifference(metadata.fieldMetaData.sorted().map(\.name), names.sorted())
            expectNoDifference(metadata.valueLists?.sorted().map(\.name), ["Kinds", "Statuses"])
            expectNoDifference(
                metadata.valueLists?.max()?.values.sorted().map(\.value),
                ["active", "closed", "new", "paused"]
            )
            let layouts = try await contacts.database.getLayoutNames().firstValue()
            expectNoDifference(layouts.sorted().map(\.name), layouts.map(\.name).sorted())
        }
    }

    // MARK: Records to read

    struct Contact: LayoutRecord {
        static let layout = "Contacts"
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    /// A function of a program that takes a layout or a found set.
    private func names(of source: some DataAPI.RecordSource<Contact>) async throws -> [String] {
        try await source.tagged("names").sorted(by: .name).all().map(\.fieldData.name).collect().firstValue()
    }

    @Test func aFunctionTakesALayoutOrAFoundSet() async throws {
        try await withContacts { contacts in
            let people = contacts.database.layout(Contact.self)
            let all = try await names(of: people)
            let found = try await names(of: people.find { $0(.name) == "Ada Lovelace" })
            #expect(all.count == 3 && all.contains("Ada Lovelace"))
            expectNoDifference(found, ["Ada Lovelace"])
            expectNoDifference(people.allRecords.allRecords, people.allRecords)
        }
    }

    // MARK: Messages

    @Test func everyResponseKeepsItsMessages() async throws {
        try await withContacts { contacts in
            let made = try await contacts.createRecord().firstValue()
            let file = ContainerFile(fileName: "a.txt", data: Data([65]))
            let id = made.recordId
            let responses: [[DataAPI.Message]] = [
                made.messages,
                try await contacts.editRecord(["City": "Kiel"], recordId: id).firstValue().messages,
                try await contacts.duplicateRecord(recordId: id).firstValue().messages,
                try await contacts.uploadContainer(file, to: "Photo", recordId: id).firstValue().messages,
                try await contacts.uploadToContainerField(fieldName: "Photo", recordId: id, file: file).firstValue()
                    .messages,
                try await contacts.record(id: id).returnAs(Person.self).firstValue().messages,
                try await contacts.runScript("Echo", parameter: "a").firstValue().messages,
                try await contacts.runScript("Echo", parameter: .confidential("a")).firstValue().messages,
                try await contacts.deleteRecord(recordId: id).firstValue().messages,
                try await contacts.getLayoutMetadata().firstValue().messages,
                try await contacts.database.server.getProductInfo().firstValue().messages,
                try await contacts.database.server.getDatabaseNames().firstValue().messages,
                try await contacts.database.server.validateSession(credentials: contacts.database.credentials)
                    .firstValue().messages,
                try await contacts.database.withSessionPublisher {
                    $0.setGlobals(["Contacts::gFilter": "a"])
                }.firstValue().messages,
            ]
            expectNoDifference(
                responses,
                Array(repeating: [DataAPI.Message(code: "0", message: "OK")], count: responses.count)
            )
            let nothing = try await contacts.runScript("Echo").firstValue()
            #expect(nothing.scriptResponse != nil, "its error is 0")
            expectNoDifference(FMRest.EmptyResponse(messages: nothing.messages), FMRest.EmptyResponse())
        }
    }

    // MARK: Support

    private func withContacts(_ body: (DataAPI.Layout) async throws -> Void) async throws {
        try await withWorld { database, _ in try await body(database.addLayout("Contacts")) }
    }
}

extension Result where Failure == FMRest.APIError {
    fileprivate var error: FMRest.APIError? { if case .failure(let error) = self { error } else { nil } }
}
