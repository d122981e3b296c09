import ArgumentParser
import FMData
import FMModel

/// `fmdata schema fetch`: updates the snapshot from the host. If layouts are named and one of them fails, no file is
/// changed. With `--all`, all layouts that can be read are updated.
struct SchemaFetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Writes the snapshot of layouts.",
        discussion: """
            When a layout that was named cannot be read, nothing is written. With --all the others are written, those that could \
            not be read are told with the reason, and the status is 2.
            """
    )

    @OptionGroup var options: SchemaOptions

    func run() async throws {
        try await HostVisit.make(with: options.connection, options.talk) { visit in
            try await fetch(try await SchemaReader(visit))
        }
    }

    private func fetch(_ reader: SchemaReader) async throws {
        let snapshot = try options.folder.folder.snapshot()
        let choice = try options.choice(known: snapshot.layouts.map(\.layout))
        let answer = try await reader.read(choice)
        for (layout, error) in answer.failures { note("\(layout): \(ErrorText(error))") }
        if let failure = answer.failures.first, !options.all || answer.layouts.isEmpty {
            note("Nothing was written.")
            throw ExitStatus(failure.error).code
        }
        let update = LayoutSnapshot.updating(
            snapshot.layouts,
            with: answer.layouts,
            prefixes: snapshot.settings.prefixes
        )
        try Task.checkCancellation()
        try snapshot.change(to: update.layouts).apply(to: snapshot.url)
        for notice in update.notices { note(notice) }
        print(SchemaReport(SchemaChange.changes(from: snapshot.layouts, to: update.layouts)).text, terminator: "")
        if !answer.failures.isEmpty {
            note(
                "\(answer.failures.count) of \(answer.asked.count) layouts could not be read; nothing was written of them. "
                    + "--except leaves a layout out."
            )
            throw ExitStatus.incomplete.code
        }
    }
}
