import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

/// On plain JSON, FMData's decoder gives the same values as Foundation's and fails where it fails: for many types and
/// random documents.
@Suite struct FoundationDifferentialTests {
    // MARK: Types

    struct Flat: Decodable, Equatable {
        var a: String
        var b: Int
        var c: Double?
        var d: Bool?
        var e: [Int]
    }

    struct Nested: Decodable, Equatable {
        var a: Flat?
        var b: [String: Flat]
        var c: [[String?]]?
        var d: Kind?
        var e: Choice?
    }

    enum Kind: String, Decodable, CodingKeyRepresentable { case a, b, c }

    enum Choice: Decodable, Equatable {
        case a(Int)
        case b(c: String, d: Bool?)
        case e
    }

    indirect enum Tree: Decodable, Equatable {
        case leaf(Int)
        case branch([Tree])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let leaf = try? container.decode(Int.self) {
                self = .leaf(leaf)
            } else {
                self = .branch(try container.decode([Tree].self))
            }
        }
    }

    class Base: Decodable {
        var a: Int?
        enum CodingKeys: CodingKey { case a }
        required init(from decoder: any Decoder) throws {
            a = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Int.self, forKey: .a)
        }
    }

    final class Derived: Base {
        var b: String?
        enum Keys: CodingKey { case b }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            b = try container.decodeIfPresent(String.self, forKey: .b)
            try super.init(from: try container.superDecoder())
        }
    }

    /// Uses every kind of container by hand.
    struct ByHand: Decodable, Equatable {
        var keys: [String] = []
        var isNil: Bool?
        var inner: [String] = []
        var numbers: [Int] = []
        var rest: Int?

        enum Keys: CodingKey { case a, b, c, d, e }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            keys = container.allKeys.map(\.stringValue).sorted()
            if container.contains(.a) { isNil = try container.decodeNil(forKey: .a) }
            if container.contains(.b) {
                inner = try container.nestedContainer(keyedBy: Keys.self, forKey: .b).allKeys.map(\.stringValue)
                    .sorted()
            }
            if container.contains(.e) {
                var list = try container.nestedUnkeyedContainer(forKey: .e)
                while !list.isAtEnd {
                    if try list.decodeNil() { continue }
                    if let number = try? list.decode(Int.self) {
                        numbers.append(number)
                    } else if var deeper = try? list.nestedUnkeyedContainer() {
                        numbers.append(deeper.count ?? -1)
                        if !deeper.isAtEnd { rest = try? deeper.decode(Int.self) }
                    } else if let object = try? list.nestedContainer(keyedBy: Keys.self) {
                        numbers.append(object.allKeys.count)
                    } else {
                        _ = try list.superDecoder()
                    }
                }
            }
        }
    }

    /// Records the coding path of every decoder and container, and what `userInfo` holds there.
    struct Paths: Decodable, Equatable {
        var steps: [String] = []

        enum Keys: CodingKey { case a, b, e }

        init(from decoder: any Decoder) throws {
            note("decoder", decoder.codingPath)
            note("info \(decoder.userInfo.map { "\($0.key.rawValue)=\($0.value)" })", [])
            let container = try decoder.container(keyedBy: Keys.self)
            note("container", container.codingPath)
            if let inner = try? container.nestedContainer(keyedBy: Keys.self, forKey: .a) {
                note("inner", inner.codingPath)
                try take(inner.superDecoder())
                try take(inner.superDecoder(forKey: .b))
                if inner.contains(.e) { steps += try inner.decode(Paths.self, forKey: .e).steps }
            }
            guard var list = try? container.nestedUnkeyedContainer(forKey: .e) else { return }
            note("list \(list.count ?? -1)", list.codingPath)
            while !list.isAtEnd {
                note("element \(list.currentIndex)", list.codingPath)
                if let deeper = try? list.nestedContainer(keyedBy: Keys.self) {
                    note("deeper", deeper.codingPath)
                } else {
                    try take(list.superDecoder())
                }
            }
        }

        private mutating func take(_ decoder: any Decoder) throws {
            note("super", decoder.codingPath)
            let container = try decoder.singleValueContainer()
            note("value \(container.decodeNil()) \((try? container.decode(Int.self)) as Any)", container.codingPath)
        }

        private mutating func note(_ what: String, _ path: [any CodingKey]) {
            steps.append("\(what) \(path.map { "\($0.stringValue)/\($0.intValue as Any)" })")
        }
    }

    /// Every way in which a value may be absent.
    struct Optionals: Decodable, Equatable {
        var a: Int??
        var b: [String?]?
        var c: [String: Double?]?
        var d: Kind?
        var e: Choice??
        var missing: Bool?
    }

    /// Dictionaries with typed keys, in the two JSON forms that they have.
    struct KeyedByTypes: Decodable, Equatable {
        var a: [Kind: Int]?
        var b: [Int: Int?]?
        var e: [Pair: String]?

        struct Pair: Decodable, Hashable { var a: Int }
    }

    /// A type that is its value or a list of its elements.
    struct Single: Decodable, Equatable {
        var value: Flat?
        var list: [Kind] = []

        init(from decoder: any Decoder) throws {
            if var elements = try? decoder.unkeyedContainer() {
                while !elements.isAtEnd { list.append(try elements.decode(Kind.self)) }
            } else {
                value = try decoder.singleValueContainer().decode(Flat?.self)
            }
        }
    }

    // MARK: Comparison

    private static let userInfo: [CodingUserInfoKey: any Sendable] = [CodingUserInfoKey.named("depth"): 3]

    private func compare<T: Decodable>(
        _ type: T.Type,
        _ json: String,
        _ describe: (T) -> String = { String(describing: $0) },
        isOrdered: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let bytes = Data(json.utf8)
        let foundation = JSONDecoder()
        foundation.userInfo = Self.userInfo
        let expected = Result { describe(try foundation.decode(type, from: bytes)) }
        let found = Result { describe(try FMDecoder(userInfo: Self.userInfo).decode(type, from: bytes)) }
        switch (expected, found) {
        case (.success(let expected), .success(let found)):
            #expect(expected == found, "\(json)", sourceLocation: sourceLocation)
        case (.failure(let expected), .failure(let found)):
            // A dictionary's members are decoded in hash table order, so which one fails first is random.
            guard isOrdered else { return }
            #expect(summary(expected) == summary(found), "\(json)", sourceLocation: sourceLocation)
        case (.success, .failure(let error)):
            Issue.record("only Foundation takes \(json) as \(type): \(error)", sourceLocation: sourceLocation)
        case (.failure(let error), .success):
            Issue.record("only FMData takes \(json) as \(type): \(error)", sourceLocation: sourceLocation)
        }
    }

    /// Compares the kind of error and its path, not the words. Two differences are intended: Foundation calls a `null`
    /// in an array a mismatch and a `null` in an object a missing value, and it gives no path for a number that does
    /// not fit.
    private func summary(_ error: any Error) -> String {
        switch (error as? DecodingFailure)?.underlying ?? error {
        case DecodingError.typeMismatch(_, let context): "no such value \(path(context))"
        case DecodingError.valueNotFound(_, let context): "no such value \(path(context))"
        case DecodingError.keyNotFound(let key, let context): "no key \(key.stringValue) \(path(context))"
        case DecodingError.dataCorrupted: "corrupted"
        default: "\(error)"
        }
    }

    private func path(_ context: DecodingError.Context) -> [String] { context.codingPath.map(\.stringValue) }

    private func compareAllTypes(_ json: String, sourceLocation: SourceLocation = #_sourceLocation) {
        compare(AnyJSON.self, json, isOrdered: false, sourceLocation: sourceLocation)
        compare(Flat.self, json, sourceLocation: sourceLocation)
        compare(Nested.self, json, sortedDescription, isOrdered: false, sourceLocation: sourceLocation)
        compare(Tree.self, json, sourceLocation: sourceLocation)
        compare(Derived.self, json, { "\($0.a as Any) \($0.b as Any)" }, sourceLocation: sourceLocation)
        compare(ByHand.self, json, sourceLocation: sourceLocation)
        compare(Paths.self, json, sourceLocation: sourceLocation)
        compare(Optionals.self, json, optionalsDescription, isOrdered: false, sourceLocation: sourceLocation)
        compare(KeyedByTypes.self, json, keyedDescription, isOrdered: false, sourceLocation: sourceLocation)
        compare(Single.self, json, sourceLocation: sourceLocation)
        compare([Int?]?.self, json, sourceLocation: sourceLocation)
        compare(
            [String: Int?].self,
            json,
            { "\($0.sorted { $0.key < $1.key })" },
            isOrdered: false,
            sourceLocation: sourceLocation
        )
        compare(
            [Int: String].self,
            json,
            { "\($0.sorted { $0.key < $1.key })" },
            isOrdered: false,
            sourceLocation: sourceLocation
        )
        compare([Double?].self, json, sourceLocation: sourceLocation)
        compare([UInt8].self, json, sourceLocation: sourceLocation)
        compare([Bool].self, json, sourceLocation: sourceLocation)
        compare(Set<String>.self, json, { "\($0.sorted())" }, sourceLocation: sourceLocation)
        compare(String?.self, json, sourceLocation: sourceLocation)
        compare(Kind.self, json, sourceLocation: sourceLocation)
        compare(Choice.self, json, sourceLocation: sourceLocation)
        compare(Decimal.self, json, sourceLocation: sourceLocation)
        compare(Date.self, json, { "\($0.timeIntervalSinceReferenceDate)" }, sourceLocation: sourceLocation)
        compare(Range<Int>.self, json, sourceLocation: sourceLocation)
    }

    private func sortedDescription(_ nested: Nested) -> String {
        "\(nested.a as Any) \(nested.b.sorted { $0.key < $1.key }) \(nested.c as Any) \(nested.d as Any) \(nested.e as Any)"
    }

    private func optionalsDescription(_ value: Optionals) -> String {
        let c = value.c.map { $0.sorted { $0.key < $1.key } }
        return
            "\(value.a as Any) \(value.b as Any) \(c as Any) \(value.d as Any) \(value.e as Any) \(value.missing as Any)"
    }

    private func keyedDescription(_ value: KeyedByTypes) -> String {
        let a = value.a.map { $0.map { "\($0)" }.sorted() }
        let b = value.b.map { $0.map { "\($0)" }.sorted() }
        let e = value.e.map { $0.map { "\($0)" }.sorted() }
        return "\(a as Any) \(b as Any) \(e as Any)"
    }

    // MARK: Documents

    @Test(arguments: [
        "null", "true", "0", "-0", "1.5", "1e2", "3.0", "1e400", "\"\"", "\"a\"", "[]", "{}", "[null]", "[1,2,3]",
        #"["a","b","a"]"#, "[[1,[2,[]]],3]", "[0,255]", "[256]", "[-1]", "[1.0]", "[true,1]", "[1,5]", "[5,1]",
        #"{"a":"x","b":1,"c":null,"e":[]}"#, #"{"a":"x","b":1,"c":2,"d":true,"e":[1,2]}"#, #"{"a":"x","b":"1","e":[]}"#,
        #"{"a":"x","b":1.5,"e":[]}"#, #"{"a":"x","e":[]}"#, #"{"a":null,"b":1,"e":[]}"#,
        #"{"a":1,"super":{"a":2},"b":"x"}"#,
        #"{"b":"x","super":null}"#, #"{"b":{"x":{"a":"y","b":2,"e":[3]}},"d":"c","e":{"a":{"_0":4}}}"#,
        #"{"b":{},"e":{"b":{"c":"t"}}}"#, #"{"b":{},"e":{"e":{}}}"#, #"{"a":{"_0":1},"b":{"c":"t"}}"#,
        #"{"b":{},"d":"z"}"#,
        #"{"a":null,"b":{"a":1,"d":2},"e":[1,null,[2,3],{"a":1},"x"]}"#, #"{"1":"one","2":"two"}"#,
        #"{"1":"one","x":"two"}"#,
        #"{"a":1,"b":null}"#, #"{"a":1,"a":2}"#, #"{"a":"x","b":1,"b":2,"e":[],"a":"y"}"#, #"{"a":"x","b":1,"e":[]}"#,
        #"{"é":1}"#, #"{"a":"\ud83d\ude00","b":9223372036854775807,"e":[-9223372036854775808]}"#,
        "9223372036854775808", "18446744073709551616", "123456789012345678901234567890", "0.1", "1e-7", "5e-324",
        "1.7976931348623157e308", "12345678901234567890123456789012345678", "0.00000000000000000001", "-1.50",
        " [ 1 ] ",
        #"{"a":{"a":1,"super":[5],"b":7,"e":{"a":{"b":null}}},"e":[{"a":1},2,[3],null,{"e":[]}]}"#,
        #"{"a":{"super":3,"e":{"e":[1]}},"b":0,"e":{}}"#, #"{"a":{"e":4}}"#, #"{"a":{"e":{"a":{"e":[]}}}}"#,
        #"{"a":null,"b":["x",null],"c":{"x":null,"y":1.5},"d":"b","e":null}"#, #"{"a":7,"e":{"a":{"_0":4}}}"#,
        #"{"a":{"a":1,"c":2},"b":{"1":2,"-3":null},"e":[{"a":1},"x",{"a":2},"y"]}"#, #"{"a":{"z":1}}"#,
        #"{"b":{"x":1}}"#, #"{"e":[{"a":1}]}"#, #"{"e":[{"a":1},2]}"#, #"["a","c"]"#, #"["a","z"]"#,
    ])
    func handWritten(_ json: String) {
        compareAllTypes(json)
    }

    @Test(arguments: 0..<Effort.of(20, brief: 1))
    func random(_ seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        for _ in 0..<100 { compareAllTypes(RandomJSON.document(using: &random)) }
    }
}

/// A random number generator that gives the same numbers for the same seed on every machine.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// Valid JSON, with the keys and values that these types expect often enough in the right places.
enum RandomJSON {
    static func document(using random: inout SplitMix, depth: Int = 0) -> String {
        switch Int.random(in: 0..<(depth > 4 ? 6 : 10), using: &random) {
        case 0: return ["null", "true", "false"].randomElement(using: &random) ?? "null"
        case 1: return String(Int.random(in: -300...300, using: &random))
        case 2: return String(Double.random(in: -1e6...1e6, using: &random))
        case 3: return ["\"a\"", "\"b\"", "\"\"", "\"1\"", "\"super\""].randomElement(using: &random) ?? "\"a\""
        case 4, 5: return text(using: &random)
        case 6, 7: return array(using: &random, depth)
        default: return object(using: &random, depth)
        }
    }

    private static func space(using random: inout SplitMix) -> String {
        ["", "", "", " ", "\n\t", "\r\n"].randomElement(using: &random) ?? ""
    }

    private static func array(using random: inout SplitMix, _ depth: Int) -> String {
        let isUniform = Bool.random(using: &random)
        let count = Int.random(in: 0...4, using: &random)
        let elements = (0..<count).map { _ in
            space(using: &random)
                + (isUniform
                    ? String(Int.random(in: 0...255, using: &random)) : document(using: &random, depth: depth + 1))
        }
        return "[" + elements.joined(separator: ",") + space(using: &random) + "]"
    }

    private static func object(using random: inout SplitMix, _ depth: Int) -> String {
        let keys = ["a", "b", "c", "d", "e", "super", "_0", "1", "\\u0061"].shuffled(using: &random)
        let members = keys.prefix(Int.random(in: 0...6, using: &random)).map { key in
            "\"\(key)\"" + space(using: &random) + ":" + space(using: &random)
                + document(using: &random, depth: depth + 1)
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private static func text(using random: inout SplitMix) -> String {
        let pieces = [
            "x", "long enough for the heap, this one", "é", "\\n", "\\\"", "\\u00e9", "日本", "\\ud83d\\ude00", "🎉",
            "\\/",
        ]
        let count = Int.random(in: 0...5, using: &random)
        let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        return "\"\(text)\""
    }
}
