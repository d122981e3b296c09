import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

/// Fields that are read by their index in a `FieldRow`: values and errors are the same as with keys.
@Suite struct FieldRowTests {
    /// Decoded by the compiler's synthesized code.
    private struct ByKey: Codable, Equatable {
        var name: String
        var nick: String?
        var age: Int
        var size: Int?
        var rate: Double
        var share: Double?
        var isOpen: Bool
        var isPaid: Bool?
        var sum: FMNumber
        var rest: FMNumber?
        var day: FMDate?
        var time: FMTime?
        var moment: FMTimestamp?
        var marks: [Int?]
        var url: URL?
    }

    /// The same fields, read by index.
    private struct ByPlace: Decodable {
        var value: ByKey
        static let names = FieldRow.Names([
            "name", "nick", "age", "size", "rate", "share", "isOpen", "isPaid", "sum", "rest", "day", "time", "moment",
            "marks", "url",
        ])

        init(from decoder: any Decoder) throws {
            let row = try FieldRow.of(decoder, Self.names)
            value = ByKey(
                name: try row.text(0),
                nick: try row.textIfAny(1),
                age: try row.integer(2),
                size: try row.integerIfAny(3),
                rate: try row.double(4),
                share: try row.doubleIfAny(5),
                isOpen: try row.bool(6),
                isPaid: try row.boolIfAny(7),
                sum: try row.number(8),
                rest: try row.numberIfAny(9),
                day: try row.dateIfAny(10),
                time: try row.timeIfAny(11),
                moment: try row.timestampIfAny(12),
                marks: try row.value(13),
                url: try row.valueIfAny(14)
            )
        }
    }

    private static let good: [(String, String)] = [
        ("name", #""Ada""#), ("nick", #""Countess""#), ("age", "36"), ("size", #""""#), ("rate", "1.5"),
        ("share", #""""#),
        ("isOpen", "1"), ("isPaid", #""""#), ("sum", "12.50"), ("rest", #""""#), ("day", #""12/10/1815""#),
        ("time", #""06:30:00""#), ("moment", #""01/02/2024 09:00:00""#), ("marks(1)", "1"), ("marks(2)", "2"),
        ("url", #""https://example.com""#),
    ]

    private func text(_ members: [(String, String)]) -> Data {
        Data("{\(members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}".utf8)
    }

    /// The decoded record, or the description of the error.
    private func outcome<T: Decodable>(_ type: T.Type, _ data: Data, _ options: DecodingOptions) -> (T?, String) {
        do {
            return (try FMDecoder(options: options).decodeFields(type, from: data), "")
        } catch {
            return (nil, "\(error)")
        }
    }

    private func expectSame(_ data: Data, _ options: DecodingOptions = DecodingOptions()) {
        let (byKey, keyError) = outcome(ByKey.self, data, options)
        let (byPlace, placeError) = outcome(ByPlace.self, data, options)
        expectNoDifference(byPlace?.value, byKey)
        expectNoDifference(placeError, keyError)
    }

    @Test func aGoodRecordIsTheSame() throws {
        let value = try FMDecoder().decodeFields(ByPlace.self, from: text(Self.good)).value
        expectNoDifference(value.sum, 12.5)
        expectNoDifference(value.marks, [1, 2])
        expectSame(text(Self.good))
    }

    /// Each field in turn is missing, null, empty, a text, a number or a boolean.
    @Test func eachFaultIsTheSame() {
        for place in Self.good.indices {
            var members = Self.good
            members.remove(at: place)
            expectSame(text(members))
            for value in ["null", #""""#, #"" ""#, #""x""#, #""7 kg""#, "0", "-3", "1.25", "true", "1e99"] {
                members = Self.good
                members[place].1 = value
                expectSame(text(members))
            }
        }
    }

    @Test func optionsCountHereToo() {
        var options = DecodingOptions()
        options.emptyTextIsNil = true
        expectSame(text(Self.good.map { ($0.0, $0.0 == "nick" ? #""""# : $0.1) }), options)
        options.keys = .withoutTable
        expectSame(text(Self.good.map { ("People::" + $0.0, $0.1) }), options)
        options.keys = .custom { $0.lowercased() }
        expectSame(text(Self.good.map { ($0.0.uppercased(), $0.1) }), options)
        options = DecodingOptions()
        options.emptyIsZero = true
        expectSame(text(Self.good.map { ($0.0, $0.0 == "age" ? #""""# : $0.1) }), options)
    }

    @Test func anotherDecoderIsAskedByNames() throws {
        struct Small: Decodable {
            var name: String
            var age: Int?
            var isOpen: Bool?
            static let names = FieldRow.Names(["name", "age", "isOpen", "missing"])
            init(from decoder: any Decoder) throws {
                let row = try FieldRow.of(decoder, Self.names)
                name = try row.text(0)
                age = try row.integerIfAny(1)
                isOpen = try row.valueIfAny(2)
                let missing: String? = try row.textIfAny(3)
                #expect(missing == nil)
                #expect(throws: DecodingError.self) { try row.double(3) }
            }
        }
        let small = try JSONDecoder().decode(Small.self, from: Data(#"{"name":"Ada","age":36,"isOpen":true}"#.utf8))
        expectNoDifference(small.name, "Ada")
        expectNoDifference(small.age, 36)
        expectNoDifference(small.isOpen, true)
    }

    // MARK: From record to record

    private struct Pair: Decodable, Equatable {
        var a: String
        var b: String?
        static let names = FieldRow.Names(["a", "b"])

        init(a: String, b: String?) { (self.a, self.b) = (a, b) }

        init(from decoder: any Decoder) throws {
            let row = try FieldRow.of(decoder, Self.names)
            b = try row.textIfAny(1)
            a = try row.text(0)
        }
    }

    private func pairs(_ fields: [String]) throws -> [Pair] { try records(Pair.self, fields) }

    private func records<R: Decodable>(_ type: R.Type, _ records: [String]) throws -> [R] {
        let data = records.enumerated().map { number, fields in
            #"{"fieldData":\#(fields),"portalData":{},"recordId":"\#(number + 1)","modId":"0"}"#
        }
        let answer =
            #"{"response":{"data":[\#(data.joined(separator: ","))]},"messages":[{"code":"0","message":"OK"}]}"#
        return try FMDecoder()
            .decodeAnswer(DataAPI.RecordResponse<R, DataAPI.EmptyPortal>.self, from: Data(answer.utf8))
            .data.map(\.fieldData)
    }

    /// A place that is remembered is never believed where another key stands.
    @Test func keysThatMoveAreFoundAgain() throws {
        let records = try pairs([
            #"{"a":"1","b":"x"}"#, #"{"a":"2","b":"y"}"#, #"{"b":"z","a":"3"}"#, #"{"b":"z","a":"4"}"#, #"{"a":"5"}"#,
            #"{"a":"6"}"#, #"{"c":"0","a":"7"}"#, #"{"a":"8","b":"x"}"#, #"{"a":"9","b":"x"}"#,
        ])
        expectNoDifference(
            records,
            [
                Pair(a: "1", b: "x"), Pair(a: "2", b: "y"), Pair(a: "3", b: "z"), Pair(a: "4", b: "z"),
                Pair(a: "5", b: nil),
                Pair(a: "6", b: nil), Pair(a: "7", b: nil), Pair(a: "8", b: "x"), Pair(a: "9", b: "x"),
            ]
        )
    }

    @Test func aKeyThatComesTwiceCountsOnce() throws {
        expectNoDifference(
            try pairs([#"{"a":"1","b":"x"}"#, #"{"a":"2","a":"3"}"#, #"{"a":"4","b":"y"}"#]),
            [Pair(a: "1", b: "x"), Pair(a: "2", b: nil), Pair(a: "4", b: "y")]
        )
    }

    @Test func longKeysAndWideRecordsAreFoundToo() throws {
        struct Wide: Decodable {
            static let keys = (0..<400).map { "a field with a name that is longer than others \($0)" }
            static let names = FieldRow.Names(keys)
            var sum = 0
            init(from decoder: any Decoder) throws {
                let row = try FieldRow.of(decoder, Self.names)
                for place in Self.keys.indices { sum += try row.integer(place) }
            }
        }
        let members = Wide.keys.enumerated().map { ($1, "\($0)") }
        for _ in 0..<2 {
            let wide = try FMDecoder().decodeFields(Wide.self, from: text(members))
            expectNoDifference(wide.sum, 399 * 200)
        }
    }

    /// A row that a type keeps reads its own record, even when the next ones were read.
    @Test func aRowMayBeKept() throws {
        struct Kept: Decodable {
            let row: FieldRow
            let first: String
            init(from decoder: any Decoder) throws {
                row = try FieldRow.of(decoder, Pair.names)
                first = try row.text(0)
            }
        }
        let kept = try records(Kept.self, [#"{"a":"1","b":"x"}"#, #"{"a":"2","b":"y"}"#, #"{"a":"3","b":"z"}"#])
        expectNoDifference(kept.map(\.first), ["1", "2", "3"])
        expectNoDifference(try kept.map { try $0.row.text(0) }, ["1", "2", "3"])
        expectNoDifference(try kept.map { try $0.row.text(1) }, ["x", "y", "z"])
    }

    /// A type that fails gives its row back, and a type that is nested in itself has a row at each depth, also beyond
    /// the number of rows that are kept.
    @Test func aTypeWithinItself() throws {
        struct Tree: Decodable {
            static let names = FieldRow.Names(["name", "child", "other"])
            let path: [String]
            init(from decoder: any Decoder) throws {
                let row = try FieldRow.of(decoder, Self.names)
                let below = try? row.valueIfAny(1) as Tree?
                let other: String? = try row.textIfAny(2)
                path = try [row.text(0)] + (below?.path ?? []) + (other.map { [$0] } ?? [])
            }
        }
        func tree(_ depth: Int) -> String {
            #"{"name":"\#(depth)","other":"-\#(depth)","child":\#(depth == 40 ? #"{"other":"x"}"# : tree(depth + 1))}"#
        }
        let path = (1...40).map(String.init) + (1...40).reversed().map { "-\($0)" }
        for _ in 0..<2 {
            expectNoDifference(try FMDecoder().decode(Tree.self, from: Data(tree(1).utf8)).path, path)
        }
        expectNoDifference(
            try records(Tree.self, Array(repeating: #"{"name":"n","child":{"other":"x"}}"#, count: 3)).map(\.path),
            Array(repeating: ["n"], count: 3)
        )
    }

    /// Two rows of one type that are read at the same time do not take each other's places.
    @Test func rowsWithinRows() throws {
        struct Outer: Decodable {
            var first: [String]
            init(from decoder: any Decoder) throws {
                let outer = try FieldRow.of(decoder, Pair.names)
                _ = try outer.text(0)
                let other = try FieldRow.of(decoder, Pair.names)
                first = [try other.text(0), try outer.text(0), try other.text(1), try outer.text(1)]
            }
        }
        let outer = try FMDecoder().decodeFields(Outer.self, from: Data(#"{"a":"1","b":"2"}"#.utf8))
        expectNoDifference(outer.first, ["1", "1", "2", "2"])
    }
}
