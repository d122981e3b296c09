import Foundation
import Testing

/// Every Swift sample in README and DocC stands word for word in `Samples/`, which compiles.
@Suite struct SamplesTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let documents: [URL] = {
        let catalogue = root.appendingPathComponent("Sources/FMData/Documentation.docc")
        let articles =
            (try? FileManager.default.contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)) ?? []
        return [root.appendingPathComponent("README.md")]
            + articles.filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
    }()

    @Test func thereAreSamples() throws {
        #expect(try Self.documents.map(samples(in:)).joined().count > 5)
    }

    @Test("16, 81: every sample of the documents compiles", arguments: documents)
    func everySampleCompiles(document: URL) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Samples")
        let sources = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
            .map { "\n" + normalized(try String(contentsOf: $0, encoding: .utf8)) + "\n" }
        for sample in try samples(in: document) {
            #expect(
                sources.contains { $0.contains("\n\(sample)\n") },
                "\(document.lastPathComponent) has a sample that does not stand in Samples:\n\(sample)"
            )
        }
    }

    /// The fenced blocks marked `swift`, normalized.
    private func samples(in document: URL) throws -> [String] {
        var samples: [String] = []
        var open: [String]?
        for line in try String(contentsOf: document, encoding: .utf8).components(separatedBy: "\n") {
            if let lines = open {
                if line.hasPrefix("```") {
                    samples.append(normalized(lines.joined(separator: "\n")))
                    open = nil
                } else {
                    open = lines + [line]
                }
            } else if line.hasPrefix("```swift") {
                open = []
            }
        }
        return samples
    }

    /// Lines without indentation, blank lines and imports: what is left must agree.
    private func normalized(_ text: String) -> String {
        text.components(separatedBy: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
            .joined(separator: "\n")
    }
}
