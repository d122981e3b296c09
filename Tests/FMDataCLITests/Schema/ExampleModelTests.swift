import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI
@testable import FMModel

/// The models of `Examples/Models`: the committed snapshots match the sandbox, and the committed types match the
/// generator.
@Suite struct ExampleModelTests {
    private func folder(_ name: String) -> ModelFolder {
        ModelFolder(Committed.root.appendingPathComponent("Examples/Models/\(name)", isDirectory: true))
    }

    @Test func theSnapshotOfWorldIsWhatTheSandboxSays() async throws {
        try await World.run { world in
            let snapshot = try folder("World").snapshot()
            let names = snapshot.layouts.map(\.layout)
            expectNoDifference(names, ["Contacts", "Countries", "Zones"])
            let answer = try await SchemaReader(database: world.database).read(.named(names))
            #expect(answer.failures.isEmpty)
            let update = LayoutSnapshot.updating(snapshot.layouts, with: answer.layouts)
            let texts = snapshot.change(to: update.layouts).texts
            for (file, text) in texts { try Committed.expect(text, in: "Examples/Models/World/FileMaker/\(file)") }
            expectNoDifference(texts.count, 3)
        }
    }

    @Test(arguments: ["World", "Harbour"]) func theTypesAreWhatTheSnapshotSays(_ name: String) throws {
        expectNoDifference(try folder(name).generated().check(), "")
    }
}
