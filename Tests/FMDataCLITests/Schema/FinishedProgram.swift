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
    /// - Parameters:
    ///   - maximumFileBlocks: the maximum size of a file that it writes, in blocks of 1 KiB, to imitate a full disk.
    ///   - started: called with the process id.
    static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        maximumFileBlocks: Int? = nil,
        started: @escaping @Sendable (Int32) -> Void = { _ in }
    ) async throws -> FinishedProgram {
        // Products and tests are built into the same folder.
        let folder = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
        // Ignore the signal, so that the write fails instead.
        let limits = maximumFileBlocks.map {
            ["bash", "-c", "trap '' XFSZ; ulimit -f \($0); exec \"$0\" \"$@\""]
        }
        let command = (limits ?? []) + [folder.appendingPathComponent("fmdata").path] + arguments
        let own = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("FM_") }
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let result = Result {
                    try wait(command, environment: own.merging(environment) { $1 }, started)
                }
                continuation.resume(with: result)
            }
        }
    }

    private static func wait(
        _ command: [String],
        environment: [String: String],
        _ started: (Int32) -> Void
    ) throws -> FinishedProgram {
        // Unlike pipes, files need no reader while the program writes.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataTests-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["output", "errors"].map { folder.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        let process = try ChildProcess(
            "/usr/bin/env",
            command,
            environment: environment,
            input: FileHandle(forReadingAtPath: "/dev/null"),
            output: FileHandle(forWritingTo: files[0]),
            errors: FileHandle(forWritingTo: files[1])
        )
        started(process.id)
        let status = process.waitUntilExit()
        let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return FinishedProgram(status: status, output: texts[0], errors: texts[1])
    }
}
