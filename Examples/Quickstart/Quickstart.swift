// What it shows: the main tasks from end to end: log in, find, page, write, handle an error, log out.
// How to run it: `swift run quickstart`, against the embedded server. `FM_HOST`, `FM_DATABASE`, `FM_USER` and
// `FM_PASSWORD` name a real one.
// What to look at: each task is a method below; Models.swift has the record types, Host.swift the choice of the server.
// Each prints what it has found, so the output can be read beside the code.
import FMData
import FMSandbox
import OpenCombine

@main
struct Quickstart {
    let countries: DataAPI.TypedLayout<Country>
    let zones: DataAPI.TypedLayout<Zone>
    let contacts: DataAPI.TypedLayout<Contact>

    static func main() async throws {
        let host = try Host.fromEnvironment()
        let database = host.database
        print("Connected to \(database.server.host), database \(database.name)")

        let tour = Quickstart(
            countries: database.layout(Country.self),
            zones: database.layout(Zone.self),
            contacts: database.layout(Contact.self)
        )
        do {
            try await tour.logIn(to: database)
            try await tour.findTheZonesOfACountry()
            try await tour.pageThroughCountries()
            if host.allowsWriting { try await tour.writeAContact() }
            await tour.meetAnError()
            _ = try await database.logOut().firstValue()
            print("\nLogged out: credentials are now \(database.credentials)")
        } catch let error as FMRest.APIError {
            // The description names the problem, the request and the remedy; it contains no secret.
            print("\nThis went wrong: \(error)")
            await host.stop()
            throw error
        }
        await host.stop()
    }

    /// Optional: the first request that needs a session logs in by itself.
    func logIn(to database: DataAPI.Database) async throws {
        headline("Log in")
        let product = try await database.server.getProductInfo().firstValue()
        print("\(product.name), dates as \(product.dateFormat)")
        let layouts = try await database.getLayoutNames().firstValue()
        print("Layouts: \(layouts.flatMap(\.allLayouts).map(\.name).joined(separator: ", "))")
        print("Credentials are now \(database.credentials)")
    }

    /// A find is written in Swift and returns typed records. The portal of the layout arrives as typed rows.
    func findTheZonesOfACountry() async throws {
        headline("The time zones of a country")
        let newZealand = countries.find { $0(.code) == "NZ" }.portals([PortalRequest(name: "Zones", limit: 10)])
        for try await record in newZealand.all().values {
            print("\(record.fieldData.name) (\(record.fieldData.code)), record \(record.recordId):")
            for zone in record.portalData?.zones ?? [] {
                print("  \(zone.name) at \(zone.latitude), \(zone.longitude)")
            }
            print("The record as it is: \(record)")
        }

        let west = zones.find { $0(.longitude) < -120 && !$0(.name).begins(with: "America") }.sorted(by: .longitude)
        print("West of 120° W and not in America: \(try await west.count().firstValue()) zones, the first ones:")
        for try await zone in west.all().prefix(3).values { print("  \(zone.fieldData.name)") }
    }

    /// All records, page after page, on demand. The first page has their number.
    func pageThroughCountries() async throws {
        headline("Countries, page by page")
        for try await page in countries.sorted(by: .name).all(pageSize: 100).pages.values {
            let (end, names) = (page.progress.delivered, page.records.map(\.fieldData.name))
            let range = "\(end - names.count + 1)–\(end) of \(page.progress.total ?? end)"
            print("\(range): \(names.first ?? "") … \(names.last ?? "")")
        }
    }

    /// Every write returns ids: the record's, and that of its new version.
    func writeAContact() async throws {
        headline("Create, edit, duplicate, delete")
        let mary = Contact(name: "Mary Somerville", email: "mary@example.com", city: "Jedburgh")
        let created = try await contacts.create(mary).firstValue()
        print("Created record \(created.recordId), version \(created.modId ?? 0)")

        let edited = try await contacts.update(created.recordId) { $0.city = "London" }.firstValue()
        print("Edited it, now version \(edited.modId), by sending \(edited.sentFields)")

        // The version from before the edit is outdated: the server rejects the edit, and nothing is overwritten.
        let conflict = await contacts.edit(created.recordId, setting: [.city: "Florence"], modId: created.modId)
            .awaitSingleResult()
        if case .failure(let error) = conflict { print("A second edit of version \(created.modId ?? 0): \(error)") }

        let copy = try await contacts.duplicate(created.recordId).firstValue()
        print("Duplicated it as record \(copy.recordId)")

        for id in [created.recordId, copy.recordId] { _ = try await contacts.delete(id).firstValue() }
        print("Deleted both")
    }

    /// There is one error type, which can be matched by FileMaker's error codes.
    func meetAnError() async {
        headline("What an error looks like")
        do {
            _ = try await zones.record(id: 999_999).firstValue()
        } catch FileMakerErrorCode.recordMissing {
            print("There is no record 999999 (FileMaker code 101)")
        } catch {
            print("Unexpected: \(error)")
        }
        let missing = await zones.layout.database.addLayout("No such layout").of(FieldData.self).firstRecord()
            .awaitSingleResult()
        if case .failure(let error) = missing {
            print("\(error)")
            print("May the same request be tried again? \(error.isRetryable ? "yes" : "no")")
        }
    }

    private func headline(_ text: String) {
        print("\n— \(text)")
    }
}
