import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Coding keys and properties that name fields, portals and records instead of a text.
@Suite(.timeLimit(.minutes(15))) struct CodingKeyTests {
    private struct Person: LayoutRecord, Equatable {
        static let layout = "Contacts"
        var name: String
        var city: String?
        var balance: FMNumber?
        var joined: FMDate?
        var photo: DataAPI.ContainerReference?

        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case city = "City"
            case balance = "Balance"
            case joined = "Birthday"
            case photo = "Photo"
        }

        struct Portals: Codable, Sendable, Equatable {
            var phones: [Phone]
            enum CodingKeys: String, CodingKey { case phones = "Phones" }
        }

        struct Phone: Codable, Sendable, Equatable, DataAPIPortalRecord {
            var recordId: String?
            var modId: String?
            var number: String
            enum CodingKeys: String, CodingKey { case recordId, modId, number = "Phones::Number" }
        }
    }

    private struct Card: LayoutRecord, Equatable {
        static let layout = "Names / 100 % Übersicht"
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    private func people(_ world: World) -> DataAPI.TypedLayout<Person> { world.database.layout(Person.self) }

    // MARK: Writing

    @Test func fieldsAreEditedByTheirKeysWithPlainValues() async throws {
        try await World.run { world in
            let day = try #require(FMDate(year: 2026, month: 11, day: 25))
            _ = try await people(world).edit(1, setting: [.city: "Oslo", .joined: day, .balance: nil]).firstValue()
            let ada = try await people(world).record(id: 1).firstValue()
            expectNoDifference(ada.name, "Ada Lovelace")
            expectNoDifference(ada.city, "Oslo")
            expectNoDifference(ada.joined, day)
            expectNoDifference(ada.balance, nil)
            let stale = await people(world).edit(1, setting: [.city: "Rome"], modId: 0).awaitSingleResult()
            expectNoDifference(stale.failure?.fileMakerCode, .modIdMismatch)
        }
    }

    @Test func aDateGoesInTheFormThatTheHostReads() async throws {
        let day = try #require(FMDate(year: 2026, month: 11, day: 25))
        try await ScriptedHost.run(
            client: { $0.dateFormats = .iso8601 },
            answer: { _ in .json(#"{"modId":"2"}"#) }
        ) { host in
            let people = host.database.layout(Person.self)
            let city: String? = nil
            _ = try await people.edit(1, setting: [.joined: day, .name: "Ada", .balance: 3, .city: city]).firstValue()
            expectNoDifference(
                host.calls[0].text,
                #"{"fieldData":{"Birthday":"2026-11-25","Name":"Ada","Balance":3,"City":""},"dateformats":"2"}"#
            )
        }
    }

    @Test func ofAFieldThatIsGivenTwiceTheLastValueCounts() throws {
        var fields: DataAPI.FieldAssignments<Person> = [.city: "Oslo", .name: "Ada", .city: "Rome"]
        func text() throws -> String { String(decoding: try FMEncoder().encodeFields(fields), as: UTF8.self) }
        expectNoDifference(try text(), #"{"City":"Rome","Name":"Ada"}"#)
        fields[.name] = nil
        expectNoDifference(try text(), #"{"City":"Rome"}"#)
        expectNoDifference(fields[.city] as? String, "Rome")
        expectNoDifference(fields[.name] == nil, true)
    }

    @Test func recordsAreMadeAndUpsertedByKeys() async throws {
        try await World.run { world in
            let made = try await people(world).create([.name: "Joan", .city: "Kiel"]).firstValue()
            _ = try await people(world).upsert([.name: "Joan", .city: "Bonn"], by: .name).firstValue()
            let joan = try await people(world).find { $0(.name) == "Joan" }.one().firstValue()
            expectNoDifference(joan.recordId, made.recordId)
            expectNoDifference(joan.city, "Bonn")
            let summary = try await people(world).find { $0(.city) == "Bonn" }.editAll(
                setting: [.city: "Köln"],
                .exactly(1)
            )
            .summary
            .firstValue()
            expectNoDifference(summary.updatedCount, 1)
            let done = try await people(world).writing(
                [
                    .edit(made.recordId, setting: [.city: "Ulm"]), .create([.name: "Zoe"]),
                    .upsert([.name: "Zoe", .city: "Ulm"], by: .name), .edit(99_999, setting: ["City": "Ulm"]),
                    .delete("99998"),
                ],
                options: .init(concurrency: 1)
            ).summary.firstValue()
            expectNoDifference(
                done.description,
                "1 created, 2 updated, 1 deleted, 1 failed, 0 unknown, 0 skipped"
            )
            let inUlm = try await people(world).find { $0(.city) == "Ulm" }.sorted(by: .name).all().collect()
                .firstValue()
            expectNoDifference(inUlm.map(\.name), ["Joan", "Zoe"])
        }
    }

    @Test func rowsOfPortalsAreNamedByTheirKey() async throws {
        try await World.run { world in
            let people = people(world)
            let phones = Person.Portals.CodingKeys.phones
            let ada = try await people.find { $0(.name) == "Ada Lovelace" }.portals([PortalRequest(phones, limit: 1)])
                .one()
                .firstValue()
            expectNoDifference(ada.portalData?.phones.map(\.number), ["+44 20 7946 0001"])
            expectNoDifference(ada.truncatedPortals, ["Phones"])
            let rows = try await people.rows(\.phones, of: ada.recordId, portal: phones).collect().firstValue()
            expectNoDifference(rows.count, 2)

            let last = try #require(DataAPI.RelatedRecord(portal: phones, recordId: rows[1].recordId))
            let new = Person.Portals(phones: [Person.Phone(number: "+47 1")])
            _ = try await people.edit(ada.recordId, setting: [.city: "Oslo"], portals: new, deleteRelated: [last])
                .firstValue()
            let left = try await people.record(id: ada.recordId).firstValue()
            expectNoDifference(left.portalData?.phones.map(\.number), ["+44 20 7946 0001", "+47 1"])
            expectNoDifference(left.city, "Oslo")
        }
    }

    // MARK: Reading

    @Test func propertiesOfARecordAreReadAsItsOwn() {
        let record = DataAPI.TypedLayout<Card>.Record(fieldData: Card(name: "Ada"), recordId: 7, modId: 2)
        expectNoDifference(record.name, "Ada")
        expectNoDifference(record.id, 7)
    }

    @Test func anotherTypeShowsWhatThisOneFinds() async throws {
        try await World.run { world in
            let cards = try await people(world).find { $0(.balance) > 0 }.responseLayout(of: Card.self).sorted(
                by: .name
            ).all()
                .collect()
                .firstValue()
            expectNoDifference(cards.map(\.fieldData), [Card(name: "Ada Lovelace"), Card(name: "Grace Hopper")])
        }
    }

    @Test func keysStandForTextsWhereverOneIsAskedFor() {
        expectNoDifference(
            SortQuery(Person.CodingKeys.city, sortOrder: .descend),
            SortQuery(fieldName: "City", sortOrder: .descend)
        )
        expectNoDifference(DataAPI.LiveWatch.stamp(Person.CodingKeys.joined), .stamp("Birthday"))
        expectNoDifference(DataAPI.LiveWatch.scan("Ids", key: Person.CodingKeys.name), .scan("Ids", key: "Name"))
        expectNoDifference(DataAPI.LiveWatch.log(Person.self, serial: .balance), .log("Contacts", serial: "Balance"))
        expectNoDifference(DataAPI.BatchOptions(idempotencyKey: Person.CodingKeys.name).idempotencyKey, "Name")
    }

    // MARK: Containers

    @Test func aContainerOfOneRecordGoesUpAndDown() async throws {
        try await World.run { world in
            let file = FMRest.ContainerFile(fileName: "note.txt", data: Data("A note".utf8))
            let progress = DataAPI.ReportedProgress<DataAPI.TransferProgress>()
            let seen = Seen<Double?>()
            let bar = progress.sink { seen.add($0.fraction) }
            _ = try await people(world).upload(file, to: .photo, of: 1, onProgress: progress.report).firstValue()
            expectNoDifference(seen.values.last, 1)
            let content = try await people(world).download(.photo, of: 1).toMemory(upTo: 1_000).firstValue()
            expectNoDifference(String(decoding: content.data, as: UTF8.self), "A note")
            bar.cancel()
        }
    }

    // MARK: Progress

    @Test func progressIsAPublisherThatBeginsWithTheLastReport() async throws {
        try await World.run { world in
            let progress = DataAPI.ReportedProgress<DataAPI.PagingProgress>()
            let (early, late) = (Seen<Int>(), Seen<Int>())
            let first = progress.sink { early.add($0.delivered) }
            let all = people(world).all(pageSize: 2).reportingProgress(to: progress.report)
            let records = try await all.collect().firstValue()
            expectNoDifference(records.count, 3)
            let second = progress.sink { late.add($0.delivered) }
            expectNoDifference(early.values.last, 3)
            expectNoDifference(early.values.first, 2)
            expectNoDifference(late.values, [3])
            first.cancel()
            second.cancel()
        }
    }

    /// The values received so far, on any thread.
    private final class Seen<Value: Sendable>: Sendable {
        private let box = NIOLockedValueBox<[Value]>([])
        var values: [Value] { box.withLockedValue(\.self) }
        func add(_ value: Value) { box.withLockedValue { $0.append(value) } }
    }
}
