import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMModel

/// Only the tool's own files are changed, and a failure leaves everything as it was.
@Suite struct FolderTests {
    private func withModels(_ body: (ModelFolder, URL) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let models = ModelFolder(folder)
            try fetch(["A", "B"], models)
            try body(models, folder)
        }
    }

    private func fetch(_ layouts: [String], _ models: ModelFolder) throws {
        let snapshot = try models.snapshot()
        let update = LayoutSnapshot.updating(
            snapshot.layouts,
            with: layouts.map { LayoutDescription(name: $0, fields: [.made("Name")]) }
        )
        try snapshot.change(to: update.layouts).apply(to: snapshot.url)
    }

    private func files(_ folder: URL) throws -> [String: String] {
        var files: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            files[path] = try? String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
        }
        return files
    }

    /// The error of a call, or `nil` if it does not fail.
    private func snapshotError<Value>(_ call: () throws -> Value) -> SnapshotError? {
        do {
            _ = try call()
        } catch {
            return error as? SnapshotError
        }
        return nil
    }

    @Test func generatingTwiceChangesNothing() throws {
        try withModels { models, folder in
            expectNoDifference(try models.generated().generate(), ["made Generated/A.swift", "made Generated/B.swift"])
            let before = try files(folder)
            expectNoDifference(try models.generated().generate(), [])
            expectNoDifference(try models.generated().check(), "")
            expectNoDifference(try files(folder), before)
            expectNoDifference(
                before.keys.sorted(),
                ["FileMaker/A.json", "FileMaker/B.json", "Generated/A.swift", "Generated/B.swift"]
            )
        }
    }

    @Test func onlyFilesOfTheToolAreRemoved() throws {
        try withModels { models, folder in
            _ = try models.generated().generate()
            let own = folder.appendingPathComponent("Generated/A+Mine.swift")
            try Data("extension A {}\n".utf8).write(to: own)
            try FileManager.default.removeItem(at: folder.appendingPathComponent("FileMaker/B.json"))
            #expect(try models.generated().check().hasPrefix("--- a/Generated/B.swift\n+++ /dev/null\n"))
            expectNoDifference(try models.generated().generate(), ["removed Generated/B.swift"])
            expectNoDifference(
                try files(folder).keys.sorted(),
                ["FileMaker/A.json", "Generated/A+Mine.swift", "Generated/A.swift"]
            )
        }
    }

    @Test func aFileOfTheUsersInTheWayStays() throws {
        try withModels { models, folder in
            let own = folder.appendingPathComponent("Generated/B.swift")
            try FileManager.default.createDirectory(
                at: own.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("struct B {}\n".utf8).write(to: own)
            let before = try files(folder)
            let error = snapshotError { try models.generated().generate() }
            #expect(error?.file.hasSuffix("Generated/B.swift") == true)
            expectNoDifference(try files(folder), before)
        }
    }

    /// Pitfall 2: a failed write leaves the existing files as they were.
    @Test func aFailureLeavesEverythingAsItWas() throws {
        try withModels { models, folder in
            _ = try models.generated().generate()
            let before = try files(folder)
            var change = FolderChange()
            change.texts = ["A.swift": "new\n", "no/such/folder.swift": "new\n"]
            change.removed = ["B.swift"]
            let result = Result { try change.apply(to: folder.appendingPathComponent("Generated")) }
            #expect(throws: (any Error).self, performing: result.get)
            expectNoDifference(try files(folder), before)
        }
    }

    @Test func aBrokenSnapshotGeneratesNothing() throws {
        try withModels { models, folder in
            _ = try models.generated().generate()
            try Data("{".utf8).write(to: folder.appendingPathComponent("FileMaker/B.json"))
            let before = try files(folder)
            let error = snapshotError { try models.generated().generate() }
            expectNoDifference(error?.file, "B.json")
            expectNoDifference(try files(folder), before)
        }
    }

    /// Pitfall 5.
    @Test func aNewFieldIsNamedByTheCheck() throws {
        try withModels { models, folder in
            _ = try models.generated().generate()
            let snapshot = try models.snapshot()
            let fields = [FieldDescription.made("Name %"), .made("Name")]
            let update = LayoutSnapshot.updating(
                snapshot.layouts,
                with: [LayoutDescription(name: "A", fields: fields)]
            )
            try snapshot.change(to: update.layouts).apply(to: snapshot.url)
            let difference = try models.generated().check()
            #expect(difference.contains("\n+        case namePercent = \"Name %\"\n"))
            // No existing field has another name now; the index at which it is read may differ.
            let gone = difference.split(separator: "\n").filter {
                $0.hasPrefix("-") && !$0.hasPrefix("---") && !$0.contains("try row.")
            }
            expectNoDifference(gone, [])
            expectNoDifference(try models.generated().generate(), ["changed Generated/A.swift"])
            expectNoDifference(try models.generated().check(), "")
        }
    }

    @Test func aLayoutKeepsItsFileWhateverItsType() throws {
        try withModels { models, folder in
            let file = folder.appendingPathComponent("FileMaker/A.json")
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(text.replacingOccurrences(of: #""swift": "A""#, with: #""swift": "Alpha""#).utf8).write(to: file)
            try fetch(["A", "B", "C"], models)
            expectNoDifference(
                try models.snapshot().entries.map { "\($0.file) \($0.layout.swift)" },
                ["A.json Alpha", "B.json B", "C.json C"]
            )
        }
    }

    @Test func typesOfOneNameAreRefused() throws {
        try withModels { models, folder in
            let file = folder.appendingPathComponent("FileMaker/B.json")
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(text.replacingOccurrences(of: #""swift": "B""#, with: #""swift": "a""#).utf8).write(to: file)
            let error = snapshotError { try models.snapshot() }
            expectNoDifference(error?.description, "B.json: a is the type of A.json already")
        }
    }

    @Test func settings() throws {
        try withModels { models, folder in
            let file = folder.appendingPathComponent("FileMaker/fmdata.json")
            try Data(#"{"access": "package", "prefixes": ["z_"]}"#.utf8).write(to: file)
            var settings = ModelSettings()
            settings.access = .package
            settings.prefixes = ["z_"]
            expectNoDifference(try models.snapshot().settings, settings)
            _ = try models.generated().generate()
            #expect(try files(folder)["Generated/A.swift"]?.contains("\npackage struct A: ") == true)

            try Data(#"{"acces": "package"}"#.utf8).write(to: file)
            let error = snapshotError { try models.snapshot() }
            expectNoDifference(error?.description, #"fmdata.json: unknown key "acces"; known are access, prefixes"#)
        }
    }

    @Test func noSnapshotIsNoEmptySnapshot() throws {
        try withTemporaryFolder { folder in
            let error = snapshotError { try ModelFolder(folder).generated() }
            expectNoDifference(error?.reason, "holds no layout; `fmdata schema fetch` writes them")
        }
    }
}
