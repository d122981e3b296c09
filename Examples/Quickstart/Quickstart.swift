import CustomDump
import FMData
import FMSandbox
import OpenCombine

/// The main job from end to end: log in, find, page, write, meet an error, log out. Without arguments it runs against the
/// embedded server; `FM_HOST`, `FM_DATABASE`, `FM_USER` and `FM_PASSWORD` point it at a real one (see `Host.swift`).
@main
struct Quickstart {
    let countries: DataAPI.Layout
    let zones: DataAPI.Layout
    let contacts: DataAPI.Layout

    static func main() async throws {
        let host = try Host.fromEnvironment()
        let database = host.server.addDatabase(host.database, credentials: host.credentials)
        print("Connected to \(host.server.host), database \(database.name)")

        let tour = Quickstart(
            countries: database.addLayout(Layouts.countries),
            zones: database.addLayout(Layouts.zones),
            contacts: database.addLayout(Layouts.contacts)
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
            // The description says what, where and what to do; it holds no secret.
            print("\nThis went wrong: \(error)")
            await host.stop()
            throw error
        }
        await host.stop()
    }

    /// No call needs this: the first request that needs a session logs in by itself.
    func logIn(to database: DataAPI.Database) async throws {
        headline("Log in")
        let product = try await database.server.getProductInfo().firstValue()
        print("\(product.name), dates as \(product.dateFormat)")
        let layouts = try await database.getLayoutNames().firstValue()
        print("Layouts: \(layouts.flatMap(\.allLayouts).map(\.name).joined(separator: ", "))")
        print("Credentials are now \(database.credentials)")
    }

    /// A find is a publisher of one typed response. The portal of the layout arrives as typed rows.
    func findTheZonesOfACountry() async throws {
        headline("The time zones of a country")
        let response =
            try await countries
            .findRecords(query: FindQuery(query: [["Code": "==NZ"]], portal: [PortalRequest(name: "Zones", limit: 10)]))
            .returnAs(Country.self, Country.Portals.self)
            .firstValue()

        for record in response.data {
            print("\(record.fieldData.name) (\(record.fieldData.code)), record \(record.recordId):")
            for zone in record.portalData?.zones ?? [] {
                print("  \(zone.name) at \(zone.latitude), \(zone.longitude)")
            }
        }
        print("One record as it is:")
        customDump(response.data.first)

        let west = FindQuery(
            query: [["Longitude": "<-120"], ["Name": "America", "omit": "true"]],
            sort: [SortQuery(fieldName: "Longitude")],
            limit: 3
        )
        let zones = try await zones.findRecords(query: west).returnAs(Zone.self).firstValue()
        print("West of 120° W and not in America: \(zones.dataInfo.foundCount) zones, the first ones:")
        for zone in zones.data.map(\.fieldData) { print("  \(zone.name)") }
    }

    /// Offset and limit count from 1; sorting is the server's work.
    func pageThroughCountries() async throws {
        headline("Countries, page by page")
        let pageSize = 100
        var offset = 1
        var total = 0
        repeat {
            let page = RecordQuery(
                portal: [],
                offset: offset,
                limit: pageSize,
                sortOrder: [SortQuery(fieldName: "Name")]
            )
            let response = try await countries.getRecords(recordQuery: page).returnAs(Country.self).firstValue()
            total = response.dataInfo.foundCount
            let names = response.data.map(\.fieldData.name)
            print("\(offset)–\(offset + names.count - 1) of \(total): \(names.first ?? "") … \(names.last ?? "")")
            offset += pageSize
        } while offset <= total
    }

    /// Every write answers with ids: of the record, and of its new version.
    func writeAContact() async throws {
        headline("Create, edit, duplicate, delete")
        let mary = Contact(name: "Mary Somerville", email: "mary@example.com", city: "Jedburgh")
        let created = try await contacts.createRecord(record: EditRecord(createRecord: mary)).firstValue()
        print("Created record \(created.recordId), version \(created.modId ?? 0)")

        var changed = mary
        changed.city = "London"
        let edited = try await contacts.editRecord(
            record: EditRecord(editRecord: changed, modId: created.modId),
            recordId: created.recordId
        ).firstValue()
        print("Edited it, now version \(edited.modId)")

        // The version from before the edit is stale: the server refuses, and nothing is lost.
        let conflict = await contacts.editRecord(
            record: EditRecord(editRecord: mary, modId: created.modId),
            recordId: created.recordId
        ).awaitSingleResult()
        if case .failure(let error) = conflict { print("A second edit of version \(created.modId ?? 0): \(error)") }

        let copy = try await contacts.duplicateRecord(recordId: created.recordId).firstValue()
        print("Duplicated it as record \(copy.recordId)")

        for id in [created.recordId, copy.recordId] {
            _ = try await contacts.deleteRecord(recordId: id).firstValue()
        }
        print("Deleted both")
    }

    /// One error type, matchable by FileMaker's codes.
    func meetAnError() async {
        headline("What an error looks like")
        do {
            _ = try await zones.getRecordById(recordId: 999_999).returnAs(Zone.self).firstValue()
        } catch FileMakerErrorCode.recordMissing {
            print("There is no record 999999 (FileMaker code 101)")
        } catch {
            print("Unexpected: \(error)")
        }
        let missing = await zones.database.addLayout("No such layout").getRecords().returnAs(Zone.self)
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
