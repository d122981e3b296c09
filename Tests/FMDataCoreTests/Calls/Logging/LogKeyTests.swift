import CustomDump
import FMTestSupport
import Foundation
import Testing

/// One name for each thing in the log, and one place that lists them.
@Suite struct LogKeyTests {
    private static let sources = Committed.root.appendingPathComponent("Sources")

    private static func text(_ file: String) throws -> String {
        try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
    }

    /// The names that are declared.
    private static func names() throws -> [String] {
        try ["FMHTTP/LogKey.swift", "FMDataCore/Calls/Logging/LogKey.swift"].flatMap { file in
            try text(file).matches(of: #/static let \w+ = "([\w.]+)"/#).map { String($0.1) }
        }
    }

    @Test func noNameIsDeclaredTwice() throws {
        let names = try Self.names()
        #expect(names.count > 30)
        expectNoDifference(names.count, Set(names).count)
    }

    @Test func eachIsDocumented() throws {
        let config = try Self.text("FMDataCore/Tree/Config.swift")
        for name in try Self.names() { #expect(config.contains("`\(name)`"), "\(name)") }
    }

    /// Metadata is never written with a name of its own.
    @Test func eachLineUsesThem() throws {
        for module in ["FMHTTP", "FMDataCore", "FMDataRecords", "FMDataLive"] {
            let folder = Self.sources.appendingPathComponent(module)
            let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
                .filter { $0.hasSuffix(".swift") }
            #expect(files.count > 20)
            for file in files {
                let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
                guard text.contains("import Logging") else { continue }
                expectNoDifference(
                    text.matches(of: #/metadataKey: "|metadata\["|metadata: \["|Metadata = \["/#).map { String($0.0) },
                    [],
                    "\(file)"
                )
            }
        }
    }
}
