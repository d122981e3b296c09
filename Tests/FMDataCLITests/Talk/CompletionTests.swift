import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// What a shell offers on Tab.
@Suite(.timeLimit(.minutes(15))) struct CompletionTests {
    /// What the command offers for an argument of a line.
    ///
    /// - Parameter argument: `--profile`, or `positional@0` for the first positional argument.
    private func completions(_ home: Home, _ argument: String, _ words: String...) async throws -> [String] {
        let command = words.prefix { !$0.hasPrefix("-") && $0 != "" }.first ?? ""
        let completed = try await FinishedProgram.run(
            ["---completion", command, "--", argument, "\(words.count)", "0", "fmdata"] + words,
            environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
        )
        return completed.output.split(separator: "\n").map(String.init)
    }

    @Test(.thorough, arguments: ["bash", "zsh", "fish"])
    func scriptsForShells(_ shell: String) async throws {
        let script = try await FinishedProgram.run(["--generate-completion-script", shell])
        #expect(script.status == 0)
        #expect(script.output.contains("valuelists"))
    }

    @Test func bashAcceptsItsScript() async throws {
        let script = try await FinishedProgram.run(["--generate-completion-script", "bash"])
        try await Home.with { home in
            try Data(script.output.utf8).write(to: home.file("completion"))
            let terminal = try Terminal()
            let checked = try await FinishedProgram.run(
                shell: "bash -n \(home.file("completion").path)",
                environment: [:],
                at: terminal
            )
            #expect(checked.status == 0)
            #expect(await terminal.allText() == "")
        }
    }

    @Test(.thorough) func whatCommandsHaveSeenIsOfferedWithoutAHost() async throws {
        try await Home.with { home in
            _ = try await home.asAdmin.fmdata("login", "world")
            #expect(try await completions(home, "--profile", "layouts", "--profile", "").contains("world"))
            let unknown = try await completions(home, "positional@0", "find", "")
            expectNoDifference(unknown, [])
            for arguments in [["layouts"], ["scripts"], ["find", "Phones"]] {
                let finished = try await FinishedProgram.run(arguments, environment: ["HOME": home.folder.path])
                #expect(finished.status == 0, "\(finished.errors)")
            }
            #expect(try home.mode(".cache/fmdata/names.json") == 0o600)
            let requests = home.sandbox.counters.requests
            let layouts = try await completions(home, "positional@0", "find", "")
            expectNoDifference(layouts, ["Contacts", "Countries", "Names / 100 % Übersicht", "Phones", "Zones"])
            let conditions = try await completions(home, "positional@1", "find", "Phones", "")
            expectNoDifference(conditions, ["ContactId=", "Kind=", "Number="])
            let fields = try await completions(home, "--sort", "find", "Phones", "--sort", "")
            expectNoDifference(fields, ["ContactId", "Kind", "Number"])
            #expect(try await completions(home, "positional@1", "script", "Phones", "").contains("Echo"))
            expectNoDifference(home.sandbox.counters.requests, requests)
            // Names of another database are not those of this one.
            let others = try await completions(home, "positional@0", "find", "--database", "Other", "")
            expectNoDifference(others, [])
        }
    }

    /// What `bash` itself offers, by its script.
    @Test(.thorough) func bashCompletesFields() async throws {
        try await Home.with { home in
            _ = try await home.asAdmin.fmdata("login", "world")
            _ = try await home.fmdata("find", "Phones")
            let script = """
                eval "$(fmdata --generate-completion-script bash)"
                COMP_WORDS=(fmdata find Phones Ki) COMP_CWORD=3 COMP_LINE='fmdata find Phones Ki' COMP_POINT=21
                _fmdata fmdata Ki Phones
                echo "${COMPREPLY[@]}"
                """
            try Data(script.utf8).write(to: home.file("tab.bash"))
            let terminal = try Terminal()
            let finished = try await FinishedProgram.run(
                shell: "bash \(home.file("tab.bash").path)",
                environment: ["HOME": home.folder.path],
                at: terminal
            )
            #expect(finished.status == 0)
            #expect(await terminal.allText() == "Kind=\n")
        }
    }

    /// A user who keeps no session on this machine keeps no names there either.
    @Test func withoutAProfileNothingIsKept() async throws {
        try await Home.with { home in
            let listed = try await home.asAdmin.fmdata("layouts")
            #expect(listed.status == 0)
            #expect(home.text(".cache/fmdata/names.json") == nil)
        }
    }
}
