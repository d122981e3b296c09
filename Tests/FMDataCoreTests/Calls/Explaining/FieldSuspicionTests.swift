import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOHTTP1
import OpenCombine
import Testing

@testable import FMDataCore

/// FileMaker says "Field is missing" without a name; the error adds which field it was.
@Suite(.timeLimit(.minutes(15))) struct FieldSuspicionTests {
    // MARK: 102

    @Test func aFieldThatIsNotOnTheLayoutIsNamedWhateverItsRole() async throws {
        try await World.run { world in
            let contacts = world.contacts
            let errors = [
                await contacts.createRecord(record: EditRecord(createRecord: ["Name": "a", "Nmae": "b"]))
                    .awaitSingleResult().failure,
                await contacts.editRecord(record: EditRecord(editRecord: ["City": "a", "Nmae": "b"]), recordId: 1)
                    .awaitSingleResult().failure,
                await contacts.findRecords(query: FindQuery(query: [["Name": "a"], ["Nmae": "b", "omit": "true"]]))
                    .returnAs(FieldData.self).awaitSingleResult().failure,
                await contacts.findRecords(
                    query: FindQuery(query: [["Name": "a"]], sort: [.init(fieldName: "Nmae")])
                ).returnAs(FieldData.self).awaitSingleResult().failure,
                await contacts.getRecords(recordQuery: RecordQuery(sortOrder: [.init(fieldName: "Nmae")]))
                    .returnAs(FieldData.self).awaitSingleResult().failure,
            ]
            for error in errors {
                expectNoDifference(error?.fileMakerCode, .fieldMissing)
                expectNoDifference(error?.fields, ["Nmae"])
                expectNoDifference(error?.reason, #"Field is missing: "Nmae" is not on layout "Contacts"."#)
            }
        }
    }

    @Test func repetitionsAndPortalFieldsThatAreOnTheLayoutAreNotSuspected() async throws {
        try await World.run { world in
            let rows: [String: [[String: String]]] = ["Phones": [["Phones::Kind": "work", "Phones::Size": "3"]]]
            let error = await world.contacts.createRecord(
                record: EditRecord(createRecord: ["Nicknames(2)": "b", "Name": "a"], portalData: rows)
            ).awaitSingleResult().failure
            expectNoDifference(error?.fields, ["Phones::Size"])
        }
    }

    @Test func theContainerOfAnUploadIsNamed() {
        let request = DataAPIRequest<FMRest.EmptyResponse>(
            method: .POST,
            path: .record(17, of: "People", in: "Contacts") / "containers" / "Pohto" / "1"
        )
        expectNoDifference(request.namedFields, [NamedField(name: "Pohto")])
    }

    // MARK: 201 and validation

    @Test func aCalculationThatIsWrittenIsNamed() async throws {
        try await World.run { world in
            let error = await world.contacts.editRecord(
                record: EditRecord(editRecord: ["Label": "a", "City": "b"]),
                recordId: 1
            ).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .fieldNotModifiable)
            expectNoDifference(error?.fields, ["Label"])
        }
    }

    @Test func aValidationNamesWhatItCanMean() async throws {
        try await World.run { world in
            func refused(_ fields: [String: String]) async -> FMRest.APIError? {
                await world.contacts.editRecord(record: EditRecord(editRecord: fields), recordId: 1)
                    .awaitSingleResult().failure
            }
            let date = await refused(["Birthday": "31/12/2024", "City": "Kiel", "Balance": "1"])
            expectNoDifference(date?.fileMakerCode, .dateInvalid)
            expectNoDifference(date?.fields, ["Birthday"])
            #expect(date?.reason.hasSuffix(#"the field is "Birthday"."#) == true)
            let time = await refused(["WakeUp": "soon", "City": "Kiel"])
            expectNoDifference(time?.fileMakerCode, .timeInvalid)
            expectNoDifference(time?.fields, ["WakeUp"])
            let list = await refused(["Status": "unknown", "City": "Kiel"])
            expectNoDifference(list?.fileMakerCode, .valueNotInList)
            expectNoDifference(list?.fields, ["Status"])
        }
    }

    @Test func aValueThatIsRequiredMayBeOneThatWasNotSent() async throws {
        try await World.run { world in
            let absent = await world.countries.createRecord(record: EditRecord(createRecord: ["Name": "Utopia"]))
                .awaitSingleResult().failure
            expectNoDifference(absent?.fileMakerCode, .valueRequired)
            expectNoDifference(absent?.fields, ["Code"])
            let empty = await world.countries.createRecord(
                record: EditRecord(createRecord: ["Name": "", "Code": "UT"])
            ).awaitSingleResult().failure
            expectNoDifference(empty?.fields, ["Name"])
            let both = await world.countries.createRecord().awaitSingleResult().failure
            expectNoDifference(both?.fields, ["Code", "Name"])
            #expect(both?.reason.hasSuffix(#"the field is one of "Code", "Name"."#) == true)
        }
    }

    @Test func whereTheMetadataSayNothingEveryFieldThatWasSentCanBeMeant() async throws {
        try await World.run { world in
            let error = await world.countries.createRecord(
                record: EditRecord(createRecord: ["Name": "Again", "Code": "NZ"])
            ).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .valueNotUnique)
            expectNoDifference(error?.fields, ["Code", "Name"])
        }
    }

    /// A list of all fields that were sent would tell the user nothing new.
    @Test func whereManyFieldsCanBeMeantNoneIsNamed() async throws {
        let sent = [
            "Name": "a", "Email": "b", "City": "c", "Notes": "d", "Balance": "1", "Birthday": "01/02/2003",
            "WakeUp": "07:00:00", "Status": "new",
        ]
        // The metadata of a layout are kept for a minute.
        try await World.run(clock: TestClock()) { world in
            func refused(by code: FileMakerError, _ fields: [String: String]) async -> FMRest.APIError? {
                world.sandbox.inject(.error(code), on: .createRecord)
                return await world.contacts.createRecord(record: EditRecord(createRecord: fields))
                    .awaitSingleResult().failure
            }
            for code in [503, 504, 505, 507, 510, 513] {
                let error = await refused(by: FileMakerError(code), sent)
                expectNoDifference(error?.fields, [])
                #expect(
                    error?.reason.hasSuffix(": the layout's metadata do not tell which of 8 fields is meant.") == true
                )
                expectNoDifference(error?.hint, FileMakerErrorCode(rawValue: code).hint)
            }
            let few = await refused(by: 504, sent.filter { ["Name", "Email", "City"].contains($0.key) })
            expectNoDifference(few?.fields, ["City", "Email", "Name"])
            // Where the metadata tell which field is meant, the number of sent fields does not matter.
            let number = await refused(by: 502, sent)
            expectNoDifference(number?.fields, ["Balance"])
            let list = await refused(by: 506, sent)
            expectNoDifference(list?.fields, ["Status"])
            expectNoDifference(world.sandbox.counters.requests[.layoutMetadata], 1)
        }
    }

    @Test func whatIsMissingIsNamedHoweverMuchItIs() async throws {
        try await World.run { world in
            let fields = Dictionary(uniqueKeysWithValues: (1...6).map { ("Zzz\($0)", "a") })
            let error = await world.contacts.createRecord(record: EditRecord(createRecord: fields))
                .awaitSingleResult().failure
            expectNoDifference(error?.fields, ["Zzz1", "Zzz2", "Zzz3", "Zzz4", "Zzz5", "Zzz6"])
        }
    }

    // MARK: Extra requests and their limits

    @Test func aSuccessAndOtherErrorsNeverAskForMetadata() async throws {
        try await World.run { world in
            _ = try await world.contacts.editRecord(record: EditRecord(editRecord: ["City": "b"]), recordId: 1)
                .firstValue()
            _ = await world.contacts.editRecord(record: EditRecord(editRecord: ["City": "b"]), recordId: 99)
                .awaitSingleResult()
            _ = await world.contacts.editRecord(record: EditRecord(editRecord: ["City": "b"], modId: 99), recordId: 1)
                .awaitSingleResult()
            expectNoDifference(world.sandbox.counters.requests[.layoutMetadata], nil)
        }
    }

    @Test func aRunOfFailuresAsksForMetadataOnce() async throws {
        try await World.run(clock: TestClock()) { world in
            let rows = Publishers.Sequence<[Int], Never>(sequence: Array(0..<40))
                .flatMap { _ in
                    world.contacts.editRecord(["Nmae": "b"], recordId: 1).map { _ in [String]() }
                        .catch { Just($0.fields) }
                }
            let fields = try await rows.collect().setFailureType(to: FMRest.APIError.self).firstValue()
            expectNoDifference(fields, Array(repeating: ["Nmae"], count: 40))
            let later = await world.contacts.timeouts { $0.idle = .seconds(7) }
                .editRecord(["Nmae": "b"], recordId: 1).awaitSingleResult().failure
            expectNoDifference(later?.fields, ["Nmae"])
            expectNoDifference(world.sandbox.counters.requests[.layoutMetadata], 1)
        }
    }

    @Test func theConfigurationCanForbidIt() async throws {
        try await World.run(client: { $0.explainsErrors = false }) { world in
            let field = await world.contacts.editRecord(["Nmae": "b"], recordId: 1).awaitSingleResult().failure
            expectNoDifference(field?.reason, "Field is missing")
            expectNoDifference(field?.fields, [])
            let portal = await world.contacts
                .getRecords(recordQuery: RecordQuery(portal: [PortalRequest(name: "Fones")]))
                .returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(portal?.portals, ["Fones"], "what the request itself tells is told")
            expectNoDifference(world.sandbox.counters.requests[.layoutMetadata], nil)
        }
    }

    @Test(arguments: [Sandbox.Fault.html(status: 502), .error(FileMakerError(105)), .empty(status: 404), .reset])
    func withoutMetadataTheErrorStaysAsItIs(fault: Sandbox.Fault) async throws {
        try await World.run { world in
            world.sandbox.inject(fault, on: .layoutMetadata, count: nil)
            world.sandbox.inject(fault, on: .oldMetadata, count: nil)
            let error = await world.contacts.editRecord(record: EditRecord(editRecord: ["Nmae": "b"]), recordId: 1)
                .awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .fieldMissing)
            expectNoDifference(error?.reason, "Field is missing")
            expectNoDifference(error?.fields, [])
            world.sandbox.clearFaults()
        }
    }

    @Test func oneSessionIsEnoughAlsoWhenItIsPinned() async throws {
        try await World.run { world in
            let error = await world.database.withSessionPublisher { pinned in
                pinned.addLayout("Contacts")
                    .editRecord(record: EditRecord(editRecord: ["Nmae": "b"]), recordId: 1)
                    .eraseToAnyPublisher()
            }
            .awaitSingleResult().failure
            expectNoDifference(error?.fields, ["Nmae"])
            expectNoDifference(world.sandbox.counters.logins, 1)
        }
    }

    @Test func cancellingWhileTheMetadataAreFetchedEndsIt() async throws {
        try await ScriptedHost.run(answer: { request in
            request.isGET ? .silence : .error(102, "Field is missing")
        }) { host in
            let subscriber = TrackingSubscriber<DataAPI.EditRecordResponse, FMRest.APIError>()
            host.layout.editRecord(record: EditRecord(editRecord: ["Nmae": "b"]), recordId: 1).subscribe(subscriber)
            await host.server.requestCount(atLeast: 3)
            subscriber.cancel()
            // Cancelling the subscription cancels the request for the metadata and closes its connection.
            await host.server.allConnectionsClosed()
            #expect(subscriber.completionIfAny == nil)
        }
    }
}
