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
