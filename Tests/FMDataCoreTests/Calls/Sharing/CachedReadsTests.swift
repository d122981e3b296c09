import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Reads that are answered from an earlier equal read, if the program asks for that.
@Suite(.timeLimit(.minutes(15))) struct CachedReadsTests {
    private struct Person: LayoutRecord, Equatable {
        static let layout = "Contacts"
        var name: String
        var city: String?
        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case city = "City"
        }
    }

    private static func ada(
        _ database: DataAPI.Database,
        for age: Duration = .seconds(3_600)
    ) -> DataAPI.FoundSet<Person> {
        database.layout(Person.self).cached(for: age).find { $0(.name) == "Ada Lovelace" }
    }

    /// The number of finds that the sandbox has received.
    private func finds(_ world: World) -> Int { world.sandbox.counters.requests[.find] ?? 0 }

    private func city(_ world: World) async throws -> String? {
        try await Self.ada(world.database).firstRecord().firstValue()?.city
    }

    private func expectCity(_ expected: String, _ world: World) async throws {
        let city = try await city(world)
        expectNoDifference(city, expected)
    }

    /// The database as another program's client of the same host.
    private func stranger(_ world: World) -> DataAPI.Database {
        DataAPI.Server(host: world.sandbox.url, config: .patient).addDatabase(
            "World",
            credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        )
    }

    @Test func anAnswerServesForItsTime() async throws {
        let time = TestClock()
        try await World.run(clock: time) { world in
            let ada = Self.ada(world.database, for: .seconds(60))
            for _ in 0..<3 {
                let record = try await ada.firstRecord().firstValue()
                expectNoDifference(record?.city, "London")
            }
            expectNoDifference(finds(world), 1)
            time.advance(by: .seconds(59))
            _ = try await ada.firstRecord().firstValue()
            expectNoDifference(finds(world), 1)
            time.advance(by: .seconds(1))
            _ = try await ada.firstRecord().firstValue()
            expectNoDifference(finds(world), 2)
        }
    }

    @Test func withoutBeingAskedForNothingIsKept() async throws {
        try await World.run(clock: TestClock()) { world in
            let people = world.database.layout(Person.self)
            for _ in 0..<2 { _ = try await people.find { $0(.name) == "Ada Lovelace" }.firstRecord().firstValue() }
            // A read that has not asked for cached answers gets none either.
            _ = try await city(world)
            _ = try await people.find { $0(.name) == "Ada Lovelace" }.firstRecord().firstValue()
            expectNoDifference(finds(world), 4)
        }
    }

    @Test func ownWritesAreSeen() async throws {
        try await World.run(clock: TestClock()) { world in
            try await expectCity("London", world)
            _ = try await world.database.layout(Person.self).edit(1, setting: [.city: "Oslo"]).firstValue()
            try await expectCity("Oslo", world)
        }
    }

    @Test func aWriteThatFailedMayHaveWritten() async throws {
        try await World.run(clock: TestClock()) { world in
            _ = try await city(world)
            _ = await world.database.layout(Person.self).edit(1, setting: [.city: "Oslo"], modId: 99)
                .awaitSingleResult()
            _ = try await city(world)
            expectNoDifference(finds(world), 2)
        }
    }

    @Test func whatALiveQuerySeesIsSeen() async throws {
        try await World.run(clock: TestClock()) { world in
            let people = world.database.layout(Person.self)
            // The query polls only on request.
            let query = people.live(DataAPI.LiveOptions(every: .seconds(3_600) ... .seconds(3_600)))
            let values = TrackingSubscriber<DataAPI.LiveValue<Person>, FMRest.APIError>()
            query.subscribe(values)
            await values.valueCount(atLeast: 1)
            try await expectCity("London", world)
            let other = stranger(world)
            _ = try await other.layout(Person.self).edit(1, setting: [.city: "Oslo"]).firstValue()
            // No query has polled yet.
            try await expectCity("London", world)
            query.refresh()
            await values.valueCount(atLeast: 2)
            try await expectCity("Oslo", world)
            values.cancel()
            _ = await other.logOut().awaitSingleResult()
        }
    }

    @Test func aHintIsBelieved() async throws {
        try await World.run(clock: TestClock()) { world in
            _ = try await city(world)
            world.database.changed(
                DataAPI.ChangeHint(
                    database: "World",
                    table: nil,
                    rowIDs: nil,
                    isSchema: false,
                    receivedAt: Date(timeIntervalSince1970: 0)
                )
            )
            _ = try await city(world)
            expectNoDifference(finds(world), 2)
        }
    }

    @Test func failuresAreNotKept() async throws {
        try await World.run(clock: TestClock()) { world in
            world.sandbox.inject(.error(FileMakerError(500)), on: .find)
            let failed = await Self.ada(world.database).firstRecord().awaitSingleResult()
            #expect(failed.failure != nil)
            try await expectCity("London", world)
        }
    }

    @Test func anAnswerFromBeforeAWriteIsNotKept() async throws {
        try await World.run(clock: TestClock()) { world in
            world.sandbox.inject(.holdAnswer, on: .find)
            let early = TrackingSubscriber<DataAPI.TypedLayout<Person>.Record?, FMRest.APIError>()
            Self.ada(world.database).firstRecord(isolation: nil).subscribe(early)
            await world.sandbox.untilAnswersHeld()
            _ = try await world.database.layout(Person.self).edit(1, setting: [.city: "Oslo"]).firstValue()
            world.sandbox.releaseAnswers()
            await early.completion()
            expectNoDifference(early.values.map { $0?.city }, ["London"])
            try await expectCity("Oslo", world)
        }
    }

    /// FileMaker reports a find without match as an error, so a false empty answer is returned only once.
    @Test func aFindWithoutMatchIsNotKept() async throws {
        try await World.run(clock: TestClock()) { world in
            world.sandbox.inject(.error(FileMakerError(401)), on: .find)
            let nobody = try await Self.ada(world.database).firstRecord().firstValue()
            expectNoDifference(nobody?.city, nil)
            try await expectCity("London", world)
        }
    }

    /// Writes are based on what the host has, not on an answer from before another client's change.
    @Test func whatASaveRestsOnIsReadAnew() async throws {
        try await World.run(clock: TestClock()) { world in
            let people = world.database.layout(Person.self).cached(for: .seconds(3_600))
            let other = stranger(world)
            // A draft of a record that was read before.
            _ = try await people.record(id: 1).firstValue()
            _ = try await other.layout(Person.self).edit(1, setting: [.city: "Oslo"]).firstValue()
            _ = try await people.update(1) { $0.city = "Bergen" }.firstValue()
            // The record's key is changed by another client. The first upsert read the record and had nothing to write;
            // the second must not use that answer.
            let ada = Person(name: "Ada Lovelace", city: "Bergen")
            _ = try await people.upsert(ada, by: .name).firstValue()
            _ = try await other.layout(Person.self).edit(1, setting: [.name: "Countess"]).firstValue()
            let second = try await people.upsert(ada, by: .name).firstValue()
            #expect(second.recordId != 1)
            _ = await other.logOut().awaitSingleResult()
        }
    }

    @Test func whatABatchRestsOnIsReadAnew() async throws {
        try await World.run(clock: TestClock()) { world in
            let found = Self.ada(world.database)
            let other = stranger(world)
            let rows = try await found.deleteAll(.exactly(1), dryRun: true).outcome().get()
            expectNoDifference(rows.count, 1)
            _ = try await other.layout(Person.self).create(Person(name: "Ada Lovelace", city: nil)).firstValue()
            let anew = try await found.deleteAll(.exactly(2), dryRun: true).outcome().get()
            expectNoDifference(anew.count, 2)
            _ = await other.logOut().awaitSingleResult()
        }
    }

    /// A list of names takes one call, and is cached like a record.
    @Test func listsOfNamesAreKept() async throws {
        try await World.run(clock: TestClock()) { world in
            let database = world.database.cached(for: .seconds(3_600))
            for _ in 0..<3 { _ = try await database.layoutNames().firstValue() }
            expectNoDifference(world.sandbox.counters.requests[.layouts], 1)
        }
    }

    @Test func scriptsRunEachTime() async throws {
        try await World.run(clock: TestClock()) { world in
            for _ in 0..<2 {
                _ = try await Self.ada(world.database).scripts(ScriptQuery(script: "Echo")).firstRecord().firstValue()
            }
            expectNoDifference(finds(world), 2)
        }
    }

    @Test func anotherAccountAsksAnew() async throws {
        try await World.run(clock: TestClock()) { world in
            _ = try await city(world)
            world.database.replaceCredentials(Credentials(user: "nobody", password: "knows"))
            let refused = await Self.ada(world.database).firstRecord().awaitSingleResult()
            #expect(refused.failure != nil)
            world.database.replaceCredentials(
                Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            _ = try await city(world)
            expectNoDifference(finds(world), 2)
        }
    }
}
