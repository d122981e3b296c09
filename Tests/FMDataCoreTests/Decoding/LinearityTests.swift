import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// The work of decoding grows linearly with the length of the text, whatever the text contains. It is counted, not
/// timed: one unit for each member that a lookup examines.
@Suite struct LinearityTests {
    /// Maximum work per member. An index takes a few steps for each lookup; a linear search examines half of the
    /// members.
    private static let share = 12

    private func check<Value: Decodable>(
        _ type: Value.Type,
        _ options: DecodingOptions = DecodingOptions(),
        as mode: DecodingContext.Mode = .fields,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ json: (Int) -> String
    ) throws {
        for count in [500, 4_000] {
            let context = DecodingContext(options: options)
            var text = json(count)
            try text.withUTF8 { try context.begin(whole: UnsafeRawBufferPointer($0), source: .text) }
            _ = try? context.decode(type, 0, mode)
            let work = context.keys.work
            #expect(work <= Self.share * count + 100, "\(count) members", sourceLocation: sourceLocation)
        }
    }

    private func object(_ count: Int, _ member: (Int) -> String) -> String {
        "{" + (0..<count).map(member).joined(separator: ",") + "}"
    }

    private struct Union: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if (try? container.decode(Bool.self)) == nil, (try? container.decode(Double.self)) == nil {
                _ = try container.decode(String.self)
            }
        }
    }

    private struct Backwards: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: WireKey.self)
            for key in container.allKeys.reversed() { _ = try container.decode(Int.self, forKey: key) }
        }
    }

    @Test func keysWithEscapes() throws {
        try check([String: Int].self) { object($0) { #""f\u0041\#($0)":1"# } }
        try check(FieldData.self) { object($0) { #""f\u0041\#($0)":1"# } }
    }

    @Test func keysThatComeTwice() throws {
        try check([String: Int].self) { object($0) { "\"f\($0 / 2)\":1" } }
        try check(FieldData.self) { object($0) { "\"f\($0 / 2)\":1" } }
    }

    @Test func portalsOfWhichSomeMayComeTwice() throws {
        try check([String: [Int]].self, as: .portals) { object($0) { #""f\u0041\#($0)":[]"# } }
    }

    @Test func keysThatAreAskedForBackwards() throws {
        try check(Backwards.self) { object($0) { "\"f\($0)\":1" } }
        try check(Backwards.self) { object($0) { #""f\u0041\#($0)":1"# } }
    }

    @Test(arguments: [500, 4_000])
    func fieldsByTheirPlaces(count: Int) throws {
        let names = FieldRow.Names((0..<count).map { "f\($0)" })
        func work(_ places: some Sequence<Int>) throws -> Int {
            let context = DecodingContext(options: DecodingOptions())
            var text = object(count) { "\"f\($0)\":1" }
            try text.withUTF8 { try context.begin(whole: UnsafeRawBufferPointer($0), source: .text) }
            let row = try FieldRow.of(ValueDecoder(context: context, node: 0, mode: .fields), names)
            for place in places { _ = try row.integer(place) }
            return context.keys.work
        }
        // In the order of the names no search is needed.
        expectNoDifference(try work(0..<count), 0)
        #expect(try work((0..<count).reversed()) <= Self.share * count)
    }

    @Test func keysThatAStrategyConverts() throws {
        var options = DecodingOptions()
        options.keys = .custom { $0 + "!" }
        try check([String: Int].self, options) { object($0) { "\"f\($0)\":1" } }
        try check(FieldData.self, options) { object($0) { "\"f\($0)\":1" } }
    }

    @Test func repetitions() throws {
        struct Row: Decodable {
            var f: [Int]
            var g: [Int]?
            var h: [String]?
        }
        try check(Row.self) { object($0) { "\"f(\($0 + 1))\":1" } }
        try check(Row.self) { object($0) { #""f\u0028\#($0 + 1))":1"# } }
        var options = DecodingOptions()
        options.keys = .withoutTable
        try check(Row.self, options) { object($0) { "\"T::f(\($0 + 1))\":1" } }
    }

    /// Each attempt that fails creates an error with its path.
    @Test func elementsThatAreTriedOut() throws {
        try check([Union].self) { "[" + [String](repeating: #""a""#, count: $0).joined(separator: ",") + "]" }
        try check([String: Union].self) { object($0) { #""f\#($0)":"a""# } }
        try check([[Union]].self) { "[" + [String](repeating: #"["a"]"#, count: $0).joined(separator: ",") + "]" }
    }

    @Test func linesOfAList() throws {
        try check([String: FMList<Union>].self) {
            #"{"v":""# + [String](repeating: "a", count: $0).joined(separator: #"\r"#) + #""}"#
        }
    }

    /// What is remembered for the place of a key is discarded with its record.
    @Test func theNextRecordHasItsOwnIndex() throws {
        struct Last: Decodable, Equatable {
            var z: Int
            var p: [Int]
        }
        let decoder = FMDecoder()
        func json(_ number: Int) -> String {
            let others = (0..<(50 + number)).map { "\"f\($0)\":0" }.joined(separator: ",")
            return "{\(others),\"p(\(1))\":\(number),\"z\":\(number)}"
        }
        for number in 1...3 {
            expectNoDifference(
                try decoder.decodeFields(Last.self, from: json(number).utf8),
                Last(z: number, p: [number])
            )
        }
    }
}
