import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// A `Date` does not know whether it came from a date field or from a timestamp field.
@Suite(.timeLimit(.minutes(15))) struct DateFieldTests {
    struct Plain: Codable, Equatable, Sendable {
        var birthday: Date
        enum CodingKeys: String, CodingKey { case birthday = "Birthday" }
    }

    struct Days: Codable, Equatable, Sendable {
        @FMDateOnly var birthday: Date
        @FMDateOnly var missing: Date?
        enum CodingKeys: String, CodingKey { case birthday = "Birthday", missing = "Absent" }
    }

    @Test(
        .thorough,
        arguments: ["GMT", "America/Los_Angeles", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/Sao_Paulo"],
        [DataAPI.DateFormats.us, .iso8601]
    )
    func aDateFieldIsReadAsADateAndWrittenBack(zone: String, formats: DataAPI.DateFormats) async throws {
        let zone = try #require(TimeZone(identifier: zone))
        try await World.run(client: {
            $0.dateFormats = formats
            $0.decoding.values.timeZone = zone
            $0.encoding.values.timeZone = zone
            $0.encoding.nilValues = .omit
        }) { world in
            let contacts = world.contacts
            // Midnight of the last of these days does not exist in São Paulo.
            for day in ["2024-02-29", "1969-12-31", "2018-11-04"].compactMap({ FMDate($0) }) {
                let fields: FieldData = ["Birthday": FieldValue(day, format: formats.format)]
                let id = try await contacts.createRecord(fields).firstValue().recordId
                var read = try await contacts.record(id: id).returnAs(Days.self).firstValue().data[0]
                    .fieldData
                expectNoDifference(read.birthday, day.instant(in: zone))
                expectNoDifference(read.missing, nil)
                _ = try await contacts.editRecord(read, recordId: id).firstValue()
                let back = try await contacts.record(id: id).returnAs(FieldData.self).firstValue()
                expectNoDifference(back.data[0].fieldData["Birthday"]?.date(formats.format), day)
                // A later time of the same day.
                read.birthday += 20 * 3_600
                _ = try await contacts.editRecord(read, recordId: id).firstValue()
                let same = try await contacts.record(id: id).returnAs(Days.self).firstValue()
                expectNoDifference(same.data[0].fieldData.birthday, day.instant(in: zone))
            }
        }
    }

    @Test func aPlainDateInADateFieldIsRefusedWithAWordOfHelp() async throws {
        try await World.run { world in
            let contacts = world.contacts
            let id = try await contacts.createRecord(["Birthday": "02/29/2024"]).firstValue().recordId
            let read = try await contacts.record(id: id).returnAs(Plain.self).firstValue().data[0]
                .fieldData
            let error = await contacts.editRecord(read, recordId: id).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .dateInvalid)
            expectNoDifference(error?.fields, ["Birthday"])
            #expect(error?.hint?.contains("FMDateOnly") == true)
            let other = await contacts.editRecord(["Birthday": "yesterday"], recordId: id).awaitSingleResult().failure
            expectNoDifference(other?.fields, ["Birthday"])
            #expect(other?.hint?.contains("FMDateOnly") != true)
        }
    }

    @Test func aConfigurationMaySayWhatADateIs() async throws {
        let day = try #require(FMDate(year: 2024, month: 2, day: 29)).instant(in: .gmt)
        try await World.run(client: { $0.encoding.dates = .days }) { world in
            let made = try await world.contacts.createRecord(Plain(birthday: day)).firstValue()
            let read = try await world.contacts.record(id: made.recordId).returnAs(Plain.self).firstValue()
            expectNoDifference(read.data[0].fieldData.birthday, day)
        }
        try await World.run(client: {
            $0.encoding.dates = .refuse
            $0.encoding.nilValues = .omit
        }) { world in
            let error = await world.contacts.createRecord(Plain(birthday: day)).awaitSingleResult().failure
            expectNoDifference(error?.code, .encoding)
            #expect(error?.reason.contains("Birthday") == true && error?.reason.contains("FMDateOnly") == true)
            _ = try await world.contacts.createRecord(Days(birthday: day)).firstValue()
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [
            (2024, 12, 30), (2024, 12, 31), (2025, 1, 1), (2027, 1, 3), (2020, 2, 29),
        ]
    )
    func datesAroundNewYearKeepTheirYearAndTimesTheirSeconds(year: Int, month: Int, day: Int) async throws {
        try await World.run { world in
            let contact = Contact(
                name: "Eve",
                birthday: FMDate(year: year, month: month, day: day),
                wakeUp: FMTime(hours: 6, minutes: 30, seconds: 59)
            )
            let id = try await world.contacts.createRecord(record: EditRecord(createRecord: contact)).firstValue()
                .recordId
            let read = try await world.contacts.record(id: id).returnAs(Contact.self).firstValue()
            expectNoDifference(read.data.map(\.fieldData), [contact])
            let stored = world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.last?.values
            #expect(stored?["Birthday"]?.contains("\(year)") == true)
            #expect(stored?["WakeUp"]?.hasSuffix("30:59") == true)
        }
    }

    @Test(.tags(.earlierClients))
    func aDateThatCannotBeReadIsAnErrorThatNamesTheFieldNeverNil() async throws {
        struct Wrong: Decodable, Sendable {
            var date: FMDate?
            enum CodingKeys: String, CodingKey { case date = "Name" }
        }
        try await World.run { world in
            let error = await world.contacts.getRecords().returnAs(Wrong.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .decoding)
            #expect(error?.reason.contains("Name") == true)
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [
            FMTime(hours: 25), FMTime(hours: -1, minutes: -30), FMTime(hours: 999, seconds: 1),
        ]
    )
    func aTimeMayBeNegativeOrLongerThanADay(time: FMTime) async throws {
        try await World.run { world in
            let contact = Contact(name: "Eve", birthday: nil, wakeUp: time)
            let id = try await world.contacts.createRecord(record: EditRecord(createRecord: contact)).firstValue()
                .recordId
            let read = try await world.contacts.record(id: id).returnAs(Contact.self).firstValue()
            expectNoDifference(read.data.map(\.fieldData.wakeUp), [time])
        }
    }
}
