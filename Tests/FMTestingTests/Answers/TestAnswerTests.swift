import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMTesting

/// Each kind of answer, through the calls that get it.
@Suite(.timeLimit(.minutes(15))) struct TestAnswerTests {
    private let transport = TestTransport()
    private var contacts: DataAPI.Layout { transport.database(config: .atOnce).addLayout("Contacts") }
    private var people: DataAPI.TypedLayout<Contact> { transport.database(config: .atOnce).layout(Contact.self) }

    // MARK: Records

    /// The spelling is that of recorded answers: ids are texts, counts are numbers, empty fields are empty texts.
    @Test func recordsAreWrittenAsAHostWritesThem() async throws {
        let bytes = Locked(Data())
        var config = DataAPI.Config()
        config.middleware = [
            DataAPI.Middleware { request, next in
                next(request).handleEvents(receiveOutput: { part in
                    if request.operation == .getRecords, let body = part.body { bytes.change { $0 += body } }
                })
                .eraseToAnyPublisher()
            }
        ]
        let ada = Contact(name: "Ada", city: nil, balance: 12.50, birthday: FMDate(year: 1815, month: 12, day: 10))
        let phones = Contact.Portals(phones: [.init(recordId: nil, modId: nil, number: "1")])
        let record = DataAPI.Record(fieldData: ada, portalData: phones, recordId: 17, modId: 3)
        transport.answer(.getRecords, with: .records([record]))
        _ = try await transport.database(config: config).layout(Contact.self).all().collect().firstValue()
        expectNoDifference(
            String(decoding: bytes.value, as: UTF8.self),
            """
            {"response":{"dataInfo":{"database":"Test","layout":"Contacts","table":"Contacts","totalRecordCount":1,\
            "foundCount":1,"returnedCount":1},"data":[{"fieldData":{"Name":"Ada","City":"","Balance":12.5,\
            "Birthday":"12\\/10\\/1815"},"portalData":{"Phones":[{"recordId":"1","Phones::Number":"1","modId":"0"}]},\
            "recordId":"17","modId":"3","portalDataInfo":[{"database":"Test","table":"Phones","foundCount":1,\
            "returnedCount":1}]}]},"messages":[{"code":"0","message":"OK"}]}
            """
            .replacingOccurrences(of: "\\/", with: "/")
        )
    }

    @Test func valuesComeBackAsTheyWereGiven() async throws {
        let ada = Contact(name: "Ada", city: "", balance: 36, birthday: FMDate(year: 1815, month: 12, day: 10))
        let grace = Contact(name: "Grace", city: "Arlington")
        transport.alwaysAnswer(.getRecords, on: "Contacts", with: .records([ada, grace]))
        transport.alwaysAnswer(.getRecord, on: "Contacts", with: .records([ada, grace]))
        let all = try await people.all().collect().firstValue()
        expectNoDifference(all.map(\.fieldData), [ada, grace])
        expectNoDifference(all.map(\.recordId), [1, 2])
        let second = try await contacts.getRecordById(recordId: 2).returnAs(Contact.self).firstValue()
        expectNoDifference(second.data.map(\.fieldData), [grace])
        expectNoDifference([second.dataInfo.foundCount, second.dataInfo.totalRecordCount], [1, 2])
        let third = await contacts.getRecordById(recordId: 3).returnAs(Contact.self).awaitSingleResult()
        expectNoDifference(third.error?.fileMakerCode, .recordMissing)
    }

    @Test func theOnlyRecordIsTheOneThatIsAskedFor() async throws {
        transport.answer(.getRecord, with: .records([["Name": "Ada"]]))
        let read = try await contacts.getRecordById(recordId: 17).returnAs(FieldData.self).firstValue()
        expectNoDifference(read.data.map(\.recordId), [17])
    }

    @Test func aFoundSetIsReadInPages() async throws {
        let many = (1...250).map { Contact(name: "Person \($0)") }
        transport.alwaysAnswer(.getRecords, with: .records(many))
        let names = try await people.all(pageSize: 100).map(\.name).collect().firstValue()
        expectNoDifference(names, many.map(\.name))
        expectNoDifference(
            transport.requests.filter { $0.operation == .getRecords }.map { $0.options["limit"] }.count,
            3
        )
        let count = try await people.count().firstValue()
        expectNoDifference(count, 250)
        transport.alwaysAnswer(.getRecords, with: .records([Contact(name: "First")], foundCount: 1_000_000))
        let claimed = try await people.count().firstValue()
        expectNoDifference(claimed, 1_000_000)
    }

    /// All of it runs on one thread, call in call: a page must not stand on the stack of the one before.
    @Test(.thorough) func aThousandPagesDoNotNest() async throws {
        transport.alwaysAnswer(.getRecords, with: .records((1...1_000).map { Contact(name: "\($0)") }))
        let names = try await people.all(pageSize: 1).map(\.name).collect().firstValue()
        expectNoDifference(names.count, 1_000)
    }

    @Test func rowsOfPortalsHaveRangesToo() async throws {
        let phones = Contact.Portals(phones: (1...60).map { .init(recordId: $0, modId: 7, number: String($0)) })
        let record = DataAPI.Record(fieldData: Contact(name: "Ada"), portalData: phones, recordId: 1, modId: 0)
        transport.alwaysAnswer(.getRecord, with: .records([record]))
        func rows(_ query: RecordQuery) async throws -> DataAPI.Record<Contact, Contact.Portals> {
            try await contacts.getRecordById(recordId: 1, recordQuery: query)
                .returnAs(Contact.self, Contact.Portals.self).firstValue().data[0]
        }
        let usual = try await rows(RecordQuery())
        expectNoDifference(usual.portalData?.phones.map(\.number), (1...50).map(String.init))
        expectNoDifference(usual.portalDataInfo?.map(\.foundCount), [60])
        expectNoDifference(usual.truncatedPortals, ["Phones"])
        let last = try await rows(RecordQuery(portal: [PortalRequest(name: "Phones", limit: 5, offset: 58)]))
        expectNoDifference(last.portalData?.phones.map(\.recordId), [58, 59, 60])
        expectNoDifference(last.portalData?.phones.map(\.modId), [7, 7, 7])
    }

    @Test func nothingFoundIsAnError() async throws {
        transport.alwaysAnswer(.findRecords, with: .records([Contact]()))
        transport.alwaysAnswer(.getRecords, with: .records([Contact]()))
        let found = try await people.find { $0(.name) == "Ada" }.all().collect().firstValue()
        expectNoDifference(found.count, 0)
        let query = FindQuery(query: [["Name": "Ada"]], noMatch: .failure)
        let error = await contacts.findRecords(query: query).returnAs(Contact.self).awaitSingleResult().error
        expectNoDifference(error?.fileMakerCode, .noRecordsMatch)
        expectNoDifference(error?.httpStatus, 500)
        let none = try await contacts.getRecords().returnAs(Contact.self).firstValue()
        expectNoDifference(none.data.count, 0)
        let past = await contacts.getRecords(recordQuery: RecordQuery(offset: 1)).returnAs(Contact.self)
            .awaitSingleResult().error
        expectNoDifference(past?.fileMakerCode, .recordMissing)
    }

    @Test func datesFollowTheFormatOfTheServer() async throws {
        var config = DataAPI.Config()
        config.dateFormats = .iso8601
        let born = FMDate(year: 1815, month: 12, day: 10)
        transport.answer(.getRecords, with: .records([Contact(name: "Ada", birthday: born)]))
        let people = transport.database(config: config).layout(Contact.self)
        let read = try await people.all().collect().firstValue()
        expectNoDifference(read.map(\.birthday), [born])
    }

    // MARK: Others

    @Test func writesAndScripts() async throws {
        transport.answer(.createRecord, with: .created(17))
        transport.answer(.duplicateRecord, with: .created(18, modId: 1))
        transport.answer(.editRecord, with: .error(306), .edited(modId: 4))
        transport.answer(.deleteRecord, with: .done)
        transport.answer(.setGlobals, with: .done)
        transport.answer(.runScript, with: .script("42", error: 101))
        transport.answer(.uploadContainer, with: .edited(modId: 5))
        let created = try await contacts.createRecord(record: EditRecord(createRecord: ["Name": "Ada"])).firstValue()
        expectNoDifference([created.recordId, created.modId], [17, 0])
        let copy = try await contacts.duplicateRecord(recordId: 17).firstValue()
        expectNoDifference([copy.recordId, copy.modId], [18, 1])
        let edit = EditRecord(editRecord: ["City": "Oslo"])
        let refused = await contacts.editRecord(record: edit, recordId: 17).awaitSingleResult()
        expectNoDifference(refused.error?.fileMakerCode, .modIdMismatch)
        expectNoDifference(refused.error?.outcomeIsUnknown, false)
        let edited = try await contacts.editRecord(record: edit, recordId: 17).firstValue()
        expectNoDifference(edited.modId, 4)
        _ = try await contacts.deleteRecord(recordId: 17).firstValue()
        _ = try await contacts.database.setGlobalFields(globalFields: ["Contacts::gFilter": "x"]).firstValue()
        let script = try await contacts.executeScript(script: "Sum", scriptParam: "1").firstValue()
        expectNoDifference([script.scriptResult, script.scriptError], ["42", "101"])
        let file = FMRest.ContainerFile(fileName: "a \"b\".txt", data: Data("A bow".utf8))
        _ = try await contacts.uploadToContainerField(fieldName: "Photo", recordId: 17, file: file).firstValue()
        expectNoDifference(transport.unusedAnswerCount, 0)
    }

    /// A record without a list of read-only fields is written whole when the layout's metadata is known.
    @Test func aWholeRecordNeedsTheFieldsOfTheLayout() async throws {
        struct Place: LayoutRecord {
            static let layout = "Places"
            var name: String
            var label: String

            enum CodingKeys: String, CodingKey { case name = "Name", label = "Label" }
        }
        transport.answer(.layoutMetadata, on: "Places", with: .fields(["Name"], calculations: ["Label"]))
        transport.answer(.createRecord, with: .created(1))
        _ = try await transport.database().layout(Place.self).create(Place(name: "Oslo", label: "x")).firstValue()
        expectNoDifference(transport.requests.first { $0.operation == .createRecord }?.fields, ["Name": "Oslo"])
    }

    @Test func namesAndTheProduct() async throws {
        let server = DataAPI.Server(answering: transport)
        transport.answer(.databaseNames, with: .names("A", "B"))
        transport.answer(.layoutNames, with: .names("People"))
        transport.answer(.scriptNames, with: .names("Nightly"))
        let info = DataAPI.Server.ProductInfo(
            name: "FileMaker Data API Engine",
            version: "21.1",
            dateFormat: "MM/dd/yyyy",
            timeFormat: "HH:mm:ss",
            timeStampFormat: "MM/dd/yyyy HH:mm:ss"
        )
        transport.answer(.productInfo, with: .productInfo(info))
        let databases = try await server.getDatabaseNames().firstValue()
        expectNoDifference(databases.databases.map(\.name), ["A", "B"])
        let layouts = try await contacts.database.layoutNames().firstValue()
        expectNoDifference(layouts, ["People"])
        let scripts = try await contacts.database.scriptNames().firstValue()
        expectNoDifference(scripts, ["Nightly"])
        let product = try await server.getProductInfo().firstValue()
        expectNoDifference(product, info)
    }

    @Test func theContentOfAContainer() async throws {
        let bow = Data("A bow".utf8)
        transport.answer(.getRecord, with: .records([["Photo": "https://fms.test/Streaming/bow.txt"]]))
        transport.answer(.downloadContainer, with: .content(bow, type: "text/plain"))
        let content = try await contacts.downloadContainer(fieldName: "Photo", recordId: 1).toMemory().firstValue()
        expectNoDifference(content.data, bow)
    }

    @Test func anyHTTP() async throws {
        transport.answer(
            .getRecords,
            with: .http(503, "<html>down</html>", headers: ["Content-Type": "text/html", "Retry-After": "7"]),
            .json(#"{"response":{"data":[]},"messages":[{"code":"0","message":"OK"}]}"#),
            .json("[", status: 200)
        )
        let down = await contacts.getRecords().returnAs(Contact.self).awaitSingleResult().error
        expectNoDifference([down?.httpStatus], [503])
        expectNoDifference(down?.retryAfter, .seconds(7))
        let empty = try await contacts.getRecords().returnAs(Contact.self).firstValue()
        expectNoDifference(empty.data.count, 0)
        let cut = await contacts.getRecords().returnAs(Contact.self).awaitSingleResult().error
        #expect(cut != nil)
    }

    @Test func failuresSayWhatIsKnownOfTheWrite() async throws {
        transport.answer(
            .createRecord,
            with: .failure(beforeSending: .connectionRefused),
            .failure(afterSending: .connectionClosed)
        )
        let record = EditRecord(createRecord: ["Name": "Ada"])
        let refused = await contacts.createRecord(record: record).awaitSingleResult().error
        expectNoDifference([refused?.outcomeIsUnknown, refused?.isRetryable], [false, true])
        let lost = await contacts.createRecord(record: record).awaitSingleResult().error
        expectNoDifference([lost?.outcomeIsUnknown, lost?.isRetryable], [true, false])
    }

    /// The sandbox has the statuses from another author.
    @Test func refusalsHaveTheStatusOfHosts() {
        for code in 0...1_800 {
            let refusal = TestAnswer.Response(refusal: FileMakerErrorCode(rawValue: code))
            expectNoDifference(refusal.status, FileMakerError(code).status)
        }
    }

    @Test func anAnswerMayDependOnTheRequest() async throws {
        transport.alwaysAnswer(
            .createRecord,
            with: .computed { request in
                guard let name = request.fields["Name"] else { return .error(509) }
                return .created(name.text.count)
            }
        )
        let ada = try await contacts.createRecord(record: EditRecord(createRecord: ["Name": "Ada"])).firstValue()
        expectNoDifference(ada.recordId, 3)
        let none = await contacts.createRecord().awaitSingleResult()
        expectNoDifference(none.error?.fileMakerCode?.rawValue, 509)
    }

    @Test func anAnswerThatDoesNotFitIsNamed() async throws {
        transport.answer(.getRecords, with: .names("A"))
        let error = await contacts.getRecords().returnAs(Contact.self).awaitSingleResult().error
        expectNoDifference(error?.code, .invalidRequest)
        #expect(error?.reason.contains("getRecords on \"Contacts\" cannot be made") == true, "\(error?.reason ?? "")")
    }

    // MARK: Time

    @Test func aDelayedAnswerComesWhenItsTimeHasPassed() async throws {
        transport.answer(.getRecords, with: .records([Contact(name: "Ada")]).delayed(by: .seconds(3)))
        let values = TrackingSubscriber<DataAPI.RecordResponse<Contact, DataAPI.EmptyPortal>, FMRest.APIError>()
        contacts.getRecords().returnAs(Contact.self).subscribe(values)
        expectNoDifference(transport.clock.timers.contains(.seconds(3)), true)
        transport.clock.advance(by: .seconds(2))
        expectNoDifference(values.values.count, 0)
        transport.clock.advance(by: .seconds(1))
        await values.completion()
        expectNoDifference(values.values.map(\.data.count), [1])
    }

    @Test func noAnswerEndsWithTheTimeLimitOfTheCall() async throws {
        transport.alwaysAnswer(.editRecord, with: .never)
        transport.alwaysAnswer(.getRecords, with: .records([Contact(name: "Ada")]).delayed(by: .seconds(500)))
        let edits = TrackingSubscriber<DataAPI.EditRecordResponse, FMRest.APIError>()
        contacts.editRecord(record: EditRecord(editRecord: ["City": "Oslo"]), recordId: 1).subscribe(edits)
        transport.clock.advance(by: .seconds(119))
        #expect(edits.completionIfAny == nil)
        transport.clock.advance(by: .seconds(1))
        let error = await edits.completion().error
        expectNoDifference([error?.code], [.timeout])
        expectNoDifference([error?.outcomeIsUnknown], [true])

        let reads = TrackingSubscriber<DataAPI.RecordResponse<Contact, DataAPI.EmptyPortal>, FMRest.APIError>()
        contacts.timeouts { $0.total = .seconds(2) }.getRecords().returnAs(Contact.self).subscribe(reads)
        transport.clock.advance(by: .seconds(2))
        let late = await reads.completion().error
        expectNoDifference(late?.transportError?.code, .totalTimeout)
    }

    @Test func cancellingEndsTheWait() async throws {
        transport.answer(.getRecords, with: .never)
        let values = TrackingSubscriber<DataAPI.RecordResponse<Contact, DataAPI.EmptyPortal>, FMRest.APIError>()
        contacts.getRecords().returnAs(Contact.self).subscribe(values)
        #expect(transport.clock.timers.contains(.seconds(120)))
        values.cancel()
        #expect(!transport.clock.timers.contains(.seconds(120)))
    }
}

extension Subscribers.Completion {
    /// The error of a failure.
    var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension Result {
    /// The error of a failure.
    var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
