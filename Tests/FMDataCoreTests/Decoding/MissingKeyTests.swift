import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

/// Errors about a missing key: they say what the record has instead, and suggest names that are similar.
@Suite struct MissingKeyTests {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    /// Decodes one key, whose name is taken from the decoder's `userInfo`.
    private struct Asking: Decodable {
        static let key = CodingUserInfoKey.named("key")

        init(from decoder: any Decoder) throws {
            let name = try #require(decoder.userInfo[Asking.key] as? String)
            _ = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: Key(name))
        }
    }

    private func failure(
        _ name: String,
        _ names: [String],
        _ options: DecodingOptions = .init()
    ) throws -> DecodingFailure {
        let decoder = FMDecoder(options: options, userInfo: [Asking.key: name])
        let record = try JSONEncoder().encode(Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
        return try #require(throws: DecodingFailure.self) { try decoder.decodeFields(Asking.self, from: record) }
    }

    @Test(arguments: [
        ("Nmae", "Name"), ("name", "Name"), ("Name", "Name "), ("Name", "Names"), ("Vorname", "Vornahme"),
        ("Article", "Lines::Article"), ("Lines::Article", "Article"), ("Line::Article", "Lines::Article"),
        ("Orders::Article", "Lines::Article"), ("article", "Lines::Article"), ("Strase", "Straße"), ("Cafe", "Café"),
        ("id", "ID"), ("Zip Code", "Zip_Code"),
    ])
    func nearNamesAreOffered(_ asked: String, _ there: String) throws {
        let failure = try failure(asked, ["Unlike", there, "Remote::Other", "x"])
        #expect(failure.hint?.hasPrefix("Did you mean \"\(there)\"?") == true, "\(failure)")
        #expect(failure.reason == "the record has no field \"\(asked)\", but 4 others.")
    }

    @Test(arguments: [("Name", "Firstname"), ("Age", "Zip"), ("ID", "No"), ("a", "b"), ("", "x"), ("City", "Country")])
    func othersAreNot(_ asked: String, _ there: String) throws {
        expectNoDifference(try failure(asked, [there]).hint, "Declare it as an optional if it may be absent.")
    }

    @Test func theNearestOnesAreOffered() throws {
        expectNoDifference(
            NearNames.near("Pric", among: ["Prices", "Price", "Prick", "price", "Pride", "Cost"]),
            [
                "Price", "Prick", "price",
            ]
        )
        expectNoDifference(NearNames.near("Phone", among: ["Phones", "phone", "PHONE"]), ["phone", "PHONE"])
    }

    @Test func theNumberOfOthersReadsWell() throws {
        expectNoDifference(try failure("Name", []).reason, "the record has no field \"Name\", nor any other.")
        expectNoDifference(try failure("Name", ["x"]).reason, "the record has no field \"Name\", but 1 other.")
        #expect(try failure("Name", (0..<5_000).map { "Field \($0)" }).reason.hasSuffix("but 5000 others."))
    }

    /// Names that an attacker chooses can neither make the error slow nor damage the layout of a log.
    @Test func hostileNames() throws {
        let long = String(repeating: "a", count: 300)
        expectNoDifference(NearNames.near(long + "b", among: (0..<10_000).lazy.map { "\(long)\($0)" }).count, 3)
        expectNoDifference(NearNames.near(String(repeating: "a", count: 100_000), among: [long]), [])
        let failure = try failure("Name", ["Name\nERROR: \u{202E}"])
        expectNoDifference(failure.hint, "Declare it as an optional if it may be absent.")
        expectNoDifference(try self.failure("Name", ["Name\n", "\tb"]).hint, #"Did you mean "Name\u{A}"?"#)
        let wide = try self.failure(String(repeating: "ä", count: 300), ["x"]).reason
        expectNoDifference(wide, "the record has no field \"\(String(repeating: "ä", count: 100))…\", but 1 other.")
    }

    @Test func namesOfAStrategyAreOffered() throws {
        var options = DecodingOptions()
        options.keys = .custom { String($0.dropFirst(2)) }
        expectNoDifference(try failure("Nmae", ["f_Name", "f_City"], options).hint, #"Did you mean "Name"?"#)
    }

    // MARK: In an answer

    private struct Person: Decodable {
        var Nmae: String
    }

    private struct Portals: Decodable {
        struct Line: Decodable { var Article: String }
        var Lines: [Line]
    }

    private func inAnswer<R: Decodable, P: Decodable>(
        _ type: DataAPI.Record<R, P>.Type,
        fields: String,
        portals: String = "{}",
        options: DecodingOptions = DecodingOptions()
    ) throws -> DecodingFailure {
        let json = """
            {"response":{"data":[{"fieldData":\(fields),"portalData":\(portals),"recordId":"7","modId":"0"}]},
            "messages":[{"code":"0"}]}
            """
        return try #require(throws: DecodingFailure.self) { _ = try read(json, as: type, options: options) }
    }

    @Test func aFieldOfTheLayout() throws {
        let type = DataAPI.Record<Person, DataAPI.EmptyPortal>.self
        let misspelled = try inAnswer(type, fields: #"{"Name":"secret","City":"Calgary"}"#)
        expectNoDifference(
            misspelled.description,
            "Could not decode the answer at response.data[0].fieldData.Nmae (record 1, recordId 7): the layout sends no field "
                + #""Nmae", but 2 others. Hint: Did you mean "Name"?"#
        )
        expectNoDifference(misspelled.fieldsOrPortals, ["Nmae"])
        expectNoDifference(
            try inAnswer(type, fields: #"{"City":"Calgary"}"#).hint,
            "Only fields on the layout are sent: add it to the layout, or declare it as an optional."
        )
    }

    @Test func aFieldOfARow() throws {
        let failure = try inAnswer(
            DataAPI.Record<FieldData, Portals>.self,
            fields: "{}",
            portals: #"{"Lines":[{"Article":"a"},{"Lines::Article":"b","Lines::Price":3,"recordId":"1"}]}"#
        )
        expectNoDifference(
            failure.description,
            "Could not decode the answer at response.data[0].portalData.Lines[1].Article (record 1, recordId 7, "
                + #"portal "Lines", row 2): the row has no field "Article", but 3 others. Hint: Did you mean "#
                + #""Lines::Article"? config.decoding.keys = .withoutTable lets coding keys leave the table out."#
        )
        expectNoDifference(failure.portal, "Lines")
        expectNoDifference(failure.portalRow, 2)
        expectNoDifference(failure.fieldsOrPortals, ["Article"])
        expectNoDifference(
            try inAnswer(
                DataAPI.Record<FieldData, Portals>.self,
                fields: "{}",
                portals: #"{"Lines":[{"Lines::Price":3}]}"#
            ).hint,
            "Only fields on the layout are sent: add it to the layout's portal, or declare it as an optional."
        )
    }

    @Test func aValueInARow() throws {
        let failure = try inAnswer(
            DataAPI.Record<FieldData, [String: [[String: Int]]]>.self,
            fields: "{}",
            portals: #"{"Lines":[{"Lines::Price":"secret"}]}"#
        )
        expectNoDifference(
            failure.description,
            "Could not decode the answer at response.data[0].portalData.Lines[0].Lines::Price (record 1, recordId 7, "
                + #"portal "Lines", row 1): expected Int, found a text without a number in it. Hint: Declare it as String, "#
                + "or as FMNumber? to get nil for such texts."
        )
    }

    @Test func aPortal() throws {
        var options = DecodingOptions()
        options.absentPortalsAreEmpty = false
        let failure = try inAnswer(
            DataAPI.Record<FieldData, Portals>.self,
            fields: "{}",
            portals: #"{"lines":[]}"#,
            options: options
        )
        expectNoDifference(
            failure.description,
            "Could not decode the answer at response.data[0].portalData.Lines (record 1, recordId 7, portal \"Lines\"): the "
                + #"layout sends no portal "Lines", but "lines". Hint: Did you mean "lines"?"#
        )
        expectNoDifference(failure.fieldsOrPortals, ["Lines"])
        expectNoDifference(
            try inAnswer(DataAPI.Record<FieldData, Portals>.self, fields: "{}", options: options).hint,
            "Only portals on the layout are sent: add it to the layout, or declare it as an optional."
        )
    }

    /// The envelope is not declared by the user and belongs to no layout, so there is no hint.
    @Test func aPartOfTheAnswer() throws {
        let failure = try #require(throws: DecodingFailure.self) {
            _ = try read(#"{"response":{"data":[{"fieldDate":{},"recordId":"7"}]},"messages":[{"code":"0"}]}"#)
        }
        expectNoDifference(
            failure.description,
            "Could not decode the answer at response.data[0].fieldData (record 1, recordId 7): the object has no key "
                + #""fieldData", but 2 others."#
        )
        expectNoDifference(failure.fieldsOrPortals, [])
    }

    /// A script's result is plain JSON.
    @Test func plainJSON() throws {
        let failure = try #require(throws: DecodingFailure.self) {
            try FMDecoder().decode([Person].self, from: #"[{"Name":"a"}]"#.utf8)
        }
        expectNoDifference(
            failure.description,
            #"Could not decode the JSON at [0].Nmae: the object has no key "Nmae", but 1 other. Hint: Did you mean "Name"?"#
        )
        let other = try #require(throws: DecodingFailure.self) { try FMDecoder().decode(Person.self, from: "{}".utf8) }
        expectNoDifference(
            other.description,
            "Could not decode the JSON at Nmae: the object has no key \"Nmae\", nor any other. Hint: Declare it as an "
                + "optional if it may be absent."
        )
    }
}
