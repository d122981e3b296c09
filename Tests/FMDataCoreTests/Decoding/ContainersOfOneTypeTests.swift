import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore

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
