import ArgumentParser
import FMModel
import Foundation
import Logging

/// What a command says beside its data, on standard error.
struct TalkOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say where host and account come from, and log each call. No line holds a value.")
    var verbose = false

    @Option(
        help: ArgumentHelp(
            "Write everything that is logged into this file, a JSON object per line. No line holds a value.",
            valueName: "file"
        ),
        completion: .file()
    )
    var trace: String?

    func validate() throws {
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
    }

    /// The logger of the library; nil if nothing is logged.
    func logger() throws -> Logger? {
        guard verbose || trace != nil else { return nil }
        let file = try trace.map { path in
            try FileError.telling("write \(path)") {
                let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
                guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            }
        }
        let handler = CommandLog(isVerbose: verbose, file: file)
        return Logger(label: "fmdata") { _ in handler }
    }

    /// The logger of work that waits until a store comes back, and says so in no other way; nil with `--quiet`.
    func storeLogger() -> Logger? {
        guard !quiet else { return nil }
        var handler = CommandLog(isVerbose: true, file: nil)
        handler.logLevel = .warning
        return Logger(label: "fmdata") { [handler] _ in handler }
    }
}
