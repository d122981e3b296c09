import CustomDump
import FMTestSupport
import Foundation
import Testing

/// The result of a run of `fmdata`.
struct FinishedProgram: Equatable {
    var status: Int32
    var output: String
    var errors: String

    /// Runs the program and waits for its end without blocking a thread of Swift concurrency.
    ///
    /// The user has no files of the command, unless the environment names a `HOME` with some, no pager, and more
    /// patience with a host than any busy machine needs.
    ///
    /// - Parameters:
    ///   - input: the standard input, at the end of which it ends.
    ///   - terminal: where standard input comes from and standard error goes to.
    ///   - outputIsTerminal: whether standard output goes to the terminal as well.
    ///   - output: where standard output goes; nil to a file, whose text is that of the result.
    ///   - maximumFileBlocks: the maximum size of a file that it writes, in blocks of 1 KiB, to imitate a full disk.
    ///   - ignoresHangUp: whether SIGHUP is ignored when it starts, as `nohup` sets it.
    ///   - started: called with the process id.
    static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = "",
        terminal: Terminal? = nil,
        outputIsTerminal: Bool = false,
        output: FileHandle? = nil,
        maximumFileBlocks: Int? = nil,
        ignoresHangUp: Bool = false,
        started: @escaping @Sendable (Int32) -> Void = { _ in }
    ) async throws -> FinishedProgram {
        // Ignore the signal, so that the write fails instead.
        var settings = maximumFileBlocks.map { ["trap '' XFSZ", "ulimit -f \($0)"] } ?? []
        if ignoresHangUp { settings.append("trap '' HUP") }
        let shell = settings.isEmpty ? [] : ["bash", "-c", settings.joined(separator: "; ") + "; exec \"$0\" \"$@\""]
        return try await run(
            command: shell + [try folder().appendingPathComponent("fmdata").path] + arguments,
            environment: environment,
            input: input,
            terminal: terminal,
            output: outputIsTerminal ? terminal?.programsEnd() : output,
            started: started
        )
    }

    /// Runs a line of a shell, which finds the program by its name, at a terminal.
    static func run(
        shell line: String,
        environment: [String: String],
        at terminal: Terminal
    ) async throws -> FinishedProgram {
        let path = try "\(folder().path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        return try await run(
            command: ["sh", "-c", line],
            environment: environment.merging(["PATH": path]) { $1 },
            input: "",
            terminal: terminal,
            output: terminal.programsEnd(),
            started: { _ in }
        )
    }

    /// The folder of the program: products and tests are built into the same one.
    private static func folder() throws -> URL {
        try #require(Bundle.main.executableURL?.deletingLastPathComponent())
    }

    /// The programs that run at a time: if all tests began theirs at once, other tests would wait for the machine. No
    /// test runs one beside another, so none waits for itself.
    private static let places = DispatchSemaphore(value: 4)

    private static func run(
        command: [String],
        environment: [String: String],
        input: String,
        terminal: Terminal?,
        output: FileHandle?,
        started: @escaping @Sendable (Int32) -> Void
    ) async throws -> FinishedProgram {
        let hidden = ["FM_", "FMDATA_", "XDG_", "NO_COLOR", "COLUMNS", "HOME"]
        let own = ProcessInfo.processInfo.environment.filter { name, _ in !hidden.contains { name.hasPrefix($0) } }
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                places.wait()
                defer { places.signal() }
                let result = Result {
                    try wait(
                        command,
                        environment: own.merging(["FMDATA_PAGER": "", "FM_TIMEOUT": "3600"]) { $1 }.merging(environment)
                        { $1 },
                        input: input,
                        terminal: terminal,
                        output: output,
                        started
                    )
                }
                continuation.resume(with: result)
            }
        }
    }

    private static func wait(
        _ command: [String],
        environment: [String: String],
        input: String,
        terminal: Terminal?,
        output: FileHandle?,
        _ started: (Int32) -> Void
    ) throws -> FinishedProgram {
        // Unlike pipes, files need no reader while the program writes.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataTests-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["output", "errors", "input"].map { folder.appendingPathComponent($0) }
        for file in files { try Data((file == files[2] ? input : "").utf8).write(to: file) }
        let process = try ChildProcess(
            "/usr/bin/env",
            command,
            environment: ["HOME": folder.path].merging(environment) { $1 },
            input: terminal?.programsEnd() ?? FileHandle(forReadingFrom: files[2]),
            output: output ?? FileHandle(forWritingTo: files[0]),
            errors: terminal?.programsEnd() ?? FileHandle(forWritingTo: files[1])
        )
        started(process.id)
        let status = process.waitUntilExit()
        let texts = try files[..<2].map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return FinishedProgram(status: status, output: texts[0], errors: texts[1])
    }
}

/// Expects that a run has printed this and nothing else.
func expect(
    _ finished: FinishedProgram,
    _ output: String,
    errors: String = "",
    status: Int32 = 0,
    fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
) {
    expectNoDifference(
        finished,
        FinishedProgram(status: status, output: output, errors: errors),
        fileID: fileID,
        filePath: filePath,
        line: line,
        column: column
    )
}
