import ArgumentParser
import FMData

/// `fmdata probe`: asks a host what is not documented, and compares its answers with what the library and the sandbox
/// assume.
struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Compares a host with what this library assumes of hosts.",
        discussion: """
            The Data API leaves questions open, and hosts of different versions answer them differently. This asks yours, by reads \
            alone unless --write names a layout for scratch records, and prints a report without names, values and accounts, which \
            can be pasted into an issue as it is. Exit status 3 says that something differs.
            """
    )

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions

    @Option(help: "A layout that shows records (the first one that does).")
    var layout: String?

    @Option(help: ArgumentHelp("Ask what takes writes, too, with scratch records of this layout.", valueName: "layout"))
    var write: String?

    func run() async throws {
        try await HostVisit.make(with: connection, talk) { visit in
            let report = try await probe(visit)
            print(report.text, terminator: "")
            if report.differs { throw ExitStatus.different.code }
        }
    }

    private func probe(_ visit: HostVisit) async throws -> ProbeReport {
        let database = try await visit.open()
        let layouts = try await database.getLayoutNames().firstValue().flatMap(\.allLayouts)
        let (chosen, empty) = try await chosenLayout(of: layouts, in: database)
        let iso = try await visit.open(nil) { $0.dateFormats = .iso8601 }
        let table = layouts.first { $0.name == chosen.name }?.table
        let subject = ProbeSubject(
            layout: chosen,
            metadata: try await chosen.getLayoutMetadata().firstValue(),
            siblings: layouts.filter { $0.name != chosen.name && $0.table != nil && $0.table == table },
            scratch: write.map { database.addLayout($0) },
            missing: try await visit.open(ProbeSubject.nobodysName),
            iso: iso.addLayout(chosen.name),
            empty: empty
        )
        let version = try await database.server.getProductInfo().firstValue().version
        let report = await ProbeReport(version: version, asking: ProbeQuestion.all, of: subject)
        try Task.checkCancellation()
        return report
    }

    /// The layout that was named, or the first of 20 layouts that shows a record; and the first of them that shows
    /// none.
    private func chosenLayout(
        of layouts: [DataAPI.Layout],
        in database: DataAPI.Database
    ) async throws -> (chosen: DataAPI.Layout, empty: DataAPI.Layout?) {
        var chosen = layout.map { database.addLayout($0) }
        var empty: DataAPI.Layout?
        for layout in layouts.prefix(20) where chosen == nil || empty == nil {
            let records: Result<DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>, FMRest.APIError> =
                await layout.getRecords(recordQuery: RecordQuery(portal: [], limit: 1)).awaitSingleResult()
            switch records {
            case .success(let response) where !response.data.isEmpty: chosen = chosen ?? layout
            // The error of a layout without records is one of the questions, so only "record is missing" counts here.
            case .success: empty = empty ?? layout
            case .failure(let error): if error.fileMakerCode == .recordMissing { empty = empty ?? layout }
            }
        }
        if let chosen { return (chosen, empty) }
        throw ValidationError("No layout shows a record to this account. Name one with --layout.")
    }
}
