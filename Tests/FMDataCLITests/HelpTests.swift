import Testing

@testable import FMDataCLI

/// What the commands say of themselves, which is also the page for `man` and what an assistant is told.
@Suite(.timeLimit(.minutes(15))) struct HelpTests {
    @Test func everyCommandAndOptionIsExplained() throws {
        func check(_ command: CommandHelp, _ path: String) {
            #expect(command.abstract?.isEmpty == false, "\(path)")
            for argument in command.shownArguments {
                #expect(argument.abstract?.isEmpty == false, "\(path) \(argument.valueName ?? "")")
            }
            for command in command.shownCommands { check(command, "\(path) \(command.commandName)") }
        }
        check(try CommandHelp(of: FMDataCommand.self), "fmdata")
    }
}

extension CommandHelp {
    /// The commands to show, without ArgumentParser's own `help`.
    var shownCommands: [CommandHelp] { subcommands.filter { $0.shouldDisplay && $0.commandName != "help" } }

    /// The arguments to show, without those that every command has.
    fileprivate var shownArguments: [Argument] {
        arguments.filter { $0.shouldDisplay && !["help", "version"].contains($0.preferredName?.name) }
    }
}
