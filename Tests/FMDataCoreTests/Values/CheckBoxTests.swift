import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Check boxes on fields of every type: the host stores one value per line, whatever the type of the field, and sends a
/// text, or a number if there is one line only.
@Suite(.timeLimit(.minutes(15))) struct CheckBoxTests {
    struct Choices: LayoutRecord, Equatable {
        static let layout = "Notes"
        var days: FMList<FMNumber>
        var notes: FMList<String>

        enum CodingKeys: String, CodingKey {
            case days = "Days"
            case notes = "Notes"
        }
    }

    struct Moments: LayoutRecord, Equatable {
        static let layout = "Notes"
        var dates: FMList<FMDate>
        var times: FMList<FMTime>
        var moments: FMList<FMTimestamp>

        enum CodingKeys: String, CodingKey {
            case dates = "Dates"
            case times = "Times"
            case moments = "Moments"
        }
    }

    private static func solution(_ records: [[String: String]] = []) -> Solution {
        .single(
            fields: [
                .init("Days", .number), .init("Notes"), .init("Dates", .date), .init("Times", .time),
                .init("Moments", .timestamp),
            ],
            layoutFields: ["Days", "Notes", "Dates", "Times", "Moments"],
            records: records.map { Solution.Record($0) }
        )
    }

    @Test func numbersAndTextsAreStoredInLinesAndReadFromThem() async throws {
        try await Hosted.run(Self.solution()) { database, sandbox in
            let layout = database.layout(Choices.self)
            let choices = [
                Choices(days: [1, 2.5, 7], notes: ["early", "late"]), Choices(days: [3], notes: ["3"]),
                Choices(days: [], notes: []),
            ]
            for choice in choices { _ = try await layout.create(choice).firstValue() }
            let read = try await layout.all().outcome().get().map(\.fieldData)
            expectNoDifference(read, choices)
            let stored = sandbox.records(ofTable: "Notes", inDatabase: "Single")?.map { $0.values["Days"] }
            expectNoDifference(stored, ["1\r2.5\r7", "3", nil])
        }
    }

    @Test func datesAndTimesAreReadFromLines() async throws {
        let records = [
            [
                "Dates": "01/05/2024\r12/31/2024", "Times": "09:05:00\r30:00:00",
                "Moments": "01/05/2024 06:00:00\r12/31/2024 23:59:59",
            ], ["Dates": "02/29/2024"], [:],
        ]
        try await Hosted.run(Self.solution(records)) { database, _ in
            let read = try await database.layout(Moments.self).all().outcome().get().map(\.fieldData)
            expectNoDifference(
                read.map { $0.dates.map(\.description) },
                [["2024-01-05", "2024-12-31"], ["2024-02-29"], []]
            )
            expectNoDifference(read.map { $0.times.map(\.hours) }, [[9, 30], [], []])
            expectNoDifference(
                read.map { $0.moments.map(\.description) },
                [["2024-01-05T06:00:00", "2024-12-31T23:59:59"], [], []]
            )
        }
    }
}
