import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// The errors that a subscriber receives when records do not fit the types that they are decoded as.
@Suite(.timeLimit(.minutes(15))) struct DecodingErrorTests {
    private struct Misspelled: Decodable, Sendable {
        var Nmae: String
    }

    private struct Numbered: Decodable, Sendable {
        var Name: Int
    }

    private struct Dated: Decodable, Sendable {
        var Birthday: Date
    }

    private struct Portals: Decodable, Sendable {
        struct Phone: Decodable, Sendable {
            var number: Int
            enum CodingKeys: String, CodingKey { case number = "Phones::Number" }
        }
        var Phones: [Phone]
    }

    /// The error of a failed call, after checking what all decoding errors have in common.
    private func failure<R: Decodable & Sendable, P: Decodable & Sendable>(
        of publisher: AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError>,
        fields: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> FMRest.APIError {
        let error = try #require(await publisher.awaitSingleResult().failure, sourceLocation: sourceLocation)
        expectNoDifference(error.code, .decoding)
        expectNoDifference(error.httpStatus, 200)
        expectNoDifference(error.fields, fields)
        return error
    }

    @Test func aMissingField() async throws {
        try await World.run { world in
            let error = try await failure(
                of: world.countries.getRecords().returnAs(Misspelled.self),
                fields: ["Nmae"]
            )
            expectNoDifference(
                error.reason,
                #"Could not decode the answer at response.data[0].fieldData.Nmae (record 1, recordId 1): the layout sends "#
                    + #"no field "Nmae", but 3 others."#
            )
            expectNoDifference(error.hint, #"Did you mean "Name"?"#)
            expectNoDifference(
                error.description,
                "decoding: \(error.reason) [HTTP 200] (GET \(world.sandbox.url)/fmi/data/vLatest/databases/World"
                    + "/layouts/Countries/records) "
                    + #"Hint: Did you mean "Name"?"#
            )
        }
    }

    @Test func aFieldOfAnotherType() async throws {
        try await World.run { world in
            let error = try await failure(of: world.contacts.getRecords().returnAs(Numbered.self), fields: ["Name"])
            expectNoDifference(
                error.reason,
                "Could not decode the answer at response.data[0].fieldData.Name (record 1, recordId 1): expected Int, found a "
                    + "text without a number in it."
            )
            expectNoDifference(error.hint, "Declare it as String, or as FMNumber? to get nil for such texts.")
        }
    }

    @Test func aFieldOfAPortalsRow() async throws {
        let solution = Solution(
            name: "Shop",
            tables: [
                .init(name: "Orders", fields: ["Id"].map { .init($0) }, records: [.init(["Id": "1"])]),
                .init(
                    name: "Phones",
                    fields: ["Order", "Number"].map { .init($0) },
                    records: [.init(["Order": "1", "Number": "5"]), .init(["Order": "1", "Number": "none"])]
                ),
            ],
            relationships: [.init("Orders", "Phones", matches: [.init("Id", "Order")])],
            layouts: [
                .layout(
                    .init(
                        name: "Orders",
                        table: "Orders",
                        fields: ["Id"],
                        portals: [.init(table: "Phones", fields: ["Phones::Number"])]
                    )
                )
            ]
        )
        try await Hosted.run(solution) { database, _ in
            let publisher = database.addLayout("Orders").getRecords().returnAs(FieldData.self, Portals.self)
            let error = try await failure(of: publisher, fields: ["Phones::Number"])
            expectNoDifference(
                error.reason,
                "Could not decode the answer at response.data[0].portalData.Phones[1].Phones::Number (record 1, recordId 1, "
                    + #"portal "Phones", row 2): expected Int, found a text without a number in it."#
            )
        }
    }

    @Test func aDateInAnotherForm() async throws {
        let solution = Solution.single(
            fields: [.init("Birthday")],
            layoutFields: ["Birthday"],
            records: [.init(["Birthday": "2024/05/01"])]
        )
        for (formats, written) in [
            (DataAPI.DateFormats.us, #""MM/dd/yyyy HH:mm:ss" or "MM/dd/yyyy""#),
            (.iso8601, #""yyyy-MM-dd'T'HH:mm:ss" or "yyyy-MM-dd""#),
        ] {
            try await Hosted.run(solution, client: { $0.dateFormats = formats }) { database, _ in
                let error = try await failure(
                    of: database.addLayout("Notes").getRecords().returnAs(Dated.self),
                    fields: ["Birthday"]
                )
                expectNoDifference(
                    error.reason,
                    "Could not decode the answer at response.data[0].fieldData.Birthday (record 1, recordId 1): expected "
                        + "Date, written \(written), found another text."
                )
                expectNoDifference(
                    error.hint,
                    "config.dateFormats says how dates and times are written. For texts of other forms declare it as String "
                        + "instead of Date."
                )
            }
        }
    }

    @Test func aStreamSaysTheSame() async throws {
        try await World.run { world in
            let response = await world.countries.getRecords().returnAs(Misspelled.self).awaitSingleResult().failure
            let stream = await world.countries.records(Misspelled.self).collect().awaitSingleResult().failure
            expectNoDifference(stream?.reason, response?.reason)
            expectNoDifference(stream?.hint, response?.hint)
            expectNoDifference(stream?.fields, response?.fields)
        }
    }

    // MARK: A custom decoder

    @Test func aDecoderOfTheUsersSaysWhereToo() async throws {
        try await World.run(client: { $0.decoder = JSONDecoder() }) { world in
            let missing = try await failure(
                of: world.countries.getRecords().returnAs(Misspelled.self),
                fields: ["Nmae"]
            )
            expectNoDifference(
                missing.reason,
                "Could not decode the answer at response.data[0].fieldData.Nmae (record 1, recordId 1): the layout sends no "
                    + #"field "Nmae", but 3 others."#
            )
            expectNoDifference(missing.hint, #"Did you mean "Name"?"#)
            let other = try await failure(of: world.contacts.getRecords().returnAs(Numbered.self), fields: ["Name"])
            expectNoDifference(
                other.reason,
                "Could not decode the answer at response.data[0].fieldData.Name (record 1, recordId 1): expected Int, found a "
                    + "text."
            )
            expectNoDifference(
                other.hint,
                "A config.decoder of your own knows nothing of FileMaker's numbers, texts and empty fields."
            )
            let failure = try #require(other.underlying as? DecodingFailure)
            expectNoDifference(failure.path, ["response", "data", "Index 0", "fieldData", "Name"])
            expectNoDifference(failure.rawValue, "\"Ada Lovelace\"")
            #expect(!other.description.contains("Ada"))
        }
    }

    @Test func valuesOfTheLibraryExplainThemselvesInOtherDecoders() throws {
        struct Row: Decodable { var day: FMDate }
        func failure(_ json: String) throws -> FMRest.APIError {
            let error = #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([Row].self, from: Data(json.utf8))
            }
            let mapped = FMRest.APIError(wrapping: try #require(error))
            #expect(mapped.underlying is DecodingError)
            return mapped
        }
        expectNoDifference(
            try failure(#"[{"day":"secret"}]"#).description,
            #"decoding: Could not decode the JSON at [0].day: expected FMDate, written "MM/dd/yyyy", found another text. "#
                + "Hint: userInfo[.fileMakerFormat] of the decoder says how dates and times are written. For texts of other forms declare it as "
                + "String instead of FMDate."
        )
        expectNoDifference(
            try failure(#"[{}]"#).description,
            #"decoding: Could not decode the JSON at [0].day: the object has no key "day". Hint: Declare it as an optional "#
                + "if it may be absent."
        )
        expectNoDifference(
            try failure(#"[{"day":4711}]"#).description,
            "decoding: Could not decode the JSON at [0].day: expected String, found another kind of value."
        )
        expectNoDifference(
            try failure(#"{}"#).description,
            "decoding: Could not decode the JSON: expected a list, found another kind of value."
        )
    }

    @Test(.tags(.earlierClients))
    func aRecordThatCannotBeReadIsAnErrorThatNamesItAndNoneIsDropped() async throws {
        struct Contact: Decodable, Sendable {
            var birthday: FMDate
            enum CodingKeys: String, CodingKey { case birthday = "Birthday" }
        }
        try await World.run { world in
            let id = try await world.contacts.createRecord().firstValue().recordId
            let error = await world.contacts.getRecords().returnAs(Contact.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .decoding)
            let failure = error?.underlying as? DecodingFailure
            expectNoDifference(failure?.recordId, id)
            expectNoDifference(failure?.recordNumber, 4)
            expectNoDifference(failure?.field, "Birthday")
        }
    }
}
