import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

/// Every Swift sample of README and DocC, and every fenced one in a doc comment, is compiled and run in each place into
/// which a reader might paste it: in a `main.swift`, in the `main` of an `@main` type, in a main-actor class and in a
/// nonisolated function. Each prints what its comments claim, reaches its last line, and ends without a crash.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SamplesTests {
    enum Place: String, CaseIterable, Sendable {
        case mainFile, main, `class`, function
    }

    /// A document with samples, and the lines that they claim to print. The doc comments of a library belong to its
    /// page.
    struct Document: Sendable, CustomTestStringConvertible {
        let name: String
        var claims: [String] = []

        var testDescription: String { name }

        /// The lines that the samples of a file claim to print; `nil` if it has no samples.
        static func claims(of file: URL) throws -> [String]? {
            var isInSample = false
            var claims: [String]?
            var before = ""
            for line in try lines(of: file) {
                defer { before = line }
                // `Tests/Ecosystem` runs those that need traits.
                if line == "```swift" && before != "<!-- with traits -->" || line == "<!-- swift" {
                    isInSample = true
                    claims = claims ?? []
                } else if line == "```" || line == "-->" {
                    isInSample = false
                } else if isInSample, line.contains("print("),
                    let comment = line.range(of: #"[)}] *// "#, options: .regularExpression)
                {
                    claims?.append(String(line[comment.upperBound...]))
                }
            }
            return claims
        }

        /// The indented code in the doc comments of a source file, which follows an empty line of the comment.
        static func sketches(in file: URL) throws -> [String] {
            let doc = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
                .map(documentation)
            var sketches: [[String]] = []
            var isSketch = false
            var isFenced = false
            for (line, before) in zip(doc.dropFirst(), doc) {
                if line?.hasPrefix("```") == true { isFenced.toggle() }
                let isCode = !isFenced && line?.hasPrefix("    ") == true
                if isCode, before == "" { sketches.append([]) }
                isSketch = isCode && (isSketch || before == "")
                if isSketch, let line { sketches[sketches.count - 1].append(String(line.dropFirst(4))) }
            }
            return sketches.map { $0.joined(separator: "\n") }
        }

        /// The lines of a document, or the comment lines of a source file.
        private static func lines(of file: URL) throws -> [String] {
            let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
            guard file.pathExtension == "swift" else { return lines }
            return lines.map { line in
                let code = line.utf8.drop { $0 == UInt8(ascii: " ") }
                guard code.starts(with: "//".utf8) else { return line }
                let text = code.drop { $0 == UInt8(ascii: "/") }
                return String(Substring(text.first == UInt8(ascii: " ") ? text.dropFirst() : text))
            }
        }

        /// The text of a line of documentation; `nil` if the line is something else.
        private static func documentation(_ line: String) -> String? {
            let code = line.utf8.drop { $0 == UInt8(ascii: " ") }
            guard code.starts(with: "///".utf8) else { return nil }
            let text = code.dropFirst(3)
            if text.isEmpty { return "" }
            return text.first == UInt8(ascii: " ") ? String(Substring(text.dropFirst())) : nil
        }
    }

    private static let libraries = [
        "FMData", "FMDataCore", "FMDataRecords", "FMDataLive", "FMSandbox", "FMTesting", "FMWebhooks",
    ]
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func files(of library: String) -> [URL] {
        let folder = root.appendingPathComponent("Sources/\(library)")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        return files.compactMap { $0 as? URL }
    }

    static let documents: [Document] = {
        var documents: [String: Document] = [:]
        func add(_ file: URL, to name: String) {
            guard let claims = try? Document.claims(of: file) else { return }
            documents[name, default: Document(name: name)].claims += claims
        }
        add(root.appendingPathComponent("README.md"), to: "README")
        for library in libraries {
            for file in files(of: library) {
                switch file.pathExtension {
                case "md": add(file, to: file.deletingPathExtension().lastPathComponent)
                case "swift": add(file, to: library.hasPrefix("FMData") ? "FMData" : library)
                default: break
                }
            }
        }
        return documents.values.sorted { $0.name < $1.name }
    }()

    @Test func allDocumentsAreFound() {
        #expect(Self.documents.count > 15)
        #expect(Set(Self.documents.map(\.name)).isSuperset(of: ["README", "Errors", "FMData", "FMSandbox"]))
        expectNoDifference(Self.documents.filter(\.claims.isEmpty).map(\.name), [])
    }

    /// A sketch is indented, is not compiled and shows the shape of a call. A declaration of a complete type is a
    /// sample and belongs between fences.
    @Test func noSketchDeclaresAWholeType() throws {
        let sketches = try Self.libraries.flatMap { library in
            try Self.files(of: library).filter { $0.pathExtension == "swift" }.flatMap(Document.sketches)
        }
        #expect(sketches.count > 100)
        let types = #/^(?:public |final )*(?:struct|class|enum|actor|extension) .*\{/#.anchorsMatchLineEndings()
        expectNoDifference(sketches.filter { $0.contains(types) && !$0.contains("…") }, [])
    }

    @Test(.thorough, arguments: documents, Place.allCases)
    func everySamplePrintsWhatItClaims(_ document: Document, in place: Place) async throws {
        let run = try await run(document, in: place, until: document.claims + [Self.end])
        expectNoDifference(run.missing, [])
        expectNoDifference(run.status, 0)
    }

    /// Code that an article calls wrong crashes the program. Without that code the same program reaches its last line,
    /// as the test above shows.
    @Test(arguments: Effort.isThorough ? Place.allCases : [.function])
    func theWrongOrderEndsTheProgram(in place: Place) async throws {
        let document = try #require(Self.documents.first { $0.name == "WhereValuesArrive" })
        let run = try await run(document, in: place, until: ["no line of it"], doingWrong: true)
        // A Swift trap: "Illegal instruction" on x86-64, a breakpoint on ARM.
        #expect([128 + SIGILL, 128 + SIGTRAP].contains(run.status), "\(run.status)")
    }

    /// The line that a sample prints after its last line.
    private static let end = "the end of the sample"

    /// Runs a sample until it has printed all lines, in any order, or has ended. Then its standard input is closed, so
    /// that it ends.
    ///
    /// - Returns: the lines that are missing, and the exit status.
    private func run(
        _ document: Document,
        in place: Place,
        until lines: [String],
        doingWrong: Bool = false
    ) async throws -> (missing: [String], status: Int32) {
        var solution = Solution.sample
        solution.addJobs()
        solution.accounts.append(.init(name: "hooks", password: "secret"))
        let sandbox = try await Sandbox.start(
            [solution],
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.odata = .webhooks()
            }
        )
        var variables = ["SAMPLES_SERVER": sandbox.url]
        if doingWrong { variables.merge(["SAMPLES_DO_WRONG": "1", "SWIFT_BACKTRACE": "enable=no"]) { $1 } }
        // Products and tests are built into the same folder.
        let folder = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
        let (input, output) = (try ChildProcess.pipe(), try ChildProcess.pipe())
        let program = folder.appendingPathComponent(
            place == .mainFile ? "samples-in-main-file" : "samples-in-functions"
        )
        // A sample may write files into the temporary folder and leave them there.
        let run = try await withTemporaryFolder { temporaryFolder in
            variables["TMPDIR"] = temporaryFolder.path
            let process = try ChildProcess(
                program.path,
                place == .mainFile ? [document.name] : [place.rawValue, document.name],
                environment: ProcessInfo.processInfo.environment.merging(variables) { $1 },
                input: input.reading,
                output: output.writing
            )
            let (end, reading) = (input.writing, output.reading)
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // Use a separate thread: reading blocks, and the task threads are few.
                    Thread.detachNewThread {
                        let missing = Self.missing(lines, from: reading)
                        try? end.close()
                        while !reading.availableData.isEmpty {}
                        continuation.resume(returning: (missing: missing, status: process.waitUntilExit()))
                    }
                }
            } onCancel: {
                kill(process.id, SIGKILL)
            }
        }
        await sandbox.stop()
        return run
    }

    private static func missing(_ lines: [String], from output: FileHandle) -> [String] {
        var missing = lines
        var received = Data()
        while !missing.isEmpty {
            let more = output.availableData
            if more.isEmpty { break }
            received += more
            while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received = Data(received[(end + 1)...])
                if let claim = missing.firstIndex(of: line) { missing.remove(at: claim) }
            }
        }
        return missing
    }
}
