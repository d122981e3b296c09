import CustomDump
import FMTestSupport
import Testing

@testable import FMData

/// An exhaustive check of finds with three conditions: each of the 254 non-constant functions of three truth values is
/// compiled and compared with the shortest possible sequence of requests.
@Suite struct FindMinimalityTests {
    private static let testCount = 3
    private static let caseCount = 1 << testCount
    private static let allCases = (1 << caseCount) - 1
    private static let fields = (0..<testCount).map { DataAPI.FindField(named: "f\($0)") }

    /// The set of cases, as bits, in which all conditions of a mask hold.
    private static func cases(fulfilling mask: Int) -> Int {
        (0..<caseCount).reduce(0) { $0 | ($1 & mask == mask ? 1 << $1 : 0) }
    }

    /// The length of the shortest sequence for every set of cases, by breadth-first search over the effects of
    /// requests.
    private static func shortestLengths() -> [Int: Int] {
        let requests = (1..<caseCount).map(cases)
        var lengths: [Int: Int] = [:]
        var frontier = requests + requests.map { allCases & ~$0 }
        var length = 1
        while !frontier.isEmpty {
            frontier = frontier.filter { lengths[$0] == nil }
            for found in frontier { lengths[found] = length }
            frontier = frontier.flatMap { found in requests.flatMap { [found | $0, found & ~$0] } }
            length += 1
        }
        return lengths
    }

    /// The disjunctive normal form of a truth table.
    private static func find(_ function: Int) -> DataAPI.Find {
        let alternatives = (0..<caseCount).filter { function >> $0 & 1 == 1 }.map { combination in
            let tests = fields.indices.map { index in
                combination >> index & 1 == 1 ? fields[index] == 1 : !(fields[index] == 1)
            }
            return tests.dropFirst().reduce(tests[0]) { $0 && $1 }
        }
        return alternatives.dropFirst().reduce(alternatives[0]) { $0 || $1 }
    }

    private static func result(of requests: [FindRequest]) -> Int {
        requests.reduce(requests.first?.isOmit == true ? allCases : 0) { found, request in
            let mask = fields.indices.reduce(0) { $0 | (request.criteria["f\($1)"] == "==1" ? 1 << $1 : 0) }
            return request.isOmit ? found & ~cases(fulfilling: mask) : found | cases(fulfilling: mask)
        }
    }

    @Test(.thorough) func everyFunctionOfThreeTestsIsRightAndShort() throws {
        let shortest = Self.shortestLengths()
        var longerCount = 0
        for function in 1..<Self.allCases {
            let requests = try Self.find(function).requests()
            let length = try #require(shortest[function])
            #expect(Self.result(of: requests) == function)
            #expect(requests.count <= length + 1)
            if requests.count > length { longerCount += 1 }
        }
        // The greedy search is one request longer than the shortest sequence for a few functions.
        #expect(longerCount <= 9)
        // A find that matches everything: a record's field is empty or not.
        expectNoDifference(
            try Self.find(Self.allCases).requests().map(\.criteria),
            [["f0": "="], ["f0": "*"]]
        )
    }
}
