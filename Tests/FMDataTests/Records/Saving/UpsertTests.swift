import CustomDump
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMData

/// One record for one key.
@Suite(.timeLimit(.minutes(15))) struct UpsertTests {
    private func contacts(_ world: World) -> [[String: String]] {
        (world.sandbox.records(ofTable: "Contacts", inDatabase: "World") ?? []).map(\.values)
    }

    @Test func itIsMadeAndThenChanged() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let zoe = PlainContact(name: "Zoë", city: "Oslo", email: "zoe@example.com")
            guard case .created(let made) = try await people.upsert(zoe, by: .email).firstValue() else {
                Issue.record("there was one")
                return
            }
            // FileMaker has entered what was not given.
            expectNoDifference(contacts(world).last?["Id"], "4")
            var moved = zoe
            moved.city = "Bergen"
            moved.balance = nil
            _ = try await people.layout.editRecord(["Balance": 12], recordId: made.recordId).firstValue()
            let result = try await people.upsert(moved, by: .email).firstValue()
            guard case .saved(let saved) = result else {
                Issue.record("there was none")
                return
            }
            expectNoDifference(result.recordId, made.recordId)
            expectNoDifference(saved.sentFields, ["City"])
            expectNoDifference(contacts(world).last?["Balance"], "12")
            expectNoDifference(contacts(world).count, 4)

            guard case .saved(let same) = try await people.upsert(moved, by: .email).firstValue() else { return }
            expectNoDifference(same.outcome, .nothingDiffered)
        }
    }

    @Test func aNumberIsAKeyAsWell() async throws {
        struct Account: LayoutRecord {
            static let layout = "Contacts"
            var id: Int
            var city: String?
            enum CodingKeys: String, CodingKey { case id = "Id", city = "City" }
        }
        try await World.run { world in
            let accounts = world.database.layout(Account.self)
            let result = try await accounts.upsert(Account(id: 3, city: "Boston"), by: .id).firstValue()
            expectNoDifference(result.recordId, 3)
            expectNoDifference(contacts(world)[2]["City"], "Boston")
        }
    }

    @Test func severalAreAnError() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            for _ in 0..<2 {
                _ = try await people.create(PlainContact(name: "Zoë", email: "zoe@example.com")).firstValue()
            }
            let error = await people.upsert(PlainContact(name: "Z", email: "zoe@example.com"), by: .email)
                .awaitSingleResult().failure
            expectNoDifference(error?.code, .conflict)
            expectNoDifference(error?.saveConflict?.kind, .severalRecords)
            expectNoDifference(error?.fileMakerCode, nil)
        }
    }

    @Test(arguments: [nil, ""])
    func aKeyThatIsEmptyIsNone(key: String?) async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let error = await people.upsert(PlainContact(name: "Zoë", email: key), by: .email).awaitSingleResult()
                .failure
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(error?.fields, ["Email"])
            #expect(world.sandbox.counters.requests.isEmpty)
        }
    }

    @Test func operatorsInAKeyAreText() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let star = PlainContact(name: "Star", email: "*@example.com")
            guard case .created = try await people.upsert(star, by: .email).firstValue() else {
                Issue.record("it found others")
                return
            }
        }
    }
}
