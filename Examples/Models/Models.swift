// What it shows: record types that were generated from the layouts of two files, the sample World, and Harbour with its
// difficult names: portals, repetitions, rows that are written, records joined across both files.
// How to run it: `swift run models`; the server is embedded. The types were made by
//     fmdata schema fetch --models Examples/Models/World      # asks a host, as FM_HOST, FM_DATABASE, FM_USER say
//     fmdata generate --models Examples/Models/World          # needs no host; with --check, in CI, it compares
// What to look at: World/FileMaker, the snapshot of a layout; World/Generated, the type made of it; its use below.
import FMData
import FMSandbox
import OpenCombine

@main
struct Models {
    static func main() async throws {
        let sandbox = try await Sandbox.start([.sample, Harbour.solution()])
        let server = DataAPI.Server(host: sandbox.url)
        let world = server.addDatabase("World", credentials: Credentials(user: "admin", password: "secret"))
        let harbour = server.addDatabase("Harbour", credentials: Credentials(user: "hafen", password: "meister"))

        try await readPortals(world.layout(Country.self))
        try await writeWhatIsSet(world.layout(Contact.self))
        try await readHardNames(harbour.layout(Schiffe.self))
        try await writeRepetitionsAndRows(harbour.layout(Schiffe.self))
        try await joinDatabases(harbour.layout(Schiffe.self), world.layout(Contact.self))
        print("Contacts were asked for in \(sandbox.counters.requests[.find] ?? 0) finds")

        _ = await server.shutdown().awaitSingleResult()
        print("\nSessions left on the server: \(sandbox.counters.openSessions)")
        await sandbox.stop()
    }

    /// Fields are looked up by their keys, and rows of portals have types.
    private static func readPortals(_ countries: DataAPI.TypedLayout<Country>) async throws {
        headline("A country and its zones")
        guard let record = try await countries.firstRecord({ $0(.code) == "NZ" }).firstValue() else { return }
        print("\(record.fieldData.name) has \(record.fieldData.zoneCount ?? 0) zones:")
        for zone in record.portalData?.zones ?? [] {
            print("  \(zone.name) at \(zone.latitude ?? 0), \(zone.longitude ?? 0)")
        }
    }

    /// `Changes` has the writable fields, and sends those that are set.
    private static func writeWhatIsSet(_ contacts: DataAPI.TypedLayout<Contact>) async throws {
        headline("A contact")
        guard let ada = try await contacts.firstRecord({ $0(.status) == Contact.Statuses.active }).firstValue() else {
            return
        }
        print("\(ada.fieldData.greeting), you are \(ada.fieldData.status?.rawValue ?? "nothing")")
        print("Statuses: \(Contact.Statuses.listed.map(\.rawValue).joined(separator: ", "))")

        // Sets the city, empties the balance, and leaves everything else unchanged.
        let changes = Contact.Changes(city: "Paris", balance: .some(nil))
        _ = try await contacts.edit(ada.recordId, setting: changes, modId: ada.modId).firstValue()
        let moved = try await contacts.record(id: ada.recordId).firstValue().fieldData
        print(
            "\(moved.label), balance \(moved.balance?.description ?? "empty"), status \(moved.status?.rawValue ?? "")"
        )

        let created = try await contacts.create(Contact.Changes(name: "Mary", nicknames: [2: "Queen of Science"]))
            .firstValue()
        let mary = try await contacts.record(id: created.recordId).firstValue().fieldData
        print("\(mary.greeting), number \(mary.id ?? 0)")
    }

    private static func readHardNames(_ ships: DataAPI.TypedLayout<Schiffe>) async throws {
        headline("A ship")
        guard let record = try await ships.firstRecord({ $0(.名前) == "かもめ" }).firstValue() else { return }
        let ship = record.fieldData
        print("\(ship.name) (\(ship.名前)), \(ship.class), \(ship._2ndMate), \(ship.kranNr), \(ship.kranNr_2)")
        print("\(ship.sayAhoyO) \(ship.größe ?? 0) × 2 = \(ship.längeBreite ?? 0), \(ship.totalPercent ?? 0) %")
        print("Since \(ship.café?.description ?? "")")
        print("Flag: \(ship.flagge == .noneValue ? "none" : "some")")
        // A harpoon is not in the value list, but the field may contain it.
        print("On board: \(ship.ausrüstung.map(\.rawValue).joined(separator: ", "))")
        print("Cargo: \((record.portalData?.schiffe ?? []).map { "\($0.recordIdField) \($0.name)" })")
    }

    private static func writeRepetitionsAndRows(_ ships: DataAPI.TypedLayout<Schiffe>) async throws {
        headline("What is written into it")
        guard let ship = try await ships.firstRecord({ $0(.name) == "Möwe" }).firstValue() else { return }
        // The layout shows repetitions 2 to 4, so the first one is not in the record.
        print("Measured: \(texts(ship.fieldData.messwert))")
        let tea = ship.portalData?.schiffe.first
        _ = try await ships.edit(
            ship.recordId,
            setting: Schiffe.Changes(
                ausrüstung: ship.fieldData.ausrüstung + [.init(rawValue: "Netz")],
                messwert: [3: 3, 2: nil]
            ),
            portals: .init(schiffe: [
                .init(recordId: tea?.recordId, gewicht: 13),
                .init(recordIdField: "L-19", name: "Kakao"),
            ])
        ).firstValue()
        let after = try await ships.record(id: ship.recordId).firstValue()
        print("Measured: \(texts(after.fieldData.messwert))")
        print("On board: \(after.fieldData.ausrüstung.map(\.rawValue).joined(separator: ", "))")
        print("Cargo: \((after.portalData?.schiffe ?? []).map { "\($0.name) \($0.gewicht?.description ?? "?")" })")

        let year = Schiffe.Globals(gJahr: 2026)
        _ = try await ships.layout.database.setGlobals(year.globalFields).firstValue()
        let inThatSession = try await ships.record(id: ship.recordId).firstValue().fieldData
        print("Year: \(inThatSession.gJahr ?? 0)")
    }

    /// Reads the ships of one file and their mates of another: a single find for all of them. A mate that cannot be
    /// decoded does not fail the others. A count that was requested shortly before is not requested again.
    private static func joinDatabases(
        _ ships: DataAPI.TypedLayout<Schiffe>,
        _ contacts: DataAPI.TypedLayout<Contact>
    ) async throws {
        headline("Crews of two databases")
        let mates = contacts.lenient
        let crews = ships.sorted(by: .name).all().joiningOne(mates, on: { $0._2ndMate }, equals: .name)
        for try await crew in crews.values {
            switch crew.child?.result() {
            case .success(let mate)?: print("\(crew.parent.name) sails with \(mate.name) of \(mate.city)")
            case .failure(let mate)?:
                print("\(crew.parent.name): contact \(mate.recordId) has no \(mate.failure.field ?? "")")
            case nil: print("\(crew.parent.name) has no mate")
            }
        }
        let paris = contacts.cached(for: .seconds(600)).find { $0(.city) == "Paris" }
        for _ in 1...3 { _ = try await paris.count().firstValue() }
    }

    private static func texts(_ numbers: [FMNumber?]) -> [String] { numbers.map { $0?.description ?? "–" } }

    private static func headline(_ text: String) { print("\n— \(text)") }
}
