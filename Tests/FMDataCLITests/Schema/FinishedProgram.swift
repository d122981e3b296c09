import FMTestSupport
import Foundation
import Testing

/// A run of `fmdata` that has come to its end.
struct FinishedProgram: Equatable {
    var status: Int32
    var output: String
    var errors: String

    /// Runs it, and waits for its end without holding a thread of the tests' concurrency.
    ///
    /// - Parameters:
    ///   - maximumFileBlocks: how large a file it may write, in blocks of 1 KiB, as if the disk were full then.
    ///   - started: called with the number of its process.
    static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        maximumFileBlocks: Int? = nil,
        started: @escaping @Sendable (Int32) -> Void = { _ in }
    ) async throws -> FinishedProgram {
        // Products and tests are built into one folder.
        let folder = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
        // The signal is ignored, so that the write fails instead.
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
        // Files take whatever is said without anybody who reads it at the same time.
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
