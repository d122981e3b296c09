import ArgumentParser
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// The page of the command line: each of its examples is run at a terminal, one after the other.
@Suite(.timeLimit(.minutes(15))) struct ManualTests {
    private static func page() throws -> String {
        let path = "Sources/FMData/Documentation.docc/CommandLine.md"
        return try String(contentsOf: Committed.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// A line that is typed, and what it prints.
    private struct Example {
        var line: String
        var output: [String] = []
    }

    private static func examples() throws -> [Example] {
        var examples: [Example] = []
        var isExample = false
        for line in try page().split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                isExample = line == "```console"
            } else if isExample, line.hasPrefix("$ ") {
                examples.append(Example(line: String(line.dropFirst(2))))
            } else if isExample, line.hasPrefix("> ") {
                examples[examples.count - 1].line += "\n" + line.dropFirst(2)
            } else if isExample {
                examples[examples.count - 1].output.append(line)
            }
        }
        return examples
    }

    #if os(Linux)
    @Test(.thorough) func everyExamplePrintsWhatThePageSays() async throws {
        let examples = try Self.examples()
        #expect(examples.count > 20)
        try await Home.with { home in
            // The host of the page is as long as that of the sandbox, so that tables are equal.
            let host = "https://fm.example.com"
            try #require(host.count == home.sandbox.url.count)
            for example in examples {
                let terminal = try Terminal(columns: 100)
                async let finished = FinishedProgram.run(
                    shell: "cd \"$HOME\"\n" + example.line.replacing(host, with: home.sandbox.url),
                    environment: ["HOME": home.folder.path, "NO_COLOR": "1"],
                    at: terminal
                )
                if example.output.first?.hasPrefix("Password of") == true {
                    _ = await terminal.text(until: "Password of")
                    terminal.type("secret")
                }
                _ = try await finished
                let printed = await terminal.allText().replacing(home.sandbox.url, with: host)
                    .replacing("\r\n", with: "\n")
                let lines = printed.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                #expect(
                    Self.matches(lines.last == "" ? Array(lines.dropLast()) : lines, example.output),
                    "$ \(example.line)\n\(printed)"
                )
            }
        }
    }
    #endif

    /// Whether lines are those of the page, in which `…` stands for any text, and alone for any lines.
    private static func matches(_ lines: [String], _ page: [String]) -> Bool {
        guard let expected = page.first else { return lines.isEmpty }
        if expected == "…" {
            return (0...lines.count).contains { matches(Array(lines.dropFirst($0)), Array(page.dropFirst())) }
        }
        guard let line = lines.first, matches(line, expected) else { return false }
        return matches(Array(lines.dropFirst()), Array(page.dropFirst()))
    }

    private static func matches(_ line: String, _ expected: String) -> Bool {
        func trimmed(_ text: String) -> String { String(text.reversed().drop { $0 == " " }.reversed()) }
        let parts = trimmed(expected).components(separatedBy: "…")
        var rest = Substring(trimmed(line))
        guard rest.hasPrefix(parts[0]) else { return false }
        rest = rest.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return parts.count == 1 ? rest.isEmpty : rest.hasSuffix(parts[parts.count - 1])
    }

    // MARK: Tables

    @Test func theStatusesAreThoseOfTheCommand() async throws {
        let page = try Self.page()
        let help = try await FinishedProgram.run(["--help"]).output
        for status in ExitStatus.allCases {
            #expect(page.contains("\n| \(status.rawValue) | \(status.meaning) |\n"), "\(status)")
            #expect(help.contains("  \(status.rawValue) "), "\(status)")
        }
        #expect(page.matches(of: #/\n\| [0-9]+ \|/#).count == ExitStatus.allCases.count)
    }

    @Test func everyCommandIsInTheTable() throws {
        let page = try Self.page()
        func check(_ command: CommandHelp, _ path: String) {
            let commands = command.shownCommands
            for command in commands { check(command, "\(path) \(command.commandName)") }
            #expect(!commands.isEmpty || page.contains("\n| `\(path)` |"), "\(path)")
        }
        check(try CommandHelp(of: FMDataCommand.self), "fmdata")
    }

    /// The variables that the sources of the command name are in the table, and in the help.
    @Test func everyVariableIsNamed() throws {
        let page = try Self.page()
        let help = FMDataCommand.configuration.discussion
        let sources = Committed.root.appendingPathComponent("Sources/FMDataCLI")
        var variables: Set<String> = []
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        )
        where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            variables.formUnion(text.matches(of: #/"(FM(?:DATA)?_[A-Z_]+)"/#).map { String($0.1) })
        }
        #expect(variables.count > 10)
        for variable in variables.sorted() {
            #expect(page.contains("`\(variable)`") && help.contains(" \(variable)"), "\(variable)")
        }
    }
}
