import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Records that cannot be decoded, beside those that can.
@Suite(.timeLimit(.minutes(15))) struct LenientTests {
    private struct Reading: LayoutRecord, Equatable {
        static let layout = "Readings"
        var meter: String
        var value: Int

        enum CodingKeys: String, CodingKey {
            case meter = "Meter"
            case value = "Value"
        }

        struct Portals: Codable, Sendable, Equatable {
            var notes: [Note]
            enum CodingKeys: String, CodingKey { case notes = "Notes" }
        }

        struct Note: Codable, Sendable, Equatable {
            var priority: Int
            enum CodingKeys: String, CodingKey { case priority = "Notes::Priority" }
        }
    }

    private struct Meter: LayoutRecord {
        static let layout = "Meters"
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    /// The second reading has a text as its value, the third a text in a row of its portal.
    private static let solution = Solution(
        name: "House",
        tables: [
            .init(
                name: "Meters",
                fields: [.init("Name")],
                records: [.init(["Name": "water"]), .init(["Name": "gas"])]
            ),
            .init(
                name: "Readings",
                fields: [.init("Id", .number), .init("Meter"), .init("Value")],
                records: [
                    .init(["Id": "1", "Meter": "water", "Value": "10"]),
                    .init(["Id": "2", "Meter": "water", "Value": "broken"]),
                    .init(["Id": "3", "Meter": "gas", "Value": "30"]),
                ]
            ),
            .init(
                name: "Notes",
                fields: [.init("Reading", .number), .init("Priority")],
                records: [.init(["Reading": "1", "Priority": "1"]), .init(["Reading": "3", "Priority": "high"])]
            ),
        ],
        relationships: [.init("Readings", "Notes", matches: [.init("Id", "Reading")])],
        layouts: [
            .layout(.init(name: "Meters", table: "Meters", fields: ["Name"])),
            .layout(
                .init(
                    name: "Readings",
                    table: "Readings",
                    fields: ["Meter", "Value"],
                    portals: [.init(table: "Notes", fields: ["Notes::Priority"])]
                )
            ),
        ]
    )

    private typealias Outcome = Result<DataAPI.TypedLayout<Reading>.Record, DataAPI.UnreadableRecord>

    /// Describes a decoded record by its value, and another one by its ids and the field that failed.
    private func told(_ outcome: Outcome) -> String {
        switch outcome {
        case .success(let record): "\(record.value) with \(record.portalData?.notes.map(\.priority) ?? [])"
        case .failure(let record): "\(record.recordId).\(record.modId): \(record.failure.field ?? "")"
        }
    }

    private static let expected = ["10 with [1]", "2.0: Value", "3.0: Notes::Priority"]

    @Test(arguments: [false, true])
    func goodRecordsAndFailuresComeSideBySide(byJSONDecoder isForeign: Bool) async throws {
        try await Hosted.run(Self.solution, client: { if isForeign { $0.decoder = JSONDecoder() } }) { database, _ in
            let readings = database.layout(Reading.self).allRecords
            let strict = await readings.page().awaitSingleResult()
            expectNoDifference(strict.failure?.code, .decoding)
            let page = try await readings.lenient.page().firstValue()
            expectNoDifference(page.data.map { told($0.result()) }, isForeign ? Self.foreign : Self.expected)
            expectNoDifference(page.dataInfo.foundCount, 3)
            let all = try await readings.lenient.all(pageSize: 1).collect().firstValue()
            expectNoDifference(all.map { told($0.result()) }, isForeign ? Self.foreign : Self.expected)
        }
    }

    /// `JSONDecoder` does not convert texts to numbers.
    private static let foreign = ["1.0: Value", "2.0: Value", "3.0: Value"]

    @Test(arguments: [false, true])
    func whatCameIsStillThere(byJSONDecoder isForeign: Bool) async throws {
        try await Hosted.run(Self.solution, client: { if isForeign { $0.decoder = JSONDecoder() } }) { database, _ in
            let found = database.layout(Reading.self).find { $0(.value) == "broken" }.lenient
            let record = try await found.one().firstValue()
            expectNoDifference(record.unreadable, ["Meter": "water", "Value": "broken"])
            let unreadable = #expect(throws: DataAPI.UnreadableRecord.self) { try record.result().get() }
            // `JSONDecoder` does not tell which text it could not read.
            expectNoDifference(unreadable?.failure.rawValue, isForeign ? nil : #""broken""#)
            #expect(!"\(unreadable as Any)".contains("broken"))
        }
    }

    @Test func childrenOfAJoinComeSideBySide() async throws {
        try await Hosted.run(Self.solution) { database, _ in
            let readings = database.layout(Reading.self).lenient
            let pairs = try await database.layout(Meter.self).all()
                .joining(readings, on: \.name, equals: .meter)
                .collect()
                .firstValue()
            expectNoDifference(
                pairs.map { $0.children.map { told($0.result()) } },
                [["10 with [1]", "2.0: Value"], ["3.0: Notes::Priority"]]
            )
        }
    }

    @Test func aLiveQueryTellsOfThemWithTheOthers() async throws {
        try await Hosted.run(Self.solution) { database, _ in
            let value = try await database.layout(Reading.self).lenient.live().first().firstValue()
            expectNoDifference(value.records.map { told($0.result()) }, Self.expected)
            expectNoDifference(value.unreadable.count, 0)
        }
    }

    /// What cannot be decoded is kept as text, and read by the rules by which the record was read.
    @Test func theRulesOfTheRecordHoldForWhatCame() throws {
        var options = DecodingOptions()
        options.keys = .custom { $0.replacing("Readings::", with: "") }
        let text = #"{"Readings::Meter":"water","Readings::Value":"broken"}"#
        let record = try FMDecoder(options: options).decodeFields(DataAPI.Lenient<Reading>.self, from: Data(text.utf8))
        expectNoDifference(record.unreadable, ["Meter": "water", "Value": "broken"])
        var dump = ""
        customDump(record, to: &dump)
        #expect(dump.contains("broken"), "\(dump)")
    }

    @Test(arguments: [
        #""}\"}""#, "\"\" ", "-1.5e30", "123456789012345678901234567890", "null ", "true\n", "7\t", #""\\""#,
    ])
    func whateverComesLastIsKept(_ last: String) throws {
        let text = Data("[{\"Meter\":\"{\",\"Value\":\"broken\",\"Last\":\(last)},{}]".utf8)
        let records = try FMDecoder().decode([DataAPI.Lenient<Reading>].self, from: text)
        let values = try FMDecoder().decode([FieldData].self, from: text)
        expectNoDifference(values.map(\.count), [3, 0])
        expectNoDifference(records.map(\.unreadable), values)
    }

    @Test func rowsAreWrittenAsTheyWereRead() throws {
        let text = #"{"Notes":[{"recordId":"1","modId":"0","Notes::Priority":"high \"{\" é"}]}"#
        let rows = try FMDecoder().decode(DataAPI.LenientPortals<Reading.Portals>.self, from: Data(text.utf8))
        #expect(throws: DecodingFailure.self) { try rows.result.get() }
        expectNoDifference(String(decoding: try FMEncoder().encode(rows), as: UTF8.self), text)
    }

    @Test func aRecordIsWrittenAsItWasRead() throws {
        let text = #"{"Meter":"water","Value":"broken"}"#
        let record = try FMDecoder().decodeFields(DataAPI.Lenient<Reading>.self, from: Data(text.utf8))
        expectNoDifference(String(decoding: try FMEncoder().encodeFields(record), as: UTF8.self), text)
        let good = DataAPI.Lenient(Reading(meter: "gas", value: 3))
        expectNoDifference(
            String(decoding: try FMEncoder().encodeFields(good), as: UTF8.self),
            #"{"Meter":"gas","Value":3}"#
        )
    }
}
