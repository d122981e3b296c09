import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore

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
