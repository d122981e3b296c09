import ArgumentParser
import FMData
import Foundation

/// `fmdata delete`: deletes a record.
struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a record.",
        discussion: "At a terminal it asks before. Without one it needs --yes."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(help: "The record's id.")
    var recordId: Int

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var options: WriteOptions

    func run() async throws {
        if !yes, !options.dryRun { try await ask() }
        try await options.host.visit { visit in
            let answer = try await options.write(visit) { $0.addLayout(layout).deleteRecord(recordId: recordId) }
            if answer != nil { await visit.notice("Record \(recordId) of \"\(layout)\" is deleted.") }
        }
    }

    private func ask() async throws {
        guard TerminalPrompt.isPossible(environment: ProcessInfo.processInfo.environment) else {
            throw ValidationError("There is no terminal to ask whether to delete it: --yes deletes without asking.")
        }
        let answer = try await TerminalPrompt.ask("Delete record \(recordId) of \"\(layout)\"? [y/N] ", echo: true)
        guard ["y", "yes"].contains(answer.lowercased()) else { throw CommandError("Nothing was deleted.") }
    }
}

/// `fmdata duplicate`: a copy of a record.
struct DuplicateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicate",
        abstract: "Duplicates a record, and prints the id of the copy."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(help: "The record's id.")
    var recordId: Int

    @OptionGroup var options: WriteOptions

    func run() async throws {
        try await options.host.visit { visit in
            let made = try await options.write(visit) { $0.addLayout(layout).duplicateRecord(recordId: recordId) }
            if let made { try options.print(recordId: made.recordId, modId: made.modId) }
        }
    }
}
