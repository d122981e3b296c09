import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata manual`: the page for `man`.
@Suite(.timeLimit(.minutes(15))) struct ManualPageTests {
    @Test(.thorough) func everyCommandAndOptionIsDescribed() async throws {
        let page = try await FinishedProgram.run(["manual"])
        expectNoDifference(page.status, 0)
        expectNoDifference(page.errors, "")
        let help = try CommandHelp(of: FMDataCommand.self)
        func check(_ command: CommandHelp, _ path: String) {
            let path = "\(path) \(command.commandName)"
            guard command.shownCommands.isEmpty else {
                for command in command.shownCommands { check(command, path) }
                return
            }
            #expect(page.output.contains("\n.SS \"\(path)\"\n"), "\(path)")
            for argument in command.shownArguments {
                for name in argument.names ?? [] {
                    let spelling = name.spelling.replacing("-", with: "\\-")
                    #expect(page.output.contains("\\fB\(spelling)\\fR"), "\(path) \(name.spelling)")
                }
            }
        }
        for command in help.shownCommands { check(command, "fmdata") }
        #expect(!page.output.contains("fmdata manual"), "it is for packagers")
        for status in ExitStatus.allCases { #expect(page.output.contains("\n\\fB\(status.rawValue)\\fR\n")) }
    }

    /// The help of a command has changed, if not: `fmdata manual --docc` prints the article anew.
    @Test func theArticleIsThatOfTheCommands() async throws {
        let printed = try await FinishedProgram.run(["manual", "--docc"])
        let path = "Sources/FMData/Documentation.docc/CommandReference.md"
        let article = try String(contentsOf: Committed.root.appendingPathComponent(path), encoding: .utf8)
        #expect(article == printed.output, "fmdata manual --docc > \(path)")
    }

    /// Each command, option and argument says what it is.
    @Test func nothingIsLeftUnexplained() throws {
        func check(_ command: CommandHelp, _ path: String) {
            #expect(command.abstract?.isEmpty == false, "\(path)")
            for argument in command.shownArguments {
                #expect(argument.abstract?.isEmpty == false, "\(path) \(argument.valueName ?? "")")
            }
            for command in command.shownCommands { check(command, "\(path) \(command.commandName)") }
        }
        check(try CommandHelp(of: FMDataCommand.self), "fmdata")
    }

    /// What the help says is text, whatever signs are in it.
    @Test func nothingOfTheHelpIsAMacro() async throws {
        let page = try await FinishedProgram.run(["manual"])
        let known: Set = ["TH", "SH", "SS", "PP", "TP", "IP", "nf", "fi"]
        for line in page.output.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
            #expect(known.contains(String(line.dropFirst().prefix { $0 != " " })), "\(line)")
        }
        #expect(page.output.utf8.allSatisfy { $0 < 0x80 })
        let sequences = page.output.matches(of: #/\\(\(..|.)/#).map { String($0.1) }
        expectNoDifference(
            Set(sequences).subtracting(["-", "e", "f", "&", "[", "(aq", "(dq", "(ga", "(ha", "(ti"]),
            []
        )
    }

    /// Where there is a formatter, it has nothing to complain of.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")))
    func groffHasNoWarnings() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let formatted = try await FinishedProgram.run(
                shell: "fmdata manual | groff -man -Tutf8 -ww -z",
                environment: ["HOME": home.folder.path],
                at: terminal
            )
            expectNoDifference(formatted.status, 0)
            #expect(await terminal.allText() == "")
        }
    }
}
