import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

/// Fields with one value per line, such as check boxes.
@Suite struct FMListTests {
    private struct One<Value: Codable & Equatable>: Codable, Equatable {
        var v: Value
    }

    private enum Color: String, Codable { case red, green }

    private func field<Value: Codable & Equatable>(_ type: Value.Type, _ json: String) throws -> Value {
        try FMDecoder().decodeFields(One<Value>.self, from: #"{"v":\#(json)}"#.utf8).v
    }

    private func text<Value: Codable & Equatable>(_ value: Value) throws -> String {
        String(decoding: try FMEncoder().encodeFields(One(v: value)), as: UTF8.self)
    }

    @Test(arguments: [
        (#""1\r2\r3""#, [1, 2, 3]), (#""1\n2\n3""#, [1, 2, 3]), (#""1\r\n2\r\n3""#, [1, 2, 3]), (#""1\n\r2""#, nil),
        (#""1\u000d2\u000A3""#, [1, 2, 3]), (#""1\r2\r""#, [1, 2]), (#""1\r\n2\r\n""#, [1, 2]), (#""17""#, [17]),
        ("17", [17]),
        (#""""#, []), (#""1\r\r2""#, nil), (#""1\r2 kg""#, nil), (#""1\\r2""#, nil), (#""\u0031\r\u0032""#, [1, 2]),
    ])
    func numbers(_ json: String, _ expected: [Int]?) throws {
        guard let expected else {
            #expect(throws: DecodingFailure.self) { try field(FMList<Int>.self, json) }
            return
        }
        expectNoDifference(try field(FMList<Int>.self, json), FMList(expected))
    }

    @Test(arguments: [
        (#""Chess\rTea""#, ["Chess", "Tea"]), (#""a\r\rb""#, ["a", "", "b"]), (#""\ra""#, ["", "a"]), (#""a""#, ["a"]),
        (#""""#, []),
        (#""Z\u00fcrich\rGen\u00e8ve""#, ["Zürich", "Genève"]), (#""Zürich\rGenève""#, ["Zürich", "Genève"]),
        ("1.50", ["1.50"]),
        (#""a\\\rb\"c""#, ["a\\", "b\"c"]), (#""a\\nb""#, ["a\\nb"]),
    ])
    func texts(_ json: String, _ expected: [String]) throws {
        expectNoDifference(try field(FMList<String>.self, json), FMList(expected))
        struct Maybe: Decodable { var v: FMList<String>? }
        expectNoDifference(try FMDecoder().decodeFields(Maybe.self, from: #"{"v":\#(json)}"#.utf8).v, FMList(expected))
    }

    @Test func elementsOfEveryKind() throws {
        expectNoDifference(try field(FMList<Color>.self, #""red\rgreen""#), [.red, .green])
        expectNoDifference(try field(FMList<FMDate>.self, #""01/05/2024\r1/6/2024""#).map(\.day), [5, 6])
        expectNoDifference(try field(FMList<Int?>.self, #""1\r\r2""#), [1, nil, 2])
        expectNoDifference(try field(FMList<FMNumber>.self, #""1 kg\r2 kg""#), [1, 2])
        expectNoDifference(try field(FMList<FieldValue>.self, #""1\rx""#), ["1", "x"])
        expectNoDifference(try field(FMList<Bool>.self, #""1\r0""#), [true, false])
        expectNoDifference(try field([FMList<Int>].self, #"["1\r2","3"]"#), [[1, 2], [3]])
    }

    @Test func whereALineFails() throws {
        let failure = try #require(throws: DecodingFailure.self) { try field(FMList<Int>.self, #""1\rsecret\r3""#) }
        expectNoDifference(
            failure.description,
            "Could not decode the JSON at v[1]: expected Int, found a text without a number in it. Hint: Declare it as String, or "
                + "as FMNumber? to get nil for such texts."
        )
        let other = try #require(throws: DecodingFailure.self) { try field(FMList<Int>.self, "{}") }
        #expect(other.reason.contains("found an object"))
    }

    @Test func writing() throws {
        expectNoDifference(try text(FMList(["Chess", "Tea"])), #"{"v":"Chess\rTea"}"#)
        expectNoDifference(try text(FMList([1, 2, 3])), #"{"v":"1\r2\r3"}"#)
        expectNoDifference(try text(FMList([1])), #"{"v":"1"}"#)
        expectNoDifference(try text(FMList<Int>()), #"{"v":""}"#)
        expectNoDifference(try text(FMList([true, false])), #"{"v":"1\r0"}"#)
        expectNoDifference(try text(FMList([1, nil, 2])), #"{"v":"1\r\r2"}"#)
        expectNoDifference(try text(FMList([try #require(FMDate("2024-01-05"))])), #"{"v":"01/05/2024"}"#)
        expectNoDifference(try text([FMList([1, 2]), FMList([3])]), #"{"v(1)":"1\r2","v(2)":"3"}"#)
    }

    /// Check boxes on number, date, time and timestamp fields: read and written in the format of the request.
    @Test func numbersAndDatesBothWays() throws {
        func expectBothWays<Value: Codable & Equatable>(_ value: Value, _ json: String) throws {
            expectNoDifference(try text(value), #"{"v":\#(json)}"#)
            expectNoDifference(try field(Value.self, json), value)
        }
        let days = try [FMDate("2024-01-05"), FMDate("2024-12-31")].map { try #require($0) }
        let times = [FMTime(hours: 9, minutes: 5), FMTime(hours: 30)]
        try expectBothWays(FMList([FMNumber(1), 2.5, 7]), #""1\r2.5\r7""#)
        try expectBothWays(FMList([FMNumber?.some(1), nil, 7]), #""1\r\r7""#)
        try expectBothWays(FMList([1.5, -2]), #""1.5\r-2""#)
        try expectBothWays(FMList(days), #""01/05/2024\r12/31/2024""#)
        try expectBothWays(FMList([days[0], nil, days[1]]), #""01/05/2024\r\r12/31/2024""#)
        try expectBothWays(FMList(times), #""09:05:00\r30:00:00""#)
        try expectBothWays(
            FMList(days.map(FMTimestamp.init(midnightOf:))),
            #""01/05/2024 00:00:00\r12/31/2024 00:00:00""#
        )
        expectNoDifference(try field(FMList<FMDate>.self, #""""#), [])
        var values = DecodingOptions()
        values.values.format = .iso
        let iso = try FMDecoder(options: values)
            .decodeFields(One<FMList<FMDate>>.self, from: #"{"v":"2024-01-05\r2024-12-31"}"#.utf8)
        expectNoDifference(iso.v, FMList(days))
    }

    @Test func whatIsNoLineIsRefused() {
        for text in ["a\rb", "a\nb", "\r\n"] {
            #expect(throws: EncodingFailure.self) { try FMEncoder().encodeFields(["v": FMList([text])]) }
        }
        #expect(throws: EncodingFailure.self) { try FMEncoder().encodeFields(["v": FMList([[1]])]) }
        #expect(throws: EncodingFailure.self) { try FMEncoder().encodeFields(["v": FMList([["a": 1]])]) }
        let error = #expect(throws: EncodingFailure.self) {
            try FMEncoder().encodeFields(["v": FMList(["a", "x\ry"])])
        }
        expectNoDifference(error?.path, ["v", "Index 1"])
    }

    @Test func withTheCodersOfOthers() throws {
        let json = Data(#"{"v":"1\r2"}"#.utf8)
        expectNoDifference(try JSONDecoder().decode(One<FMList<Int>>.self, from: json).v, [1, 2])
        expectNoDifference(try JSONDecoder().decode(One<FMList<Int>>.self, from: Data(#"{"v":7}"#.utf8)).v, [7])
        let iso = JSONDecoder()
        iso.userInfo[.fileMakerFormat] = try ValueFormat(date: "dd.MM.yyyy")
        let dates = Data(#"{"v":"05.01.2024\r06.01.2024"}"#.utf8)
        expectNoDifference(try iso.decode(One<FMList<FMDate>>.self, from: dates).v.map(\.day), [5, 6])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(One<FMList<Int>>.self, from: Data(#"{"v":"x"}"#.utf8))
        }
        expectNoDifference(
            String(decoding: try JSONEncoder().encode(One(v: FMList([1, 2]))), as: UTF8.self),
            #"{"v":"1\r2"}"#
        )
    }

    @Test func anArrayInAllButItsName() {
        var list: FMList = [3, 1]
        list.append(2)
        list.sort()
        list[0] = 9
        list.removeAll { $0 == 3 }
        expectNoDifference(list, [9, 2])
        expectNoDifference(list.elements, [9, 2])
        expectNoDifference(Set([list, [9, 2]]).count, 1)
        expectNoDifference("\(list)", "[9, 2]")
    }

    @Test func numbersAreCriteria() {
        expectNoDifference(FMNumber("1.5e3")?.findText, "1500")
        let digits = "1234567890123456789012345678901234567890.5"
        expectNoDifference(FMNumber(digits)?.findText, digits)
        expectNoDifference(FMNumber("-2e-3")?.findText, "-0.002")
        expectNoDifference(FMNumber("1e1000000000")?.findText, nil)
        expectNoDifference(FMNumber("0e1000000000")?.findText, "0")
        expectNoDifference(FMNumber(3).findText, "3")
    }
}
