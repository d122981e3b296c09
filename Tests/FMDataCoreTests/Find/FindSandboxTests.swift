import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOConcurrencyHelpers
import OpenCombine
import Testing

@testable import FMDataCore

/// Finds against a host, and finds that need no call.
@Suite(.timeLimit(.minutes(15))) struct FindSandboxTests {
    /// People in the order of their creation; `marks` is a repeating field.
    private static let solution = Solution(
        name: "Single",
        tables: [
            .init(
                name: "Notes",
                fields: [
                    .init("name"), .init("age", .number), .init("born", .date), .init("size"),
                    .init("marks", .number, repetitions: 3),
                ],
                records: [
                    .init([
                        "name": "émile", "age": "9", "born": "02/01/2020", "size": "M", "marks": "0", "marks(2)": "7",
                    ]),
                    .init(["name": "Dora", "age": "10", "born": "12/31/1999", "size": "S", "marks": "3"]),
                    .init(["name": "Fritz", "age": "", "born": "01/05/2020", "size": "XXL", "marks(3)": "8"]),
                    .init(["name": "adele", "age": "10", "born": "", "size": "L", "marks": "0"]),
                    .init([
                        "name": "Bert", "age": "100", "born": "06/15/2010", "size": "S", "marks": "5", "marks(3)": "1",
                    ]),
                ]
            )
        ],
        valueLists: [.init(name: "Sizes", values: ["S", "M", "L"])],
        layouts: [
            .layout(
                .init(
                    name: "Notes",
                    table: "Notes",
                    fields: ["name", "age", "born", .init("size", display: .popupMenu, valueList: "Sizes"), "marks"]
                )
            ),
            .layout(.init(name: "Names", table: "Notes", fields: ["name"])),
        ]
    )

    private struct Person: Decodable {
        var name: String
    }

    private static let name = DataAPI.FindField(named: "name")
    private static let marks = DataAPI.FindField(named: "marks").anyRepetition
    private func expectNames(_ expected: [String], _ query: FindQuery, on notes: DataAPI.Layout) async throws {
        let response = try await notes.findRecords(query: query).returnAs(Person.self).firstValue()
        expectNoDifference(response.data.map(\.fieldData.name), expected)
    }

    private func failure(_ query: FindQuery, on notes: DataAPI.Layout) async -> FMRest.APIError? {
        await notes.findRecords(query: query).returnAs(Person.self).outcome().failure
    }

    /// `> 1` and `< 5`: a different repetition may fulfil each condition, which a single request cannot express.
    @Test func repetitionsAreEachForItself() async throws {
        try await Hosted.run(Self.solution) { database, _ in
            let notes = database.addLayout("Notes")
            let between = Self.marks > 1 && Self.marks < 5
            let refusal = await failure(FindQuery(between), on: notes)?.underlying as? DataAPI.FindError
            expectNoDifference(refusal?.code, .sameField)
            // Here one repetition has to be between the two values.
            try await expectNames(["Dora"], FindQuery(Self.marks.isIn(2...4)), on: notes)
            try await expectNames(["adele"], FindQuery(!(Self.marks > 1)), on: notes)
        }
    }

    @Test func theMetadataTellWhichFieldsRepeat() async throws {
        try await Hosted.run(Self.solution) { database, _ in
            let metaData = try await database.addLayout("Notes").getLayoutMetadata().firstValue()
            let marks = DataAPI.FindField(named: "marks")
            let error = #expect(throws: DataAPI.FindError.self) {
                try (marks > 1 && marks < 5).check(against: metaData)
            }
            expectNoDifference(error?.code, .repeatingField)
            #expect(error?.description.contains("marks") == true)
            try (Self.marks > 1 && marks < 5).check(against: metaData)
            try (marks > 1 && DataAPI.FindField(named: "age") < 5).check(against: metaData)
            try (marks.repetition(1) > 1 && marks.repetition(1) < 5).check(against: metaData)
        }
    }

    @Test func aFindThatMatchesNothingAsksForNothing() async throws {
        try await Hosted.run(Self.solution) { database, sandbox in
            let notes = database.addLayout("Notes")
            let nobody = Self.name.isOneOf([String]())
            let response = try await notes.findRecords(query: FindQuery(nobody)).returnAs(Person.self).firstValue()
            expectNoDifference(response.data.count, 0)
            expectNoDifference(response.messages.map(\.code), ["401"])
            let records = try await notes.records(Person.self, findQuery: FindQuery(nobody)).outcome().get()
            expectNoDifference(records.count, 0)
            let unmatched = await failure(FindQuery(nobody, noMatch: .failure), on: notes)
            expectNoDifference(unmatched?.fileMakerCode, .noRecordsMatch)
            let scripted = await failure(FindQuery(nobody, script: ScriptQuery(script: "Log")), on: notes)
            expectNoDifference(scripted?.code, .invalidRequest)
            expectNoDifference(sandbox.counters.totalRequests, 0)
            // Its negation matches all records.
            try await expectNames(["émile", "Dora", "Fritz", "adele", "Bert"], FindQuery(!nobody), on: notes)
        }
    }

    /// The sandbox's find is a separate implementation. It finds what random expressions describe.
    @Test func theSandboxFindsWhatTheExpressionSays() async throws {
        var generator = SeededRandom(seed: 77)
        let table = (0..<40).map { _ in FindSamples.record(using: &generator) }
        let samples = FindSamples(withSeveralValues: true)
        try await Hosted.run(Solution(samples: table)) { database, _ in
            let layout = database.addLayout("Samples")
            for _ in 0..<Effort.of(150, brief: 30) {
                let sample = samples.sample(depth: 3, using: &generator)
                let expected = table.indices.filter { sample.holds(table[$0]) }
                let outcome = await layout.findRecords(query: FindQuery(sample.find)).returnAs(FieldData.self).outcome()
                if outcome.failure?.underlying is DataAPI.FindError { continue }
                let found = try outcome.get().first?.data
                expectNoDifference(found?.map { $0.recordId - 1 }, expected, "\(sample.find)")
            }
        }
    }
}

extension Solution {
    /// A file with the records of ``FindSamples``.
    fileprivate init(samples table: [FindMatcher.Record]) {
        func text(_ value: FindMatcher.Value?) -> String {
            switch value {
            case .text(let text): text
            case .number(let number): number.map { "\($0)" } ?? ""
            case .several, nil: ""
            }
        }
        var notes: [Record] = []
        let records = table.enumerated().map { index, record in
            var values = ["id": "\(index)"]
            for name in ["t1", "t2", "n1", "n2"] { values[name] = text(record[name]) }
            if case .several(let marks) = record["marks"] {
                for (place, mark) in marks.enumerated() { values["marks(\(place + 1))"] = text(mark) }
            }
            if case .several(let texts) = record["Notes::text"] {
                notes += texts.map { Record(["owner": "\(index)", "text": text($0)]) }
            }
            return Record(values)
        }
        self.init(
            name: "Samples",
            tables: [
                Table(
                    name: "Samples",
                    fields: [
                        .init("id"), .init("t1"), .init("t2"), .init("n1", .number), .init("n2", .number),
                        .init("marks", .number, repetitions: 3),
                    ],
                    records: records
                ),
                Table(name: "Notes", fields: [.init("owner"), .init("text")], records: notes),
            ],
            relationships: [.init("Samples", "Notes", matches: [.init("id", "owner")])],
            layouts: [
                .layout(
                    Layout(
                        name: "Samples",
                        table: "Samples",
                        fields: ["t1", "t2", "n1", "n2", "marks"],
                        portals: [Portal(table: "Notes", fields: ["Notes::text"])]
                    )
                )
            ]
        )
    }
}
