import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMWebhooks

/// From another client's commit, by webhook and receiver, to the change that a live query publishes.
@Suite(.timeLimit(.minutes(15))) struct LiveQueryTests {
    struct Contact: LayoutRecord {
        static let layout = "Contacts"

        var name: String

        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    typealias Contacts = TrackingSubscriber<DataAPI.LiveValue<Contact>, FMRest.APIError>

    /// Runs a body with a registered webhook, and a live query that has had its first value and polls when the receiver
    /// publishes hints.
    private func run(_ body: (Harbor, Contacts) async throws -> Void) async throws {
        try await Harbor.run { harbor in
            let registrar = try harbor.registrar()
            _ = await harbor.start(registrar)
            let hints = harbor.receiver.hints.sink { harbor.watched.changed($0) }
            let contacts = Contacts()
            harbor.watched.layout(Contact.self).live().subscribe(contacts)
            await contacts.valueCount(atLeast: 1)
            try await body(harbor, contacts)
            contacts.cancel()
            hints.cancel()
            await registrar.stop()
        }
    }

    @Test func whatSomebodyElseCommitsShowsThoughNoTimePasses() async throws {
        try await run { harbor, contacts in
            let beginning = harbor.watchedTime.now
            let id = try harbor.sandbox.createRecord(["Name": "Emmy"], ofTable: "Contacts", inDatabase: "World")
            await harbor.delivered(1)
            #expect(await harbor.nextHint() == [id])
            await contacts.valueCount(atLeast: 2)
            expectNoDifference(contacts.values[1].changes.inserted.map(\.recordId), [id])
            expectNoDifference(contacts.values[1].freshness.origin, .wake)

            try harbor.sandbox.editRecord(id, ["Name": "Amalie"], ofTable: "Contacts", inDatabase: "World")
            await harbor.delivered(2)
            #expect(await harbor.nextHint() == [id])
            await contacts.valueCount(atLeast: 3)
            expectNoDifference(contacts.values[2].changes.updated.map(\.record.fieldData.name), ["Amalie"])

            try harbor.sandbox.deleteRecord(id, ofTable: "Contacts", inDatabase: "World")
            await harbor.delivered(3)
            #expect(await harbor.nextHint() == [id])
            await contacts.valueCount(atLeast: 4)
            expectNoDifference(contacts.values[3].changes.removed.map(\.recordId), [id])
            expectNoDifference(contacts.values[3].changes.removed.map(\.reason), [.deleted])
            expectNoDifference(harbor.watchedTime.now, beginning)
        }
    }

    /// Deliveries that come twice, in the wrong order, damaged, or not at all.
    @Test(
        arguments: [
            ([.duplicate], 5), ([.swap], 4), ([.garbageBody], 4), ([.drop], 3), ([.drop, .drop, .drop, .drop], 0),
            ([.delay(.seconds(3600))], 0), ([.stuck], 0),
        ] as [([Sandbox.WebhookFault], Int)]
    )
    func whateverAWebhookSaysTheLookIsRight(_ faults: [Sandbox.WebhookFault], _ deliveries: Int) async throws {
        try await run { harbor, contacts in
            for fault in faults { harbor.sandbox.inject(webhook: fault) }
            try harbor.sandbox.editRecord(1, ["Name": "Ask"], ofTable: "Contacts", inDatabase: "World")
            try harbor.sandbox.deleteRecord(2, ofTable: "Contacts", inDatabase: "World")
            try harbor.sandbox.createRecord(["Name": "Embla"], ofTable: "Contacts", inDatabase: "World")
            try harbor.sandbox.editRecord(3, ["Name": "Fram"], ofTable: "Contacts", inDatabase: "World")
            if deliveries > 0 {
                await harbor.delivered(deliveries)
                _ = await harbor.nextHint()
            } else {
                // No hint arrives, so the query polls by itself, about every minute.
                await harbor.watchedTime.untilAlarm(within: .seconds(70))
                harbor.watchedTime.advance(by: .seconds(70))
            }
            await contacts.valueCount(atLeast: 2)
            let table = harbor.sandbox.records(ofTable: "Contacts", inDatabase: "World")
            expectNoDifference(contacts.values.last?.records.map(\.fieldData.name), ["Ask", "Fram", "Embla"])
            expectNoDifference(contacts.values.last?.records.map(\.recordId), table?.compactMap(\.recordId))
            // Deliveries were answered as FileMaker expects, so the receiver blocks none.
            let refused = harbor.sandbox.webhookDeliveries.filter { $0.status != 200 }
            #expect(refused.isEmpty || faults == [.stuck])
        }
    }
}
