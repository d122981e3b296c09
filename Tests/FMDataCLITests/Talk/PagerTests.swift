import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// Long output at a terminal, which goes through a pager.
@Suite(.timeLimit(.minutes(15))) struct PagerTests {
    @Test(
        arguments: [
            ([:], nil), (["TERM": "xterm"], "less"), (["TERM": "dumb"], nil),
            (["TERM": "xterm", "PAGER": "more"], "more"), (["TERM": "xterm", "PAGER": "cat"], nil),
            (["TERM": "xterm", "PAGER": "more", "FMDATA_PAGER": "less -S"], "less -S"),
            (["TERM": "xterm", "PAGER": "more", "FMDATA_PAGER": ""], nil),
        ] as [([String: String], String?)]
    )
    func whichPager(_ environment: [String: String], _ command: String?) {
        expectNoDifference(Pager.command(environment: environment, hasLess: true), command)
        expectNoDifference(
            Pager.command(environment: environment, hasLess: false),
            command == "less" ? nil : command
        )
    }

    #if os(Linux)
    private static func reading(_ home: Home, _ pager: String) -> Home {
        home.asAdmin.setting(["FMDATA_PAGER": pager, "TERM": "xterm", "NO_COLOR": "1", "LESS": ""])
    }

    @Test func dataGoThroughItAndRemarksFollow() async throws {
        try await Home.with { home in
            let terminal = try Terminal(columns: 100)
            let finished = try await Self.reading(home, "sed 's/^/page: /'").fmdata(
                "find",
                "Countries",
                "--limit",
                "1",
                "--fields",
                "Code",
                terminal: terminal,
                outputIsTerminal: true
            )
            #expect(finished.status == 0)
            let text = await terminal.allText()
            expectNoDifference(
                text,
                """
                page: recordId  modId  Code
                page: --------  -----  ----
                page:        1      0  AD
                1 of 249 records: --all prints all of them.

                """
            )
        }
    }

    @Test func lessIsToldHow() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            var home = Self.reading(home, "cat >&2; echo \"LESS=$LESS\"")
            home.environment["LESS"] = "FRX"
            _ = try await home.fmdata("databases", "--csv", terminal: terminal, outputIsTerminal: true)
            #expect(await terminal.allText().hasSuffix("LESS=FRX\n"))
            let other = try Terminal()
            home.environment["LESS"] = "-S"
            _ = try await home.fmdata("databases", "--csv", terminal: other, outputIsTerminal: true)
            #expect(await other.allText().hasSuffix("LESS=-S\n"))
        }
    }

    @Test func withoutATerminalThereIsNone() async throws {
        try await Home.with { home in
            let piped = try await Self.reading(home, "sed 's/^/page: /'").fmdata("databases", "--csv")
            expectNoDifference(piped.output, "database\r\nWorld\r\n")
        }
    }

    @Test func aPagerThatDoesNotExistIsAFailure() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let finished = try await Self.reading(home, "/nowhere/pager").fmdata(
                "databases",
                terminal: terminal,
                outputIsTerminal: true
            )
            #expect(finished.status == 1)
            let text = await terminal.allText()
            #expect(text.hasSuffix("The pager cannot be started: set FMDATA_PAGER to another one, or to nothing.\n"))
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    @Test(.thorough) func leavingItIsNoFailure() async throws {
        try await Home.with(solutions: [TalkTests.large]) { home in
            let terminal = try Terminal()
            let finished = try await Self.reading(home, "head -1").setting(["FM_DATABASE": "Large"]).fmdata(
                "find",
                "Rows",
                "--all",
                "--ndjson",
                terminal: terminal,
                outputIsTerminal: true
            )
            #expect(finished.status == 0)
            let text = await terminal.allText()
            #expect(text.hasPrefix(#"{"recordId":1,"#) && text.count(where: { $0 == "\n" }) == 1, "\(text)")
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    /// The command waits for the reader's next page when it is interrupted.
    @Test func ctrlCLogsOutAndWaitsForThePager() async throws {
        try await Home.with(solutions: [TalkTests.large]) { home in
            let gate = home.file("gate").path
            // The pager reads from here, until the test lets go of it.
            try #require(mkfifo(gate, 0o600) == 0)
            let writing = open(gate, O_RDWR | O_CLOEXEC)
            try #require(writing >= 0)
            home.sandbox.inject(.holdAnswer, on: .logout)
            let terminal = try Terminal()
            let (started, continuation) = AsyncStream<Int32>.makeStream()
            let environment = Self.reading(home, "{ echo started; cat; } < \(gate)").setting(["FM_DATABASE": "Large"])
                .environment
            async let finished = FinishedProgram.run(
                ["find", "Rows", "--all", "--ndjson"],
                environment: environment.merging(["HOME": home.folder.path]) { $1 },
                terminal: terminal,
                outputIsTerminal: true,
                started: { continuation.yield($0) }
            )
            _ = await terminal.text(until: "started")
            for await process in started {
                kill(process, SIGINT)
                break
            }
            await home.sandbox.untilAnswersHeld()
            home.sandbox.releaseAnswers()
            close(writing)
            #expect(try await finished.status == 130)
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }
    #endif
}
