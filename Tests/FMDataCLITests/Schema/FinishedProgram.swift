import Foundation
import Testing

/// A run of `fmdata` that has come to its end.
struct FinishedProgram: Equatable {
    var status: Int32
    var output: String
    var errors: String

    /// Runs it, and waits for its end without holding a thread of the tests' concurrency.
    static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> FinishedProgram {
        // Products and tests are built into one folder.
        let folder = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
        let own = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("FM_") }
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let result = Result {
                    try wait(
                        folder.appendingPathComponent("fmdata"),
                        arguments,
                        environment: own.merging(environment) { $1 }
                    )
                }
                continuation.resume(with: result)
            }
        }
    }

    private static func wait(
        _ program: URL,
        _ arguments: [String],
        environment: [String: String]
    ) throws -> FinishedProgram {
        // Files take whatever is said without anybody who reads it at the same time.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataTests-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["output", "errors"].map { folder.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return FinishedProgram(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }
}
