import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

@Suite(.timeLimit(.minutes(15))) struct DateFormatsTests {
    private struct Visit: Codable, Equatable {
        var day: FMDate
        var seen: FMTimestamp
    }

    private static func visit(_ day: String, _ seen: String) throws -> Visit {
        Visit(day: try #require(FMDate(day)), seen: try #require(FMTimestamp(seen)))
    }

    /// Records are read, streamed, written and found in the date format of the hosted file. A client with default
    /// settings sees the same days.
    @Test func datesInTheFormOfTheFile() async throws {
        var solution = Solution.single(
            fields: [.init("day", .date), .init("seen", .timestamp)],
            layoutFields: ["day", "seen"],
            records: [.init(["day": "02/29/2024", "seen": "02/29/2024 13:05:00"])]
        )
        solution.dateFormat = "dd.MM.yyyy"
        let format = try ValueFormat(date: "dd.MM.yyyy")
        let first = try Self.visit("2024-02-29", "2024-02-29 13:05:00")
        let second = try Self.visit("2025-12-01", "2025-12-01 00:00:01")
        try await Hosted.run(solution, client: { $0.dateFormats = .file(format) }) { database, sandbox in
            let notes = database.addLayout("Notes")
            let texts = try await notes.record(id: 1).returnAs(FieldData.self).firstValue()
            expectNoDifference(texts.data[0].fieldData, ["day": "29.02.2024", "seen": "29.02.2024 13:05:00"])
            let typed = try await notes.record(id: 1).returnAs(Visit.self).firstValue()
            expectNoDifference(typed.data[0].fieldData, first)

            let id = try await notes.createRecord(first).firstValue().recordId
            _ = try await notes.editRecord(second, recordId: id).firstValue()
            let streamed = try await notes.records(Visit.self).collect().firstValue()
            expectNoDifference(streamed.map(\.fieldData), [first, second])
            // Find criteria have one date format, whatever format the records have.
            let found = try await notes.findRecords(query: FindQuery(query: [["day": "12/01/2025"]]))
                .returnAs(Visit.self).firstValue()
            expectNoDifference(found.data.map(\.fieldData), [second])

            let stranger = DataAPI.Server(host: sandbox.url, config: .patient)
                .addDatabase(database.name, credentials: Credentials(user: "admin", password: ""))
            let plain = try await stranger.addLayout("Notes").getRecords().returnAs(Visit.self).firstValue()
            expectNoDifference(plain.data.map(\.fieldData), [first, second])
            _ = try await stranger.logOut().firstValue()
        }
    }

    @Test func whatIsAskedOfTheServer() throws {
        let german = try ValueFormat(date: "dd.MM.yyyy")
        expectNoDifference(
            [DataAPI.DateFormats.us, .file(german), .iso8601, .server].map(\.wireValue),
            [nil, "1", "2", nil]
        )
        expectNoDifference([DataAPI.DateFormats.file(german), .us, .iso8601].map(\.format), [german, .us, .iso])
    }
}
