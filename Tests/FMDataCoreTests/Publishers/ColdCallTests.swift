import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// No request, login or shutdown takes place before a subscriber demands a value.
@Suite(.timeLimit(.minutes(15))) struct ColdCallTests {
    @Test func nobodyActsWithoutDemand() async throws {
        try await World.run { world in
            let (database, contacts) = (world.database, world.contacts)
            let name = DataAPI.FindField(named: "Name")
            let query = FindQuery(name.begins(with: "A"), sort: [DataAPI.SortQuery(fieldName: "Name")])
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("a".utf8))
            let edit = EditRecord(editRecord: FieldData())
            try expectSilence(database.server.getProductInfo(), in: world)
            try expectSilence(database.server.getDatabaseNames(credentials: database.credentials), in: world)
            try expectSilence(database.getLayoutNames(), in: world)
            try expectSilence(database.getScriptNames(), in: world)
            try expectSilence(database.validateSession(), in: world)
            try expectSilence(database.setGlobals(["Contacts::gFilter": "a"]), in: world)
            try expectSilence(database.rawAnswer(to: DataAPI.RawRequest("GET", ["scripts"])), in: world)
            try expectSilence(database.login(credentials: Credentials(user: "a", password: "b")), in: world)
            try expectSilence(database.withSessionPublisher { $0.getScriptNames() }, in: world)
            try expectSilence(contacts.getLayoutMetadata(), in: world)
            try expectSilence(contacts.getRecords().returnAs(FieldData.self), in: world)
            try expectSilence(contacts.record(id: 1).returnAs(FieldData.self), in: world)
            try expectSilence(contacts.records(FieldData.self), in: world)
            try expectSilence(contacts.findRecords(query: query).returnAs(FieldData.self), in: world)
            try expectSilence(contacts.records(FieldData.self, findQuery: query), in: world)
            try expectSilence(contacts.createRecord(), in: world)
            try expectSilence(contacts.editRecord(record: edit, recordId: 1), in: world)
            try expectSilence(contacts.duplicateRecord(recordId: 1), in: world)
            try expectSilence(contacts.deleteRecord(recordId: 1), in: world)
            try expectSilence(contacts.runScript("Echo"), in: world)
            try expectSilence(contacts.runScript("Echo", parameter: .confidential("a")), in: world)
            try expectSilence(contacts.uploadContainer(file, to: "Photo", recordId: 1), in: world)
            let content = contacts.downloadContainer(fieldName: "Photo", recordId: 1)
            try expectSilence(content, in: world)
            try expectSilence(content.toMemory(upTo: 10), in: world)
            try expectSilence(content.toFile(at: "/nowhere/a"), in: world)
            try expectSilence(database.logOut(), in: world)
            try expectSilence(database.server.shutdown(), in: world)
            // The shutdown has not taken place either.
            _ = try await database.getScriptNames().firstValue()
        }
    }

    private func expectSilence<P: Publisher>(
        _ call: P,
        in world: World,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws where P.Output: Sendable {
        let subscriber = TrackingSubscriber<P.Output, P.Failure>(initialDemand: .none)
        call.subscribe(subscriber)
        let status = world.database.sessionStatus
        #expect(status.loggingIn + status.sessions + status.waiting == 0, sourceLocation: sourceLocation)
        #expect(world.sandbox.counters.requests.isEmpty, sourceLocation: sourceLocation)
        #expect(world.sandbox.counters.connections == 0, sourceLocation: sourceLocation)
        subscriber.cancel()
        #expect(subscriber.values.isEmpty, sourceLocation: sourceLocation)
    }
}
