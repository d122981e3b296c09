import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Any text survives as a name, a value and a parameter, in both directions. Client and server have different authors.
@Suite(.timeLimit(.minutes(15))) struct UnicodeTests {
    @Test(arguments: 0..<Effort.of(24, brief: 2))
    func everyTextSurvives(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let (table, layout, script, field) = (
            name(&random), name(&random), name(&random), name(&random)
        )
        var solution = Solution(
            name: name(&random),
            tables: [.init(name: table, fields: [.init(field), .init("gGlobal", isGlobal: true)])],
            layouts: [.layout(.init(name: layout, table: table, fields: [.init(field)]))]
        )
        solution.addScript(script) { .result($0.parameter) }
        let values = (0..<8).map { _ in text(0...40, &random) }

        // Line feeds are not converted, so that texts can be compared character by character.
        try await Hosted.run(solution, client: { $0.encoding.lineBreaks = .asTheyAre }) { database, sandbox in
            let layouts = try await database.getLayoutNames().firstValue().flatMap(\.allLayouts).map(\.name)
            expectSame(layouts, [layout])
            let scripts = try await database.getScriptNames().firstValue().flatMap(\.allScripts)
            expectSame(scripts, [script])
            let target = database.addLayout(layout)
            let metadata = try await target.getLayoutMetadata().firstValue()
            expectSame(metadata.fieldMetaData.map(\.name), [field])

            for value in values {
                let id = try await target.createRecord(record: EditRecord(createRecord: [field: value])).firstValue()
                    .recordId
                let read = try await target.record(id: id).returnAs([String: String].self).firstValue()
                expectSame(read.data.compactMap { $0.fieldData[field] }, [value])
                let other = value + "é"
                _ = try await target.editRecord(record: EditRecord(editRecord: [field: other]), recordId: id)
                    .firstValue()
                let stored = sandbox.records(ofTable: table, inDatabase: solution.name)?.last?.values[field]
                expectSame([stored ?? ""], [other])

                let byURL = try await target.runScript(script, parameter: .text(value)).firstValue()
                expectSame([byURL.scriptResult ?? ""], [value])
                let byBody = try await target.runScript(script, parameter: .confidential(value))
                    .firstValue()
                expectSame([byBody.scriptResult ?? ""], [value])
                let along = try await target.getRecords(
                    recordQuery: RecordQuery(
                        script: ScriptQuery(scriptPreRequest: script, scriptPreRequestParam: value),
                        limit: 1,
                        sortOrder: [SortQuery(fieldName: field)]
                    )
                ).returnAs([String: String].self).firstValue()
                expectSame([along.scriptResponse?.scriptResultPreRequest ?? ""], [value])
            }
            let globals = ["\(table)::gGlobal": values[0]]
            _ = try await database.withSessionPublisher { $0.setGlobals(globals) }.firstValue()
            let missing = await target.editRecord(record: EditRecord(editRecord: ["\(field)y": ""]), recordId: 1)
                .awaitSingleResult().failure
            expectSame(missing?.fields ?? [], ["\(field)y"])
        }
    }

    /// Compares scalar by scalar: texts that Swift finds equal may be spelled differently, and a file's spelling
    /// counts.
    private func expectSame(
        _ left: [String],
        _ right: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            left.map { Array($0.unicodeScalars) } == right.map { Array($0.unicodeScalars) },
            sourceLocation: sourceLocation
        )
    }

    // MARK: Texts

    /// Characters with a meaning in URLs, JSON, HTTP or FileMaker, and characters outside of the usual planes.
    private static let special = Array(
        "\"\\\r\n\t%;:=/?&+#@*!<>~{}.…≤≥ '()[],|^`a0Z\u{301}é世🚢\u{7F}\u{1}\u{1F}\u{85}\u{2028}\u{FEFF}\u{FFFD}\u{E000}\u{10FFFF}"
            .unicodeScalars
    )

    private func text(_ length: ClosedRange<Int>, _ random: inout SeededRandom) -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: length, using: &random) {
            if Bool.random(using: &random), let scalar = Self.special.randomElement(using: &random) {
                scalars.append(scalar)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 1...0x10FFFF, using: &random)) {
                scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// A name. It has no "::", which separates table and field, and does not end like a repetition or a record id.
    private func name(_ random: inout SeededRandom) -> String {
        var scalars = text(1...10, &random).unicodeScalars
        scalars.removeAll { $0 == ":" }
        return "x\(String(scalars))x"
    }
}
