import CustomDump
import Testing

@testable import FMData

/// A value of a field stands for a list of itself, but not without end: types that try a list first come to an end too.
@Suite struct RecursiveTypeTests {
    /// Tries the list first.
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

    /// Goes down through containers instead of types.
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

    /// Never anything but a list of itself.
    private struct Bottomless: Decodable {
        init(from decoder: any Decoder) throws {
            _ = try decoder.singleValueContainer().decode([Bottomless].self)
        }
    }

    private func field<Value: Decodable>(_ type: Value.Type, _ fields: String) throws -> Value? {
        try FMDecoder().decodeFields([String: Value].self, from: fields.utf8)["v"]
    }

    @Test(arguments: [
        (#"{"v":"a"}"#, Tree.many([.one("a")])), (#"{"v":5}"#, .many([.one("5")])),
        (#"{"v":true}"#, .many([.one("1")])),
        (#"{"v":""}"#, .many([])), (#"{"v":["a",["b"]]}"#, .many([.many([.one("a")]), .many([.many([.one("b")])])])),
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
            [.many([.one("a")]), .many([.one("b")])]
        )
    }

    @Test func containersWithinContainers() throws {
        expectNoDifference(try field(Walk.self, #"{"v":"a"}"#), .many([.one("a")]))
    }

    @Test func sets() throws {
        #expect(try field(Sets.self, #"{"v":"a"}"#)?.inner.first?.inner.isEmpty == true)
    }

    @Test func aTypeWithoutAnEnd() throws {
        let failure = try #require(throws: DecodingFailure.self) { try field(Bottomless.self, #"{"v":"secret"}"#) }
        expectNoDifference(
            failure.description,
            "Could not decode the JSON at v: expected a list, found a text. Hint: A field holds one text or number: declare "
                + "it as a type that is made of one."
        )
    }

    /// The elements of such a list are the value itself under all rules.
    @Test func elementsReadAsTheValueDoes() throws {
        struct Lists: Decodable, Equatable {
            var v: [Int]
            var w: [String?]
            var x: [FieldValue]
            var y: [FMDate]
            var z: [[Int]]?
        }
        let json = #"{"v":"Nr 5","w":"","x":"a","y":"01\/05\/2024"}"#
        expectNoDifference(
            try FMDecoder().decodeFields(Lists.self, from: json.utf8),
            Lists(v: [5], w: [""], x: [.text("a")], y: [try #require(FMDate(year: 2024, month: 1, day: 5))])
        )
    }
}
