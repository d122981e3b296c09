import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata shell`: commands over one session.
@Suite(.timeLimit(.minutes(15))) struct ShellTests {
    private static let history = ".local/state/fmdata/history.ndjson"

    // MARK: From a file

    @Test func linesOfAFileShareASession() async throws {
        try await Home.with { home in
            let finished = try await home.asAdmin.fmdata(
                "shell",
                input: #"""
                    # What is there?
                    \d Phones
                    fmdata find Contacts City=London --fields Name

                    create Contacts 'Notes=two
                    lines' Name="Mary Shelley"
                    get Contacts 4 --fields Name,Notes
                    """#
            )
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 0,
                    output: #"""
                        {"field":"ContactId","type":"number","kind":"normal","repetitions":1,"shown":[1,1],"display":"editText","flags":[]}
                        {"field":"Kind","type":"text","kind":"normal","repetitions":1,"shown":[1,1],"display":"editText","flags":[]}
                        {"field":"Number","type":"text","kind":"normal","repetitions":1,"shown":[1,1],"display":"editText","flags":[]}
                        {"recordId":1,"modId":0,"fieldData":{"Name":"Ada Lovelace"}}
                        {"recordId":4,"modId":0}
                        {"recordId":4,"modId":0,"fieldData":{"Name":"Mary Shelley","Notes":"two\rlines"}}

                        """#,
                    errors: ""
                )
            )
            #expect(home.sandbox.counters.logins == 1)
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    @Test(.thorough) func theFirstFailureEndsIt() async throws {
        try await Home.with { home in
            let stopped = try await home.asAdmin.fmdata(
                "shell",
                input: "find Contacts City=Paris --fields Name\nget Contacts 99\nlayouts\n"
            )
            #expect(stopped.status == 1)
            expectNoDifference(
                stopped.output,
                #"{"recordId":2,"modId":0,"fieldData":{"Name":"Émilie du Châtelet"}}"# + "\n"
            )
            #expect(stopped.errors.hasPrefix("Error: fileMaker 101: Record is missing"), "\(stopped.errors)")
            #expect(stopped.errors.hasSuffix("\nLine 2 failed, and what follows was not run.\n"))
            let statuses = [
                "find Contacts City=Oslo --exit-status": 3, "edit Contacts 1 City=Bath --mod-id 7": 6,
                "find Contacts --lmit 3": 64, "fidn Contacts": 64, "\\z": 64, "login": 64, "create 'x": 64,
                "find Contacts --host x": 64, "create Contacts -": 64, "import Contacts - --from-csv": 64,
            ]
            for (line, status) in statuses.sorted(by: { $0.key < $1.key }) {
                let failed = try await home.asAdmin.fmdata("shell", input: line + "\n")
                #expect(failed.status == status, "\(line): \(failed.errors)")
            }
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    @Test func keepingGoingIsSaid() async throws {
        try await Home.with { home in
            let finished = try await home.asAdmin.fmdata(
                "shell",
                "--keep-going",
                input: "fidn Contacts\nlogin\nget Contacts 1 --host x\ndatabases --csv\n\\q\nlayouts\n"
            )
            #expect(finished.status == 2)
            expectNoDifference(finished.output, "database\r\nWorld\r\n")
            #expect(finished.errors.hasPrefix("Error: Unknown command 'fidn'. Did you mean 'find'?\n"))
            #expect(
                finished.errors.contains("\nError: login is no command of the shell: run fmdata login beside it.\n")
            )
            #expect(
                finished.errors.contains("\nError: --host belongs to fmdata shell: its commands share one session.\n")
            )
            #expect(finished.errors.hasSuffix("\nLine 3 failed.\n"), "\(finished.errors)")
            let good = try await home.asAdmin.fmdata(
                "shell",
                "--keep-going",
                input: "find --help\n\\timing\n\\x\n\\x off"
            )
            #expect(good.status == 0)
            #expect(good.output.contains("USAGE: fmdata find"))
            expectNoDifference(
                good.errors,
                "Timing is on.\nOne field per line is on.\nOne field per line is off.\n"
            )
        }
    }

    @Test func errorsAreJSONWhereDataIs() async throws {
        try await Home.with { home in
            let failed = try await home.asAdmin.fmdata("shell", input: "get Contacts 99 --json")
            #expect(failed.errors.hasPrefix(#"{"error":{"kind":"fileMaker","code":101,"#), "\(failed.errors)")
        }
    }

    @Test func aQuoteThatNothingClosesIsAnError() async throws {
        try await Home.with { home in
            let failed = try await home.asAdmin.fmdata("shell", input: "layouts --csv\nfind 'Contacts\n")
            #expect(failed.status == 64)
            #expect(failed.errors == "Error: The last line has a quote that nothing closes.\n")
        }
    }

    @Test func thePasswordIsNotAmongTheCommands() async throws {
        let refused = try await FinishedProgram.run(["shell", "--password-stdin"], input: "secret\n")
        #expect(refused.status == 64)
        #expect(refused.errors.hasPrefix("Error: Standard input has the commands"))
    }

    /// The session of a profile is there for the next command, as it always is.
    @Test(.thorough) func theSessionOfAProfileIsKept() async throws {
        try await Home.with { home in
            _ = try await home.asAdmin.fmdata("login", "world")
            let finished = try await home.fmdata("shell", input: "layouts --csv\nscripts --csv\n")
            #expect(finished.status == 0, "\(finished.errors)")
            #expect(home.sandbox.counters.logins == 1)
            #expect(home.sandbox.counters.openSessions == 1)
            #expect(home.text(Self.history) == nil, "a file is no history")
        }
    }

    // MARK: At a terminal

    #if os(Linux)
    /// Starts a shell, and hands its process over.
    private func shell(
        _ home: Home,
        _ terminal: Terminal,
        _ body: (_ process: Int32) async throws -> Void
    ) async throws -> FinishedProgram {
        let (started, continuation) = AsyncStream<Int32>.makeStream()
        async let finished = FinishedProgram.run(
            ["shell"],
            environment: ["HOME": home.folder.path, "TERM": "xterm", "NO_COLOR": "1"].merging(home.environment) { $1 },
            terminal: terminal,
            started: { continuation.yield($0) }
        )
        for await process in started {
            _ = await terminal.text(until: "World=> ")
            try await body(process)
            break
        }
        return try await finished
    }

    @Test(.thorough) func aPromptWithCompletionAndHistory() async throws {
        try await Home.with { home in
            let terminal = try Terminal(columns: 100)
            let finished = try await shell(home.asAdmin, terminal) { _ in
                terminal.press("fin\t")
                _ = await terminal.text(until: "World=> find ")
                terminal.press("con\t")
                _ = await terminal.text(until: "World=> find Contacts ")
                terminal.press("Ci\t")
                _ = await terminal.text(until: "World=> find Contacts City=")
                terminal.press("Lx\u{7F}\t")
                _ = await terminal.text(until: "\u{7}")
                terminal.press("ondonx\u{7F} --csv --fields Name\n")
                terminal.type("!!")
                _ = await terminal.text(until: "find Contacts City=London --csv --fields Name\n")
                terminal.type("\\s")
                terminal.type("\\nonsense")
                _ = await terminal.text(until: "There is no \\nonsense")
                terminal.press("\u{4}")
            }
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 0,
                    output: """
                        recordId,modId,Name\r
                        1,0,Ada Lovelace\r
                        recordId,modId,Name\r
                        1,0,Ada Lovelace\r
                        1  find Contacts City=London --csv --fields Name
                        2  \\s

                        """,
                    errors: ""
                )
            )
            let text = await terminal.allText()
            #expect(text.hasPrefix("World on \(home.sandbox.url). \\? for help, \\q to end.\n"), "\(text)")
            #expect(home.sandbox.counters.logins == 1)
            #expect(home.sandbox.counters.openSessions == 0)
            #expect(home.text(Self.history) == nil, "without a profile nothing is kept")
            #expect(terminal.echoes)
        }
    }

    @Test(.thorough) func theHistoryOfAProfileHasNoWrites() async throws {
        try await Home.with { home in
            _ = try await home.asAdmin.fmdata("login", "world")
            let terminal = try Terminal()
            let first = try await shell(home, terminal) { _ in
                terminal.type("find Contacts City=London --csv")
                terminal.type("script Contacts Echo canary")
                terminal.type("edit Contacts 1 Notes=canary --dry-run")
                terminal.type(" find Contacts Name=spaced --csv")
                terminal.type("\\q")
            }
            #expect(first.status == 0)
            #expect(try home.mode(Self.history) == 0o600)
            expectNoDifference(home.text(Self.history), "\"find Contacts City=London --csv\"\n\"\\\\q\"\n")
            let second = try Terminal()
            let next = try await shell(home, second) { _ in
                second.type("!1")
                second.type("exit")
            }
            #expect(next.output.contains("Ada Lovelace"))
            #expect(home.sandbox.counters.logins == 1)
        }
    }

    @Test func ctrlCEndsTheCommandAndNotTheShell() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let finished = try await shell(home.asAdmin, terminal) { process in
                // At the prompt it drops the line.
                kill(process, SIGINT)
                _ = await terminal.text(until: "World=> \nWorld=> ")
                home.sandbox.inject(.holdAnswer, on: .find)
                terminal.type("find Contacts City=London")
                await home.sandbox.untilAnswersHeld()
                kill(process, SIGINT)
                terminal.type("layouts --csv --quiet")
                _ = await terminal.text(until: "--quiet belongs to fmdata shell")
                home.sandbox.releaseAnswers()
                terminal.type("get Contacts 2 --csv --fields Name")
                terminal.type("\\q")
            }
            #expect(finished.status == 0)
            expectNoDifference(finished.output, "recordId,modId,Name\r\n2,0,Émilie du Châtelet\r\n")
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    @Test func aWriteThatIsInterruptedIsSaid() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let finished = try await shell(home.asAdmin, terminal) { process in
                home.sandbox.inject(.holdAnswer, on: .createRecord)
                terminal.type("create Contacts Name=Ida")
                await home.sandbox.untilAnswersHeld()
                kill(process, SIGINT)
                _ = await terminal.text(until: "Interrupted: whether the write was carried out is not known.\n")
                home.sandbox.releaseAnswers()
                terminal.type("\\q")
            }
            #expect(finished.status == 0)
        }
    }

    @Test(arguments: [false, true]) func sigtermLogsOut(_ duringACommand: Bool) async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let finished = try await shell(home.asAdmin, terminal) { process in
                if duringACommand {
                    home.sandbox.inject(.holdAnswer, on: .find)
                    terminal.type("find Contacts City=London")
                    await home.sandbox.untilAnswersHeld()
                }
                kill(process, SIGTERM)
                if duringACommand { home.sandbox.releaseAnswers() }
            }
            #expect(finished.status == 143)
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    @Test func watchRepeatsWhatReads() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let finished = try await shell(home.asAdmin, terminal) { process in
                terminal.type("create Contacts Name=Ida --dry-run")
                terminal.type("\\watch 0.1")
                _ = await terminal.text(until: "repeats the last command, if that only reads: databases, ")
                terminal.type("\\timing")
                terminal.type("databases --csv")
                _ = await terminal.text(until: " ms\n")
                home.sandbox.inject(.holdAnswer, on: .databases)
                terminal.type("\\watch 0")
                await home.sandbox.untilAnswersHeld()
                // The second time is the one that is interrupted.
                home.sandbox.inject(.holdAnswer, on: .databases)
                home.sandbox.releaseAnswers()
                await home.sandbox.untilAnswersHeld()
                kill(process, SIGINT)
                terminal.type("\\z")
                _ = await terminal.text(until: "There is no \\z")
                home.sandbox.releaseAnswers()
                terminal.type("\\q")
            }
            #expect(finished.status == 0)
            expectNoDifference(finished.output.components(separatedBy: "database\r\nWorld\r\n").count, 3)
        }
    }

    @Test func tablesAtATerminal() async throws {
        try await Home.with { home in
            let terminal = try Terminal(columns: 100)
            async let finished = home.asAdmin.setting(["NO_COLOR": "1", "TERM": "xterm"]).fmdata(
                "shell",
                terminal: terminal,
                outputIsTerminal: true
            )
            _ = await terminal.text(until: "World=> ")
            terminal.type("\\x on")
            terminal.type("find Contacts City=London --fields Name")
            _ = await terminal.text(until: "recordId  1\nmodId     0\nName      Ada Lovelace\n")
            terminal.type("delete Contacts 1")
            _ = await terminal.text(until: "Delete record 1 of \"Contacts\"? [y/N] ")
            terminal.type("n")
            _ = await terminal.text(until: "Error: Nothing was deleted.\n")
            terminal.type("quit")
            #expect(try await finished.status == 0)
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    @Test func aHostThatRefusesEndsItAtOnce() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let refused = try await home.asAdmin.setting(["FM_PASSWORD": "wrong canary"]).fmdata(
                "shell",
                terminal: terminal
            )
            #expect(refused.status == 4)
            let text = await terminal.allText()
            #expect(text.hasPrefix("Error: "), "\(text)")
            #expect(!text.contains("canary") && !text.contains("=>"))
        }
    }
    #endif
}
