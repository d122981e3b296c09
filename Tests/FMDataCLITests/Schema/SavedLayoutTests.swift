import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI
@testable import FMModel

/// The layouts of saved answers, as snapshots. The plugin generates Swift from them in each build; `SampleTests` decode
/// with it.
@Suite struct SavedLayoutTests {
    private struct Answer: Decodable {
        var response: DataAPI.Layout.LayoutMetaData
    }

    /// The layout is named after the file.
    private func description(_ saved: SavedAnswer) throws -> LayoutDescription {
        let name = saved.file.dropFirst("layout-metadata/".count).dropLast(".json".count)
        let answer = try JSONDecoder().decode(Answer.self, from: Data(saved.bytes()))
        return LayoutDescription(name: String(name), table: nil, answer.response)
    }

    @Test func theirSnapshotsAreThoseOfTheSamples() throws {
        let layouts = try SavedAnswer.own.filter { $0.group == "layout-metadata" }.map(description)
        // These types were named before plural layouts got singular types, and they keep their names.
        let names = layouts.map(\.name)
        let known = try ModelFolder(Committed.root.appendingPathComponent("Tests/FMModelSamples")).snapshot().layouts
            .filter { names.contains($0.layout) }
            .map { LayoutSnapshot(layout: $0.layout, swift: $0.swift, fields: [], portals: [], valueLists: []) }
        let update = LayoutSnapshot.updating(known, with: layouts)
        for layout in update.layouts {
            try Committed.expect(layout.fileText, in: "Tests/FMModelSamples/FileMaker/\(layout.swift).json")
        }
        expectNoDifference(update.notices, [])
        #expect(update.layouts.count == 3)
    }

    @Test func theFormOfFileMakerServer17() throws {
        let metadata = try JSONDecoder().decode(
            DataAPI.Layout.LayoutMetaData.self,
            from: Data(
                #"""
                {"metaData": [
                    {"name": "Marks", "type": "normal", "result": "number", "global": "true", "repetitions": 3},
                    {"name": "Kind", "type": "normal", "result": "text", "global": "false", "repetitions": 1, "valueList": "K"}
                ]}
                """#.utf8
            )
        )
        var marks = FieldDescription("Marks")
        marks.result = "number"
        marks.isGlobal = true
        marks.repetitions = 3
        marks.shown = 1...3
        var kind = FieldDescription("Kind")
        kind.valueList = "K"
        expectNoDifference(LayoutDescription(name: "L", table: nil, metadata).fields, [marks, kind])
    }

    @Test func repetitionsThatMakeNoSense() throws {
        let metadata = try JSONDecoder().decode(
            DataAPI.Layout.LayoutMetaData.self,
            from: Data(
                #"""
                {"fieldMetaData": [
                    {"name": "A", "type": "normal", "result": "text", "maxRepeat": 0, "repetitionStart": 0, "repetitionEnd": -3},
                    {"name": "B", "type": "normal", "result": "text", "maxRepeat": 5, "repetitionStart": 3, "repetitionEnd": 2}
                ]}
                """#.utf8
            )
        )
        expectNoDifference(
            LayoutDescription(name: "L", table: nil, metadata).fields.map(\.shown),
            [1...1, 3...3]
        )
    }
}
