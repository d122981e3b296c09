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
    private func run(_ body: (WebhookInstallation, Contacts) async throws -> Void) async throws {
        try await WebhookInstallation.run { installation in
            let registrar = try installation.registrar()
            _ = await installation.start(registrar)
            let hints = installation.receiver.hints.sink { installation.watched.changed($0) }
            let contacts = Contacts()
            installation.watched.layout(Contact.self).live().subscribe(contacts)
            await contacts.valueCount(atLeast: 1)
            try await body(installation, contacts)
            contacts.cancel()
            hints.cancel()
            await registrar.stop()
        }
    }

    @Test func whatSomebodyElseCommitsShowsThoughNoTimePasses() async throws {
        try await run { installation, contacts in
            let beginning = installation.watchedTime.now
            let id = try installation.sandbox.createRecord(["Name": "Emmy"], ofTable: "Contacts", inDatabase: "World")
            await installation.delivered(1)
            #expect(await installation.nextHint() == [id])
            await contacts.valueCount(atLeast: 2)
            expectNoDifference(contacts.values[1].changes.inserted.map(\.recordId), [id])
            expectNoDifference(contacts.values[1].freshness.origin, .wake)

            try installation.sandbox.editRecord(id, ["Name": "Amalie"], ofTable: "Contacts", inDatabase: "World")
            await installation.delivered(2)
            #expect(await installation.nextHint() == [id])
            await contacts.valueCount(atLeast: 3)
            expectNoDifference(contacts.values[2].changes.updated.map(\.record.fieldData.name), ["Amalie"])

            try installation.sandbox.deleteRecord(id, ofTable: "Contacts", inDatabase: "World")
            await installation.delivered(3)
            #expect(await installation.nextHint() == [id])
            await contacts.valueCount(atLeast: 4)
            expectNoDifference(contacts.values[3].changes.removed.map(\.recordId), [id])
            expectNoDifference(contacts.values[3].changes.removed.map(\.reason), [.deleted])
            expectNoDifference(installation.watchedTime.now, beginning)
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
        try await run { installation, contacts in
            for fault in faults { installation.sandbox.inject(webhook: fault) }
            try installation.sandbox.editRecord(1, ["Name": "Ask"], ofTable: "Contacts", inDatabase: "World")
            try installation.sandbox.deleteRecord(2, ofTable: "Contacts", inDatabase: "World")
            try installation.sandbox.createRecord(["Name": "Embla"], ofTable: "Contacts", inDatabase: "World")
            try installation.sandbox.editRecord(3, ["Name": "Fram"], ofTable: "Contacts", inDatabase: "World")
            if deliveries > 0 {
                await installation.delivered(deliveries)
                _ = await installation.nextHint()
            } else {
                // No hint arrives, so the query polls by itself, about every minute.
                await installation.watchedTime.untilTimers { $0.contains { $0 > .zero && $0 <= .seconds(70) } }
                installation.watchedTime.advance(by: .seconds(70))
            }
            await contacts.valueCount(atLeast: 2)
            let table = installation.sandbox.records(ofTable: "Contacts", inDatabase: "World")
            expectNoDifference(contacts.values.last?.records.map(\.fieldData.name), ["Ask", "Fram", "Embla"])
            expectNoDifference(contacts.values.last?.records.map(\.recordId), table?.compactMap(\.recordId))
            // Deliveries were answered as FileMaker expects, so the receiver blocks none.
            let refused = installation.sandbox.webhookDeliveries.filter { $0.status != 200 }
            #expect(refused.isEmpty || faults == [.stuck])
        }
    }
}
