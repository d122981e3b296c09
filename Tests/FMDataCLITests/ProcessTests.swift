import Foundation
import Testing

/// The program itself: what it prints, what it takes from standard input, and how it ends.
@Suite(.timeLimit(.minutes(1))) struct ProcessTests {
    /// A `fmdata` that is running, and its standard streams.
    private final class Program {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()
        private var received = Data()

        init(_ arguments: String...) throws {
            // Products and tests are built into one folder.
            let folder = Bundle.main.executableURL?.deletingLastPathComponent()
            process.executableURL = try #require(folder).appendingPathComponent("fmdata")
            process.arguments = ["sandbox"] + arguments
            process.standardInput = input
            process.standardOutput = output
            try process.run()
        }

        /// The next line of standard output; nil at its end.
        func line() -> String? {
            while true {
                if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: received[..<end], as: UTF8.self)
                    received = Data(received[(end + 1)...])
                    return line
                }
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else { return nil }
                received += more
            }
        }

        func say(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

        /// Sends a signal, and returns the status the program ends with.
        func end(by signal: Int32) -> Int32 {
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
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

    @Test func itTakesCommands() throws {
        let program = try Program("--control")
        #expect(program.line()?.hasPrefix("http://") == true)
        try program.say("fault find:reset")
        #expect(program.line() == "ok")
        try program.say("nonsense")
        #expect(program.line()?.hasPrefix("error: unknown command") == true)
        try program.say("sessions")
        #expect(program.line() == "[]")
        #expect(program.end(by: SIGTERM) == 0)
    }

    @Test func itSavesAtItsEnd() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataCLITests-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try Program("--save", folder.path)
        #expect(program.line() != nil)
        #expect(program.end(by: SIGTERM) == 0)
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("World.json").path))
    }
}
