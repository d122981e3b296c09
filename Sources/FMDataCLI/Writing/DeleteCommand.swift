import ArgumentParser
import FMData
import Foundation

/// `fmdata delete`: deletes a record.
struct DeleteCommand: WritingCommand {
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

    @Flag(help: .dryRun) var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        if !yes, !dryRun { try await ask() }
        try await visit { visit in
            let answer = try await write(visit) { $0.addLayout(layout).deleteRecord(recordId: recordId) }
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
struct DuplicateCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicate",
        abstract: "Duplicates a record, and prints the id of the copy."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(help: "The record's id.")
    var recordId: Int

    @Flag(help: .dryRun) var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let made = try await write(visit) { $0.addLayout(layout).duplicateRecord(recordId: recordId) }
            if let made { try print(recordId: made.recordId, modId: made.modId) }
        }
    }
}
