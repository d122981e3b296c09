import FMSandbox
import FMTestSupport
import Foundation
import Testing

/// The program itself: what it prints, what it reads from standard input, and how it ends.
@Suite(.timeLimit(.minutes(15))) struct ProcessTests {
    /// A running `fmdata`, and its standard streams.
    private final class Program {
        private let process: ChildProcess
        private let input: FileHandle
        private let output: FileHandle
        private var received = Data()

        /// - Parameter errors: where standard error goes; by default to that of the tests.
        init(
            _ arguments: [String],
            environment: [String: String] = [:],
            errors: FileHandle? = nil
        ) throws {
            let (input, output) = (try ChildProcess.pipe(), try ChildProcess.pipe())
            (self.input, self.output) = (input.writing, output.reading)
            // Products and tests are built into the same folder.
            let folder = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
            process = try ChildProcess(
                folder.appendingPathComponent("fmdata").path,
                ["sandbox"] + arguments,
                environment: ProcessInfo.processInfo.environment
                    .filter { $0.key != "FM_PASSWORD" }
                    .merging(environment) { $1 },
                input: input.reading,
                output: output.writing,
                errors: errors
            )
        }

        convenience init(_ arguments: String...) throws { try self.init(arguments) }

        /// The next line of standard output, or `nil` at its end.
        func line() -> String? {
            while true {
                if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: received[..<end], as: UTF8.self)
                    received = Data(received[(end + 1)...])
                    return line
                }
                let more = output.availableData
                guard !more.isEmpty else { return nil }
                received += more
            }
        }

        func say(_ line: String) throws { try input.write(contentsOf: Data("\(line)\n".utf8)) }

        /// Waits until the program has ended by itself, and returns its exit status.
        func end() -> Int32 { process.waitUntilExit() }

        /// Sends a signal, and returns the program's exit status.
        func end(by signal: Int32) -> Int32 {
            kill(process.id, signal)
            return end()
        }
    }

    /// The programs that tests start: with a socket of another test they would keep its connection open.
    @Test func aProgramOfATestInheritsItsStandardStreamsAlone() throws {
        let sockets = (0..<3).map { _ in socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for socket in sockets { close(socket) } }
        let output = try ChildProcess.pipe()
        // The last one is the folder that it reads.
        let process = try ChildProcess("/bin/ls", ["/proc/self/fd"], output: output.writing)
        let files = try output.reading.readToEnd().map { String(decoding: $0, as: UTF8.self) }
        #expect(process.waitUntilExit() == 0)
        #expect(files?.split(separator: "\n") == ["0", "1", "2", "3"])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func itPrintsItsURLAndEndsOnASignal(_ signal: Int32) throws {
        let program = try Program()
        let url = try #require(program.line().flatMap(URL.init(string:)))
        #expect(url.scheme == "http")
        #expect(url.host == "127.0.0.1")
        #expect(program.end(by: signal) == 0)
        #expect(program.line() == nil)
    }

    @Test func withTLSItPrintsTheAuthority() throws {
        let program = try Program("--tls")
        #expect(program.line()?.hasPrefix("https://127.0.0.1:") == true)
        let authority = try #require(program.line())
        #expect(authority.hasPrefix("CA: "))
        #expect(FileManager.default.fileExists(atPath: String(authority.dropFirst(4))))
        #expect(program.end(by: SIGTERM) == 0)
    }

    @Test func aCertificateThatIsNotThere() throws {
        let failure = try failure("--tls", "--certificate", "/nowhere/c.pem", "--key", "/nowhere/k.pem")
        #expect(failure == (1, "Error: /nowhere/c.pem: there is no such file\n"))
    }

    @Test func itTakesCommands() throws {
        let program = try Program("--control")
        #expect(program.line()?.hasPrefix("http://") == true)
        try program.say("fault find:reset")
        #expect(program.line() == "ok")
        try program.say("nonsense")
        #expect(program.line()?.hasPrefix("error: unknown command") == true)
        try program.say("advance 60")
        #expect(program.line() == "ok")
        try program.say("sessions")
        #expect(program.line() == "[]")
        #expect(program.end(by: SIGTERM) == 0)
    }

    @Test func itSavesAtItsEnd() throws {
        try withTemporaryFolder { folder in
            let program = try Program("--save", folder.path)
            #expect(program.line() != nil)
            #expect(program.end(by: SIGTERM) == 0)
            #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("World.json").path))
        }
    }

    // MARK: Errors

    /// Runs a program that cannot start.
    private func failure(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) throws -> (status: Int32, text: String) {
        let errors = try ChildProcess.pipe()
        let program = try Program(arguments, environment: environment, errors: errors.writing)
        let text = String(decoding: try errors.reading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(program.line() == nil, "nothing on standard output")
        return (program.end(), text)
    }

    @Test func aSolutionFileThatIsNotThere() throws {
        let missing = try failure("--solution", "/nowhere/shop.json")
        #expect(missing == (1, "Error: /nowhere/shop.json: there is no such file\n"))
        let folder = try failure("--solution", "/dev")
        #expect(folder == (1, "Error: /dev: expected a file, found a folder\n"))
    }

    @Test func aSolutionFileThatIsNoJSON() throws {
        try withTemporaryFile(Data("{\"name\": \"Shop\",\n \"tables\": [],\n}\n".utf8)) { path in
            let failure = try failure("--solution", path)
            let reason = #"line 3, column 1: expected a key in quotes, found "}""#
            #expect(failure == (1, "Error: \(path): \(reason)\n"))
        }
    }

    @Test func aSolutionFileWithAWrongValue() throws {
        let text = #"{"name":"Shop","tables":[{"name":"Items","fields":["Name",{"name":"Price","type":"numbr"}]}]}"#
        try withTemporaryFile(Data(text.utf8)) { path in
            let failure = try failure("--solution", path)
            let reason =
                #"tables[0].fields[1].type: expected "text", "number", "date", "time", "timestamp" or "container", "#
                + #"found "numbr""#
            #expect(failure == (1, "Error: \(path): \(reason)\n"))
        }
    }

    @Test func anUnknownFault() throws {
        let failure = try failure("--fault", "find:htlm502")
        #expect(failure.status == 64)
        #expect(failure.text.contains(#"unknown fault "htlm502"; known are expireToken, refuseToken, "#))
        let other = try self.failure("--fault", "finds:reset")
        #expect(other.text.contains(#"unknown endpoint "finds"; did you mean find? known are productInfo, "#))
    }

    @Test func aPortThatIsTaken() throws {
        let first = try Program()
        let port = try #require(first.line().flatMap(URL.init(string:))?.port)
        let failure = try failure("--port", "\(port)")
        #expect(failure.status == 1)
        #expect(
            failure.text
                == "Error: port \(port) of 127.0.0.1: another program listens on it. Choose another one, or let the system "
                + "choose: --port 0\n"
        )
        #expect(first.end(by: SIGTERM) == 0)
    }

    @Test func aFolderThatCannotBeSavedTo() throws {
        let failure = try failure("--save", "/dev/null/x")
        #expect(failure == (1, "Error: cannot save into /dev/null/x: Not a directory\n"))
    }

    // MARK: Accounts

    @Test func anAccountNeedsAPassword() throws {
        let failure = try failure("--user", "tester")
        #expect(failure.status == 64)
        #expect(
            failure.text.hasPrefix(
                "Error: --user needs a password: set FM_PASSWORD, or give --password (\"\" for an empty one).\n"
            )
        )
    }

    /// `ps` shows arguments, but not the environment.
    @Test(arguments: [([String](), "pass:word"), (["--password", ""], "")])
    func thePasswordMayStandInTheEnvironment(_ arguments: [String], _ password: String) throws {
        try withTemporaryFolder { folder in
            let program = try Program(
                ["--user", "tester", "--save", folder.path] + arguments,
                environment: ["FM_PASSWORD": "pass:word"]
            )
            #expect(program.line() != nil)
            #expect(program.end(by: SIGTERM) == 0)
            let accounts = try Solution.load(from: folder.appendingPathComponent("World.json")).accounts
            #expect(accounts.filter { $0.name == "tester" }.map(\.password) == [password])
        }
    }

    // MARK: At a terminal

    #if os(Linux)
    @Test func atATerminalItSaysWhatItServes() async throws {
        let terminal = try Terminal()
        let program = try Program([], errors: terminal.programsEnd())
        let url = try #require(program.line())
        let text = await terminal.text(until: "/sessions'")
        #expect(
            text.contains("World (accounts admin, guest, ada@example.com by OAuth, grace@example.com by Claris ID)")
        )
        #expect(
            text.contains(
                "curl -u 'admin' -H 'Content-Type: application/json' -d '{}' "
                    + "'\(url)/fmi/data/vLatest/databases/World/sessions'"
            )
        )
        #expect(!text.contains("secret"))
        #expect(program.end(by: SIGTERM) == 0)
    }
    #endif
}
