import CustomDump
import FMTestSupport
import Testing

@testable import FMData

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

/// Typed records, for which the lookups of their decoders are remembered as well.
@Suite struct KeyRecallTests {
    /// Decodes its keys in an order that depends on the values, and opens a second container with the same keys in
    /// between.
    private struct Moody: Decodable, Equatable {
        enum Keys: String, CodingKey { case kind, a, b, c }

        var kind: Int
        var first: Int?
        var second: Int?

        init(kind: Int, first: Int?, second: Int?) {
            (self.kind, self.first, self.second) = (kind, first, second)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            kind = try container.decode(Int.self, forKey: .kind)
            let order: [Keys] = kind == 0 ? [.a, .b] : kind == 1 ? [.b, .c] : [.c, .a]
            first = try container.decodeIfPresent(Int.self, forKey: order[0])
            // A second container with the same keys, between two lookups in the first one.
            let other = try decoder.container(keyedBy: Keys.self)
            guard try other.decode(Int.self, forKey: .kind) == kind else { throw CancellationError() }
            second = try container.decodeIfPresent(Int.self, forKey: order[1])
        }
    }

    @Test(arguments: 0..<20)
    func questionsInChangingOrder(_ seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        var expected: [Moody] = []
        var parts: [String] = []
        var shape = ["kind", "a", "b", "c"]
        for number in 0..<300 {
            if Int.random(in: 0..<10, using: &random) == 0 {
                shape = ["kind", "a", "b", "c", "d", "e"].shuffled(using: &random)
                shape.removeAll { $0 != "kind" && Int.random(in: 0..<5, using: &random) == 0 }
            }
            let kind = Int.random(in: 0..<3, using: &random)
            let values = ["kind": kind, "a": number * 3, "b": number * 3 + 1, "c": number * 3 + 2, "d": -1, "e": -2]
            let order = [["a", "b"], ["b", "c"], ["c", "a"]][kind].map { shape.contains($0) ? values[$0] : nil }
            expected.append(Moody(kind: kind, first: order[0], second: order[1]))
            let members = shape.map { "\"\($0)\":\(values[$0] ?? 0)" }.joined(separator: ",")
            parts.append(
                "{\"fieldData\":{\(members)},\"portalData\":{\"p\":[{\(members)}]},\"recordId\":1,\"modId\":1}"
            )
        }
        let json = "{\"response\":{\"data\":[\(parts.joined(separator: ","))]},\"messages\":[]}"
        let records = try read(json, as: DataAPI.Record<Moody, [String: [Moody]]>.self).records
        expectNoDifference(records.map(\.fieldData), expected)
        expectNoDifference(records.map { $0.portalData?["p"] }, expected.map { [$0] })
    }
}

/// All containers with one type of keys share one memory of lookups; here many of them are used at the same time.
@Suite struct ContainersOfOneTypeTests {
    private enum Keys: String, CodingKey { case id, name, rows }

    private struct Row: Decodable, Equatable {
        var id: Int
        var name: String
    }

    /// Keeps the containers of its first rows while it decodes the others, and reads them afterwards.
    private struct Holding: Decodable, Equatable {
        var held: [Int] = []
        var others: [Int] = []

        init(from decoder: any Decoder) throws {
            var rows = try decoder.container(keyedBy: Keys.self).nestedUnkeyedContainer(forKey: .rows)
            var containers: [KeyedDecodingContainer<Keys>] = []
            while !rows.isAtEnd {
                let row = try rows.nestedContainer(keyedBy: Keys.self)
                if containers.count < 5 {
                    containers.append(row)
                } else {
                    others.append(try row.decode(Int.self, forKey: .id))
                }
            }
            held = try containers.map { try $0.decode(Int.self, forKey: .id) }
        }
    }

    private static func rows(_ count: Int, from first: Int) -> String {
        (0..<count).map { "{\"name\":\"n\($0)\",\"id\":\(first + $0)}" }.joined(separator: ",")
    }

    /// Many more objects of one type than are remembered, in records of changing length.
    @Test func longArrays() throws {
        let counts = [300, 3, 0, 70, 300, 68, 1]
        let data = counts.map {
            "{\"fieldData\":{},\"portalData\":{\"p\":[\(Self.rows($0, from: $0))]},\"recordId\":1,\"modId\":1}"
        }
        let json = "{\"response\":{\"data\":[\(data.joined(separator: ","))]},\"messages\":[]}"
        let records = try read(json, as: DataAPI.Record<FieldData, [String: [Row]]>.self).records
        expectNoDifference(
            records.map { $0.portalData?["p"] },
            counts.map { count in (0..<count).map { Row(id: count + $0, name: "n\($0)") } }
        )
    }

    @Test func containersThatAreHeldWhileOthersAreMade() throws {
        let counts = [200, 7, 200]
        let data = counts.enumerated().map { number, count in
            "{\"fieldData\":{\"rows\":[\(Self.rows(count, from: number * 1_000))]},\"recordId\":1,\"modId\":1}"
        }
        let json = "{\"response\":{\"data\":[\(data.joined(separator: ","))]},\"messages\":[]}"
        let records = try read(json, as: DataAPI.Record<Holding, DataAPI.EmptyPortal>.self).records
        for (number, record) in records.enumerated() {
            #expect(record.fieldData.held == (0..<5).map { number * 1_000 + $0 })
            #expect(record.fieldData.others == (5..<counts[number]).map { number * 1_000 + $0 })
        }
    }

    /// A type that contains itself.
    @Test func nestedDeeply() throws {
        final class Node: Decodable {
            var id: Int
            var child: Node?

            private enum CodingKeys: CodingKey { case id, child }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                child = try container.decodeIfPresent(Node.self, forKey: .child)
                // Read after the child has used containers of the same type.
                id = try container.decode(Int.self, forKey: .id)
            }
        }
        let json = (1..<100).reversed().reduce("{\"id\":100}") { "{\"id\":\($1),\"child\":\($0)}" }
        var node: Node? = try FMDecoder().decode(Node.self, from: json.utf8)
        for id in 1...100 {
            #expect(node?.id == id)
            node = node?.child
        }
        #expect(node == nil)
    }
}
