import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// The calls for records over both kinds of wire, end to end.
@Suite(.timeLimit(.minutes(15))) struct RecordCallTests {
    struct Contact: Codable, Equatable, Sendable {
        var name: String
        var city: String
        enum CodingKeys: String, CodingKey { case name = "Name", city = "City" }
    }

    struct ContactPortals: Codable, Equatable, Sendable {
        var phones: [Phone]
        enum CodingKeys: String, CodingKey { case phones = "Phones" }

        struct Phone: DataAPIPortalRecord, Encodable, Equatable, Sendable {
            var recordId: Int
            var modId: Int
            var number: String
            enum CodingKeys: String, CodingKey { case recordId, modId, number = "Phones::Number" }
        }
    }

    @Test(arguments: Wire.allCases)
    func everyWriteIsReadBack(wire: Wire) async throws {
        try await World.run(over: wire) { world in
            let created = try await world.contacts.createRecord(
                record: EditRecord(createRecord: Contact(name: "Zoë \"Z\" Ångström\rJr", city: ""))
            ).firstValue()
            expectNoDifference(created.modId, 0)
            let edited = try await world.contacts.editRecord(
                record: EditRecord(editRecord: ["City": "Århus"], modId: 0),
                recordId: created.recordId
            ).firstValue()
            expectNoDifference(edited.modId, 1)
            let read = try await world.contacts.record(id: created.recordId).returnAs(Contact.self)
                .firstValue()
            expectNoDifference(
                read.data.map(\.fieldData),
                [Contact(name: "Zoë \"Z\" Ångström\rJr", city: "Århus")]
            )
            let stale = await world.contacts.editRecord(
                record: EditRecord(editRecord: ["City": "lost"], modId: 0),
                recordId: created.recordId
            ).awaitSingleResult()
            expectNoDifference(stale.failure?.fileMakerCode, .modIdMismatch)
            let copy = try await world.contacts.duplicateRecord(recordId: created.recordId).firstValue()
            _ = try await world.contacts.deleteRecord(recordId: created.recordId).firstValue()
            let gone = await world.contacts.record(id: created.recordId).returnAs(Contact.self)
                .awaitSingleResult()
            expectNoDifference(gone.failure?.fileMakerCode, .recordMissing)
            let left = try await world.contacts.record(id: copy.recordId).returnAs(Contact.self)
                .firstValue()
            expectNoDifference(left.data.first?.fieldData.city, "Århus")
        }
    }

    @Test func portalRowsAreMadeChangedAndDeletedThroughTheirParent() async throws {
        struct NewPhone: Encodable {
            var number: String
            enum CodingKeys: String, CodingKey { case number = "Phones::Number" }
        }
        try await World.run { world in
            let created = try await world.contacts.createRecord(
                record: EditRecord(
                    createRecord: Contact(name: "Portal", city: "Kiel"),
                    portalData: ["Phones": [NewPhone(number: "1"), NewPhone(number: "2")]]
                )
            ).firstValue()
            func phones() async throws -> [ContactPortals.Phone] {
                try await world.contacts.record(id: created.recordId)
                    .returnAs(Contact.self, ContactPortals.self).firstValue().data.first?.portalData?.phones ?? []
            }
            let made = try await phones()
            expectNoDifference(made.map(\.number), ["1", "2"])

            var changed = made[0]
            changed.number = "11"
            var edit = EditRecord(editRecord: [String: String](), portalData: ContactPortals(phones: [changed]))
            edit.deleteRelated = [.init(portal: "Phones", recordId: made[1].recordId)]
            _ = try await world.contacts.editRecord(record: edit, recordId: created.recordId).firstValue()
            let left = try await phones()
            expectNoDifference(left.map(\.number), ["11"])
            expectNoDifference(left[0].modId, made[0].modId + 1)

            // The row's modId from before the edit is out of date.
            edit.deleteRelated = []
            let stale = await world.contacts.editRecord(record: edit, recordId: created.recordId).awaitSingleResult()
            expectNoDifference(stale.failure?.fileMakerCode, .modIdMismatch)
        }
    }

    @Test func oddNamesReachTheirLayout() async throws {
        try await World.run { world in
            let odd = world.database.addLayout("Names / 100 % Übersicht")
            let response = try await odd.findRecords(query: FindQuery(query: [["Name": "==Ada Lovelace"]]))
                .returnAs(Contact.self).firstValue()
            expectNoDifference(response.data.map(\.fieldData.name), ["Ada Lovelace"])
            expectNoDifference(response.dataInfo.layout, "Names / 100 % Übersicht")
        }
    }

    @Test func oneLoginServesManyRequests() async throws {
        try await World.run { world in
            for _ in 0..<5 {
                _ = try await world.countries.getRecords().returnAs([String: FieldValue].self).firstValue()
            }
            expectNoDifference(world.sandbox.counters.logins, 1)
        }
    }

    @Test func aRefusedTokenIsRenewedAndTheRequestSentOnceMore() async throws {
        try await World.run { world in
            _ = try await world.contacts.createRecord().firstValue()
            world.sandbox.expireSessions()
            _ = try await world.contacts.createRecord().firstValue()
            expectNoDifference(world.sandbox.counters.executedWrites, 2)
            expectNoDifference(world.sandbox.counters.logins, 2)
        }
    }

    @Test func nothingIsSentWithoutDemand() async throws {
        try await World.run { world in
            let subscriber = TrackingSubscriber<DataAPI.CreateResponse, FMRest.APIError>(initialDemand: .none)
            world.contacts.createRecord().subscribe(subscriber)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
            subscriber.cancel()
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    @Test func eachSubscriptionIsOneRequest() async throws {
        try await World.run { world in
            let create = world.contacts.createRecord()
            let first = try await create.firstValue()
            let second = try await create.firstValue()
            #expect(first.recordId != second.recordId)
            expectNoDifference(world.sandbox.counters.executedWrites, 2)
        }
    }

    @Test func aTreeOfTemporariesLivesAsLongAsItsRequest() async throws {
        let sandbox = try await Sandbox.start(configuration: .init { $0.keepAlive = .seconds(600) })
        let response = try await DataAPI.Server(host: sandbox.url, config: .patient)
            .addDatabase("World", credentials: Credentials(user: "admin", password: "secret"))
            .addLayout("Countries")
            .getRecords(recordQuery: RecordQuery(limit: 1))
            .returnAs([String: FieldValue].self)
            .firstValue()
        expectNoDifference(response.data.count, 1)
        // The last reference that is released logs the session out. Wait for that before the server stops.
        await until { sandbox.counters.openSessions == 0 }
        await sandbox.stop()
    }

    @Test func globalsBelongToAPinnedSession() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 2 }) { world in
            let seen = world.database.withSessionPublisher { pinned in
                pinned.setGlobals(["Contacts::gFilter": "mine"])
                    .flatMap { _ in
                        pinned.addLayout("Contacts").getRecords(recordQuery: RecordQuery(limit: 1))
                            .returnAs([String: FieldValue].self)
                    }
                    .eraseToAnyPublisher()
            }
            let response = try await seen.firstValue()
            expectNoDifference(response.data.first?.fieldData["gFilter"], "mine")
            let outside = try await world.contacts.getRecords(recordQuery: RecordQuery(limit: 1))
                .returnAs([String: FieldValue].self).firstValue()
            expectNoDifference(outside.data.first?.fieldData["gFilter"], "")
        }
    }

    @Test(.tags(.earlierClients))
    func eachSubscriberIsOneRequestAndMulticastMakesItOneForAll() async throws {
        try await World.run { world in
            let create = world.contacts.createRecord()
            let first = try await create.firstValue()
            let second = try await create.firstValue()
            #expect(first.recordId != second.recordId)

            let shared = create.multicast { PassthroughSubject<DataAPI.CreateResponse, FMRest.APIError>() }
            let subscribers = (0..<3).map { _ in TrackingSubscriber<DataAPI.CreateResponse, FMRest.APIError>() }
            for subscriber in subscribers { shared.subscribe(subscriber) }
            let connection = shared.connect()
            for subscriber in subscribers { _ = await subscriber.completion() }
            connection.cancel()
            expectNoDifference(Set(subscribers.flatMap(\.values).map(\.recordId)).count, 1)
            expectNoDifference(world.sandbox.counters.executedWrites, 3)
        }
    }

    @Test(.tags(.earlierClients), arguments: Wire.allCases)
    func callsShareAConnection(wire: Wire) async throws {
        try await World.run(over: wire) { world in
            for _ in 0..<20 { _ = try await world.database.getScriptNames().firstValue() }
            expectNoDifference(world.sandbox.counters.connections, 1)
        }
    }
}
