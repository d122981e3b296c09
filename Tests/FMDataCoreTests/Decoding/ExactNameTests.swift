import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// Names that are equal under Unicode's canonical equivalence, with a composed and a decomposed accent, belong to two
/// fields.
@Suite struct ExactNameTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    private static let json = "{\"\(composed)\":1,\"\(decomposed)\":2}"
    private static let escaped = #"{"caf\u00e9":1,"cafe\u0301":2}"#

    @Test(arguments: [json, escaped])
    func bothFieldsAreThere(_ json: String) throws {
        let fields = try FMDecoder().decodeFields(FieldData.self, from: json.utf8)
        expectNoDifference(fields.map(\.value), [1, 2])
        expectNoDifference(fields[Self.composed], 1)
        expectNoDifference(fields[Self.decomposed], 2)
        let written = String(decoding: try FMEncoder().encodeFields(fields), as: UTF8.self)
        #expect(Array(written.utf8) == Array(Self.json.utf8))
    }

    @Test(arguments: [json, escaped])
    func eachKeyFindsItsOwn(_ json: String) throws {
        struct Both: Decodable, Equatable {
            var composed: Int
            var decomposed: Int

            enum CodingKeys: CodingKey {
                case composed, decomposed

                var stringValue: String { self == .composed ? ExactNameTests.composed : ExactNameTests.decomposed }
            }
        }
        for keys in [DecodingOptions.KeyStrategy.exact, .withoutTable, .custom { $0 }] {
            var options = DecodingOptions()
            options.keys = keys
            let decoder = FMDecoder(options: options)
            expectNoDifference(try decoder.decodeFields(Both.self, from: json.utf8), Both(composed: 1, decomposed: 2))
        }
    }

    /// A dictionary cannot hold both, so decoding fails.
    @Test(arguments: [json, escaped])
    func aDictionaryWouldLoseOne(_ json: String) throws {
        let failure = try #require(throws: DecodingFailure.self) {
            try FMDecoder().decodeFields([String: Int].self, from: json.utf8)
        }
        #expect(failure.description.contains("form of their accents"))
        #expect(failure.hint?.contains("FieldData") == true)
        let one = "{\"\(Self.decomposed)\":2}"
        expectNoDifference(try FMDecoder().decodeFields([String: Int].self, from: one.utf8), [Self.composed: 2])
    }

    @Test func theyAreNoDuplicates() throws {
        var options = DecodingOptions()
        options.duplicateKeys = .refuse
        let fields = try FMDecoder(options: options).decodeFields(FieldData.self, from: Self.escaped.utf8)
        expectNoDifference(fields.count, 2)
    }

    @Test func aNameInTheOtherFormIsFoundWhereThereIsNoOther() throws {
        var fields = try FMDecoder().decodeFields(FieldData.self, from: "{\"\(Self.decomposed)\":2}".utf8)
        expectNoDifference(fields[Self.composed], 2)
        fields[Self.composed] = 3
        expectNoDifference(fields.count, 1)
        #expect(fields.names.map { Array($0.utf8) } == [Array(Self.decomposed.utf8)])
        fields[Self.composed] = nil
        #expect(fields.isEmpty)
    }
}
