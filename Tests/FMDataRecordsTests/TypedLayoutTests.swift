import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Layouts with a record type, and found sets of them: what is requested, and what is returned.
@Suite(.timeLimit(.minutes(15))) struct TypedLayoutTests {
    private struct Person: LayoutRecord, Equatable {
        static let layout = "Contacts"
        var name: String
        var city: String?
        var balance: FMNumber?

        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case city = "City"
            case balance = "Balance"
        }
    }

    private struct Caller: LayoutRecord {
        static let layout = "Contacts"
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }

        struct Portals: Codable, Sendable {
            var phones: [Phone]
            enum CodingKeys: String, CodingKey { case phones = "Phones" }
        }

        struct Phone: Codable, Sendable {
            var number: String
            enum CodingKeys: String, CodingKey { case number = "Phones::Number" }
        }
    }

    private func people(_ world: World) -> DataAPI.TypedLayout<Person> { world.database.layout(Person.self) }

    // MARK: Reading

    @Test func aRecordIsReadWithoutSayingItsType() async throws {
        try await World.run { world in
            let first = try await people(world).firstRecord { $0(.name) == "Ada Lovelace" }.firstValue()
            let ada = try #require(first)
            expectNoDifference(ada.fieldData, Person(name: "Ada Lovelace", city: "London", balance: 1815.12))
            let same = try await people(world).record(id: ada.id).firstValue()
            expectNoDifference(same.fieldData, ada.fieldData)
            let all = try await people(world).count().firstValue()
            let rich = try await people(world).count { $0(.balance) > 0 }.firstValue()
            expectNoDifference([all, rich], [3, 2])
            let inParis = try await people(world).exists { $0(.city) == "Paris" }.firstValue()
            expectNoDifference(inParis, true)
        }
    }

    @Test func fieldsKnownAtRunTimeAreNamedByTexts() async throws {
        try await World.run { world in
            let contacts = world.contacts.of(FieldData.self)
            let found = try await contacts.find { $0("City") == "London" }.sorted(by: "Name").firstRecord().firstValue()
            expectNoDifference(found?.fieldData["Name"], "Ada Lovelace")
            let name = "Balance"
            let poorest = try await contacts.sorted(by: .init(stringValue: name)).firstRecord().firstValue()
            expectNoDifference(poorest?.fieldData["City"], "Paris")
        }
    }

    @Test func anOrderIsSaidByCodingKeys() async throws {
        try await World.run { world in
            let people = people(world)
            let last = try await people.sorted(by: .name, .descending).firstRecord().firstValue()
            expectNoDifference(last?.fieldData.name, "Grace Hopper")
            _ = try await people.create(Person(name: "Zoe", city: "London")).firstValue()
            let second = people.find { $0(.name).isNotEmpty }.sorted(by: .city).sorted(by: .name, .descending)
            let firstOfSecond = try await second.firstRecord().firstValue()
            expectNoDifference(firstOfSecond?.fieldData.name, "Zoe")
            expectNoDifference(second.sort.map(\.fieldName), ["City", "Name"])
        }
    }

    @Test func anotherLayoutMayShowWhatThisOneFinds() async throws {
        try await World.run { world in
            // That layout does not show the field that is searched.
            let found = people(world).find { $0(.balance) == 1815.12 }.responseLayout("Names / 100 % Übersicht")
            let ada = try await found.firstRecord().firstValue()
            expectNoDifference(ada?.fieldData, Person(name: "Ada Lovelace", city: "London", balance: nil))
            let count = try await found.count().firstValue()
            expectNoDifference(count, 1)
        }
    }

    @Test func conditionsNarrow() async throws {
        try await World.run { world in
            let rich = people(world).find { $0(.balance) > 0 }
            let all = try await rich.count().firstValue()
            let inLondon = try await rich.filter { $0(.city) == "London" }.count().firstValue()
            let inParis = try await people(world).sorted(by: .name).filter { $0(.city) == "Paris" }.count().firstValue()
            expectNoDifference([all, inLondon, inParis], [2, 1, 1])
        }
    }

    @Test func theCallsOfAFoundSetTakeAConditionToo() async throws {
        try await World.run { world in
            let rich = people(world).find { $0(.balance) > 0 }.sorted(by: .name, .descending)
            let londoners = try await rich.count { $0(.city) == "London" }.firstValue()
            let first = try await rich.firstRecord { $0(.city) == "London" }.firstValue()
            let isAnyoneInAtlantis = try await rich.exists { $0(.city) == "Atlantis" }.firstValue()
            expectNoDifference(londoners, 1)
            expectNoDifference(first?.fieldData.name, "Ada Lovelace")
            expectNoDifference(isAnyoneInAtlantis, false)
        }
    }

    // MARK: No records

    @Test func anEmptyTableHasNoFirstAndCountsNone() async throws {
        let solution = Solution.single(
            "Contacts",
            fields: [.init("Name"), .init("City")],
            layoutFields: ["Name", "City"]
        )
        try await Hosted.run(solution) { database, sandbox in
            let people = database.layout(Person.self)
            let first = try await people.firstRecord().firstValue()
            expectNoDifference(first, nil)
            let exists = try await people.exists().firstValue()
            expectNoDifference(exists, false)
            let count = try await people.count().firstValue()
            let inKiel = try await people.find { $0(.city) == "Kiel" }.count().firstValue()
            expectNoDifference([count, inKiel], [0, 0])
            expectNoDifference(sandbox.counters.requests[.getRecords], 3)
        }
    }

    @Test func aFindWithoutMatchIsNoFailure() async throws {
        try await World.run { world in
            let nobody = people(world).find { $0(.name) == "Nobody" }
            let first = try await nobody.firstRecord().firstValue()
            expectNoDifference(first, nil)
            let exists = try await nobody.exists().firstValue()
            expectNoDifference(exists, false)
            let count = try await nobody.count().firstValue()
            // A find that contradicts itself needs no request.
            let before = world.sandbox.counters.totalRequests
            let none = try await people(world).find { $0(.name).isOneOf([String]()) }.count().firstValue()
            expectNoDifference([count, none], [0, 0])
            expectNoDifference(world.sandbox.counters.totalRequests, before)
        }
    }

    @Test func otherFailuresStayFailures() async throws {
        try await World.run { world in
            let wrong = await world.contacts.of(FieldData.self).find { $0("Nmae") == "Ada" }.firstRecord()
                .awaitSingleResult()
            expectNoDifference(wrong.failure?.fileMakerCode, .fieldMissing)
            expectNoDifference(wrong.failure?.fields, ["Nmae"])
            let missing = await people(world).record(id: 999).awaitSingleResult()
            expectNoDifference(missing.failure?.fileMakerCode, .recordMissing)
        }
    }

    // MARK: Everything

    @Test func everythingIsARangeOfRecordsAloneAndNothingWhenCombined() async throws {
        try await World.run { world in
            let city: String? = nil
            let wanted = city.map { city in Find(Person.CodingKeys.self) { $0(.city) == city } } ?? .everything
            let all = try await people(world).find(wanted).count().firstValue()
            expectNoDifference(all, 3)
            expectNoDifference(world.sandbox.counters.requests[.find], nil)
            expectNoDifference(world.sandbox.counters.requests[.getRecords], 1)

            let inParis = Find(Person.CodingKeys.self) { $0(.city) == "Paris" }
            var counts: [Int] = []
            for find in [wanted && inParis, wanted || inParis, !Find.everything] {
                counts.append(try await people(world).find(find).count().firstValue())
            }
            counts.append(try await people(world).find(wanted).filter { $0(.city) == "Paris" }.count().firstValue())
            expectNoDifference(counts, [1, 3, 0, 1])
        }
    }

    // MARK: What is sent

    private static let none = #"{"data":[]}"#

    @Test func aRecordWithoutPortalsAsksForNone() async throws {
        try await ScriptedHost.run(answer: { _ in .json(Self.none) }) { host in
            let people = host.database.layout(Person.self)
            _ = try await people.firstRecord().firstValue()
            _ = try await people.find { $0(.name) == "Ada" }.firstRecord().firstValue()
            _ = await people.record(id: 17).awaitSingleResult()
            expectNoDifference(
                host.calls.map { String($0.target.split(separator: "/").last ?? "") },
                ["records?_limit=1&portal=%5B%5D", "_find", "17?portal=%5B%5D"]
            )
            expectNoDifference(host.calls[1].text, #"{"limit":"1","portal":[],"query":[{"Name":"==Ada"}]}"#)
        }
    }

    @Test func aRecordWithPortalsAsksForThoseOfTheLayoutUnlessItSaysWhich() async throws {
        try await ScriptedHost.run(answer: { _ in .json(Self.none) }) { host in
            let callers = host.database.layout(Caller.self)
            _ = try await callers.firstRecord().firstValue()
            _ = try await callers.find { $0(.name) == "Ada" }.portals([PortalRequest(name: "Phones", limit: 500)])
                .firstRecord()
                .firstValue()
            // Checking whether records exist needs neither portals nor an order.
            _ = try await callers.sorted(by: .name).exists().firstValue()
            expectNoDifference(
                host.calls.map { String($0.target.split(separator: "/").last ?? "") },
                ["records?_limit=1", "_find", "records?_limit=1&portal=%5B%5D"]
            )
            expectNoDifference(
                host.calls[1].text,
                #"{"limit":"1","limit.Phones":"500","portal":["Phones"],"query":[{"Name":"==Ada"}]}"#
            )
        }
    }

    @Test func rowsOfPortalsComeWithTheirRecord() async throws {
        try await World.run { world in
            let ada = try await world.database.layout(Caller.self).firstRecord().firstValue()
            expectNoDifference(ada?.portalData?.phones.map(\.number), ["+44 20 7946 0001", "+44 20 7946 0002"])
        }
    }

    // MARK: Writing

    @Test func whatIsWrittenNamesItsRecord() async throws {
        try await World.run { world in
            let people = people(world)
            let made = try await people.create(Person(name: "Joan")).firstValue()
            let edited = try await people.edit(made.recordId, setting: ["City": "Kiel"]).firstValue()
            expectNoDifference(edited.recordId, made.recordId)
            expectNoDifference(edited.modId, 1)
            let stale = await people.edit("\(made.recordId)", setting: ["City": "Rome"], modId: 0).awaitSingleResult()
            expectNoDifference(stale.failure?.fileMakerCode, .modIdMismatch)
            let copy = try await people.duplicate(made.recordId).firstValue()
            _ = try await people.delete(made.recordId).firstValue()
            let left = try await people.record(id: copy.recordId).firstValue()
            expectNoDifference(left.fieldData, Person(name: "Joan", city: "Kiel", balance: nil))
        }
    }

    // MARK: Older servers

    @Test func aServerThatCountsNothingIsNotGuessedFor() async throws {
        try await World.run(sandbox: { $0.serverVersion = .v17 }) { world in
            let uncounted = await people(world).count().awaitSingleResult()
            expectNoDifference(uncounted.failure?.code, .decoding)
            let exists = try await people(world).exists().firstValue()
            expectNoDifference(exists, true)
            let first = try await people(world).firstRecord().firstValue()
            expectNoDifference(first?.fieldData.name, "Ada Lovelace")
        }
    }

    // MARK: Values

    @Test func whatAsksForTheSameIsEqual() async throws {
        try await World.run { world in
            let people = people(world)
            let one = people.find { $0(.city) == "Paris" }.sorted(by: .name)
            expectNoDifference(one == people.find { $0(.city) == "Paris" }.sorted(by: .name), true)
            expectNoDifference(one == people.find { $0(.city) == "Rome" }.sorted(by: .name), false)
            expectNoDifference(one == one.responseLayout("Other"), false)
            expectNoDifference(Set([people, world.contacts.of(Person.self)]).count, 1)
        }
    }

    @Test func whatIsPrintedHoldsNoValue() async throws {
        try await World.run { world in
            let found = people(world).find { $0(.city) == "Atlantis" }.sorted(by: .name)
            var dump = "\(found) \(String(reflecting: found))"
            customDump(found, to: &dump)
            #expect(!dump.contains("Atlantis"))
            #expect("\(found)".contains("Name"))
        }
    }
}
