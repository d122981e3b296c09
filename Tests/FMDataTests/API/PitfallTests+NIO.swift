import CustomDump
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMData

/// The client on SwiftNIO.
extension PitfallTests {
    @Suite struct NIO {
        struct Contact: Codable, Equatable, Sendable {
            var name: String
            var birthday: FMDate?
            var wakeUp: FMTime?
            enum CodingKeys: String, CodingKey { case name = "Name", birthday = "Birthday", wakeUp = "WakeUp" }
        }

        @Test("41, 42: many refusals at once are one login, and no session is left behind")
        func refusals() async throws {
            try await World.run(client: { $0.sessions.maximumSessions = 4 }) { world in
                func all() async throws {
                    let subscribers = (0..<50).map { _ in
                        let subscriber = TrackingSubscriber<
                            DataAPI.RecordResponse<FieldData, EmptyPortal>, FMRest.APIError
                        >()
                        world.countries.getRecords(recordQuery: RecordQuery(limit: 1)).subscribe(subscriber)
                        return subscriber
                    }
                    for subscriber in subscribers { _ = await subscriber.completion() }
                    expectNoDifference(subscribers.filter { $0.values.count == 1 }.count, 50)
                }
                try await all()
                let logins = world.sandbox.counters.logins
                world.sandbox.expireSessions()
                try await all()
                #expect(world.sandbox.counters.logins - logins <= 4, "at most one for each session of the pool")
            }
        }

        @Test("43: a database that nobody holds leaves no session on its server")
        func release() async throws {
            let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(600)))
            do {
                let layout = DataAPI.Server(host: sandbox.url)
                    .addDatabase("World", credentials: Credentials(user: "admin", password: "secret")).addLayout(
                        "Zones"
                    )
                _ = try await layout.getRecords().returnAs(FieldData.self).firstValue()
                expectNoDifference(sandbox.counters.openSessions, 1)
            }
            await until { sandbox.counters.openSessions == 0 }
            expectNoDifference(sandbox.counters.logouts, 1)
            await sandbox.stop()
        }

        @Test("44: a layout with a slash, a percent sign and an umlaut is reached")
        func names() async throws {
            try await World.run { world in
                let response = try await world.database.addLayout("Names / 100 % Übersicht").getRecords()
                    .returnAs(Contact.self).firstValue()
                expectNoDifference(response.data.first?.fieldData.name, "Ada Lovelace")
            }
        }

        @Test("46: an error with a response of another shape is still FileMaker's")
        func messagesFirst() async throws {
            try await ScriptedHost.run(answer: { _ in
                .json(500, #"{"messages":[{"code":"105"}],"response":[1,"a",null]}"#)
            }) { host in
                let records = await host.layout.getRecords().returnAs(Contact.self).awaitSingleResult().failure
                expectNoDifference(records?.fileMakerCode, .layoutMissing)
                let created = await host.layout.createRecord().awaitSingleResult().failure
                expectNoDifference(created?.fileMakerCode, .layoutMissing)
            }
        }

        @Test("47: no match is an answer")
        func noMatch() async throws {
            try await World.run { world in
                let response = try await world.contacts.findRecords(query: FindQuery(query: [["Name": "==Nobody"]]))
                    .returnAs(Contact.self).firstValue()
                expectNoDifference(response.data, [])
            }
        }

        @Test("48, 49: an edit wraps the fields, and no id is among them")
        func edit() async throws {
            try await World.run { world in
                var record = try await world.contacts.getRecordById(recordId: 1).returnAs(Contact.self).firstValue()
                    .data[0]
                record.fieldData.name = "Ada King"
                let edited = try await world.contacts.editRecord(
                    record: EditRecord(editRecord: record.fieldData, modId: record.modId),
                    recordId: record.recordId
                ).firstValue()
                expectNoDifference(edited.modId, record.modId + 1)
                let again = try await world.contacts.getRecordById(recordId: 1).returnAs(Contact.self).firstValue()
                expectNoDifference(again.data.map(\.fieldData), [record.fieldData])
            }
        }

        @Test(
            "50, 51: dates around New Year keep their year, times their seconds",
            arguments: [
                (2024, 12, 30), (2024, 12, 31), (2025, 1, 1), (2027, 1, 3), (2020, 2, 29),
            ]
        )
        func datesAndTimes(year: Int, month: Int, day: Int) async throws {
            try await World.run { world in
                let contact = Contact(
                    name: "Eve",
                    birthday: FMDate(year: year, month: month, day: day),
                    wakeUp: FMTime(hours: 6, minutes: 30, seconds: 59)
                )
                let id = try await world.contacts.createRecord(record: EditRecord(createRecord: contact)).firstValue()
                    .recordId
                let read = try await world.contacts.getRecordById(recordId: id).returnAs(Contact.self).firstValue()
                expectNoDifference(read.data.map(\.fieldData), [contact])
                let stored = world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.last?.values
                #expect(stored?["Birthday"]?.contains("\(year)") == true)
                #expect(stored?["WakeUp"]?.hasSuffix("30:59") == true)
            }
        }

        @Test("52: a date that cannot be read is an error that names the field, never nil")
        func unreadableDate() async throws {
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

        @Test("53: nil is written as an empty text, never as null")
        func null() async throws {
            try await ScriptedHost.run(answer: { _ in .json(#"{"modId":"1"}"#) }) { host in
                _ = try await host.layout.editRecord(
                    record: EditRecord(editRecord: ["Name": String?.none, "City": "Kiel"]),
                    recordId: 1
                ).firstValue()
                #expect(host.calls.last?.text.contains("null") == false)
                #expect(host.calls.last?.text.contains(#""Name":"""#) == true)
            }
        }

        @Test(
            "54: a time may be negative or longer than a day",
            arguments: [
                FMTime(hours: 25), FMTime(hours: -1, minutes: -30), FMTime(hours: 999, seconds: 1),
            ]
        )
        func times(time: FMTime) async throws {
            try await World.run { world in
                let contact = Contact(name: "Eve", birthday: nil, wakeUp: time)
                let id = try await world.contacts.createRecord(record: EditRecord(createRecord: contact)).firstValue()
                    .recordId
                let read = try await world.contacts.getRecordById(recordId: id).returnAs(Contact.self).firstValue()
                expectNoDifference(read.data.map(\.fieldData.wakeUp), [time])
            }
        }

        @Test("55, 56: a field that is not on the layout is nil, and a number may come as text")
        func values() async throws {
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

        @Test("57: a refused login keeps FileMaker's code")
        func refusedLogin() async throws {
            try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
                let error = await world.contacts.getRecords().returnAs(Contact.self).awaitSingleResult().failure
                expectNoDifference(error?.fileMakerCode, .invalidAccount)
                expectNoDifference(error?.httpStatus, 401)
                expectNoDifference(error?.request?.path, "/databases/World/sessions")
            }
        }
    }
}
