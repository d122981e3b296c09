import FMData
import OpenCombine

// Records, as programs declare them and as `fmdata generate` writes them (`Contact`, copied from Examples/Models), with
// each setting: they declare no isolation, are used by code of every isolation, and are decoded in the background.

struct Person: LayoutRecord, Hashable {
    static let layout = "Contacts"

    struct Portals: Codable, Sendable {
        var phones: [Phone]

        enum CodingKeys: String, CodingKey {
            case phones = "Phones"
        }
    }

    var name: String
    var city: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
    }
}

struct Phone: DataAPIPortalRecord, Codable, Sendable {
    var recordId: Int?
    var modId: Int?
    var number: String

    enum CodingKeys: String, CodingKey {
        case recordId, modId
        case number = "Phones::Number"
    }
}

extension Person {
    var initials: String { String(name.split(separator: " ").compactMap(\.first)) }
}

extension Contact {
    var address: String { "\(name), \(city)" }
}

nonisolated func expect(_ value: some Equatable & Sendable, _ what: String, line: Int = #line) {
    if "\(value)" != what { fatalError("line \(line): \(value) and not \(what)") }
}

nonisolated func open(_ server: DataAPI.Server) -> DataAPI.Database {
    server.addDatabase("World", credentials: Credentials(user: "admin", password: "secret"))
}

func useRecords(_ server: DataAPI.Server) async throws {
    let database = open(server)
    let people = database.layout(Person.self)
    let contacts = database.layout(Contact.self)

    let made = try await people.create(Person(name: "Emmy Noether", city: "Erlangen")).firstValue()
    for try await person in people.find({ $0(.city) == "Erlangen" }).all().values {
        expect(person.fieldData.initials, "EN")
        expect(person.portalData?.phones.count ?? 0, "0")
    }
    _ = try await contacts.edit(made.recordId, setting: Contact.Changes(city: "Göttingen")).firstValue()
    let moved = try await contacts.firstRecord { $0(.city) == "Göttingen" }.firstValue()
    expect(moved?.fieldData.address ?? "", "Emmy Noether, Göttingen")

    var names: [String] = []
    var subscriptions: Set<AnyCancellable> = []
    await withCheckedContinuation { continuation in
        people.sorted(by: .name).all().sink(
            receiveCompletion: { _ in continuation.resume() },
            receiveValue: { person in names.append(person.fieldData.initials) }
        )
        .store(in: &subscriptions)
    }
    expect(names.count, "4")
    _ = try await people.delete(made.recordId).firstValue()

    let filter = try await database.withSession { pinned in
        try await pinned.setGlobals(["Contacts::gFilter": "active"]).firstValue()
        return try await pinned.layout(Contact.self).firstRecord().firstValue()?.fieldData.gFilter
    }
    expect(filter ?? "", "active")
}

@concurrent nonisolated func useRecordsInTheBackground(_ server: DataAPI.Server) async throws {
    let people = open(server).layout(Person.self)
    var persons: Set<Person> = []
    for try await person in people.find({ $0(.city) == "London" }).all().values { persons.insert(person.fieldData) }
    expect(persons.count, "1")
    expect(Person.layout, "Contacts")
    expect(Contact.Changes(name: "Ada") == Contact.Changes(name: "Ada"), "true")
    expect(Contact.Statuses.listed.count, "4")
}
