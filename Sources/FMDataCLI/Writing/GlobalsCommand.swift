import ArgumentParser
import FMData

/// `fmdata globals`: sets global fields in the kept session.
struct GlobalsCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        commandName: "globals",
        abstract: "Sets global fields for the commands that follow.",
        discussion: """
            Globals live in one session. With a profile of fmdata login the commands that follow use the same session, and see \
            them until it ends: after 15 minutes without a command, or with fmdata logout. Values are sent as they are.
            """
    )

    @Argument(
        help: ArgumentHelp("The fields with their tables: Contacts::gFilter=London.", valueName: "table::field=value")
    )
    var values: [String]

    @Flag(help: .dryRun) var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let globals = try globals()
            let answer = try await write(visit) { $0.setGlobals(globals) }
            if answer != nil, try await visit.place().tokens == nil {
                await visit.notice(
                    "The session ends with this command, and the globals with it. fmdata login keeps sessions."
                )
            }
        }
    }

    private func globals() throws -> [String: String] {
        var globals: [String: String] = [:]
        for word in values {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, parts[0].contains("::") else {
                throw ValidationError(
                    "Expected a field with its table, as Contacts::gFilter=London, found \"\(word)\"."
                )
            }
            globals[parts[0]] = parts[1]
        }
        return globals
    }
}
