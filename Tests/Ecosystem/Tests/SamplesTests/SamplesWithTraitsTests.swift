import FMSandbox
import Foundation
import Programs
import Testing

/// The articles with samples that need traits: all samples of each are run in each place into which a reader might
/// paste them, and print what their comments claim. `DocumentationTests` runs all others.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SamplesWithTraitsTests {
    private static let articles = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/FMData/Documentation.docc")

    /// The lines that the samples of an article claim to print.
    private static func claims(of article: String) throws -> [String] {
        let text = try String(contentsOf: articles.appendingPathComponent("\(article).md"), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.contains("print(") }.compactMap { line in
            line.range(of: #"[)}] *// "#, options: .regularExpression).map { String(line[$0.upperBound...]) }
        }
    }

    @Test(arguments: ["main", "class", "function"])
    func everySamplePrintsWhatItClaims(in place: String) async throws {
        try await expectItsLines("InAService", in: place, atLeast: 10)
    }

    @Test(
        .enabled(if: Store.path != nil, "neither redis-server nor valkey-server is installed"),
        arguments: ["main", "class", "function"]
    )
    func everySampleWithAStorePrintsWhatItClaims(in place: String) async throws {
        let store = try Store()
        defer { store.stop() }
        try await expectItsLines("Fleets", in: place, atLeast: 2, environment: ["SAMPLES_STORE": store.socket])
    }

    private func expectItsLines(
        _ article: String,
        in place: String,
        atLeast count: Int,
        environment: [String: String] = [:]
    ) async throws {
        let claims = try Self.claims(of: article)
        #expect(claims.count >= count)
        let run = try await run(article, in: place, environment)
        #expect(run.status == 0)
        for line in claims + ["the end of the sample"] { #expect(run.lines.contains(line), "\(run.lines)") }
    }

    private func run(
        _ article: String,
        in place: String,
        _ environment: [String: String]
    ) async throws -> (lines: [String], status: Int32) {
        let sandbox = try await Sandbox.start([.sample])
        let process = Process()
        let output = Pipe()
        // Products and tests are built into the same folder.
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent()
            .appendingPathComponent("samples-with-traits")
        process.arguments = [place, article]
        process.environment = ProcessInfo.processInfo.environment.merging(["SAMPLES_SERVER": sandbox.url]) { $1 }
            .merging(environment) { $1 }
        // Without input, the program ends after the last line of its document.
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let text = await withCheckedContinuation { continuation in
            // A thread of its own: reading blocks, and the threads of tasks are few.
            Thread.detachNewThread {
                continuation.resume(returning: output.fileHandleForReading.readDataToEndOfFile())
            }
        }
        process.waitUntilExit()
        await sandbox.stop()
        return (String(decoding: text, as: UTF8.self).components(separatedBy: "\n"), process.terminationStatus)
    }
}
