import CustomDump
import Testing

@testable import FMData

/// Keys are recognised by what stood in their place in the record before; here they differ from it in every small way.
@Suite struct KeyMemoryTests {
    /// Records of random keys that resemble each other, whole and in pieces: all members arrive, under their names.
    @Test(arguments: 0..<30)
    func keysThatResembleEachOther(_ seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        let stems = [
            "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "Table::Field", "Table::Fields",
            "a much longer name of a field 12",
        ]
        var expected: [FieldData] = []
        var parts: [String] = []
        for _ in 0..<60 {
            var names: [String] = []
            for stem in stems where Int.random(in: 0..<8, using: &random) > 0 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0: names.append(stem + "x")
                case 1: names.append(String(stem.dropLast()) + "é")
                case 2: names.append(stem + String(repeating: "y", count: 40))
                default: names.append(stem)
                }
            }
            let fields = names.enumerated().map { ($1, FieldValue($0)) }
            // The first of two members of one name counts.
            expected.append(FieldData(fields.reversed()))
            let members = names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",")
            parts.append("{\"fieldData\":{\(members)},\"recordId\":1,\"modId\":1}")
        }
        let json = "{\"response\":{\"data\":[\(parts.joined(separator: ","))]},\"messages\":[]}"
        for chunk in [1, 7, 61, 1_000, .max] {
            let records = try read(
                Array(json.utf8),
                as: DataAPI.Record<FieldData, DataAPI.EmptyPortal>.self,
                chunk: chunk
            ).records
            expectNoDifference(records.map(\.fieldData), expected)
        }
    }

    /// A shape that was free of duplicates, and then is not.
    @Test func duplicatesAfterRegularRecords() throws {
        var options = DecodingOptions()
        let json = """
            {"response":{"data":[{"fieldData":{"a":1,"b":2},"recordId":1,"modId":1},{"fieldData":{"a":1,"b":2},"recordId":2,"modId":1},
            {"fieldData":{"a":1,"a":2},"recordId":3,"modId":1},{"fieldData":{"a":1,"a":2},"recordId":4,"modId":1},
            {"fieldData":{"a":1,"b":2},"recordId":5,"modId":1}]},"messages":[]}
            """
        let records = try read(json).records
        #expect(
            records.map(\.fieldData) == [["a": 1, "b": 2], ["a": 1, "b": 2], ["a": 1], ["a": 1], ["a": 1, "b": 2]]
        )
        options.duplicateKeys = .refuse
        #expect(throws: DecodingFailure.self) { try read(json, options: options) }
    }

    /// More fields than are remembered.
    @Test func wideRecords() throws {
        let members = (0..<400).map { "\"field \($0)\":\($0)" }.joined(separator: ",")
        let record = "{\"fieldData\":{\(members)},\"recordId\":1,\"modId\":1}"
        let json = "{\"response\":{\"data\":[\(record),\(record),\(record)]},\"messages\":[]}"
        let records = try read(json, as: DataAPI.Record<[String: Int], DataAPI.EmptyPortal>.self).records
        let expected = Dictionary(uniqueKeysWithValues: (0..<400).map { ("field \($0)", $0) })
        #expect(records.map(\.fieldData) == [expected, expected, expected])
    }
}
