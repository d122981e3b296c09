import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Writing fields of a record that was not read before: only the fields that were set are sent.
@Suite(.timeLimit(.minutes(15))) struct RecordChangesTests {
    private struct Person: LayoutRecord, Equatable {
        static let layout = "Contacts"
        var id: Int?
        var name: String
        var city: String
        var balance: FMNumber?

        enum CodingKeys: String, CodingKey {
            case id = "Id"
            case name = "Name"
            case city = "City"
            case balance = "Balance"
        }

        struct Portals: Codable, Sendable {
            var phones: [Phone]
            enum CodingKeys: String, CodingKey { case phones = "Phones" }
        }

        struct Phone: Codable, Equatable, Sendable {
            var recordId: Int?
            var number: String

            enum CodingKeys: String, CodingKey {
                case recordId
                case number = "Phones::Number"
            }
        }

        struct Changes: RecordChanges {
            typealias Record = Person
            var name: String?
            var city: String?
            var balance: FMNumber??

            enum CodingKeys: String, CodingKey {
                case name = "Name"
                case city = "City"
                case balance = "Balance"
            }

            struct Portals: Encodable, Sendable {
                var phones: [Phone]?
                enum CodingKeys: String, CodingKey { case phones = "Phones" }
            }
        }
    }

    private func run(_ body: (DataAPI.TypedLayout<Person>) async throws -> Void) async throws {
        try await World.run { try await body($0.database.layout(Person.self)) }
    }

    @Test func whatIsNotSetIsFileMakers() async throws {
        try await run { people in
            let made = try await people.create(Person.Changes(name: "Mary", balance: 3)).firstValue()
            let mary = try await people.record(id: made.recordId).firstValue().fieldData
            // FileMaker enters an id by itself.
            let id = try #require(mary.id)
            expectNoDifference(mary, Person(id: id, name: "Mary", city: "", balance: 3))
        }
    }

    @Test func theRestOfARecordStays() async throws {
        try await run { people in
            let found = try await people.firstRecord { $0(.name) == "Ada Lovelace" }.firstValue()
            let ada = try #require(found)
            let edited = try await people.edit(ada.recordId, setting: Person.Changes(city: "Paris"), modId: ada.modId)
                .firstValue()
            #expect(edited.modId > ada.modId)
            var moved = ada.fieldData
            moved.city = "Paris"
            let now = try await people.record(id: ada.recordId).firstValue().fieldData
            expectNoDifference(now, moved)

            let late = await people.edit(ada.recordId, setting: Person.Changes(city: "Rome"), modId: ada.modId)
                .awaitSingleResult()
            let error = #expect(throws: FMRest.APIError.self, performing: late.get)
            expectNoDifference(error?.fileMakerCode, .modIdMismatch)
        }
    }

    @Test func whatIsSetToNilIsEmptied() async throws {
        try await run { people in
            _ = try await people.edit(1, setting: Person.Changes(city: "", balance: .some(nil))).firstValue()
            let ada = try await people.record(id: 1).firstValue().fieldData
            expectNoDifference(ada, Person(id: 1, name: "Ada Lovelace", city: "", balance: nil))
        }
    }

    @Test func rowsGoWithIt() async throws {
        try await run { people in
            let made = try await people.create(
                Person.Changes(name: "Mary"),
                portals: .init(phones: [Person.Phone(number: "1")])
            ).firstValue()
            let row = try await people.record(id: made.recordId).firstValue().portalData?.phones.first
            let phone = try #require(row)
            _ = try await people.edit(
                made.recordId,
                setting: Person.Changes(),
                portals: .init(phones: [
                    Person.Phone(recordId: phone.recordId, number: "2"), Person.Phone(number: "3"),
                ])
            ).firstValue()
            let rows = try await people.record(id: made.recordId).firstValue().portalData?.phones
            expectNoDifference(rows?.map(\.number), ["2", "3"])
        }
    }

    @Test func aBatchMakesRecordsOfWhatIsSet() async throws {
        try await run { people in
            let changes = ["Mary", "Grace"].map { Person.Changes(name: $0) }
            let rows = try await people.writing(changes.map { .create($0) }).collect().firstValue()
            expectNoDifference(rows.count, 2)
            let made = try await people.find { $0(.name) == "Mary" || $0(.name) == "Grace" }.all().collect()
                .firstValue()
            expectNoDifference(made.map(\.fieldData.name).sorted(), ["Grace", "Mary"])
            #expect(Set(made.compactMap(\.fieldData.id)).count == 2)
        }
    }

    @Test func nothingIsSentBeforeDemand() async throws {
        try await World.run { world in
            let people = world.database.layout(Person.self)
            let made = TrackingSubscriber<DataAPI.CreateResponse, FMRest.APIError>(initialDemand: .none)
            people.create(Person.Changes(name: "Mary")).subscribe(made)
            let edited = TrackingSubscriber<DataAPI.EditRecordResponse, FMRest.APIError>(initialDemand: .none)
            people.edit(1, setting: Person.Changes(name: "Mary")).subscribe(edited)
            expectNoDifference(world.sandbox.counters.requests.values.reduce(0, +), 0)
            made.cancel()
            edited.cancel()
        }
    }
}
