import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// A text is refused where it is nested deeper than ``DecodingOptions/maximumDepth``, before any value is decoded.
@Suite struct MaximumDepthTests {
    /// A list of lists, or an empty list.
    private struct Lists: Decodable {
        var depth: Int

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            depth = 1 + (container.isAtEnd ? 0 : try container.decode(Lists.self).depth)
        }
    }

    private func lists(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    @Test(arguments: [nil, 0, 1, 7, 150] as [Int?])
    func aTextMayBeAsDeepAsTheLimit(_ given: Int?) throws {
        var options = DecodingOptions()
        if let given { options.maximumDepth = given }
        expectNoDifference(options.maximumDepth, given ?? 128)
        let decoder = FMDecoder(options: options)
        for depth in [1, options.maximumDepth] where depth > 0 && depth <= options.maximumDepth {
            expectNoDifference(try decoder.decode(Lists.self, from: lists(depth).utf8).depth, depth)
        }
        let failure = #expect(throws: DecodingFailure.self) {
            try decoder.decode(Lists.self, from: lists(options.maximumDepth + 1).utf8)
        }
        let limit = options.maximumDepth
        expectNoDifference(failure?.reason, "nested deeper than \(limit) levels at byte \(limit).")
        expectNoDifference(failure?.byteOffset, limit)
    }

    /// A number has no nesting level.
    @Test func aNumberIsFineWithoutAnyLevel() throws {
        var options = DecodingOptions()
        options.maximumDepth = 0
        expectNoDifference(try FMDecoder(options: options).decode(Int.self, from: "5".utf8), 5)
    }

    /// The levels of an answer around its records do not count: each record is measured as a text of its own.
    @Test func inAnAnswerEachRecordCountsForItself() throws {
        var options = DecodingOptions()
        let record = #"{"fieldData":{},"portalData":{"Lines":[{"recordId":"1"}]},"recordId":"1","modId":"0"}"#
        let answer = #"{"response":{"data":[\#(record)]},"messages":[{"code":"0"}]}"#
        options.maximumDepth = 4
        expectNoDifference(try read(answer, options: options).records.count, 1)
        options.maximumDepth = 3
        #expect(throws: DecodingFailure.self) { try read(answer, options: options) }
    }
}
