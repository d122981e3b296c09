import ArgumentParser
import FMData
import FMModel

/// `fmdata schema fetch`: brings the snapshot up to what the host says. All layouts or none: when one of them fails, no file is
/// touched.
struct SchemaFetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Writes the snapshot of layouts."
    )

    @OptionGroup var options: SchemaOptions

    func run() async throws {
        let database = try options.connection.open()
        let result: Result<Void, any Error>
        do {
            result = .success(try await fetch(database))
        } catch {
            result = .failure(error)
        }
        _ = await database.server.shutdown().awaitSingleResult()
        try result.orExit()
    }

    private func fetch(_ database: DataAPI.Database) async throws {
        let snapshot = try options.folder.folder.snapshot()
        let names = try options.names(known: snapshot.layouts.map(\.layout))
        let answer = try await SchemaReader(database: database).read(names)
        guard answer.failures.isEmpty else {
            for (layout, error) in answer.failures { note("\(layout): \(error)") }
            note("Nothing was written.")
            throw ExitStatus(answer.failures[0].error).code
        }
        let update = LayoutSnapshot.updating(
            snapshot.layouts,
            with: answer.layouts,
            prefixes: snapshot.settings.prefixes
        )
        try snapshot.change(to: update.layouts).apply(to: snapshot.url)
        for notice in update.notices { note(notice) }
        print(SchemaReport(SchemaChange.changes(from: snapshot.layouts, to: update.layouts)).text, terminator: "")
    }
}

extension Result where Success == Void, Failure == any Error {
    /// Ends the command, with the status that tells what went wrong.
    func orExit() throws {
        do {
            try get()
        } catch let error as FMRest.APIError {
            note("Error: \(error)")
            throw ExitStatus(error).code
        }
    }
}
