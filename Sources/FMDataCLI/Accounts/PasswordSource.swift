import FMModel
import Foundation

/// Where a password comes from. It is read when a login needs it, and not at all if the session of an earlier command
/// is still open.
struct PasswordSource: Sendable {
    /// The source in words, for `--verbose`: `FM_PASSWORD`.
    let name: String
    /// Whether the user is asked.
    var isQuestion = false
    /// Whether options or the environment name it, so that it is meant for this command.
    var isGiven = false
    let read: @Sendable () async throws -> String

    /// The source, named by options or the environment.
    var given: PasswordSource {
        var source = self
        source.isGiven = true
        return source
    }

    /// A password that is known already.
    static func known(_ password: String, from name: String) -> PasswordSource {
        PasswordSource(name: name) { password }
    }

    /// The first line of standard input.
    static let standardInput = PasswordSource(name: "standard input") {
        guard let line = readPasswordLine() else { throw CommandError("Standard input ended before the password.") }
        return line
    }

    /// The first line of a file.
    static func file(_ path: String) -> PasswordSource {
        PasswordSource(name: path) {
            let url = URL(fileURLWithPath: path)
            let content = try FileError.telling("read the password from \(path)") { try Data(contentsOf: url) }
            return firstLine(of: content)
        }
    }

    /// The first line that a program prints. It is started without a shell and without standard input.
    static func command(_ words: [String]) -> PasswordSource {
        PasswordSource(name: words.first ?? "") {
            let printed = try await PasswordProgram.output(of: words)
            return firstLine(of: printed)
        }
    }

    /// What the user types at the terminal, without echo.
    static func prompt(_ text: String) -> PasswordSource {
        PasswordSource(name: "the terminal", isQuestion: true) { try await TerminalPrompt.ask(text, echo: false) }
    }

    private static func firstLine(of content: Data) -> String {
        let line = String(decoding: content.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return line.hasSuffix("\r") ? String(line.dropLast()) : line
    }

    /// Reads byte by byte, so that what stands behind the line is left for the command.
    private static func readPasswordLine() -> String? {
        var line = Data()
        var byte: UInt8 = 0
        while true {
            switch Foundation.read(STDIN_FILENO, &byte, 1) {
            case 1 where byte == UInt8(ascii: "\n"): return firstLine(of: line)
            case 1: line.append(byte)
            case -1 where errno == EINTR: continue
            default: return line.isEmpty ? nil : firstLine(of: line)
            }
        }
    }
}

/// A password that is read at most once, however many sessions need it.
actor PasswordReader {
    let source: PasswordSource
    private var reading: Task<String, any Error>?
    private var isCancelled = false

    init(_ source: PasswordSource) { self.source = source }

    func password() async throws -> String {
        if isCancelled { throw CancellationError() }
        if let reading { return try await reading.value }
        let source = source
        let task = Task { try await source.read() }
        reading = task
        return try await task.value
    }

    /// Ends a prompt or a program that is under way, for good.
    func cancel() {
        isCancelled = true
        reading?.cancel()
    }
}

/// A program that prints a password.
private enum PasswordProgram {
    static func output(of words: [String]) async throws -> Data {
        guard let name = words.first else { throw CommandError("The password_command of the profile is empty.") }
        let pipe = try ChildProgram.pipe()
        let program: ChildProgram
        do {
            defer { close(pipe.writing) }
            // It may ask at the terminal, but not read what is meant for the command.
            let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
            defer { close(nothing) }
            program = try ChildProgram(words, input: nothing, output: pipe.writing)
        } catch {
            close(pipe.reading)
            throw CommandError("\(name), which prints the password, cannot be started.")
        }
        let printed = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let reading = FileHandle(fileDescriptor: pipe.reading, closeOnDealloc: true)
                    continuation.resume(returning: (try? reading.readToEnd()) ?? Data())
                }
            }
        } onCancel: {
            program.terminate()
        }
        let status = await program.end()
        try Task.checkCancellation()
        // What it has printed may be a secret, and is not repeated.
        guard status == 0 else {
            throw CommandError("\(name), which prints the password, failed with status \(status).")
        }
        return printed
    }
}
