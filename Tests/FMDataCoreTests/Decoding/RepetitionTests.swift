import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// Repetitions keep their places. A layout may show any subset of them.
@Suite struct RepetitionTests {
    private struct Row<Value: Decodable>: Decodable {
        var phone: Value

        enum CodingKeys: String, CodingKey { case phone = "Phone" }
    }

    private struct MaybeRow<Value: Decodable>: Decodable {
        var phone: Value?

        enum CodingKeys: String, CodingKey { case phone = "Phone" }
    }

    private func phone<Value: Decodable>(
        _ type: Value.Type,
        _ json: String,
        _ keys: DecodingOptions.KeyStrategy = .exact
    ) throws -> Value {
        var options = DecodingOptions()
        options.keys = keys
        return try FMDecoder(options: options).decodeFields(Row<Value>.self, from: json.utf8).phone
    }

    /// Decodes the field as an optional property.
    private func maybe<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value? {
        try FMDecoder().decodeFields(MaybeRow<Value>.self, from: json.utf8).phone
    }

    @Test(arguments: [
        (#"{"Phone(2)":"b","Phone(3)":"c"}"#, [nil, "b", "c"]), (#"{"Phone(1)":"a","Phone(3)":"c"}"#, ["a", nil, "c"]),
        (#"{"Phone(3)":"c","Phone(1)":"a","Phone(2)":""}"#, ["a", "", "c"]),
        (#"{"Phone(12)":"x"}"#, [String?](repeating: nil, count: 11) + ["x"]),
        (#"{"Phone(2)":"b","Phone(2)":"x"}"#, [nil, "b"]), (#"{"Phone\u0028\u0032)":"b"}"#, [nil, "b"]),
    ])
    func gapsStay(_ json: String, _ expected: [String?]) throws {
        expectNoDifference(try phone([String?].self, json), expected)
        expectNoDifference(try maybe([String?].self, json), expected)
        expectNoDifference(try phone([String?].self, json, .custom { $0 }), expected)
        let others = (0..<60).map { #""f\#($0)":1,"# }.joined()
        expectNoDifference(try phone([String?].self, "{" + others + json.dropFirst()), expected)
    }

    @Test func gapsThatATypeCannotKeepAreErrors() throws {
        let json = #"{"Phone(2)":"1","Phone(4)":"2"}"#
        for decode in [
            { _ = try phone([String].self, json) }, { _ = try phone([Int].self, json) },
            { _ = try maybe([Int].self, json) },
            { _ = try phone([FieldValue].self, json) }, { _ = try phone(Set<Int>.self, json) },
            { _ = try phone([FMDate].self, json) },
        ] as [() throws -> Void] {
            let failure = try #require(throws: DecodingFailure.self) { try decode() }
            expectNoDifference(failure.reason, "the layout shows a later repetition of the field and not this one.")
            #expect(failure.hint?.contains("Declare the elements as") == true)
            expectNoDifference(failure.path, ["Phone"])
        }
        expectNoDifference(try phone([Int?].self, json), [nil, 1, nil, 2])
    }

    /// A type with a single value stands for the first repetition, which is missing here.
    @Test func theFirstRepetitionAlone() throws {
        let json = #"{"Phone(2)":"b"}"#
        expectNoDifference(try maybe(String.self, json), nil)
        expectNoDifference(try maybe(FMDate.self, json), nil)
        #expect(throws: DecodingFailure.self) { try phone(String.self, json) }
        expectNoDifference(try phone(String.self, #"{"Phone(2)":"b","Phone(1)":"a"}"#), "a")
    }

    @Test(arguments: [
        #"{"Phone(0)":1}"#, #"{"Phone(01)":1}"#, #"{"Phone()":1}"#, #"{"Phone(-1)":1}"#, #"{"Phone(1)x":1}"#,
        #"{"Phone(1":1}"#,
        #"{"Phone(32001)":1}"#, #"{"Phone(99999999999999999999)":1}"#, #"{"Phone1)":1}"#, #"{"phone(1)":1}"#,
        #"{"(1)":1}"#,
        #"{"Phone (1)":1}"#,
    ])
    func otherNamesAreNoRepetitions(_ json: String) throws {
        expectNoDifference(try maybe([Int].self, json), nil)
        #expect(throws: DecodingFailure.self) { try phone([Int].self, json) }
    }

    // MARK: Empty repetitions

    private enum Plan: String, Decodable { case full }

    /// A type that accepts an empty text as a value.
    private struct Wrapped: Decodable, Equatable {
        var text: String
        init(text: String) { self.text = text }
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    }

    /// For types that have a value for an empty field, empty repetitions keep their places, at the end too.
    @Test func emptyOnesAtTheEndKeepTheirPlaces() throws {
        let empty = #"{"Phone(1)":"a","Phone(2)":"","Phone(3)":""}"#
        expectNoDifference(try phone([String].self, empty), ["a", "", ""])
        expectNoDifference(try phone([FieldValue].self, empty), ["a", "", ""])
        expectNoDifference(
            try phone([DataAPI.ContainerReference].self, empty),
            [.text("a"), .empty, .empty]
        )
        expectNoDifference(try phone([FMList<String>].self, empty), [["a"], [], []])
        expectNoDifference(
            try phone([Wrapped].self, empty),
            [Wrapped(text: "a"), Wrapped(text: ""), Wrapped(text: "")]
        )
        expectNoDifference(try phone([Plan?].self, #"{"Phone(1)":"full","Phone(2)":""}"#), [.full, nil])
        let numbers = #"{"Phone(1)":1,"Phone(2)":""}"#
        expectNoDifference(try phone([Bool].self, numbers), [true, false])
        expectNoDifference(try phone([FMList<Int>].self, numbers), [[1], []])
        expectNoDifference(try phone([FMNumber?].self, numbers), [1, nil])
        expectNoDifference(
            try maybe([DataAPI.ContainerReference].self, #"{"Phone(1)":"","Phone(2)":""}"#),
            [.empty, .empty]
        )
        // Here the layout shows a single repetition.
        expectNoDifference(try phone([DataAPI.ContainerReference].self, #"{"Phone":""}"#), [.empty])
        expectNoDifference(try phone(Set<DataAPI.ContainerReference>.self, empty), [.text("a"), .empty])
    }

    /// Numbers, dates and enum cases have no value for an empty field: unless they are optional, those at the end are
    /// left out.
    @Test func emptyOnesAtTheEndOfTypesWithoutAValueForThemAreLeftOut() throws {
        let numbers = #"{"Phone(1)":1,"Phone(2)":"","Phone(3)":""}"#
        expectNoDifference(try phone([Int].self, numbers), [1])
        expectNoDifference(try phone([FMNumber].self, numbers), [1])
        expectNoDifference(try phone([FMDate].self, #"{"Phone(1)":"","Phone(2)":""}"#), [])
        expectNoDifference(try phone([Plan].self, #"{"Phone(1)":"full","Phone(2)":""}"#), [.full])
        var zero = DecodingOptions()
        zero.emptyIsZero = true
        expectNoDifference(
            try FMDecoder(options: zero).decodeFields(Row<[Int]>.self, from: numbers.utf8).phone,
            [1, 0, 0]
        )
    }

    /// A repetition that cannot be read as a number is `nil`, as an optional property would be; the record is still
    /// read.
    @Test func aRepetitionWithoutANumberIsNil() throws {
        let json = #"{"Phone(1)":1,"Phone(2)":"n/a","Phone(3)":" ","Phone(4)":"4 kg","Phone(5)":""}"#
        expectNoDifference(try phone([FMNumber?].self, json), [1, nil, nil, 4, nil])
        expectNoDifference(try phone([Int?].self, #"{"Phone(1)":" ","Phone(2)":"\r"}"#), [nil, nil])
        expectNoDifference(try phone([Bool?].self, #"{"Phone(1)":" ","Phone(2)":1}"#), [nil, true])
        expectNoDifference(try phone(FMList<FMNumber?>.self, #"{"Phone":"1\rn/a\r\r4 kg"}"#), [1, nil, nil, 4])
        expectNoDifference(
            try FMDecoder().decodeFields([String: FMNumber?].self, from: #"{"a":"n/a","b":2}"#.utf8),
            ["a": nil, "b": 2]
        )
        #expect(throws: DecodingFailure.self) { try phone([Int?].self, #"{"Phone(1)":"n/a"}"#) }
        #expect(throws: DecodingFailure.self) { try phone([FMNumber].self, #"{"Phone(1)":"n/a"}"#) }
        var rough = DecodingOptions()
        rough.numbers = .asFileMaker
        expectNoDifference(
            try FMDecoder(options: rough).decodeFields(Row<[Int?]>.self, from: json.utf8).phone,
            [1, nil, nil, 4, nil]
        )
        var strict = DecodingOptions()
        strict.emptyIsNil = false
        #expect(throws: DecodingFailure.self) {
            try FMDecoder(options: strict).decodeFields(Row<[FMNumber?]>.self, from: json.utf8)
        }
    }

    @Test func namesWithTheirTable() throws {
        let json = #"{"A::Phone(2)":2,"B::Phone(1)":9,"A::Phone(1)":1}"#
        expectNoDifference(try phone([Int].self, json, .withoutTable), [1, 2])
        expectNoDifference(try phone([Int].self, #"{"A::Phone(1)":1,"Phone(1)":5}"#, .withoutTable), [5])
        expectNoDifference(try maybe([Int].self, json), nil)
    }

    @Test func namesInEveryUnicodeForm() throws {
        struct Composed: Decodable {
            var value: [Int?]
            enum CodingKeys: String, CodingKey { case value = "Stra\u{DF}e \u{FC}ber" }
        }
        let decomposed = "{\"Stra\u{DF}e u\u{308}ber(2)\":1}"
        expectNoDifference(try FMDecoder().decodeFields(Composed.self, from: decomposed.utf8).value, [nil, 1])
    }

    @Test func whatIsReadIsWrittenToItsPlace() throws {
        let phones = try phone([String?].self, #"{"Phone(1)":"a","Phone(3)":"c"}"#)
        let json = String(decoding: try FMEncoder().encodeFields(["Phone": phones]), as: UTF8.self)
        expectNoDifference(json, #"{"Phone(1)":"a","Phone(2)":"","Phone(3)":"c"}"#)
    }
}
