import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// What a command says beside its data, and where its data go.
@Suite(.timeLimit(.minutes(15))) struct TalkTests {
    @Test func verboseSaysWhereEverythingComesFromAndEachCall() async throws {
        try await Home.with { home in
            let found = try await home.asAdmin.fmdata("find", "Contacts", "City=canary", "--verbose")
            #expect(found.status == 0)
            #expect(
                found.errors.hasPrefix(
                    "host from FM_HOST, database from FM_DATABASE, user from FM_USER, password from FM_PASSWORD\n"
                ),
                "\(found.errors)"
            )
            #expect(found.errors.contains("\ndebug: login finished "), "\(found.errors)")
            #expect(found.errors.contains("\ndebug: call finished "), "\(found.errors)")
            for secret in ["secret", "canary"] { #expect(!found.errors.contains(secret)) }
        }
    }

    @Test func aTraceHoldsEverythingButValues() async throws {
        try await Home.with { home in
            let path = home.file("trace").path
            let script = try await home.asAdmin.fmdata("script", "Contacts", "Echo", "canary", "--trace", path)
            #expect(script.errors == "")
            let trace = try #require(home.text("trace"))
            #expect(try home.mode("trace") == 0o600)
            let lines = trace.split(separator: "\n").map { try? JSONSerialization.jsonObject(with: Data($0.utf8)) }
            #expect(lines.count > 3)
            #expect(!lines.contains { $0 == nil })
            for secret in ["secret", "canary"] { #expect(!trace.contains(secret)) }
            let unwritable = try await home.asAdmin.fmdata("layouts", "--trace", "/nowhere/trace")
            expectNoDifference(
                unwritable,
                FinishedProgram(
                    status: 1,
                    output: "",
                    errors: "Error: cannot write /nowhere/trace: No such file or directory\n"
                )
            )
        }
    }

    // MARK: Readers that leave

    /// NIO ignores SIGPIPE, so a program must look at each of its writes.
    @Test(.thorough, arguments: [["--ndjson"], ["--csv"], ["--json"], ["--table"]])
    func aReaderThatLeavesEndsTheCommand(_ form: [String]) async throws {
        try await Home.with(solutions: [Self.large]) { home in
            var environment = home.asAdmin.environment
            environment["HOME"] = home.folder.path
            environment["FM_DATABASE"] = "Large"
            let pipe = try ChildProcess.pipe()
            let reader = pipe.reading
            let (started, continuation) = AsyncStream<Int32>.makeStream()
            async let finished = FinishedProgram.run(
                ["find", "Rows", "--all"] + form,
                environment: environment,
                output: pipe.writing,
                started: { continuation.yield($0) }
            )
            for await _ in started { break }
            #expect(!reader.availableData.isEmpty)
            try reader.close()
            let end = try await finished
            #expect(end.status == 141)
            #expect(end.errors == "")
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    /// More than fits into the buffers between two programs.
    static let large = Solution(
        name: "Large",
        tables: [
            Solution.Table(
                name: "Rows",
                fields: [Solution.Field("Text")],
                records: (0..<20_000).map { Solution.Record(["Text": "\($0) \(String(repeating: "x", count: 500))"]) }
            )
        ],
        layouts: [.layout(Solution.Layout(name: "Rows", table: "Rows", fields: ["Text"]))],
        accounts: [Solution.Account(name: "admin", password: "secret")]
    )

    // MARK: At a terminal

    #if os(Linux)
    @Test(.thorough) func whatTakesLongIsSaidInOneLine() async throws {
        try await Home.with { home in
            home.sandbox.inject(.holdAnswer, on: .layouts)
            let terminal = try Terminal()
            async let finished = home.asAdmin.fmdata("layouts", terminal: terminal)
            let text = await terminal.text(until: ", 1 s")
            #expect(text.contains("Waiting for http://127.0.0.1:"), "\(text)")
            #expect(!text.contains("\n"))
            await home.sandbox.untilAnswersHeld()
            home.sandbox.releaseAnswers()
            #expect(try await finished.status == 0)
            // The line is erased in the end.
            #expect(await terminal.text(until: "\u{0}").hasSuffix("\r\u{1B}[K"))
        }
    }

    @Test(.thorough) func quietSaysNothing() async throws {
        try await Home.with { home in
            home.sandbox.inject(.delay(.seconds(1)), on: .layouts)
            let terminal = try Terminal()
            let finished = try await home.asAdmin.fmdata("layouts", "--quiet", terminal: terminal)
            #expect(finished.status == 0)
            #expect(await terminal.allText() == "")
        }
    }

    @Test(arguments: [(200, true), (40, false)])
    func aTerminalGetsATable(_ columns: Int, _ isTable: Bool) async throws {
        try await Home.with { home in
            let terminal = try Terminal(columns: columns)
            let home = home.asAdmin.setting(["NO_COLOR": "1"])
            let finished = try await home.fmdata(
                "find",
                "Contacts",
                "City=London",
                "--fields",
                "Name,City,Birthday",
                terminal: terminal,
                outputIsTerminal: true
            )
            #expect(finished.status == 0)
            let text = await terminal.allText()
            expectNoDifference(
                text,
                isTable
                    ? """
                    recordId  modId  Name          City    Birthday
                    --------  -----  ------------  ------  ----------
                           1      0  Ada Lovelace  London  1815-12-10

                    """
                    : """
                    recordId  1
                    modId     0
                    Name      Ada Lovelace
                    City      London
                    Birthday  1815-12-10

                    """
            )
        }
    }

    @Test func namesAreBoldAtATerminal() async throws {
        try await Home.with { home in
            let terminal = try Terminal(columns: 200)
            _ = try await home.asAdmin.fmdata("databases", terminal: terminal, outputIsTerminal: true)
            #expect(await terminal.allText().hasPrefix("\u{1B}[1mdatabase\u{1B}[0m\n"))
        }
    }
    #endif

    @Test(
        arguments: [
            (0, nil, 3, "0 records"), (50, nil, 10, "50 records, 5/s"),
            (50, 200, 10, "50 of 200 records, 5/s, 30 s left"),
            (200, 200, 10, "200 of 200 records, 20/s"), (1, 2, 0, "1 of 2 records"),
        ] as [(Int, Int?, Int, String)]
    )
    func progressInWords(_ done: Int, _ total: Int?, _ seconds: Int, _ text: String) {
        expectNoDifference(ProgressLine.text(done, of: total, "records", after: .seconds(seconds)), text)
    }
}
