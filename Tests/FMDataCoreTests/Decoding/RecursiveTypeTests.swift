import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// A single value can be decoded as a list of one element, but not recursively: decoding ends also for types that try a
/// list first.
@Suite struct RecursiveTypeTests {
    /// Tries a list first.
    private indirect enum Tree: Decodable, Equatable {
        case many([Tree]), one(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let many = try? container.decode([Tree].self) {
                self = .many(many)
            } else {
                self = .one(try container.decode(String.self))
            }
        }
    }

    /// The same with containers instead of types.
    private indirect enum Walk: Decodable, Equatable {
        case many([Walk]), one(String)

        init(from decoder: any Decoder) throws {
            guard var elements = try? decoder.unkeyedContainer() else {
                self = .one(try decoder.singleValueContainer().decode(String.self))
                return
            }
            var many: [Walk] = []
            while !elements.isAtEnd { many.append(try Walk(from: elements.superDecoder())) }
            self = .many(many)
        }
    }

    private struct Sets: Decodable, Hashable {
        var inner: Set<Sets>
        init(from decoder: any Decoder) throws {
            inner = (try? decoder.singleValueContainer().decode(Set<Sets>.self)) ?? []
        }
    }

    /// Decodes itself as a list of itself, without an end.
    private struct Bottomless: Decodable {
        init(from decoder: any Decoder) throws {
            _ = try decoder.singleValueContainer().decode([Bottomless].self)
        }
    }

    private func field<Value: Decodable>(_ type: Value.Type, _ fields: String) throws -> Value? {
        try FMDecoder().decodeFields([String: Value].self, from: fields.utf8)["v"]
    }

    /// A type that inspects a value itself sees the JSON as it is: a value that is not a list is not turned into one.
    @Test(arguments: [
        (#"{"v":"a"}"#, Tree.one("a")), (#"{"v":""}"#, .one("")),
        (#"{"v":["a",["b"]]}"#, .many([.one("a"), .many([.one("b")])])),
    ])
    private func aUnionThatTriesTheListFirst(_ json: String, _ expected: Tree) throws {
        expectNoDifference(try field(Tree.self, json), expected)
    }

    @Test func inPlainJSONAValueIsNoList() throws {
        expectNoDifference(try FMDecoder().decode(Tree.self, from: #"["a"]"#.utf8), .many([.one("a")]))
        expectNoDifference(try FMDecoder().decode(Tree.self, from: #""a""#.utf8), .one("a"))
    }

    @Test func repetitionsOfAUnion() throws {
        struct Row: Decodable { var v: [Tree] }
        let json = #"{"v(1)":"a","v(2)":"b"}"#
        expectNoDifference(
            try FMDecoder().decodeFields(Row.self, from: json.utf8).v,
            [.one("a"), .one("b")]
        )
    }

    @Test func containersWithinContainers() throws {
        expectNoDifference(try field(Walk.self, #"{"v":"a"}"#), .many([.one("a")]))
    }

    @Test func sets() throws {
        #expect(try field(Sets.self, #"{"v":"a"}"#)?.inner.isEmpty == true)
    }

    @Test func aTypeWithoutAnEnd() throws {
        let failure = try #require(throws: DecodingFailure.self) { try field(Bottomless.self, #"{"v":"secret"}"#) }
        expectNoDifference(
            failure.description,
            "Could not decode the JSON at v: expected a list, found a text. Hint: A field holds one text or number: declare "
                + "it as a type that is made of one."
        )
    }

    // MARK: Infinitely recursive types

    /// Decodes itself.
    private struct Narcissus: Decodable {
        init(from decoder: any Decoder) throws {
            self = try decoder.singleValueContainer().decode(Narcissus.self)
        }
    }

    /// Tries something else after each error: this would not end even though each single attempt does.
    private indirect enum Stubborn: Decodable {
        case itself(Stubborn), list([Stubborn]), pair(Pair), nothing

        struct Pair: Decodable {
            var one: Stubborn?
            init(from decoder: any Decoder) throws {
                one = try? decoder.singleValueContainer().decode(Stubborn?.self)
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Stubborn.self) {
                self = .itself(value)
            } else if let values = try? container.decode([Stubborn].self) {
                self = .list(values)
            } else if let pair = try? container.decode(Pair.self) {
                self = .pair(pair)
            } else {
                self = .nothing
            }
        }
    }

    @Test(arguments: [#""a""#, "1", "true", "null", "{}", "[]", #"[["a"]]"#, #"{"v":"a"}"#])
    func aTypeThatAsksForItself(_ json: String) throws {
        for decode in [FMDecoder().decodeFields, FMDecoder().decode] as [(Narcissus.Type, [UInt8]) throws -> Narcissus]
        {
            let failure = try #require(throws: DecodingFailure.self) { try decode(Narcissus.self, Array(json.utf8)) }
            expectNoDifference(failure.reason, "Narcissus is made of itself without end.")
        }
    }

    @Test(arguments: [#""a""#, "1", "null", "{}", "[]", #"[["a"]]"#])
    func aTypeThatTakesNoErrorForAnAnswer(_ json: String) throws {
        let failure = try #require(throws: DecodingFailure.self) {
            try FMDecoder().decodeFields(Stubborn.self, from: json.utf8)
        }
        #expect(failure.reason.hasSuffix("is made of itself without end."))
    }

    /// An error in one record does not affect the next.
    @Test func theNextValueIsReadAllTheSame() throws {
        let decoder = FMDecoder()
        #expect(throws: DecodingFailure.self) { try decoder.decodeFields(Narcissus.self, from: #""a""#.utf8) }
        expectNoDifference(try decoder.decodeFields([String: Tree].self, from: #"{"v":"a"}"#.utf8), ["v": .one("a")])
    }

    /// JSON of the maximum depth, with as many types per level as a chain of optional lists has.
    @Test func deepJSONIsNoTypeWithoutAnEnd() throws {
        struct Deep: Decodable {
            var v: [[Deep?]?]?
        }
        let depth = 42
        let json = String(repeating: #"{"v":[["#, count: depth) + "null" + String(repeating: "]]}", count: depth)
        var deepest = try FMDecoder().decode(Deep.self, from: json.utf8)
        var count = 1
        while let next = deepest.v?.first??.first ?? nil { (deepest, count) = (next, count + 1) }
        expectNoDifference(count, depth)
    }

    // MARK: Rules

    /// Under all rules, the element of such a list is decoded as the value itself would be.
    @Test func elementsReadAsTheValueDoes() throws {
        struct Lists: Decodable, Equatable {
            var v: [Int]
            var w: [String?]
            var x: [FieldValue]
            var y: [FMDate]
            var z: [[Int]]?
        }
        let json = #"{"v":"5","w":"","x":"a","y":"01\/05\/2024"}"#
        expectNoDifference(
            try FMDecoder().decodeFields(Lists.self, from: json.utf8),
            Lists(v: [5], w: [""], x: [.text("a")], y: [try #require(FMDate(year: 2024, month: 1, day: 5))])
        )
    }
}
