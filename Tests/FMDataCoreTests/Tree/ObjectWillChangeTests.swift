import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// What subscribers of `objectWillChange` of a server or a database receive.
@Suite(.timeLimit(.minutes(15))) struct ObjectWillChangeTests {
    @Test func aServerSaysThatItsDatabasesChange() {
        let server = DataAPI.Server(host: "fms.example.com")
        let changes = TrackingSubscriber<Void, Never>()
        server.objectWillChange.subscribe(changes)
        let sales = server.addDatabase("Sales")
        expectNoDifference(changes.values.count, 1)
        // This database object exists already.
        _ = server.addDatabase("Sales")
        expectNoDifference(changes.values.count, 1)
        // This one belongs to an account.
        let hers = server.addDatabase("Sales", credentials: Credentials(user: "ada", password: "secret"))
        expectNoDifference(changes.values.count, 2)
        let stock = server.addDatabase("Stock")
        expectNoDifference(changes.values.count, 3)
        withExtendedLifetime((sales, hers, stock)) {}
        #expect(changes.completionIfAny == nil)
        changes.cancel()
    }

    @Test func aDatabaseSaysThatItsCredentialsChangeBeforeTheyDo() async throws {
        try await World.run { world in
            let database = world.database
            let before = Locked<[DataAPI.Credentials.Kind]>([])
            let changes = TrackingSubscriber<Void, Never>(onEvent: { event in
                if case .value = event { before.change { $0.append(database.credentials.kind) } }
            })
            database.objectWillChange.subscribe(changes)
            _ = try await world.countries.getRecords(recordQuery: RecordQuery(limit: 1)).returnAs(FieldData.self)
                .firstValue()
            expectNoDifference(before.value, [.basic])
            expectNoDifference(database.credentials.kind, .token)
            _ = try await database.logOut().firstValue()
            expectNoDifference(before.value, [.basic, .token])
            changes.cancel()
        }
    }

    @Test func aDatabaseSaysThatItsListsChangeBeforeTheyDo() async throws {
        try await World.run { world in
            let database = world.database
            _ = try await database.validateSession().firstValue()
            let before = Locked<[Int]>([])
            let changes = TrackingSubscriber<Void, Never>(onEvent: { event in
                guard case .value = event else { return }
                before.change { $0 += [database.layoutList.count, database.scriptList.count] }
            })
            database.objectWillChange.subscribe(changes)
            _ = try await database.getLayoutNames().firstValue()
            expectNoDifference(before.value, [0, 0])
            let layouts = database.layoutList.count
            #expect(layouts > 0)
            _ = try await database.getScriptNames().firstValue()
            expectNoDifference(before.value, [0, 0, layouts, 0])
            #expect(!database.scriptList.isEmpty)
            changes.cancel()
        }
    }

    @Test func whoSubscribesOnTheMainActorHearsItThere() async throws {
        try await World.run { world in
            let heardOnMain = Locked<[Bool]>([])
            let changes = TrackingSubscriber<Void, Never>(onEvent: { event in
                if case .value = event { heardOnMain.change { $0.append(MainQueue.isCurrent) } }
            })
            await MainActor.run { world.database.objectWillChange.subscribe(changes) }
            _ = try await world.database.validateSession().firstValue()
            await changes.valueCount(atLeast: 1)
            #expect(heardOnMain.value.allSatisfy { $0 })
            changes.cancel()
        }
    }
}
