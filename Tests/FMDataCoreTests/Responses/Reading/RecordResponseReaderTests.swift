import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

/// Reads a whole answer at once.
func read<R: Decodable, P: Decodable>(
    _ json: String,
    as record: DataAPI.Record<R, P>.Type = DataAPI.Record<FieldData, [String: [FieldData]]>.self,
    options: DecodingOptions = DecodingOptions()
) throws -> (records: [DataAPI.Record<R, P>], envelope: RecordResponseEnvelope) {
    try read(Array(json.utf8), as: record, options: options)
}

func read<R: Decodable, P: Decodable>(
    _ json: [UInt8],
    as record: DataAPI.Record<R, P>.Type = DataAPI.Record<FieldData, [String: [FieldData]]>.self,
    options: DecodingOptions = DecodingOptions(),
    chunk: Int = .max
) throws -> (records: [DataAPI.Record<R, P>], envelope: RecordResponseEnvelope) {
    var reader = RecordResponseReader<R, P>(options: options)
    var records: [DataAPI.Record<R, P>] = []
    var rest = json[...]
    while !rest.isEmpty {
        rest.prefix(chunk).withUnsafeBytes { reader.feed($0) }
        rest = rest.dropFirst(chunk)
        while let record = try reader.nextRecord() { records.append(record) }
    }
    return (records, try reader.finish())
}

@Suite struct RecordResponseReaderTests {
    struct Person: Decodable, Equatable {
        var name: String
        var age: Int?
        var city: String

        enum CodingKeys: String, CodingKey {
            case name = "Name", age = "Age", city = "Address::City"
        }
    }

    struct Portals: Decodable, Equatable {
        struct Phone: DataAPIPortalRecord, Equatable {
            var recordId: Int
            var modId: Int
            var number: String

            enum CodingKeys: String, CodingKey {
                case recordId, modId, number = "Phones::Number"
            }
        }

        var phones: [Phone]
        var notes: [Phone]

        enum CodingKeys: String, CodingKey {
            case phones = "Phones", notes = "Notes"
        }
    }

    static let answer = """
        {"response":{"scriptResult":"done","scriptError":"0","dataInfo":{"database":"Harbor","layout":"People",
        "table":"People","totalRecordCount":12,"foundCount":3,"returnedCount":2},"data":[
        {"fieldData":{"Name":"Ada \\u00e9","Age":36,"Address::City":"London"},"portalData":{"Phones":[
        {"recordId":"7","Phones::Number":"555","modId":"2"}],"Notes":[]},"recordId":"1","modId":"4",
        "portalDataInfo":[{"database":"Harbor","table":"Phones","foundCount":1,"returnedCount":1}]},
        {"fieldData":{"Name":"Bob","Age":"","Address::City":5},"portalData":{},"recordId":"2","modId":"0"}]},
        "messages":[{"code":"0","message":"OK"}]}
        """

    @Test func readsRecordsAndEnvelope() throws {
        let (records, envelope) = try read(Self.answer, as: DataAPI.Record<Person, Portals>.self)
        #expect(
            records.map(\.fieldData) == [
                Person(name: "Ada é", age: 36, city: "London"), Person(name: "Bob", age: nil, city: "5"),
            ]
        )
        #expect(records.map(\.portalData?.phones) == [[.init(recordId: 7, modId: 2, number: "555")], []])
        #expect(records.map(\.recordId) == [1, 2])
        #expect(records[0].portalDataInfo?.first?.foundCount == 1)
        expectNoDifference(envelope.messages, [Message(code: "0", message: "OK")])
        #expect(envelope.dataInfo.foundCount == 3)
        #expect(envelope.scriptResponse == DataAPI.ScriptResponse(scriptResult: "done", scriptError: "0"))
        #expect(envelope.recordCount == 2)
    }

    @Test func everySplitGivesTheSame() throws {
        let bytes = Array(Self.answer.utf8)
        let whole = try read(bytes, as: DataAPI.Record<Person, Portals>.self)
        for chunk in 1...bytes.count {
            let parts = try read(bytes, as: DataAPI.Record<Person, Portals>.self, chunk: chunk)
            expectNoDifference(parts.records, whole.records)
            expectNoDifference(parts.envelope, whole.envelope)
        }
    }

    @Test func refusalHasMessagesAndNoRecords() throws {
        let (records, envelope) = try read(
            #"{"messages":[{"code":401,"message":"No records match the request"}],"response":{}}"#
        )
        #expect(records.isEmpty)
        #expect(envelope.messages == [Message(code: "401", message: "No records match the request")])
        #expect(!envelope.dataInfo.isReported)
    }

    // MARK: Order and demand

    @Test func membersInAnyOrder() throws {
        let parts = [
            #""messages":[{"code":"0"}]"#,
            #""response":{"scriptError.presort":"1","data":[{"modId":5,"fieldData":{"a":1},"recordId":7}],"dataInfo":{"foundCount":1,"#
                + #""totalRecordCount":1,"returnedCount":1},"unknown":{"data":[]}}"#,
            #""extra":{"response":[1]}"#,
        ]
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1]] {
            let json = "{" + order.map { parts[$0] }.joined(separator: ",") + "}"
            let (records, envelope) = try read(json)
            expectNoDifference(records, [.init(fieldData: ["a": 1], recordId: 7, modId: 5)])
            #expect(envelope.messages == [Message(code: "0")])
            #expect(envelope.dataInfo.foundCount == 1)
            #expect(envelope.scriptResponse?.scriptErrorPreSort == "1")
        }
    }

    /// A record is available with its last byte and not before; only requested records are decoded.
    @Test func recordsArriveOneByOne() throws {
        let bytes = Array(Self.answer.utf8)
        let firstEnd = try #require(Self.answer.range(of: "}]},\n")).upperBound.utf16Offset(in: Self.answer) - 2
        var reader = RecordResponseReader<Person, Portals>()
        bytes[..<(firstEnd - 1)].withUnsafeBytes { reader.feed($0) }
        #expect(try reader.nextRecord() == nil)
        #expect(reader.dataInfo?.foundCount == 3)
        bytes[(firstEnd - 1)...].withUnsafeBytes { reader.feed($0) }
        #expect(reader.recordCount == 0)
        #expect(try reader.nextRecord()?.recordId == 1)
        #expect(reader.recordCount == 1)
        #expect(reader.messages.isEmpty)
        #expect(try reader.finish().recordCount == 2)
    }

    /// 10,000 records are read with the memory of a few.
    @Test func memoryDoesNotGrow() throws {
        let record = Array(
            #"{"fieldData":{"Name":"Ada","Age":36,"Address::City":"x"},"recordId":"1","modId":"0"},"#.utf8
        )
        var reader = RecordResponseReader<Person, DataAPI.EmptyPortal>()
        Array(#"{"response":{"data":["#.utf8).withUnsafeBytes { reader.feed($0) }
        for _ in 0..<10_000 {
            record.withUnsafeBytes { reader.feed($0) }
            #expect(try reader.nextRecord()?.fieldData.age == 36)
        }
        #expect(reader.bufferCapacity <= 65_536)
    }

    @Test func aRecordThatIsTooLargeIsRefused() throws {
        var options = DecodingOptions()
        options.maximumRecordBytes = 1_000
        var reader = RecordResponseReader<FieldData, DataAPI.EmptyPortal>(options: options)
        Array(#"{"response":{"data":[{"fieldData":{"a":""#.utf8).withUnsafeBytes { reader.feed($0) }
        Array(repeating: UInt8(ascii: "x"), count: 2_000).withUnsafeBytes { reader.feed($0) }
        let failure = try #require(throws: DecodingFailure.self) { try reader.nextRecord() }
        #expect(failure.reason.contains("1000 bytes"))
    }

    @Test(arguments: [1, 2, 3, 1_000])
    func oneByteOrderMark(_ chunk: Int) throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = Array(Self.answer.utf8)
        let marked = try read(mark + bytes, as: DataAPI.Record<Person, Portals>.self, chunk: chunk)
        #expect(marked.records.count == 2)
        #expect(throws: DecodingFailure.self) { try read(mark + mark + bytes, chunk: chunk) }
    }

    // MARK: Ends

    @Test(arguments: [
        "", "[]", "<html>Bad Gateway</html>", "{}", #"{"response":{"data":[]}}"#, #"{"messages":[{"code":"0"}]}"#,
        #"{"response":{},"messages":[{"code":"0"}]}"#, #"{"response":null,"messages":[{"code":"0"}]}"#,
        #"{"response":{"data":null},"messages":[{"code":"0"}]}"#,
        #"{"response":{"data":[]},"messages":[{"code":"0"}]} x"#,
        #"{"response":{"data":[]},"response":{"data":[]},"messages":[]}"#,
        #"{"response":{"data":[],"data":[]},"messages":[]}"#,
        #"{"response":{"data":[1]},"messages":[{"code":"0"}]}"#, #"{"response":{"data":[],},"messages":[]}"#, "null",
    ])
    func otherBodiesAreErrors(_ json: String) {
        #expect(throws: DecodingFailure.self) { try read(json) }
    }

    @Test func aCodeAfterTheRecordsIsReported() throws {
        let json = #"{"response":{"data":[{"fieldData":{},"recordId":1,"modId":1}]},"messages":[{"code":"802"}]}"#
        #expect(try read(json).envelope.messages == [Message(code: "802")])
    }

    @Test func untakenRecordsAreSkipped() throws {
        var reader = RecordResponseReader<Person, Portals>()
        Array(Self.answer.utf8).withUnsafeBytes { reader.feed($0) }
        #expect(try reader.finish().recordCount == 2)
    }

    // MARK: A custom decoder

    @Test func aJSONDecoderOfTheUsers() throws {
        struct Dated: Decodable, Equatable {
            var isoDate: Date
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        var reader = RecordResponseReader<Dated, [String: [[String: String]]]>(
            context: DecodingContext(recordDecoder: decoder)
        )
        let json = """
            {"response":{"data":[{"fieldData":{"iso_date":5},"portalData":{"p":[{"x":"y"}]},"recordId":"1","modId":"2"}]},
            "messages":[{"code":"0"}]}
            """
        Array(json.utf8).withUnsafeBytes { reader.feed($0) }
        let record = try #require(try reader.nextRecord())
        #expect(record.fieldData == Dated(isoDate: Date(timeIntervalSince1970: 5)))
        #expect(record.portalData == ["p": [["x": "y"]]])
        #expect(record.recordId == 1)
        #expect(try reader.finish().messages.first?.isSuccess == true)
    }

    // MARK: Decoders and containers that are kept

    /// Types that keep their decoder or container in order to decode later.
    private struct Lazy: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) throws { self.decoder = decoder }
    }

    private struct Keeping: Decodable {
        enum Keys: CodingKey { case a }
        let container: KeyedDecodingContainer<Keys>
        init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Keys.self) }
    }

    private static let two = """
        {"response":{"data":[{"fieldData":{"a":1},"recordId":1,"modId":1},{"fieldData":{"a":2},"recordId":2,"modId":1}]},
        "messages":[{"code":"0"}]}
        """

    @Test func aKeptDecoderStillWorks() throws {
        let records = try read(Self.two, as: DataAPI.Record<Lazy, DataAPI.EmptyPortal>.self).records
        let values = try records.map { try [String: Int](from: $0.fieldData.decoder) }
        #expect(values == [["a": 1], ["a": 2]])
    }

    @Test func aKeptContainerStillWorks() throws {
        let records = try read(Self.two, as: DataAPI.Record<Keeping, DataAPI.EmptyPortal>.self).records
        let containers = records.map(\.fieldData.container)
        expectNoDifference(containers.map(\.allKeys), [[.a], [.a]])
        expectNoDifference(try containers.map { try $0.decode(Int.self, forKey: .a) }, [1, 2])
    }

    // MARK: Lookups

    /// Fields change their order and are missing from some records.
    @Test func fieldsInEveryOrder() throws {
        struct Wide: Decodable, Equatable {
            var a: Int, b: Int?, c: Int, d: Int?, e: Int
        }
        var random = SplitMix(seed: 6)
        var expected: [Wide] = []
        let data = (0..<500).map { number in
            let wide = Wide(
                a: number,
                b: Bool.random(using: &random) ? number + 1 : nil,
                c: number + 2,
                d: Bool.random(using: &random) ? number + 3 : nil,
                e: number + 4
            )
            expected.append(wide)
            var fields = ["\"a\":\(wide.a)", "\"c\":\(wide.c)", "\"e\":\(wide.e)"]
            if let b = wide.b { fields.append("\"b\":\(b)") }
            if let d = wide.d { fields.append("\"d\":\(d)") }
            for other in 0..<Int.random(in: 0...50, using: &random) {
                fields.append("\"x\(other)\":{\"a\":[\(other)]}")
            }
            fields.shuffle(using: &random)
            return "{\"fieldData\":{\(fields.joined(separator: ","))},\"recordId\":1,\"modId\":1}"
        }
        let json = "{\"response\":{\"data\":[\(data.joined(separator: ","))]},\"messages\":[]}"
        let records = try read(json, as: DataAPI.Record<Wide, DataAPI.EmptyPortal>.self).records
        expectNoDifference(records.map(\.fieldData), expected)
    }
}
