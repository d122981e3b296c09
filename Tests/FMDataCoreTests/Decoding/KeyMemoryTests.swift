import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore

/// The reader recognizes keys by those at the same place of the previous record. Here the keys differ from those in
/// every small way.
@Suite struct KeyMemoryTests {
    /// Records with random keys that resemble each other, read whole and in chunks: all members arrive under their own
    /// names.
    @Test(arguments: 0..<Effort.of(30, brief: 6))
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
            // The first of two members with the same name counts.
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

    /// Records without duplicate keys, then some with duplicates, then one without again.
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

    /// These objects begin and end where the ones before did, and their keys match those remembered for their places.
    /// They are different all the same: a key of the inner object is now a key of the outer one.
    @Test func duplicatesWhereAnInnerObjectWas() throws {
        let nested = #"{"a":{"a":1},"c":2}"#
        let flat = [#"{"a":1,"a":2,"c":3}"#, #"{"a":1,"a":[2,3],"c":3}"#]
        var options = DecodingOptions()
        let decoder = FMDecoder(options: options)
        for json in [nested] + flat {
            expectNoDifference(
                try decoder.decode([String: Leaves].self, from: json.utf8).mapValues(\.count),
                ["a": 1, "c": 1]
            )
        }
        options.duplicateKeys = .refuse
        let strict = FMDecoder(options: options)
        for json in flat {
            _ = try strict.decode([String: Leaves].self, from: nested.utf8)
            #expect(throws: DecodingFailure.self) { try strict.decode([String: Leaves].self, from: json.utf8) }
        }
    }

    /// The number of numbers in a value.
    private struct Leaves: Decodable {
        var count = 1

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let list = try? container.decode([Int].self) { count = list.count }
            if let object = try? container.decode([String: Int].self) { count = object.count }
        }
    }

    /// The reader's hash function is public, so an attacker can choose keys with equal hashes.
    @Test func keysOfEqualHashes() throws {
        let names = try namesOfEqualHashes(12)
        let members = names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",")
        var options = DecodingOptions()
        options.duplicateKeys = .refuse
        let decoder = FMDecoder(options: options)
        for _ in 0..<2 {
            expectNoDifference(
                try decoder.decode([String: Int].self, from: "{\(members)}".utf8),
                Dictionary(uniqueKeysWithValues: zip(names, 0...))
            )
            #expect(throws: DecodingFailure.self) {
                try decoder.decode([String: Int].self, from: "{\(members),\"\(names[3])\":0}".utf8)
            }
        }
    }

    /// Names of eight bytes with equal hashes. The hash is the upper half of a product, which is inverted here.
    private func namesOfEqualHashes(_ count: Int) throws -> [String] {
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        // Newton's method: each step doubles the number of correct bits.
        let inverse = (0..<6).reduce(factor) { inverse, _ in inverse &* (2 &- factor &* inverse) }
        let hash: UInt32 = 0x1234_5678
        var names: [String] = []
        var lower: UInt64 = 0
        while names.count < count {
            lower += 1
            let word = (UInt64(hash) << 32 | lower) &* inverse ^ 8
            let bytes = withUnsafeBytes(of: word.littleEndian) { Array($0) }
            // Use letters, digits and signs that need no escape in JSON.
            guard bytes.allSatisfy({ (0x23...0x7E).contains($0) && $0 != 0x5C }) else { continue }
            try (bytes + [UInt8](repeating: 0, count: 8)).withUnsafeBufferPointer { buffer in
                let start = try #require(buffer.baseAddress)
                #expect(KeyMemory.hash(start, 8) == hash)
            }
            names.append(String(decoding: bytes, as: UTF8.self))
        }
        return names
    }

    /// More fields than the reader remembers.
    @Test func wideRecords() throws {
        let members = (0..<400).map { "\"field \($0)\":\($0)" }.joined(separator: ",")
        let record = "{\"fieldData\":{\(members)},\"recordId\":1,\"modId\":1}"
        let json = "{\"response\":{\"data\":[\(record),\(record),\(record)]},\"messages\":[]}"
        let records = try read(json, as: DataAPI.Record<[String: Int], DataAPI.EmptyPortal>.self).records
        let expected = Dictionary(uniqueKeysWithValues: (0..<400).map { ("field \($0)", $0) })
        #expect(records.map(\.fieldData) == [expected, expected, expected])
    }
}
