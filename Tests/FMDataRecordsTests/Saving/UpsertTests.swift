import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// An upsert makes or edits the one record of its key.
@Suite(.timeLimit(.minutes(15))) struct UpsertTests {
    private func contacts(_ world: World) -> [[String: String]] {
        (world.sandbox.records(ofTable: "Contacts", inDatabase: "World") ?? []).map(\.values)
    }

    @Test func itIsMadeAndThenChanged() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let zoe = PlainContact(name: "Zoë", city: "Oslo", email: "zoe@example.com")
            let made = try await people.upsert(zoe, by: .email).firstValue()
            expectNoDifference(made.result.kind, .created)
            expectNoDifference(made.result.recordId, made.recordId)
            #expect(made.saved == nil)
            // FileMaker has entered the fields that were not given.
            expectNoDifference(contacts(world).last?["Id"], "4")
            var moved = zoe
            moved.city = "Bergen"
            moved.balance = nil
            _ = try await people.layout.editRecord(["Balance": 12], recordId: made.recordId).firstValue()
            let result = try await people.upsert(moved, by: .email).firstValue()
            expectNoDifference(result.recordId, made.recordId)
            expectNoDifference(result.result.kind, .updated)
            expectNoDifference(result.saved?.sentFields, ["City"])
            expectNoDifference(contacts(world).last?["Balance"], "12")
            expectNoDifference(contacts(world).count, 4)

            let same = try await people.upsert(moved, by: .email).firstValue()
            expectNoDifference(same.result.kind, .unchanged)
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

    @Test func anotherSpellingIsRefused() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            _ = try await people.create(PlainContact(name: "Stranger", email: "AB3X@example.com")).firstValue()
            let ada = PlainContact(name: "Ada", email: "ab3x@example.com")
            let error = await people.upsert(ada, by: .email).awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            #expect(error?.reason.contains("another spelling") == true)
            expectNoDifference(contacts(world).last?["Name"], "Stranger")
            _ = try await people.create(ada).firstValue()
            // The record beside the other spelling is found: the key is not ambiguous.
            var moved = ada
            moved.city = "Bath"
            let saved = try await people.upsert(moved, by: .email).firstValue().saved
            expectNoDifference(saved?.sentFields, ["City"], "it made another one")
            expectNoDifference(contacts(world).suffix(2).map { $0["Name"] }, ["Stranger", "Ada"])
        }
    }

    // MARK: Lost answers and temporary states

    @Test(arguments: [Sandbox.Fault.resetAfterExecution, .cutAnswer(afterBytes: 10), .brokenJSON])
    func aCreateWhoseAnswerIsLostIsFoundByItsKey(fault: Sandbox.Fault) async throws {
        try await Hosted.run(.people(count: 1)) { database, sandbox in
            let people = database.layout(Member.self)
            sandbox.inject(fault, on: .createRecord, count: 1)
            let upserted = try await people.upsert(Member(name: "Ada", uuid: "a"), by: .uuid).firstValue()
            expectNoDifference(upserted.result.kind, .created)
            expectNoDifference(upserted.recordId, 2)
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old 1", "Ada"])
            expectNoDifference(sandbox.counters.requests[.createRecord], 1)
        }
    }

    /// An upsert sets values, so it is done when the record holds them.
    @Test func anEditWhoseAnswerIsLostIsDoneWhenTheRecordHoldsTheFields() async throws {
        try await Hosted.run(.people(count: 1)) { database, sandbox in
            let people = database.layout(Member.self)
            sandbox.inject(.resetAfterExecution, on: .editRecord)
            let upserted = try await people.upsert(Member(name: "Ada", uuid: "u1"), by: .uuid).firstValue()
            expectNoDifference(upserted.result.kind, .updated)
            expectNoDifference(sandbox.people.map(\.modId), [1])
        }
    }

    /// The create may still be under way, for longer than the call may take. The clock of the transport stands still.
    @Test func aCreateThatIsNotSeenStaysUnknownWhenTheCallHasNoTime() async throws {
        let transport = TestTransport()
        transport.alwaysAnswer(.findRecords, with: .error(.noRecordsMatch))
        transport.answer(.createRecord, with: .failure(afterSending: .connectionClosed))
        let people = transport.database().timeouts { $0.total = .seconds(28) }.layout(Member.self)
        let error = await people.upsert(Member(name: "Ada", uuid: "a"), by: .uuid).awaitSingleResult().failure
        expectNoDifference(error?.outcomeIsUnknown, true)
        #expect(error?.reason.contains("no time left") == true)
        expectNoDifference(transport.requests.count { $0.operation == .createRecord }, 1)
    }

    @Test(.thorough, arguments: [Sandbox.Fault.error(.init(802)), .brokenJSON, .html(status: 502)])
    func aFindThatPassesOrCannotBeReadIsMadeAgain(fault: Sandbox.Fault) async throws {
        try await Hosted.run(.people(count: 1)) { database, sandbox in
            let people = database.layout(Member.self)
            sandbox.inject(fault, on: .find, count: 2)
            let upserted = try await people.upsert(Member(name: "Ada", uuid: "u1"), by: .uuid).firstValue()
            expectNoDifference(upserted.result.kind, .updated)
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Ada"])
        }
    }

    @Test func aCreateThatIsRefusedInPassingIsMadeAgain() async throws {
        try await Hosted.run(.people()) { database, sandbox in
            let people = database.layout(Member.self)
            sandbox.inject(.error(.init(802)), on: .createRecord, count: 2)
            let upserted = try await people.upsert(Member(name: "Ada", uuid: "u1"), by: .uuid).firstValue()
            expectNoDifference(upserted.result.kind, .created)
            expectNoDifference(sandbox.people.count, 1)
        }
    }

    /// If the layout's own retry policy gives up, nothing is retried.
    @Test func aPolicyOfItsOwnDecidesHowLongItIsTried() async throws {
        try await Hosted.run(.people()) { database, sandbox in
            let people = database.retrying(DataAPI.RetryPolicy(maximumAttempts: 1)).layout(Member.self)
            sandbox.inject(.error(.init(802)), on: .find, count: 1)
            let error = await people.upsert(Member(name: "Ada", uuid: "u1"), by: .uuid).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .fileNotOpened)
            expectNoDifference(sandbox.counters.requests[.find], 1)
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
            let made = try await people.upsert(star, by: .email).firstValue()
            expectNoDifference(made.result.kind, .created)
        }
    }
}
