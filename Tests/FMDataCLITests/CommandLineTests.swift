import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// How `fmdata` is called, and what it prints when it is called in a wrong way.
@Suite(.timeLimit(.minutes(15))) struct CommandLineTests {
    private func fmdata(_ arguments: String..., environment: [String: String] = [:]) async throws -> FinishedProgram {
        try await FinishedProgram.run(arguments, environment: environment)
    }

    /// The settings with which a command would call a host; port 9 has no listener.
    private static let nobody = [
        "FM_HOST": "http://127.0.0.1:9", "FM_DATABASE": "Shop", "FM_USER": "api", "FM_PASSWORD": "x",
    ]

    @Test func itSaysItsVersion() async throws {
        let version = try await fmdata("--version")
        expectNoDifference(
            version,
            FinishedProgram(status: 0, output: "\(FMDataCommand.version)\n", errors: "")
        )
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: package.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains(#"FMData", from: "\#(FMDataCommand.version)")"#))
    }

    // MARK: Commands

    @Test func theNearestCommandIsNamed() async throws {
        let command = try await fmdata("shema", "fetch")
        expectNoDifference(
            command,
            FinishedProgram(
                status: 64,
                output: "",
                errors: """
                    Error: Unknown command 'shema'. Did you mean 'schema'?
                    Usage: fmdata <subcommand>
                      See 'fmdata --help' for more information.

                    """
            )
        )
        let subcommand = try await fmdata("schema", "fetc", "--all")
        expectNoDifference(
            subcommand.errors,
            """
            Error: Unknown command 'fetc'. Did you mean 'fetch'?
            Usage: fmdata schema <subcommand>
              See 'fmdata schema --help' for more information.

            """
        )
        let other = try await fmdata("frobnicate")
        #expect(other.status == 64)
        #expect(
            other.errors.hasPrefix(
                "Error: Unknown command 'frobnicate'. Commands are: doctor, schema, generate, sandbox, probe, fleet, mcp, "
            )
        )
    }

    @Test func helpOfAnUnknownCommandIsAMistake() async throws {
        for arguments in [["help", "nothing"], ["help", "schema", "fetc"], ["schema", "help", "fetc"]] {
            let help = try await FinishedProgram.run(arguments)
            #expect(help.status == 64, "\(arguments)")
            #expect(
                help.errors.hasPrefix("Error: Unknown command '\(arguments[arguments.count - 1])'."),
                "\(help.errors)"
            )
        }
    }

    /// A package that is built on a full disk would have half a script.
    @Test(arguments: [
        ["--generate-completion-script", "bash"], ["--help"], ["--version"], ["help", "find"],
    ])
    func aFullDiskIsAnError(_ arguments: [String]) async throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let finished = try await FinishedProgram.run(arguments, output: full)
        expectNoDifference(
            finished,
            FinishedProgram(
                status: 1,
                output: "",
                errors: "Error: cannot write standard output: No space left on device\n"
            )
        )
    }

    @Test(arguments: [["help", "schema"], ["schema", "--help"], ["--help"], []])
    func helpIsNoUnknownCommand(_ arguments: [String]) async throws {
        let help = try await FinishedProgram.run(arguments)
        #expect(help.status == 0)
        #expect(help.output.contains("USAGE: fmdata"))
    }

    // MARK: Usage

    /// Missing options are noticed only when the command runs.
    @Test(.thorough) func aMistakeShowsTheUsageOfItsCommand() async throws {
        func usage(_ command: String) -> String {
            "\nUsage: fmdata \(command) "
        }
        let fetch = try await fmdata("schema", "fetch", "A", "--user", "api", "--database", "Shop")
        #expect(fetch.status == 64)
        let question = "Error: Which host? Give --host, set FM_HOST, or make a profile: fmdata login."
        #expect(fetch.errors.hasPrefix(question + usage("schema fetch")), "\(fetch.errors)")
        #expect(fetch.errors.hasSuffix("\n  See 'fmdata schema fetch --help' for more information.\n"))
        let probe = try await fmdata("probe", environment: Self.nobody.filter { $0.key != "FM_PASSWORD" })
        #expect(probe.status == 64)
        let password =
            "Error: The password of api is missing: set FM_PASSWORD, or give --password-file or --password-stdin."
        #expect(probe.errors.hasPrefix(password + usage("probe")), "\(probe.errors)")
        try await withTemporaryFolder { folder in
            let diff = try await fmdata("schema", "diff", "--models", folder.path, environment: Self.nobody)
            #expect(diff.status == 64)
            #expect(
                diff.errors.hasPrefix(
                    "Error: The snapshot holds no layout yet. Name some, or give --all." + usage("schema diff")
                )
            )
        }
        let option = try await fmdata("schema", "fetch", "--hosst", "x")
        #expect(option.status == 64)
        #expect(option.errors.contains("Did you mean '--host'?"))
        #expect(option.errors.contains("Usage: fmdata schema fetch "))
    }

    @Test(.thorough, arguments: ["a b", "http://", "fms.example.com/fmi/data", "http://fms.example.com"])
    func aHostThatCannotBeAskedIsAMistakeOfUsage(_ host: String) async throws {
        try await withTemporaryFolder { folder in
            let environment = Self.nobody.merging(["FM_HOST": host]) { $1 }
            let fetch = try await fmdata("schema", "fetch", "A", "--models", folder.path, environment: environment)
            #expect(fetch.status == 64, "\(fetch.errors)")
            #expect(fetch.errors.contains("\nUsage: fmdata schema fetch "), "\(fetch.errors)")
            #expect(!fetch.errors.contains("config."), "\(fetch.errors)")
        }
    }

    /// The mistake is where the user made it.
    @Test func aWrongHostIsSaidWhereItWasGiven() async throws {
        let option = try await fmdata("layouts", "--host", "a b", environment: Self.nobody)
        expectNoDifference(option.status, 64)
        #expect(
            option.errors.hasPrefix("Error: --host must be a host alone, as in fms.example.com.\n"),
            "\(option.errors)"
        )
        let variable = try await fmdata("layouts", environment: Self.nobody.merging(["FM_HOST": "a b"]) { $1 })
        #expect(variable.errors.hasPrefix("Error: FM_HOST must be a host alone"), "\(variable.errors)")
    }

    // MARK: Files

    @Test func filesAreSpokenOfInWords() async throws {
        try await withTemporaryFolder { folder in
            let snapshot = folder.appendingPathComponent("FileMaker")
            try FileManager.default.createDirectory(
                at: snapshot.appendingPathComponent("A.json"),
                withIntermediateDirectories: true
            )
            let generated = try await fmdata("generate", "--models", folder.path)
            expectNoDifference(
                generated,
                FinishedProgram(
                    status: 1,
                    output: "",
                    errors: "Error: cannot read \(snapshot.path)/A.json: Is a directory\n"
                )
            )
            let ca = try await fmdata("probe", "--ca", "/nowhere/ca.pem", environment: Self.nobody)
            expectNoDifference(
                ca,
                FinishedProgram(
                    status: 1,
                    output: "",
                    errors: "Error: cannot read /nowhere/ca.pem: No such file or directory\n"
                )
            )
        }
    }

    @Test func aFolderThatCannotBeMadeIsSpokenOfInWords() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let fetched = try await fmdata(
            "schema",
            "fetch",
            "Contacts",
            "--models",
            "/dev/null/models",
            environment: Self.world(sandbox)
        )
        expectNoDifference(
            fetched,
            FinishedProgram(
                status: 1,
                output: "",
                errors: "Error: cannot make the folder /dev/null/models/FileMaker: Not a directory\n"
            )
        )
        #expect(sandbox.counters.openSessions == 0)
        await sandbox.stop()
    }

    // MARK: Hosts

    private static func world(_ sandbox: Sandbox) -> [String: String] {
        ["FM_HOST": sandbox.url, "FM_DATABASE": "World", "FM_USER": "admin", "FM_PASSWORD": "secret"]
    }

    @Test func hintsSpeakOfOptions() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.tls = true
                $0.keepAlive = .seconds(3600)
            }
        )
        let file = try #require(sandbox.certificateAuthorityFile)
        try await withTemporaryFolder { folder in
            func fetch(_ options: String...) async throws -> FinishedProgram {
                try await FinishedProgram.run(
                    ["schema", "fetch", "Contacts", "--models", folder.path] + options,
                    environment: Self.world(sandbox)
                )
            }
            let untrusted = try await fetch()
            #expect(untrusted.status == 5)
            #expect(
                untrusted.errors.hasSuffix(
                    " Hint: If this is your server, trust its authority (or its self-signed certificate): --ca ca.pem.\n"
                ),
                "\(untrusted.errors)"
            )
            #expect(try await fetch("--ca", file).status == 0)
        }
        await sandbox.stop()
    }

    @Test func theNearestLayoutIsNamed() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        try await withTemporaryFolder { folder in
            let fetched = try await fmdata(
                "schema",
                "fetch",
                "Contatcs",
                "--models",
                folder.path,
                environment: Self.world(sandbox)
            )
            #expect(fetched.status == 1)
            #expect(fetched.errors.contains(#" Hint: Did you mean "Contacts"?"#), "\(fetched.errors)")
        }
        await sandbox.stop()
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func aSignalLogsOut(_ signal: Int32, _ status: Int32) async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        sandbox.inject(.holdAnswer, on: .getRecords)
        let (started, continuation) = AsyncStream<Int32>.makeStream()
        async let finished = FinishedProgram.run(
            ["probe"],
            environment: Self.world(sandbox),
            started: { continuation.yield($0) }
        )
        await sandbox.untilAnswersHeld()
        #expect(sandbox.counters.openSessions == 1)
        for await process in started {
            kill(process, signal)
            break
        }
        let end = try await finished
        expectNoDifference(end, FinishedProgram(status: status, output: "", errors: ""))
        #expect(sandbox.counters.openSessions == 0)
        sandbox.releaseAnswers()
        await sandbox.stop()
    }

    @Test func underNohupAClosedTerminalChangesNothing() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        sandbox.inject(.holdAnswer, on: .layouts)
        let (started, continuation) = AsyncStream<Int32>.makeStream()
        async let finished = FinishedProgram.run(
            ["layouts", "--ndjson"],
            environment: Self.world(sandbox),
            ignoresHangUp: true,
            started: { continuation.yield($0) }
        )
        await sandbox.untilAnswersHeld()
        for await process in started {
            kill(process, SIGHUP)
            break
        }
        sandbox.releaseAnswers()
        let end = try await finished
        #expect(end.status == 0, "\(end)")
        #expect(end.output.contains("Contacts"), "\(end)")
        await sandbox.stop()
    }
}
